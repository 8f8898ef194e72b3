// The pins of a top that is engines alone: one stream in with its sideband, one out.
#pragma once

#include "dma_pins.h"
#include "frame_sink.h"
#include "frame_source.h"
#include "pins_base.h"
#include "stalls.h"

namespace sluice {

class Pins : public PinsBase {
 public:
  static std::string misfit(Vsluice_top &top, const sluice_rtl_layout &layout);

  Pins(Vsluice_top &top, const sluice_rtl_layout &layout, uint64_t seed, EventBuffer &events, Failure &failure,
       HostMemory &host);

  void idle();
  void drive();
  Counted sample();
  bool inputs_sent() const { return sources_[0].empty() && config_.empty() && dma_.idle(); }
  /// A frame begins with the words of its sideband.
  int offer(const uint8_t *frames, size_t bytes);
  std::vector<FrameSource> &sources() { return sources_; }
  std::vector<Stalls> &stalls() { return stalls_; }

 private:
  sluice_rtl_layout layout_;
  std::vector<FrameSource> sources_;
  FrameSink sink_;
  std::vector<Stalls> stalls_;
  bool ready_ = false;
  DmaPins dma_;
};

}  // namespace sluice
