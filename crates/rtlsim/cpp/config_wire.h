// The host's end of the configuration ring: words in with gaps, messages out with stalls.
#pragma once

#include <cstdint>
#include <cstring>
#include <deque>
#include <vector>

#include "event_buffer.h"
#include "rng.h"
#include "stalls.h"

namespace sluice {

class ConfigWire {
 public:
  explicit ConfigWire(uint64_t seed) : rng_(seed), stalls_(seed + 1) {}

  void send(const uint32_t *words, size_t count, bool last) {
    for (size_t i = 0; i < count; ++i) queue_.push_back({words[i], last && i + 1 == count});
  }
  void set_stalls(uint32_t gap, uint32_t stall) {
    gaps_ = gap;
    stalls_.set(256 - (stall > 256 ? 256 : stall), 1);
  }
  bool empty() const { return queue_.empty(); }

  bool drive(uint32_t &word, bool &last) {
    valid_ = valid_ || (!queue_.empty() && !rng_.chance(gaps_));
    if (!valid_) return false;
    word = queue_.front().word;
    last = queue_.front().last;
    return true;
  }
  void advance() {
    queue_.pop_front();
    valid_ = false;
  }

  bool ready() { return stalls_.draw(); }

  /// Looks at one cycle of the output. Returns what rule was broken, or null.
  const char *sample(bool valid, bool ready, uint32_t word, bool last, uint64_t tick, EventBuffer &events, bool &ended) {
    ended = false;
    if (stalled_ && !valid) return "m_axis_cfg_tvalid fell before tready";
    if (stalled_ && (word != held_.word || last != held_.last)) return "m_axis_cfg changed before tready";
    stalled_ = valid && !ready;
    held_ = {word, last};
    if (!valid || !ready) return nullptr;
    message_.push_back(word);
    // A broken NIC that never ends a message must not fill the memory.
    if (message_.size() > kLongest) return "m_axis_cfg: no tlast within 256 words";
    if (!last) return nullptr;
    std::memcpy(events.append(SLUICE_RTL_EVENT_REPLY, 0, tick, 4 * message_.size()), message_.data(), 4 * message_.size());
    message_.clear();
    ended = true;
    return nullptr;
  }

 private:
  struct Word {
    uint32_t word;
    bool last;
  };
  // Above every row: a write that no node took comes back whole.
  static constexpr size_t kLongest = 256;

  std::deque<Word> queue_;
  bool valid_ = false;
  uint32_t gaps_ = 0;
  Rng rng_;
  Stalls stalls_;
  bool stalled_ = false;
  Word held_{};
  std::vector<uint32_t> message_;
};

}  // namespace sluice
