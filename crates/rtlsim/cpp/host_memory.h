// Host memory behind a DMA port: reads and writes come back late and in any order.
//
// What is written is in memory when its status goes back, and an event tells it then. Memory is the host's: it is there across resets.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <deque>
#include <unordered_map>
#include <vector>

#include "event_buffer.h"
#include "rng.h"

namespace sluice {

/// Bytes by address; those never written are zero.
class Memory {
 public:
  void write(uint64_t address, const uint8_t *bytes, size_t count) {
    for (size_t i = 0; i < count; ++i) page(address + i)[(address + i) % kPage] = bytes[i];
  }
  void read(uint64_t address, uint8_t *bytes, size_t count) {
    for (size_t i = 0; i < count; ++i) bytes[i] = page(address + i)[(address + i) % kPage];
  }

 private:
  static constexpr uint64_t kPage = 4096;
  std::array<uint8_t, kPage> &page(uint64_t address) { return pages_[address / kPage]; }
  std::unordered_map<uint64_t, std::array<uint8_t, kPage>> pages_;
};

/// A read or write as it is asked for.
struct DmaDesc {
  uint64_t address;
  uint32_t length;
  uint32_t tag;
};

/// When the host answers, in cycles, and how often it takes what is offered, in 256ths.
struct HostPace {
  uint32_t least = 20;
  uint32_t most = 20;
  uint32_t ready = 256;
};

class HostMemory {
 public:
  HostMemory(uint32_t bus_bytes, uint64_t seed) : bus_bytes_(bus_bytes), rng_(seed) {}

  Memory &memory() { return memory_; }
  void set_pace(const HostPace &pace) { pace_ = pace; }
  /// Forgets what is on its way.
  void reset() {
    reads_.clear();
    descs_.clear();
    writes_.clear();
    data_.clear();
    sent_.clear();
  }

  bool ready() { return rng_.chance(pace_.ready); }

  /// Returns what rule was broken, or null.
  const char *read(const DmaDesc &desc, uint64_t now) {
    for (const auto &other : reads_)
      if (other.desc.tag == desc.tag) return "a read's tag is in use";
    if (desc.length == 0 || desc.length > bus_bytes_) return "a read is empty or longer than a beat";
    reads_.push_back({due(now), desc});
    return nullptr;
  }

  const char *write(const DmaDesc &desc, uint32_t all_ones) {
    if (desc.length == 0) return "a write is empty";
    for (const auto &other : descs_)
      if (other.tag == desc.tag && desc.tag != all_ones) return "a write's tag is in use";
    for (const auto &other : writes_)
      if (other.desc.tag == desc.tag && desc.tag != all_ones) return "a write's tag is in use";
    descs_.push_back(desc);
    return nullptr;
  }

  const char *data(const uint8_t *bytes, uint64_t keep, bool last) {
    if (keep == 0 || (keep & (keep + 1)) != 0) return "tkeep is empty or has a hole";
    if (!last && std::popcount(keep) != static_cast<int>(bus_bytes_)) return "a beat before the last is partial";
    data_.insert(data_.end(), bytes, bytes + std::popcount(keep));
    if (last) sent_.push_back(std::move(data_)), data_.clear();
    return nullptr;
  }

  /// Puts descriptors and data together, which come apart.
  const char *pair(uint64_t now) {
    while (!descs_.empty() && !sent_.empty()) {
      if (descs_.front().length != sent_.front().size()) return "a write's data have not its length";
      writes_.push_back({due(now), descs_.front(), std::move(sent_.front())});
      descs_.pop_front();
      sent_.pop_front();
    }
    return nullptr;
  }

  /// A read whose time has come; `data` gets a beat.
  bool answer(uint64_t now, uint32_t &tag, uint8_t *data) {
    for (size_t i = 0; i < reads_.size(); ++i) {
      if (reads_[i].due > now) continue;
      tag = reads_[i].desc.tag;
      memory_.read(reads_[i].desc.address, data, reads_[i].desc.length);
      reads_.erase(reads_.begin() + static_cast<std::ptrdiff_t>(i));
      return true;
    }
    return false;
  }

  /// A write whose time has come: it is in memory.
  bool done(uint64_t now, uint32_t &tag, EventBuffer &events) {
    for (size_t i = 0; i < writes_.size(); ++i) {
      if (writes_[i].due > now) continue;
      const Write &write = writes_[i];
      tag = write.desc.tag;
      memory_.write(write.desc.address, write.data.data(), write.data.size());
      uint8_t *out = events.append(SLUICE_RTL_EVENT_WROTE, 0, now, 8 + write.data.size());
      std::memcpy(out, &write.desc.address, 8);
      std::memcpy(out + 8, write.data.data(), write.data.size());
      writes_.erase(writes_.begin() + static_cast<std::ptrdiff_t>(i));
      return true;
    }
    return false;
  }

  bool idle() const { return reads_.empty() && descs_.empty() && sent_.empty() && data_.empty() && writes_.empty(); }

 private:
  struct Read {
    uint64_t due;
    DmaDesc desc;
  };
  struct Write {
    uint64_t due;
    DmaDesc desc;
    std::vector<uint8_t> data;
  };
  uint64_t due(uint64_t now) { return now + pace_.least + rng_.next() % (pace_.most - pace_.least + 1); }

  uint32_t bus_bytes_;
  Rng rng_;
  HostPace pace_;
  Memory memory_;
  std::vector<Read> reads_;
  std::deque<DmaDesc> descs_;
  std::vector<Write> writes_;
  std::vector<uint8_t> data_;
  std::deque<std::vector<uint8_t>> sent_;
};

}  // namespace sluice
