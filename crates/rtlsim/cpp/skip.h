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

// Names of the registers, from the top's hierarchy.
#define SLUICE_TICKS sluice_nic_top__DOT__u_shell__DOT__u_system__DOT__skip
#define SLUICE_AGES sluice_nic_top__DOT__u_out__DOT__u_l7__DOT__gen_l7__DOT__u_l7__DOT__u_host__DOT__u_expiry__DOT__skip_ticks
#define SLUICE_PLACES sluice_nic_top__DOT__u_out__DOT__u_l7__DOT__gen_l7__DOT__u_l7__DOT__u_host__DOT__u_expiry__DOT__skip_places

/// Sets the cycles that are left out behind the next one; false, and nothing is set, where so many are too many or the top has no such
/// registers: those of the message table too, where it has one.
template <typename Root>
bool set_skip(Root &root, uint64_t cycles, bool has_messages) {
  constexpr bool kHasTicks = requires(Root &r) { r.SLUICE_TICKS; };
  constexpr bool kHasAges = requires(Root &r) { r.SLUICE_AGES; r.SLUICE_PLACES; };
  if (cycles >= kMostSkip || cycles % kExpiryTickCycles != 0 || !kHasTicks || kHasAges != has_messages) return false;
  if constexpr (kHasTicks) root.SLUICE_TICKS = static_cast<uint32_t>(cycles);
  if constexpr (kHasAges) {
    root.SLUICE_AGES = static_cast<uint32_t>(cycles / kExpiryTickCycles);
    root.SLUICE_PLACES = static_cast<uint32_t>(cycles / kPlaceCycles);
  }
  return true;
}

}  // namespace sluice
