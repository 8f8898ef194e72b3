// The pins of sluice_nic_top.
#pragma once

#include "frame_sink.h"
#include "frame_source.h"
#include "host_memory.h"
#include "pins_base.h"
#include "stalls.h"

namespace sluice {

class Pins : public PinsBase {
 public:
  static std::string misfit(Vsluice_top &top, const sluice_rtl_layout &layout);

  /// The NIC has no DMA port yet.
  Pins(Vsluice_top &top, const sluice_rtl_layout &layout, uint64_t seed, EventBuffer &events, Failure &failure,
       HostMemory &);

  void idle();
  void drive();
  Counted sample();
  bool inputs_sent() const;
  int offer(const uint8_t *frames, size_t bytes);
  std::vector<FrameSource> &sources() { return sources_; }
  std::vector<Stalls> &stalls() { return stalls_; }

 private:
  void sample_outputs(Counted &counted);
  void sample_traces();

  sluice_rtl_layout layout_;
  std::vector<FrameSource> sources_;
  std::vector<FrameSink> sinks_;
  std::vector<Stalls> stalls_;
  uint32_t ready_ = 0;
};

}  // namespace sluice
