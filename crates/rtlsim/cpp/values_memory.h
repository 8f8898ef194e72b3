// External memory for values of maps behind an AXI4 port; of tops without one there is nothing to do.
//
// Reads and writes are done late, those of different IDs in any order. What was never written is noise. A read sees a write from
// its answer on, and between the two by chance: so whoever does not wait for it is found out.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <unordered_map>
#include <vector>

#include "bits.h"
#include "rng.h"

namespace sluice {

template <typename Top>
constexpr bool has_values = requires(Top &top) { top.m_axi_values_arvalid; };

/// When memory answers, in cycles, how often it takes what is offered and how often it answers with an error, in 256ths. How often it does not answer a
/// read or a write at all, or a read in part alone, until that is set to 0 again.
struct MemoryPace {
  uint32_t least = 30;
  uint32_t most = 150;
  uint32_t ready = 200;
  uint32_t errors = 0;
  uint32_t lost = 0;
};

class ValuesMemory {
 public:
  explicit ValuesMemory(uint64_t seed) : noise_(seed), rng_(seed + 1) {}

  void set_pace(const MemoryPace &pace) { pace_ = pace; }

  template <typename Top>
  void idle(Top &top) {
    if constexpr (has_values<Top>) {
      top.m_axi_values_awready = 0;
      top.m_axi_values_wready = 0;
      top.m_axi_values_arready = 0;
      top.m_axi_values_bvalid = 0;
      top.m_axi_values_rvalid = 0;
    }
  }

  template <typename Top>
  void drive(Top &top) {
    if constexpr (has_values<Top>) {
      const uint64_t now = top.ticks_o;
      top.m_axi_values_awready = rng_.chance(pace_.ready);
      top.m_axi_values_wready = rng_.chance(pace_.ready);
      top.m_axi_values_arready = rng_.chance(pace_.ready);
      // An answer that is offered holds until it is taken.
      if (reading_ < 0) reading_ = choose(reads_, now);
      top.m_axi_values_rvalid = reading_ >= 0;
      if (reading_ >= 0) {
        Read &read = reads_[static_cast<size_t>(reading_)];
        if (!read.known) sample(read);
        top.m_axi_values_rid = static_cast<uint8_t>(read.id);
        top.m_axi_values_rresp = read.bad ? 2 : 0;
        std::memcpy(bytes_at(top.m_axi_values_rdata, 0), read.data.data() + kBeat * read.beat, kBeat);
      }
      if (answering_ < 0) answering_ = choose(writes_, now);
      top.m_axi_values_bvalid = answering_ >= 0;
      if (answering_ >= 0) {
        const Write &write = writes_[static_cast<size_t>(answering_)];
        top.m_axi_values_bid = static_cast<uint8_t>(write.id);
        top.m_axi_values_bresp = write.bad ? 2 : 0;
      }
    }
  }

  /// Returns what rule was broken, or null.
  template <typename Top>
  const char *sample(Top &top) {
    if constexpr (has_values<Top>) {
      const uint64_t now = top.ticks_o;
      if (top.m_axi_values_rvalid && top.m_axi_values_rready) beat_taken();
      if (top.m_axi_values_bvalid && top.m_axi_values_bready) done();
      const Address ar{top.m_axi_values_araddr, top.m_axi_values_arid, top.m_axi_values_arlen + 1u};
      const Address aw{top.m_axi_values_awaddr, top.m_axi_values_awid, top.m_axi_values_awlen + 1u};
      if (const char *rule = ar_.sample(top.m_axi_values_arvalid, top.m_axi_values_arready, ar)) return rule;
      if (const char *rule = aw_.sample(top.m_axi_values_awvalid, top.m_axi_values_awready, aw)) return rule;
      if (ar_.taken) {
        reads_.push_back({due(now), ar.id, ar.address, std::vector<uint8_t>(kBeat * ar.beats), 0, false, error(), lost(ar.beats)});
        if (rng_.chance(128)) sample(reads_.back());
      }
      if (aw_.taken) asked_.push_back(aw);
      const uint8_t *data = bytes_at(top.m_axi_values_wdata, 0);
      if (w_stalled_ && (!top.m_axi_values_wvalid || std::memcmp(data, w_data_.data(), kBeat) != 0)) {
        return "write data changed before wready";
      }
      w_stalled_ = top.m_axi_values_wvalid && !top.m_axi_values_wready;
      std::memcpy(w_data_.data(), data, kBeat);
      if (top.m_axi_values_wvalid && top.m_axi_values_wready) {
        Beat beat{};
        std::memcpy(beat.data.data(), data, kBeat);
        beat.strobes = top.m_axi_values_wstrb;
        beats_.push_back(beat);
        if (top.m_axi_values_wlast) bursts_.push_back(std::move(beats_)), beats_.clear();
      }
      while (!asked_.empty() && !bursts_.empty()) {
        if (asked_.front().beats != bursts_.front().size()) return "a write has not as many beats as it says";
        writes_.push_back({due(now), asked_.front().id, asked_.front().address, std::move(bursts_.front()), error(), lost(1)});
        asked_.pop_front();
        bursts_.pop_front();
      }
    }
    return nullptr;
  }

