// What counts on while nothing moves: the ticks, and the pass over the l7 engine's message table.
//
// docs/decisions/idle-jump.md says why there is nothing else.
#pragma once

#include <cstdint>

#include "Vsluice_top___024root.h"

namespace sluice {

/// Cycles of a tick of the message table's time.
constexpr uint64_t kExpiryTickCycles = 64;
/// Cycles from one entry of the message table to the next in a pass that nothing holds up.
constexpr uint64_t kPlaceCycles = 4;
/// A quarter of what the narrowest clock, that of shares, counts before it wraps.
constexpr uint64_t kMostSkip = uint64_t{1} << 30;

// Sets a register of the top where it has one of this name; `found` says so.
#define SLUICE_SET(name, value)              \
  if constexpr (requires { root.name; }) {   \
    root.name = static_cast<uint32_t>(value); \
    found = true;                            \
  }

/// Sets the cycles that are left out behind the next one; false where the top has no such registers or so many are too many.
template <typename Root>
bool set_skip(Root &root, uint64_t cycles) {
  if (cycles >= kMostSkip || cycles % kExpiryTickCycles != 0) return false;
  bool found = false;
  SLUICE_SET(sluice_nic_top__DOT__u_l7__DOT__u_host__DOT__u_expiry__DOT__skip_ticks, cycles / kExpiryTickCycles)
  SLUICE_SET(sluice_nic_top__DOT__u_l7__DOT__u_host__DOT__u_expiry__DOT__skip_places, cycles / kPlaceCycles)
  // A NIC without an l7 engine has this one only.
  found = false;
  SLUICE_SET(sluice_nic_top__DOT__u_shell__DOT__u_system__DOT__skip, cycles)
  return found;
}

}  // namespace sluice
