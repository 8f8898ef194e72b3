// When a receiver is ready.
#pragma once

#include <cstdint>

#include "rng.h"

namespace sluice {

class Stalls {
 public:
  explicit Stalls(uint64_t seed) : rng_(seed) {}

  void set(uint32_t chance, uint32_t burst) {
    chance_ = chance;
    burst_ = burst;
    left_ = 0;
  }

  /// Ready in this cycle.
  bool draw() {
    if (chance_ >= 256) return true;
    if (chance_ == 0) return false;
    if (burst_ <= 1) return rng_.chance(chance_);
    if (left_ == 0) {
      state_ = rng_.chance(chance_);
      left_ = 1 + static_cast<uint32_t>(rng_.next() % burst_);
    }
    --left_;
    return state_;
  }

 private:
  uint32_t chance_ = 256;
  uint32_t burst_ = 0;
  uint32_t left_ = 0;
  bool state_ = true;
  Rng rng_;
};

}  // namespace sluice
