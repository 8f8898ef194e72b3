// Reads and writes bit ranges of Verilated ports, whatever C++ type their width gives them.
// Hosts are little-endian: words of a wide port in memory are its bytes in order.
#pragma once

#include <verilated.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

static_assert(std::endian::native == std::endian::little, "frames are copied as memory");

namespace sluice {

template <typename T>
constexpr bool is_wide = !std::is_integral_v<T>;

/// 32-bit words of a port.
template <typename T>
constexpr uint32_t words_of() {
  if constexpr (is_wide<T>) {
    return sizeof(T) / 4;
  } else {
    return sizeof(T) == 8 ? 2 : 1;
  }
}

/// Whether a port of this C++ type can have been declared with `bits` bits.
template <typename T>
constexpr bool can_hold(uint64_t bits) {
  if constexpr (is_wide<T>) {
    return (bits + 31) / 32 == sizeof(T) / 4;
  } else {
    constexpr uint64_t most = 8 * sizeof(T);
    return bits <= most && (most == 8 || bits > most / 2);
  }
}

/// Copies bits [low, low + width) into words; the rest of the last word is zero.
template <typename T>
void get_bits(uint32_t *out, const T &port, uint32_t low, uint32_t width) {
  const uint32_t count = (width + 31) / 32;
  if constexpr (is_wide<T>) {
    const uint32_t *in = port.data();
    const uint32_t last = words_of<T>() - 1;
    const uint32_t shift = low % 32;
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t at = low / 32 + i;
      const uint64_t high = at < last ? in[at + 1] : 0;
      out[i] = static_cast<uint32_t>((high << 32 | in[at]) >> shift);
    }
  } else {
    const uint64_t value = static_cast<uint64_t>(port) >> low;
    for (uint32_t i = 0; i < count; ++i) out[i] = static_cast<uint32_t>(value >> (32 * i));
  }
  if (width % 32 != 0) out[count - 1] &= (1u << (width % 32)) - 1;
}

/// A byte-aligned part of a port as memory.
template <typename T>
uint8_t *bytes_at(T &port, uint32_t byte) {
  if constexpr (is_wide<T>) {
    return reinterpret_cast<uint8_t *>(port.data()) + byte;
  } else {
    return reinterpret_cast<uint8_t *>(&port) + byte;
  }
}

/// Sets or clears one bit of a narrow port.
template <typename T>
void put_bit(T &port, uint32_t bit, bool value) {
  const T mask = static_cast<T>(T{1} << bit);
  port = value ? port | mask : port & static_cast<T>(~mask);
}

template <typename T>
bool bit_of(const T &port, uint32_t bit) {
  return (port >> bit) & 1;
}

}  // namespace sluice
