// What the pins of every top have: the configuration ring, traces, broken rules.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "Vsluice_top.h"
#include "bits.h"
#include "config_wire.h"
#include "event_buffer.h"
#include "failure.h"
#include "rng.h"
#include "sluice_rtl.h"
#include "values_memory.h"

namespace sluice {

/// A seed of its own for each source of randomness.
inline uint64_t derived_seed(uint64_t seed, uint64_t which) {
  return Rng(seed + 0x9e3779b97f4a7c15u * (which + 1)).next();
}

/// What one cycle brought that a run counts.
struct Counted {
  uint32_t frames;
  uint32_t replies;
};

/// Ports whose width is not what the caller believes.
struct Fit {
  std::string found;
  template <typename T>
  void check(const char *name, const T &, uint64_t bits) {
    if (can_hold<T>(bits)) return;
    found += std::string(found.empty() ? "" : ", ") + name + " has not " + std::to_string(bits) + " bits";
  }
};

class PinsBase {
 public:
  PinsBase(Vsluice_top &top, uint64_t seed, EventBuffer &events, Failure &failure)
      : top_(top), events_(events), failure_(failure), config_(derived_seed(seed, 99)), values_(derived_seed(seed, 96)) {}

  ConfigWire &config() { return config_; }
  ValuesMemory &values() { return values_; }

 protected:
  uint64_t now() const { return top_.ticks_o; }

  void idle_config() {
    top_.s_axis_cfg_tvalid = 0;
    top_.m_axis_cfg_tready = 0;
  }

  void drive_config() {
    uint32_t word = top_.s_axis_cfg_tdata;
    bool last = false;
    top_.s_axis_cfg_tvalid = config_.drive(word, last);
    top_.s_axis_cfg_tdata = word;
    top_.s_axis_cfg_tlast = last;
    top_.m_axis_cfg_tready = config_.ready();
  }

  void sample_config(Counted &counted) {
    if (top_.s_axis_cfg_tvalid && top_.s_axis_cfg_tready) config_.advance();
    bool ended = false;
    const char *rule = config_.sample(top_.m_axis_cfg_tvalid, top_.m_axis_cfg_tready, top_.m_axis_cfg_tdata,
                                      top_.m_axis_cfg_tlast, now(), events_, ended);
    if (rule) return broken("configuration ring", rule);
    counted.replies += ended;
  }

  template <typename T>
  void trace_row(uint8_t kind, uint8_t source, const T &pins, uint32_t low, uint32_t bits) {
    uint32_t words[8];
    const uint32_t count = (bits + 31) / 32;
    get_bits(words, pins, low, bits);
    std::memcpy(events_.append(kind, source, now(), 4 * count), words, 4 * count);
  }

  /// The engines' verdicts of this cycle, each a row of `bits`.
  template <typename Valid, typename Rows>
  void verdicts(uint32_t engines, const Valid &valid, const Rows &rows, uint32_t bits) {
    for (uint32_t e = 0; e < engines; e++)
      if (valid >> e & 1) trace_row(SLUICE_RTL_EVENT_VERDICT, uint8_t(e), rows, e * bits, bits);
  }

  /// What an XDP engine's steps were in this cycle, channel by channel, where the top has that trace.
  template <typename Top>
  void steps(const Top &top, uint32_t channels, uint32_t bits) {
    if constexpr (requires { top.trace_step_o; }) {
      for (uint32_t c = 0; c < channels; c++)
        if (top.trace_step_valid_o >> c & 1) trace_row(SLUICE_RTL_EVENT_STEP, uint8_t(c), top.trace_step_o, c * bits, bits);
    }
  }

  /// The widths of that trace.
  template <typename Top>
  static void fit_steps(Fit &fit, const Top &top, uint32_t channels, uint32_t bits) {
    if constexpr (requires { top.trace_step_o; }) {
      fit.check("trace_step_valid_o", top.trace_step_valid_o, channels);
      fit.check("trace_step_o", top.trace_step_o, channels * bits);
    } else if (channels != 0) {
      fit.found += " no trace of steps";
    }
  }

  void broken(const std::string &what, const char *rule) {
    failure_.stop("tick " + std::to_string(now()) + ", " + what + ": " + rule);
  }

  Vsluice_top &top_;
  EventBuffer &events_;
  Failure &failure_;
  ConfigWire config_;
  ValuesMemory values_;
};

/// Calls `take(head, begin)` for each frame of an offer once all are well formed; returns 0, or -1.
template <typename Take>
int each_frame(const uint8_t *frames, size_t bytes, uint32_t ports, uint32_t least, Take take) {
  sluice_rtl_offer head;
  const auto next = [&](size_t at) { return at + sizeof head + (size_t{head.bytes} + 7) / 8 * 8; };
  for (size_t at = 0; at < bytes; at = next(at)) {
    if (bytes - at < sizeof head) return -1;
    std::memcpy(&head, frames + at, sizeof head);
    if (head.bytes < least || head.port >= ports || next(at) > bytes) return -1;
  }
  for (size_t at = 0; at < bytes; at = next(at)) {
    std::memcpy(&head, frames + at, sizeof head);
    take(head, frames + at + sizeof head);
  }
  return 0;
}

}  // namespace sluice
