// The pins of a top with a DMA port; of others there is nothing to do.
#pragma once

#include <cstring>

#include "bits.h"
#include "host_memory.h"

namespace sluice {

template <typename Top>
constexpr bool has_dma = requires(Top &top) { top.m_axis_dma_write_desc_tvalid; };

class DmaPins {
 public:
  explicit DmaPins(HostMemory &host) : host_(host) {}

  template <typename Top>
  void idle(Top &top) {
    if constexpr (has_dma<Top>) {
      top.m_axis_dma_read_desc_tready = 0;
      top.m_axis_dma_write_desc_tready = 0;
      top.m_axis_dma_write_data_tready = 0;
      top.s_axis_dma_read_data_tvalid = 0;
      top.s_axis_dma_write_status_tvalid = 0;
    }
  }

  template <typename Top>
  void drive(Top &top, EventBuffer &events) {
    if constexpr (has_dma<Top>) {
      const uint64_t now = top.ticks_o;
      top.m_axis_dma_read_desc_tready = host_.ready();
      top.m_axis_dma_write_desc_tready = host_.ready();
      top.m_axis_dma_write_data_tready = host_.ready();
      uint32_t tag = 0;
      top.s_axis_dma_read_data_tvalid = host_.answer(now, tag, bytes_at(top.s_axis_dma_read_data_tdata, 0));
      top.s_axis_dma_read_data_tag = static_cast<uint8_t>(tag);
      top.s_axis_dma_write_status_tvalid = host_.done(now, tag, events);
      top.s_axis_dma_write_status_tag = static_cast<uint8_t>(tag);
    }
  }

  /// Returns what rule was broken, or null.
  template <typename Top>
  const char *sample(Top &top, uint32_t bus_bytes) {
    if constexpr (has_dma<Top>) {
      const uint64_t now = top.ticks_o;
      const DmaDesc read{top.m_axis_dma_read_desc_addr, top.m_axis_dma_read_desc_len, top.m_axis_dma_read_desc_tag};
      const DmaDesc write{top.m_axis_dma_write_desc_addr, top.m_axis_dma_write_desc_len, top.m_axis_dma_write_desc_tag};
      if (const char *rule = reads_.sample(top.m_axis_dma_read_desc_tvalid, top.m_axis_dma_read_desc_tready, read)) return rule;
      if (const char *rule = writes_.sample(top.m_axis_dma_write_desc_tvalid, top.m_axis_dma_write_desc_tready, write)) {
        return rule;
      }
      uint64_t keep = 0;
      std::memcpy(&keep, bytes_at(top.m_axis_dma_write_data_tkeep, 0), bus_bytes / 8);
      const uint8_t *data = bytes_at(top.m_axis_dma_write_data_tdata, 0);
      const bool valid = top.m_axis_dma_write_data_tvalid;
      const bool last = top.m_axis_dma_write_data_tlast;
      if (stalled_ && (!valid || keep != keep_ || last != last_ || std::memcmp(data, data_.data(), bus_bytes) != 0)) {
        return "write data changed before tready";
      }
      const bool ready = top.m_axis_dma_write_data_tready;
      stalled_ = valid && !ready;
      keep_ = keep;
      last_ = last;
      data_.assign(data, data + bus_bytes);
      const char *rule = nullptr;
      if (reads_.taken && !rule) rule = host_.read(read, now);
      if (writes_.taken && !rule) rule = host_.write(write, kAllOnes);
      if (valid && ready && !rule) rule = host_.data(data, keep, last);
      return rule ? rule : host_.pair(now);
    }
    return nullptr;
  }

  bool idle() const { return host_.idle(); }

 private:
  static constexpr uint32_t kAllOnes = 0xff;

  /// A stream of descriptors: what is offered holds.
  struct Descs {
    bool stalled = false;
    bool taken = false;
    DmaDesc held{};
    const char *sample(bool valid, bool ready, const DmaDesc &desc) {
      if (stalled && (!valid || desc.address != held.address || desc.length != held.length || desc.tag != held.tag)) {
        return "a descriptor changed before tready";
      }
      stalled = valid && !ready;
      taken = valid && ready;
      held = desc;
      return nullptr;
    }
  };
  HostMemory &host_;
  Descs reads_;
  Descs writes_;
  bool stalled_ = false;
  uint64_t keep_ = 0;
  bool last_ = false;
  std::vector<uint8_t> data_;
};

}  // namespace sluice
