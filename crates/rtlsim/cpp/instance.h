// One Verilated top with everything around its pins.
#pragma once

#include <verilated.h>

#include <memory>
#include <string>

#include "Vsluice_top.h"
#include "event_buffer.h"
#include "failure.h"
#include "host_memory.h"
#include "pins.h"
#include "sluice_rtl.h"
#if VM_TRACE_FST
#include <verilated_fst_c.h>
#endif

namespace sluice {

class Instance {
 public:
  Instance(const sluice_rtl_layout &layout, uint64_t seed);
  ~Instance();
  Instance(const Instance &) = delete;

  /// Why a top with this layout cannot be driven, or empty.
  static std::string misfit(const sluice_rtl_layout &layout);

  /// Holds reset for some cycles.
  void reset();
  uint32_t run(const sluice_rtl_until &until);
  /// A cycle, and time as if so many more had passed.
  bool skip(uint64_t cycles, bool has_messages);
  int waves(const char *path, uint64_t from, uint64_t to);

  uint64_t now() const { return top_->ticks_o; }
  uint64_t cycles() const { return cycles_; }
  Failure &failure() { return failure_; }
  const Failure &failure() const { return failure_; }
  EventBuffer &events() { return events_; }
  Pins &pins() { return *pins_; }
  HostMemory &host() { return host_; }

 private:
  /// Makes this instance the one that Verilator's runtime and messages belong to.
  struct Entered {
    explicit Entered(Instance &instance) : current(instance.failure_) {
      Verilated::threadContextp(instance.context_.get());
    }
    Failure::Current current;
  };
  Counted cycle();
  void dump(uint32_t half);

  Failure failure_;
  sluice_rtl_layout layout_;
  uint64_t seed_;
  uint64_t resets_ = 0;
  std::unique_ptr<VerilatedContext> context_;
  std::unique_ptr<Vsluice_top> top_;
  EventBuffer events_;
  HostMemory host_;
  std::unique_ptr<Pins> pins_;
  uint64_t cycles_ = 0;
  uint32_t epoch_ = 0;
#if VM_TRACE_FST
  std::unique_ptr<VerilatedFstC> fst_;
  uint64_t waves_from_ = 0;
  uint64_t waves_to_ = 0;
#endif
};

}  // namespace sluice
