// One port's wire: frames wait for their tick and go in beat by beat.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <vector>

#include "event_buffer.h"
#include "rng.h"

namespace sluice {

struct Frame {
  std::vector<uint8_t> bytes;
  /// Sideband of the stream, for tops that take one.
  std::vector<uint32_t> user;
  uint64_t at;
  bool bad;
};

/// One beat on the bus: where the port's slice of the flat vectors lies.
struct BeatPins {
  uint8_t *data;
  uint8_t *keep;
  /// Or null.
  uint8_t *user;
};

class FrameSource {
 public:
  FrameSource(uint8_t port, uint32_t bus_bytes, uint64_t seed) : port_(port), bus_bytes_(bus_bytes), rng_(seed) {}

  void push(Frame frame) { queue_.push_back(std::move(frame)); }
  void set_gaps(uint32_t chance) { gaps_ = chance; }
  bool empty() const { return queue_.empty(); }

  /// Decides this cycle's beat. Returns whether it is valid; `last` and `bad` are then set.
  bool drive(uint64_t tick, BeatPins pins, bool &last, bool &bad) {
    if (!valid_ && (queue_.empty() || queue_.front().at > tick || rng_.chance(gaps_))) return false;
    const Frame &frame = queue_.front();
    const uint32_t count = std::min<size_t>(bus_bytes_, frame.bytes.size() - offset_);
    last = offset_ + count == frame.bytes.size();
    bad = frame.bad;
    // A beat that waits stays on the wire as it is.
    if (valid_) return true;
    valid_ = true;
    std::memcpy(pins.data, &frame.bytes[offset_], count);
    // Whoever reads bytes beyond the frame is to find something else each time.
    for (uint32_t i = count; i < bus_bytes_; i += 8) {
      const uint64_t noise = rng_.next();
      std::memcpy(pins.data + i, &noise, std::min<uint32_t>(8, bus_bytes_ - i));
    }
    const uint64_t ones = ~uint64_t{0} >> (64 - count);
    std::memcpy(pins.keep, &ones, bus_bytes_ / 8);
    if (pins.user) std::memcpy(pins.user, frame.user.data(), 4 * frame.user.size());
    return true;
  }

  /// The beat was taken.
  void advance(uint64_t tick, EventBuffer &events) {
    const Frame &frame = queue_.front();
    if (offset_ == 0) first_ = tick;
    offset_ += bus_bytes_;
    valid_ = false;
    if (offset_ < frame.bytes.size()) return;
    const uint64_t payload[2] = {first_, sent_++};
    std::memcpy(events.append(SLUICE_RTL_EVENT_ARRIVED, port_, tick, sizeof payload), payload, sizeof payload);
    queue_.pop_front();
    offset_ = 0;
  }

 private:
  std::deque<Frame> queue_;
  size_t offset_ = 0;
  uint64_t first_ = 0;
  uint64_t sent_ = 0;
  uint32_t gaps_ = 0;
  bool valid_ = false;
  uint8_t port_;
  uint32_t bus_bytes_;
  Rng rng_;
};

}  // namespace sluice
