#include "pins.h"

namespace sluice {

std::string Pins::misfit(Vsluice_top &top, const sluice_rtl_layout &layout) {
  const uint64_t bus = layout.bus_bytes, ports = layout.ports, destinations = layout.destinations;
  if (bus != 8 && bus != 16 && bus != 32 && bus != 64) return "a bus of " + std::to_string(bus) + " bytes";
  if (ports < 1 || ports > 8 || destinations < 1 || destinations > 8) return "1 to 8 ports and destinations are possible";
  if (layout.sideband_bits + kMessageBits > 32 * kSidebandWords) return "the sideband is too wide";
  if (layout.input_user_bits != 0) return "frames come without a sideband";
  Fit fit;
  fit.check("s_axis_port_tdata", top.s_axis_port_tdata, 8 * bus * ports);
  fit.check("s_axis_port_tkeep", top.s_axis_port_tkeep, bus * ports);
  fit.check("s_axis_port_tvalid", top.s_axis_port_tvalid, ports);
  fit.check("m_axis_tdata", top.m_axis_tdata, 8 * bus * destinations);
  fit.check("m_axis_tkeep", top.m_axis_tkeep, bus * destinations);
  fit.check("m_axis_tvalid", top.m_axis_tvalid, destinations);
  fit.check("m_axis_tuser", top.m_axis_tuser, uint64_t{layout.sideband_bits} * destinations);
  fit.check("trace_port_o", top.trace_port_o, uint64_t{layout.port_trace_bits} * ports);
  fit.check("trace_merge_o", top.trace_merge_o, layout.merge_trace_bits);
  fit.check("trace_verdict_valid_o", top.trace_verdict_valid_o, layout.engines);
  fit.check("trace_verdict_o", top.trace_verdict_o, layout.engines * layout.verdict_trace_bits);
  fit.check("trace_queue_o", top.trace_queue_o, uint64_t{layout.queue_trace_bits} * destinations);
  fit.check("trace_leave_o", top.trace_leave_o, layout.leave_trace_bits);
  fit_steps(fit, top, layout.steps, layout.step_trace_bits);
  return fit.found;
}

Pins::Pins(Vsluice_top &top, const sluice_rtl_layout &layout, uint64_t seed, EventBuffer &events, Failure &failure,
           HostMemory &host)
    : PinsBase(top, seed, events, failure), layout_(layout), dma_(host) {
  for (uint32_t p = 0; p < layout.ports; ++p) sources_.emplace_back(p, layout.bus_bytes, derived_seed(seed, p));
  for (uint32_t d = 0; d < layout.destinations; ++d) {
    sinks_.emplace_back(d, layout.bus_bytes, (user_bits() + 31) / 32);
    stalls_.emplace_back(derived_seed(seed, 16 + d));
  }
}

void Pins::idle() {
  top_.s_axis_port_tvalid = 0;
  top_.s_axis_port_tlast = 0;
  top_.s_axis_port_tuser = 0;
  top_.m_axis_tready = 0;
  dma_.idle(top_);
  values_.idle(top_);
  idle_config();
}

int Pins::offer(const uint8_t *frames, size_t bytes) {
  return each_frame(frames, bytes, layout_.ports, 1, [&](const sluice_rtl_offer &head, const uint8_t *begin) {
    sources_[head.port].push({{begin, begin + head.bytes}, {}, head.at, head.bad != 0});
  });
}

void Pins::drive() {
  const uint32_t bus = layout_.bus_bytes;
  for (uint32_t p = 0; p < layout_.ports; ++p) {
    bool last = false, bad = false;
    const BeatPins pins{bytes_at(top_.s_axis_port_tdata, p * bus), bytes_at(top_.s_axis_port_tkeep, p * bus / 8), nullptr};
    const bool valid = sources_[p].drive(now(), pins, last, bad);
    put_bit(top_.s_axis_port_tvalid, p, valid);
    put_bit(top_.s_axis_port_tlast, p, last);
    put_bit(top_.s_axis_port_tuser, p, bad);
  }
  ready_ = 0;
  for (uint32_t d = 0; d < layout_.destinations; ++d) ready_ |= uint32_t{stalls_[d].draw()} << d;
  top_.m_axis_tready = ready_;
  dma_.drive(top_, events_);
  values_.drive(top_);
  drive_config();
}

Counted Pins::sample() {
  Counted counted{};
  for (uint32_t p = 0; p < layout_.ports; ++p) {
    if (!bit_of(top_.s_axis_port_tready, p)) return broken("port " + std::to_string(p), "tready fell"), counted;
    if (bit_of(top_.s_axis_port_tvalid, p)) sources_[p].advance(now(), events_);
  }
  sample_traces();
  if (const char *rule = dma_.sample(top_, layout_.bus_bytes)) return broken("host memory", rule), counted;
  if (const char *rule = values_.sample(top_)) return broken("memory of maps", rule), counted;
  sample_outputs(counted);
  sample_config(counted);
  return counted;
}

void Pins::sample_traces() {
  for (uint32_t p = 0; top_.trace_port_valid_o >> p != 0; ++p) {
    if (!bit_of(top_.trace_port_valid_o, p)) continue;
    trace_row(SLUICE_RTL_EVENT_PORT, p, top_.trace_port_o, p * layout_.port_trace_bits, layout_.port_trace_bits);
  }
  if (top_.trace_merge_valid_o) trace_row(SLUICE_RTL_EVENT_MERGE, 0, top_.trace_merge_o, 0, layout_.merge_trace_bits);
  verdicts(layout_.engines, top_.trace_verdict_valid_o, top_.trace_verdict_o, layout_.verdict_trace_bits);
  steps(top_, layout_.steps, layout_.step_trace_bits);
  for (uint32_t d = 0; top_.trace_queue_valid_o >> d != 0; ++d) {
    if (!bit_of(top_.trace_queue_valid_o, d)) continue;
    trace_row(SLUICE_RTL_EVENT_QUEUE, 0, top_.trace_queue_o, d * layout_.queue_trace_bits, layout_.queue_trace_bits);
  }
  if (top_.trace_leave_valid_o) trace_row(SLUICE_RTL_EVENT_LEAVE, 0, top_.trace_leave_o, 0, layout_.leave_trace_bits);
}

void Pins::put_message(uint32_t *user) const {
  const uint64_t message = uint64_t{top_.m_axis_queue_o} | uint64_t{top_.m_axis_message_o} << 8;
  const uint32_t word = layout_.sideband_bits / 32, low = layout_.sideband_bits % 32;
  user[word] |= uint32_t(message << low);
  if (low + kMessageBits > 32) user[word + 1] |= uint32_t(message << low >> 32);
}

void Pins::sample_outputs(Counted &counted) {
  const uint32_t bus = layout_.bus_bytes;
  for (uint32_t d = 0; d < layout_.destinations; ++d) {
    Beat beat{};
    beat.valid = bit_of(top_.m_axis_tvalid, d);
    if (beat.valid) {
      beat.last = bit_of(top_.m_axis_tlast, d);
      std::memcpy(&beat.keep, bytes_at(top_.m_axis_tkeep, d * bus / 8), bus / 8);
      beat.data = bytes_at(top_.m_axis_tdata, d * bus);
      get_bits(beat.user, top_.m_axis_tuser, d * layout_.sideband_bits, layout_.sideband_bits);
      if (d + 1 == layout_.destinations) put_message(beat.user);
    }
    bool left = false;
    const char *rule = sinks_[d].sample(beat, ready_ >> d & 1, now(), events_, left);
    if (rule) return broken("destination " + std::to_string(d), rule);
    counted.frames += left;
  }
}

bool Pins::inputs_sent() const {
  for (const auto &source : sources_) {
    if (!source.empty()) return false;
  }
  return config_.empty() && dma_.idle();
}

}  // namespace sluice
