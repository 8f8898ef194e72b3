#include "instance.h"

#include "skip.h"

#include <cstring>

namespace sluice {

namespace {

constexpr uint32_t kResetCycles = 8;
// One tick is one cycle at 250 MHz: waves have nanoseconds that mean what ticks mean.
constexpr uint64_t kHalfCycleNs = 2;

}  // namespace

std::string Instance::misfit(const sluice_rtl_layout &layout) {
  // Only the types of the ports are looked at: `top` is never evaluated.
  VerilatedContext context;
  const auto top = std::make_unique<Vsluice_top>(&context, "probe");
  return Pins::misfit(*top, layout);
}

Instance::Instance(const sluice_rtl_layout &layout, uint64_t seed)
    : layout_(layout),
      seed_(seed),
      context_(std::make_unique<VerilatedContext>()),
      host_(layout.bus_bytes, derived_seed(seed, 97)) {
  const Entered entered(*this);
  context_->randReset(2);
  // 0 would ask for a seed from the clock.
  context_->randSeed(static_cast<int>(derived_seed(seed, 98) % 0x7fffffff) + 1);
  context_->fatalOnError(false);
#if VM_TRACE_FST
  context_->traceEverOn(true);
#endif
  top_ = std::make_unique<Vsluice_top>(context_.get(), "nic");
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
  // Nothing of what was on the wires is left; what comes next is drawn anew.
  host_.reset();
  pins_ = std::make_unique<Pins>(*top_, layout_, seed_ + resets_++, events_, failure_, host_);
  pins_->idle();
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
    quiet = events_.count() == events && pins_->inputs_sent() ? quiet + 1 : 0;
    events = events_.count();
    if (done == until.max_cycles) stop |= SLUICE_RTL_STOP_CYCLES;
    if (until.frames != 0 && frames >= until.frames) stop |= SLUICE_RTL_STOP_FRAMES;
    if (until.replies != 0 && replies >= until.replies) stop |= SLUICE_RTL_STOP_REPLIES;
    if (until.quiet_cycles != 0 && quiet >= until.quiet_cycles) stop |= SLUICE_RTL_STOP_QUIET;
    if (until.event_bytes != 0 && events_.size() >= until.event_bytes) stop |= SLUICE_RTL_STOP_BUFFER;
  }
  return stop;
}

bool Instance::skip(uint64_t cycles, bool has_messages) {
  if (failure_.stopped()) return false;
  const Entered entered(*this);
  if (!set_skip(*top_->rootp, cycles, has_messages)) return false;
  cycle();
  set_skip(*top_->rootp, 0, has_messages);
  cycles_ += cycles;
  return !failure_.stopped();
}

Counted Instance::cycle() {
  pins_->drive();
  top_->clk_i = 0;
  top_->eval();
  dump(0);
  Counted counted{};
  if (!failure_.stopped()) {
    // The snapshot comes before the events of its cycle, as the counters see it.
    if (top_->trace_epoch_o != epoch_) {
      epoch_ = top_->trace_epoch_o;
      std::memcpy(events_.append(SLUICE_RTL_EVENT_EPOCH, 0, now(), 4), &epoch_, 4);
    }
    counted = pins_->sample();
  }
  top_->clk_i = 1;
  top_->eval();
  dump(1);
  ++cycles_;
  return counted;
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
