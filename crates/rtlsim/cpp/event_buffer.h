// Events on their way to the caller, as one flat run of bytes.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "sluice_rtl.h"

namespace sluice {

class EventBuffer {
 public:
  /// Appends a head and returns the payload, which the caller fills.
  uint8_t *append(uint8_t kind, uint8_t source, uint64_t tick, size_t bytes) {
    const size_t at = data_.size();
    const sluice_rtl_event head{kind, source, 0, static_cast<uint32_t>(bytes), tick};
    data_.resize(at + sizeof head + (bytes + 7) / 8 * 8);
    std::memcpy(&data_[at], &head, sizeof head);
    ++count_;
    return &data_[at] + sizeof head;
  }

  /// All events; they stay valid until the next call.
  size_t take(const uint8_t **events) {
    taken_.swap(data_);
    data_.clear();
    *events = taken_.data();
    return taken_.size();
  }

  size_t size() const { return data_.size(); }
  /// Events ever appended.
  uint64_t count() const { return count_; }

 private:
  std::vector<uint8_t> data_;
  std::vector<uint8_t> taken_;
  uint64_t count_ = 0;
};

}  // namespace sluice
