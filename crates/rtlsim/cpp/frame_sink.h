// One destination's wire: collects frames and holds the NIC to the AXI-Stream rules.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

#include "event_buffer.h"

namespace sluice {

/// Most words that a sideband may have.
constexpr uint32_t kSidebandWords = 10;

/// One destination's outputs in one cycle.
struct Beat {
  bool valid;
  bool last;
  uint64_t keep;
  const uint8_t *data;
  uint32_t user[kSidebandWords];
};

class FrameSink {
 public:
  FrameSink(uint8_t destination, uint32_t bus_bytes, uint32_t user_words)
      : destination_(destination), bus_bytes_(bus_bytes), user_words_(user_words), held_data_(bus_bytes) {}

  /// Looks at one cycle. Returns what rule was broken, or null. `left` says that a frame ended.
  const char *sample(const Beat &beat, bool ready, uint64_t tick, EventBuffer &events, bool &left) {
    left = false;
    if (stalled_) {
      if (!beat.valid) return "tvalid fell before tready";
      if (beat.last != held_.last || beat.keep != held_.keep) return "tlast or tkeep changed before tready";
      if (std::memcmp(beat.data, held_data_.data(), bus_bytes_) != 0) return "tdata changed before tready";
      if (std::memcmp(beat.user, held_.user, 4 * user_words_) != 0) return "tuser changed before tready";
    }
    if (!beat.valid) return nullptr;
    if (!stalled_) {
      if (const char *broken = check_shape(beat)) return broken;
    }
    stalled_ = !ready;
    if (stalled_) {
      held_ = beat;
      std::memcpy(held_data_.data(), beat.data, bus_bytes_);
      return nullptr;
    }
    if (frame_.empty()) {
      first_ = tick;
      std::memcpy(user_, beat.user, 4 * user_words_);
    }
    frame_.insert(frame_.end(), beat.data, beat.data + std::popcount(beat.keep));
    if (beat.last) {
      emit(tick, events);
      left = true;
    }
    return nullptr;
  }

 private:
  const char *check_shape(const Beat &beat) const {
    if (beat.keep == 0 || (beat.keep & (beat.keep + 1)) != 0) return "tkeep is empty or has a hole";
    if (!beat.last && std::popcount(beat.keep) != static_cast<int>(bus_bytes_)) return "a beat before the last is partial";
    if (!frame_.empty() && std::memcmp(beat.user, user_, 4 * user_words_) != 0) return "tuser changed within a frame";
    return nullptr;
  }

  void emit(uint64_t tick, EventBuffer &events) {
    const size_t user_bytes = 4 * user_words_;
    uint8_t *out = events.append(SLUICE_RTL_EVENT_LEFT, destination_, tick, 8 + user_bytes + frame_.size());
    std::memcpy(out, &first_, 8);
    std::memcpy(out + 8, user_, user_bytes);
    std::memcpy(out + 8 + user_bytes, frame_.data(), frame_.size());
    frame_.clear();
  }

  uint8_t destination_;
  uint32_t bus_bytes_;
  uint32_t user_words_;
  bool stalled_ = false;
  Beat held_{};
  std::vector<uint8_t> held_data_;
  std::vector<uint8_t> frame_;
  uint64_t first_ = 0;
  uint32_t user_[kSidebandWords] = {};
};

}  // namespace sluice
