#include "instance.h"

#include <cstring>

#include "bits.h"

namespace sluice {

namespace {

constexpr uint32_t kResetCycles = 8;
// One tick is one cycle at 250 MHz: waves have nanoseconds that mean what ticks mean.
constexpr uint64_t kHalfCycleNs = 2;

/// A seed of its own for each source of randomness.
uint64_t derived(uint64_t seed, uint64_t which) { return Rng(seed + 0x9e3779b97f4a7c15u * (which + 1)).next(); }

struct Fit {
  std::string found;
  template <typename T>
  void check(const char *name, const T &, uint64_t bits) {
    if (can_hold<T>(bits)) return;
    found += std::string(found.empty() ? "" : ", ") + name + " has not " + std::to_string(bits) + " bits";
  }
};

}  // namespace

std::string Instance::misfit(const sluice_rtl_layout &layout) {
  const uint64_t bus = layout.bus_bytes, ports = layout.ports, destinations = layout.destinations;
  if (bus != 8 && bus != 16 && bus != 32 && bus != 64) return "a bus of " + std::to_string(bus) + " bytes";
  if (ports < 1 || ports > 8 || destinations < 1 || destinations > 8) return "1 to 8 ports and destinations are possible";
  if (layout.sideband_bits > 32 * kSidebandWords) return "the sideband is too wide";
  Fit fit;
  // Only the types of the ports are looked at: `top` is never evaluated.
  VerilatedContext context;
  const auto top = std::make_unique<Vsluice_nic>(&context, "probe");
  fit.check("s_axis_port_tdata", top->s_axis_port_tdata, 8 * bus * ports);
  fit.check("s_axis_port_tkeep", top->s_axis_port_tkeep, bus * ports);
  fit.check("s_axis_port_tvalid", top->s_axis_port_tvalid, ports);
  fit.check("m_axis_tdata", top->m_axis_tdata, 8 * bus * destinations);
  fit.check("m_axis_tkeep", top->m_axis_tkeep, bus * destinations);
  fit.check("m_axis_tvalid", top->m_axis_tvalid, destinations);
  fit.check("m_axis_tuser", top->m_axis_tuser, uint64_t{layout.sideband_bits} * destinations);
  fit.check("trace_port_o", top->trace_port_o, uint64_t{layout.port_trace_bits} * ports);
  fit.check("trace_merge_o", top->trace_merge_o, layout.merge_trace_bits);
  fit.check("trace_verdict_o", top->trace_verdict_o, layout.verdict_trace_bits);
  fit.check("trace_queue_o", top->trace_queue_o, layout.queue_trace_bits);
  fit.check("trace_leave_o", top->trace_leave_o, layout.leave_trace_bits);
  return fit.found;
}

Instance::Instance(const sluice_rtl_layout &layout, uint64_t seed)
    : layout_(layout), context_(std::make_unique<VerilatedContext>()), config_(derived(seed, 99)) {
  const Entered entered(*this);
  context_->randReset(2);
  // 0 would ask for a seed from the clock.
  context_->randSeed(static_cast<int>(derived(seed, 98) % 0x7fffffff) + 1);
  context_->fatalOnError(false);
#if VM_TRACE_FST
  context_->traceEverOn(true);
#endif
  top_ = std::make_unique<Vsluice_nic>(context_.get(), "nic");
  for (uint32_t p = 0; p < layout.ports; ++p) sources_.emplace_back(p, layout.bus_bytes, derived(seed, p));
  for (uint32_t d = 0; d < layout.destinations; ++d) {
    sinks_.emplace_back(d, layout.bus_bytes, (layout.sideband_bits + 31) / 32);
    stalls_.emplace_back(derived(seed, 16 + d));
  }
}

Instance::~Instance() {
  const Entered entered(*this);
#if VM_TRACE_FST
  if (fst_) fst_->close();
#endif
  if (!failure_.stopped()) top_->final();
}

void Instance::reset() {
  const Entered entered(*this);
  top_->s_axis_port_tvalid = 0;
  top_->s_axis_port_tlast = 0;
  top_->s_axis_port_tuser = 0;
  top_->s_axis_cfg_tvalid = 0;
  top_->m_axis_tready = 0;
  top_->m_axis_cfg_tready = 0;
  top_->rst_ni = 0;
  for (uint32_t i = 0; i < kResetCycles && !failure_.stopped(); ++i) {
    top_->clk_i = 0;
    top_->eval();
    top_->clk_i = 1;
    top_->eval();
    ++cycles_;
  }
  top_->rst_ni = 1;
  epoch_ = top_->trace_epoch_o;
}

uint32_t Instance::run(const sluice_rtl_until &until) {
  if (failure_.stopped()) return SLUICE_RTL_STOP_ERROR;
  const Entered entered(*this);
  uint32_t frames = 0, replies = 0, quiet = 0, stop = 0;
  uint64_t events = events_.count();
  for (uint64_t done = 0; stop == 0;) {
    if (done == until.max_cycles) return SLUICE_RTL_STOP_CYCLES;
    const Counted counted = cycle();
    ++done;
    if (failure_.stopped()) return SLUICE_RTL_STOP_ERROR;
    frames += counted.frames;
    replies += counted.replies;
    quiet = events_.count() == events && inputs_sent() ? quiet + 1 : 0;
    events = events_.count();
    if (done == until.max_cycles) stop |= SLUICE_RTL_STOP_CYCLES;
    if (until.frames != 0 && frames >= until.frames) stop |= SLUICE_RTL_STOP_FRAMES;
    if (until.replies != 0 && replies >= until.replies) stop |= SLUICE_RTL_STOP_REPLIES;
    if (until.quiet_cycles != 0 && quiet >= until.quiet_cycles) stop |= SLUICE_RTL_STOP_QUIET;
    if (until.event_bytes != 0 && events_.size() >= until.event_bytes) stop |= SLUICE_RTL_STOP_BUFFER;
  }
  return stop;
}

int Instance::offer(const uint8_t *frames, size_t bytes) {
  sluice_rtl_offer head;
  const auto next = [&](size_t at) { return at + sizeof head + (size_t{head.bytes} + 7) / 8 * 8; };
  for (size_t at = 0; at < bytes; at = next(at)) {
    if (bytes - at < sizeof head) return -1;
    std::memcpy(&head, frames + at, sizeof head);
    if (head.bytes == 0 || head.port >= layout_.ports || next(at) > bytes) return -1;
  }
  for (size_t at = 0; at < bytes; at = next(at)) {
    std::memcpy(&head, frames + at, sizeof head);
    const uint8_t *begin = frames + at + sizeof head;
    sources_[head.port].push({{begin, begin + head.bytes}, head.at, head.bad != 0});
  }
  return 0;
}

Instance::Counted Instance::cycle() {
  drive();
  top_->clk_i = 0;
  top_->eval();
  dump(0);
  const Counted counted = failure_.stopped() ? Counted{} : sample();
  top_->clk_i = 1;
  top_->eval();
  dump(1);
  ++cycles_;
  return counted;
}

void Instance::drive() {
  const uint64_t tick = now();
  const uint32_t bus = layout_.bus_bytes;
  for (uint32_t p = 0; p < layout_.ports; ++p) {
    bool last = false, bad = false;
    const BeatPins pins{bytes_at(top_->s_axis_port_tdata, p * bus), bytes_at(top_->s_axis_port_tkeep, p * bus / 8)};
    const bool valid = sources_[p].drive(tick, pins, last, bad);
    put_bit(top_->s_axis_port_tvalid, p, valid);
    put_bit(top_->s_axis_port_tlast, p, last);
    put_bit(top_->s_axis_port_tuser, p, bad);
  }
  ready_ = 0;
  for (uint32_t d = 0; d < layout_.destinations; ++d) ready_ |= uint32_t{stalls_[d].draw()} << d;
  top_->m_axis_tready = ready_;
  uint32_t word = top_->s_axis_cfg_tdata;
  bool last = false;
  top_->s_axis_cfg_tvalid = config_.drive(word, last);
  top_->s_axis_cfg_tdata = word;
  top_->s_axis_cfg_tlast = last;
  top_->m_axis_cfg_tready = config_.ready();
}

Instance::Counted Instance::sample() {
  Counted counted{};
  // The snapshot comes before the events of its cycle, as the counters see it.
  if (top_->trace_epoch_o != epoch_) {
    epoch_ = top_->trace_epoch_o;
    std::memcpy(events_.append(SLUICE_RTL_EVENT_EPOCH, 0, now(), 4), &epoch_, 4);
  }
  for (uint32_t p = 0; p < layout_.ports; ++p) {
    if (!bit_of(top_->s_axis_port_tready, p)) return broken("port " + std::to_string(p), "tready fell"), counted;
    if (bit_of(top_->s_axis_port_tvalid, p)) sources_[p].advance(now(), events_);
  }
  sample_traces();
  sample_outputs(counted);
  sample_config(counted);
  return counted;
}

template <typename T>
void Instance::trace_row(uint8_t kind, uint8_t source, const T &pins, uint32_t low, uint32_t bits) {
  uint32_t words[8];
  const uint32_t count = (bits + 31) / 32;
  get_bits(words, pins, low, bits);
  std::memcpy(events_.append(kind, source, now(), 4 * count), words, 4 * count);
}

void Instance::sample_traces() {
  for (uint32_t p = 0; top_->trace_port_valid_o >> p != 0; ++p) {
    if (!bit_of(top_->trace_port_valid_o, p)) continue;
    trace_row(SLUICE_RTL_EVENT_PORT, p, top_->trace_port_o, p * layout_.port_trace_bits, layout_.port_trace_bits);
  }
  if (top_->trace_merge_valid_o) trace_row(SLUICE_RTL_EVENT_MERGE, 0, top_->trace_merge_o, 0, layout_.merge_trace_bits);
  if (top_->trace_verdict_valid_o)
    trace_row(SLUICE_RTL_EVENT_VERDICT, 0, top_->trace_verdict_o, 0, layout_.verdict_trace_bits);
  if (top_->trace_queue_valid_o) trace_row(SLUICE_RTL_EVENT_QUEUE, 0, top_->trace_queue_o, 0, layout_.queue_trace_bits);
  if (top_->trace_leave_valid_o) trace_row(SLUICE_RTL_EVENT_LEAVE, 0, top_->trace_leave_o, 0, layout_.leave_trace_bits);
}

void Instance::sample_outputs(Counted &counted) {
  const uint32_t bus = layout_.bus_bytes;
  for (uint32_t d = 0; d < layout_.destinations; ++d) {
    Beat beat{};
    beat.valid = bit_of(top_->m_axis_tvalid, d);
    if (beat.valid) {
      beat.last = bit_of(top_->m_axis_tlast, d);
      std::memcpy(&beat.keep, bytes_at(top_->m_axis_tkeep, d * bus / 8), bus / 8);
      beat.data = bytes_at(top_->m_axis_tdata, d * bus);
      get_bits(beat.user, top_->m_axis_tuser, d * layout_.sideband_bits, layout_.sideband_bits);
    }
    bool left = false;
    const char *rule = sinks_[d].sample(beat, ready_ >> d & 1, now(), events_, left);
    if (rule) return broken("destination " + std::to_string(d), rule);
    counted.frames += left;
  }
}

void Instance::sample_config(Counted &counted) {
  if (top_->s_axis_cfg_tvalid && top_->s_axis_cfg_tready) config_.advance();
  bool ended = false;
  const char *rule = config_.sample(top_->m_axis_cfg_tvalid, top_->m_axis_cfg_tready, top_->m_axis_cfg_tdata,
                                    top_->m_axis_cfg_tlast, now(), events_, ended);
  if (rule) return broken("configuration ring", rule);
  counted.replies += ended;
}

void Instance::broken(const std::string &what, const char *rule) {
  failure_.stop("tick " + std::to_string(now()) + ", " + what + ": " + rule);
}

bool Instance::inputs_sent() const {
  for (const auto &source : sources_) {
    if (!source.empty()) return false;
  }
  return config_.empty();
}

#if VM_TRACE_FST
int Instance::waves(const char *path, uint64_t from, uint64_t to) {
  const Entered entered(*this);
  if (fst_) fst_->close();
  fst_ = std::make_unique<VerilatedFstC>();
  fst_->set_time_unit("1ns");
  fst_->set_time_resolution("1ns");
  top_->trace(fst_.get(), 99);
  fst_->open(path);
  if (!fst_->isOpen()) {
    fst_.reset();
    return -1;
  }
  waves_from_ = from;
  waves_to_ = to;
  return 0;
}

void Instance::dump(uint32_t half) {
  if (!fst_ || now() < waves_from_) return;
  if (now() >= waves_to_) {
    fst_->close();
    fst_.reset();
    return;
  }
  fst_->dump((2 * cycles_ + half) * kHalfCycleNs);
}
#else
int Instance::waves(const char *, uint64_t, uint64_t) { return -1; }
void Instance::dump(uint32_t) {}
#endif

}  // namespace sluice
