#include "pins.h"

namespace sluice {

std::string Pins::misfit(Vsluice_top &top, const sluice_rtl_layout &layout) {
  const uint64_t bus = layout.bus_bytes;
  if (bus != 32 && bus != 64) return "a bus of " + std::to_string(bus) + " bytes";
  if (layout.ports != 1 || layout.destinations != 1) return "there is one stream in and one out";
  if (layout.sideband_bits > 32 * kSidebandWords) return "the sideband is too wide";
  Fit fit;
  fit.check("s_axis_tdata", top.s_axis_tdata, 8 * bus);
  fit.check("s_axis_tkeep", top.s_axis_tkeep, bus);
  fit.check("s_axis_tuser", top.s_axis_tuser, layout.input_user_bits);
  fit.check("m_axis_tdata", top.m_axis_tdata, 8 * bus);
  fit.check("m_axis_tkeep", top.m_axis_tkeep, bus);
  fit.check("m_axis_tuser", top.m_axis_tuser, layout.sideband_bits);
  fit.check("trace_stamp_o", top.trace_stamp_o, layout.merge_trace_bits);
  fit.check("trace_verdict_valid_o", top.trace_verdict_valid_o, layout.engines);
  fit.check("trace_verdict_o", top.trace_verdict_o, layout.engines * layout.verdict_trace_bits);
  fit_steps(fit, top, layout.steps, layout.step_trace_bits);
  return fit.found;
}

Pins::Pins(Vsluice_top &top, const sluice_rtl_layout &layout, uint64_t seed, EventBuffer &events, Failure &failure,
           HostMemory &host)
    : PinsBase(top, seed, events, failure),
      layout_(layout),
      sink_(0, layout.bus_bytes, (layout.sideband_bits + 31) / 32),
      dma_(host) {
  sources_.emplace_back(0, layout.bus_bytes, derived_seed(seed, 0));
  stalls_.emplace_back(derived_seed(seed, 16));
}

void Pins::idle() {
  top_.s_axis_tvalid = 0;
  top_.s_axis_tlast = 0;
  top_.m_axis_tready = 0;
  dma_.idle(top_);
  values_.idle(top_);
  idle_config();
}

int Pins::offer(const uint8_t *frames, size_t bytes) {
  const uint32_t user = (layout_.input_user_bits + 31) / 32;
  return each_frame(frames, bytes, 1, 4 * user + 1, [&](const sluice_rtl_offer &head, const uint8_t *begin) {
    std::vector<uint32_t> words(user);
    std::memcpy(words.data(), begin, 4 * user);
    sources_[0].push({{begin + 4 * user, begin + head.bytes}, std::move(words), head.at, false});
  });
}

void Pins::drive() {
  bool last = false, bad = false;
  const BeatPins pins{bytes_at(top_.s_axis_tdata, 0), bytes_at(top_.s_axis_tkeep, 0), bytes_at(top_.s_axis_tuser, 0)};
  top_.s_axis_tvalid = sources_[0].drive(now(), pins, last, bad);
  top_.s_axis_tlast = last;
  ready_ = stalls_[0].draw();
  top_.m_axis_tready = ready_;
  dma_.drive(top_, events_);
  values_.drive(top_);
  drive_config();
}

Counted Pins::sample() {
  Counted counted{};
  if (top_.s_axis_tvalid && top_.s_axis_tready) sources_[0].advance(now(), events_);
  if (top_.trace_stamp_valid_o) trace_row(SLUICE_RTL_EVENT_MERGE, 0, top_.trace_stamp_o, 0, layout_.merge_trace_bits);
  verdicts(layout_.engines, top_.trace_verdict_valid_o, top_.trace_verdict_o, layout_.verdict_trace_bits);
  steps(top_, layout_.steps, layout_.step_trace_bits);
  Beat beat{};
  beat.valid = top_.m_axis_tvalid;
  if (beat.valid) {
    beat.last = top_.m_axis_tlast;
    std::memcpy(&beat.keep, bytes_at(top_.m_axis_tkeep, 0), layout_.bus_bytes / 8);
    beat.data = bytes_at(top_.m_axis_tdata, 0);
    get_bits(beat.user, top_.m_axis_tuser, 0, layout_.sideband_bits);
  }
  if (const char *rule = dma_.sample(top_, layout_.bus_bytes)) return broken("host memory", rule), counted;
  bool left = false;
  if (const char *rule = values_.sample(top_)) return broken("memory of values", rule), counted;
  if (const char *rule = sink_.sample(beat, ready_, now(), events_, left)) return broken("m_axis", rule), counted;
  counted.frames += left;
  sample_config(counted);
  return counted;
}

}  // namespace sluice
