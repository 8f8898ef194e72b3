// The project's random generator, xoshiro256** seeded by splitmix64, as crates/formats has it.
#pragma once

#include <cstdint>

namespace sluice {

class Rng {
 public:
  explicit Rng(uint64_t seed) {
    for (auto &word : state_) {
      seed += 0x9e3779b97f4a7c15u;
      uint64_t z = seed;
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
      z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
      word = z ^ (z >> 31);
    }
  }

  uint64_t next() {
    const uint64_t result = rotl(state_[1] * 5, 7) * 9;
    const uint64_t t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = rotl(state_[3], 45);
    return result;
  }

  /// True with probability chance / 256. Draws nothing when the answer is certain.
  bool chance(uint32_t chance) {
    if (chance == 0) return false;
    return chance >= 256 || (next() >> 56) < chance;
  }

 private:
  static uint64_t rotl(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }
  uint64_t state_[4];
};

}  // namespace sluice
