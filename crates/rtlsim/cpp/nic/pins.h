// The pins of sluice_nic_top.
#pragma once

#include "dma_pins.h"
#include "frame_sink.h"
#include "frame_source.h"
#include "pins_base.h"
#include "stalls.h"

namespace sluice {

/// Bits of a message's queue, and one above that says that the frame is of a message.
constexpr uint32_t kMessageBits = 9;

class Pins : public PinsBase {
 public:
  static std::string misfit(Vsluice_top &top, const sluice_rtl_layout &layout);

  Pins(Vsluice_top &top, const sluice_rtl_layout &layout, uint64_t seed, EventBuffer &events, Failure &failure,
       HostMemory &host);

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
  void put_message(uint32_t *user) const;
  /// Bits of what stands beside a frame: the sideband, and above it of the last destination the message's queue and whether it is one.
  uint32_t user_bits() const { return layout_.sideband_bits + kMessageBits; }

  sluice_rtl_layout layout_;
  std::vector<FrameSource> sources_;
  std::vector<FrameSink> sinks_;
  std::vector<Stalls> stalls_;
  uint32_t ready_ = 0;
  DmaPins dma_;
};

}  // namespace sluice