  bool idle() const {
    return reads_.empty() && writes_.empty() && asked_.empty() && bursts_.empty() && beats_.empty();
  }

 private:
  static constexpr size_t kBeat = 16;
  static constexpr uint64_t kPage = 4096;

  struct Address {
    uint64_t address = 0;
    uint32_t id = 0;
    uint32_t beats = 0;
  };
  struct Beat {
    std::array<uint8_t, kBeat> data;
    uint32_t strobes;
  };
  struct Read {
    uint64_t due;
    uint32_t id;
    uint64_t address;
    std::vector<uint8_t> data;
    size_t beat;
    bool known;
    bool bad;
    size_t lost;
    bool answers() const { return beat != lost; }
  };
  struct Write {
    uint64_t due;
    uint32_t id;
    uint64_t address;
    std::vector<Beat> beats;
    bool bad;
    size_t lost;
    bool answers() const { return lost != 0; }
  };

  /// An address channel: what is offered holds, and a burst stays in 4 KiB.
  struct Channel {
    bool stalled = false;
    bool taken = false;
    Address held;
    const char *sample(bool valid, bool ready, const Address &now) {
      if (stalled && (!valid || now.address != held.address || now.id != held.id || now.beats != held.beats)) {
        return "an address changed before it was taken";
      }
      if (valid && now.address % kBeat != 0) return "an address is not a beat's";
      if (valid && now.address / kPage != (now.address + kBeat * now.beats - 1) / kPage) return "a burst leaves its 4 KiB";
      stalled = valid && !ready;
      taken = valid && ready;
      held = now;
      return nullptr;
    }
  };

  uint64_t due(uint64_t now) { return now + pace_.least + rng_.next() % (pace_.most - pace_.least + 1); }
  bool error() { return rng_.chance(pace_.errors); }
  /// The beat from which on nothing comes.
  size_t lost(size_t beats) { return pace_.lost != 0 && rng_.chance(pace_.lost) ? rng_.next() % beats : SIZE_MAX; }

  /// One whose time has come, and before which none of its ID is.
  template <typename Queue>
  int choose(const Queue &queue, uint64_t now) {
    std::vector<int> can;
    uint64_t seen = 0;
    for (size_t i = 0; i < queue.size(); ++i) {
      const uint64_t bit = uint64_t{1} << (queue[i].id % 64);
      if ((seen & bit) == 0 && queue[i].due <= now && (pace_.lost == 0 || queue[i].answers())) can.push_back(static_cast<int>(i));
      seen |= bit;
    }
    return can.empty() ? -1 : can[rng_.next() % can.size()];
  }

  void sample(Read &read) {
    for (size_t i = 0; i < read.data.size(); ++i) {
      read.data[i] = page(read.address + i)[(read.address + i) % kPage];
      // What comes with an error is noise.
      if (read.bad) read.data[i] ^= static_cast<uint8_t>(rng_.next());
    }
    read.known = true;
  }

  /// Beats of several reads come in turns.
  void beat_taken() {
    Read &read = reads_[static_cast<size_t>(reading_)];
    if (kBeat * ++read.beat == read.data.size()) reads_.erase(reads_.begin() + reading_);
    reading_ = -1;
  }

  /// One that fails may have been done in part.
  void done() {
    const Write &write = writes_[static_cast<size_t>(answering_)];
    uint64_t address = write.address;
    for (const Beat &beat : write.beats) {
      for (size_t i = 0; i < kBeat; ++i, ++address)
        if (beat.strobes >> i & 1 && !(write.bad && rng_.chance(128))) page(address)[address % kPage] = beat.data[i];
    }
    writes_.erase(writes_.begin() + answering_);
    answering_ = -1;
  }

  std::array<uint8_t, kPage> &page(uint64_t address) {
    const auto [found, is_new] = pages_.try_emplace(address / kPage);
    if (is_new) {
      Rng noise(noise_ + address / kPage);
      for (size_t i = 0; i < kPage; i += 8) {
        const uint64_t word = noise.next();
        std::memcpy(found->second.data() + i, &word, 8);
      }
    }
    return found->second;
  }

  uint64_t noise_;
  Rng rng_;
  MemoryPace pace_;
  std::unordered_map<uint64_t, std::array<uint8_t, kPage>> pages_;
  std::deque<Read> reads_;
  std::deque<Write> writes_;
  int reading_ = -1, answering_ = -1;
  Channel ar_, aw_;
  std::deque<Address> asked_;
  std::deque<std::vector<Beat>> bursts_;
  std::vector<Beat> beats_;
  bool w_stalled_ = false;
  std::array<uint8_t, kBeat> w_data_{};
};

}  // namespace sluice
