// One Verilated NIC with everything around its pins.
#pragma once

#include <verilated.h>

#include <memory>
#include <string>
#include <vector>

#include "Vsluice_nic.h"
#include "config_wire.h"
#include "event_buffer.h"
#include "failure.h"
#include "frame_sink.h"
#include "frame_source.h"
#include "sluice_rtl.h"
#include "stalls.h"
#if VM_TRACE_FST
#include <verilated_fst_c.h>
#endif

namespace sluice {

class Instance {
 public:
  /// Why a top with this layout cannot be driven, or empty.
  static std::string misfit(const sluice_rtl_layout &layout);

  Instance(const sluice_rtl_layout &layout, uint64_t seed);
  ~Instance();
  Instance(const Instance &) = delete;

  /// Holds reset for some cycles.
  void reset();
  uint32_t run(const sluice_rtl_until &until);
  int offer(const uint8_t *frames, size_t bytes);
  int waves(const char *path, uint64_t from, uint64_t to);

  uint64_t now() const { return top_->ticks_o; }
  uint64_t cycles() const { return cycles_; }
  Failure &failure() { return failure_; }
  const Failure &failure() const { return failure_; }
  EventBuffer &events() { return events_; }
  ConfigWire &config() { return config_; }
  std::vector<FrameSource> &sources() { return sources_; }
  std::vector<Stalls> &stalls() { return stalls_; }

 private:
  /// Makes this instance the one that Verilator's runtime and messages belong to.
  struct Entered {
    explicit Entered(Instance &instance) : current(instance.failure_) {
      Verilated::threadContextp(instance.context_.get());
    }
    Failure::Current current;
  };
  /// What one cycle brought that `run` counts.
  struct Counted {
    uint32_t frames;
    uint32_t replies;
  };
  Counted cycle();
  void drive();
  Counted sample();
  void sample_outputs(Counted &counted);
  void sample_config(Counted &counted);
  void sample_traces();
  template <typename T>
  void trace_row(uint8_t kind, uint8_t source, const T &pins, uint32_t low, uint32_t bits);
  void broken(const std::string &what, const char *rule);
  bool inputs_sent() const;
  void dump(uint32_t half);

  sluice_rtl_layout layout_;
  Failure failure_;
  std::unique_ptr<VerilatedContext> context_;
  std::unique_ptr<Vsluice_nic> top_;
  EventBuffer events_;
  std::vector<FrameSource> sources_;
  std::vector<FrameSink> sinks_;
  std::vector<Stalls> stalls_;
  ConfigWire config_;
  uint64_t cycles_ = 0;
  uint32_t ready_ = 0;
  uint32_t epoch_ = 0;
#if VM_TRACE_FST
  std::unique_ptr<VerilatedFstC> fst_;
  uint64_t waves_from_ = 0;
  uint64_t waves_to_ = 0;
#endif
};

}  // namespace sluice
