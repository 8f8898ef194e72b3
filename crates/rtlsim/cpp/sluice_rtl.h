// C interface of a Verilated top (plug-in `libsluice_rtl_<config>.so`).
//
// The Rust side is crates/rtlsim/src/plugin.rs; change both and SLUICE_RTL_ABI together.
// Nothing here knows a bit format: rows, frames and messages travel as words and bytes.
// A handle belongs to one thread at a time. No function throws, exits or prints.
#pragma once

#include <stddef.h>
#include <stdint.h>

#define SLUICE_RTL_ABI 8u
#define SLUICE_RTL_EXPORT extern "C" __attribute__((visibility("default")))

/// What the plug-in was built with.
struct sluice_rtl_info {
  uint32_t abi;
  uint32_t flags;      // SLUICE_RTL_*
  const char *config;  // name in tools/configs.toml
};

enum { SLUICE_RTL_HAS_WAVES = 1u, SLUICE_RTL_HAS_HOOKS = 2u };

/// What the caller believes the top looks like; `sluice_rtl_open` checks it against the port widths.
struct sluice_rtl_layout {
  uint32_t bus_bytes;
  uint32_t ports;
  uint32_t destinations;
  uint32_t sideband_bits;
  uint32_t port_trace_bits;
  uint32_t merge_trace_bits;
  uint32_t verdict_trace_bits;
  uint32_t queue_trace_bits;
  uint32_t leave_trace_bits;
  uint32_t engines;          // in line; each has its verdicts, which are side by side in the trace
  uint32_t steps;            // channels of the trace of steps of its XDP engine; 0: it has none
  uint32_t step_trace_bits;
  uint32_t input_user_bits;  // of the sideband that each frame in begins with (whole words); 0: none
};

/// When a call of `sluice_rtl_run` ends, besides errors.
struct sluice_rtl_until {
  uint64_t max_cycles;
  uint32_t frames;        // this many frames have left; 0: not looked at
  uint32_t replies;       // this many configuration messages have left; 0: not looked at
  uint32_t quiet_cycles;  // all inputs are sent and no event for this long; 0: not looked at
  uint32_t event_bytes;   // the event buffer holds this much; 0: not looked at
};

enum {  // Why `sluice_rtl_run` ended, one or several.
  SLUICE_RTL_STOP_CYCLES = 1u,
  SLUICE_RTL_STOP_FRAMES = 2u,
  SLUICE_RTL_STOP_REPLIES = 4u,
  SLUICE_RTL_STOP_QUIET = 8u,
  SLUICE_RTL_STOP_BUFFER = 16u,
  SLUICE_RTL_STOP_ERROR = 32u,  // see sluice_rtl_error; the instance is dead
};

/// Head of each event; the payload follows, padded to 8 bytes. Little-endian.
struct sluice_rtl_event {
  uint8_t kind;    // SLUICE_RTL_EVENT_*
  uint8_t source;  // port or destination; of a verdict: place of the engine in line; of a step: its channel
  uint16_t reserved;
  uint32_t bytes;  // of the payload, without padding
  uint64_t tick;
};

enum {
  SLUICE_RTL_EVENT_ARRIVED = 1,  // last beat in. Payload: u64 tick of the first beat, u64 frames before it
  SLUICE_RTL_EVENT_LEFT = 2,     // last beat out. Payload: u64 tick of the first beat, sideband words, frame. The last destination of a NIC has above the sideband a message's queue (8 bits) and whether it is one (1)
  SLUICE_RTL_EVENT_REPLY = 3,    // last word of a configuration message. Payload: words
  SLUICE_RTL_EVENT_EPOCH = 4,    // the snapshot epoch changed before this cycle's events. Payload: u32
  SLUICE_RTL_EVENT_PORT = 5,     // trace rows, as words
  SLUICE_RTL_EVENT_MERGE = 6,    // of a bare top: its stamp
  SLUICE_RTL_EVENT_VERDICT = 7,
  SLUICE_RTL_EVENT_QUEUE = 8,
  SLUICE_RTL_EVENT_LEAVE = 9,
  SLUICE_RTL_EVENT_STEP = 10,
  SLUICE_RTL_EVENT_WROTE = 11,   // a write is in host memory. Payload: u64 address, bytes
};

/// Head of each frame in `sluice_rtl_offer`; its bytes follow, padded to 8.
struct sluice_rtl_offer {
  uint32_t bytes;
  uint8_t port;
  uint8_t bad;
  uint16_t reserved;
  uint64_t at;  // earliest tick of the first beat
};

struct sluice_rtl;

SLUICE_RTL_EXPORT const sluice_rtl_info *sluice_rtl_info_get(void);

/// A NIC after its reset, or null with the reason in `error` (always terminated).
/// `seed` decides initial values, padding bytes, gaps and stalls.
SLUICE_RTL_EXPORT sluice_rtl *sluice_rtl_open(const sluice_rtl_layout *layout, uint64_t seed, char *error, size_t room);
SLUICE_RTL_EXPORT void sluice_rtl_close(sluice_rtl *nic);

/// Holds reset for some cycles. Frames and messages that wait, or are half in or out, are gone; gaps and stalls are off.
/// Returns 0, or -1 when the instance is dead.
SLUICE_RTL_EXPORT int sluice_rtl_reset(sluice_rtl *nic);

SLUICE_RTL_EXPORT uint64_t sluice_rtl_now(const sluice_rtl *nic);     // tick of the cycle that comes next
SLUICE_RTL_EXPORT uint64_t sluice_rtl_cycles(const sluice_rtl *nic);  // since open, reset included
SLUICE_RTL_EXPORT const char *sluice_rtl_error_text(const sluice_rtl *nic);

/// Queues frames; returns 0, or -1 and queues none when the buffer is malformed.
SLUICE_RTL_EXPORT int sluice_rtl_offer_frames(sluice_rtl *nic, const uint8_t *frames, size_t bytes);
/// Queues words for the configuration ring; `last` marks the final one as the end of a message.
SLUICE_RTL_EXPORT void sluice_rtl_send(sluice_rtl *nic, const uint32_t *words, size_t count, int last);

/// Chance in 256ths that a destination is ready; with `burst` > 1 runs of up to that many cycles.
SLUICE_RTL_EXPORT int sluice_rtl_set_ready(sluice_rtl *nic, uint32_t destination, uint32_t chance, uint32_t burst);
/// Chance in 256ths of a gap before each beat of a frame on a port.
SLUICE_RTL_EXPORT int sluice_rtl_set_gaps(sluice_rtl *nic, uint32_t port, uint32_t chance);
/// Chances in 256ths of a gap before a configuration word in, and of a stall of one out.
SLUICE_RTL_EXPORT void sluice_rtl_set_config_stalls(sluice_rtl *nic, uint32_t gap, uint32_t stall);

/// Writes to, and reads from, the host memory behind the top's DMA port. A top without one has a memory that nobody else sees.
SLUICE_RTL_EXPORT void sluice_rtl_memory_write(sluice_rtl *nic, uint64_t address, const uint8_t *bytes, size_t count);
SLUICE_RTL_EXPORT void sluice_rtl_memory_read(sluice_rtl *nic, uint64_t address, uint8_t *bytes, size_t count);
/// Cycles until a read or write is done, drawn for each, and the chance in 256ths that what is offered is taken.
/// Returns 0, or -1 where least is above most or nothing would be taken.
SLUICE_RTL_EXPORT int sluice_rtl_set_memory(sluice_rtl *nic, uint32_t least, uint32_t most, uint32_t ready);

/// The same of the external memory for values of maps, until the next reset, and the chances in 256ths that an answer is an error, and that none comes as
/// long as that chance is not 0.
SLUICE_RTL_EXPORT int sluice_rtl_set_values_memory(sluice_rtl *nic, uint32_t least, uint32_t most, uint32_t ready,
                                                   uint32_t errors, uint32_t lost);

/// Runs; events are appended to the buffer. Returns SLUICE_RTL_STOP_* bits.
SLUICE_RTL_EXPORT uint32_t sluice_rtl_run(sluice_rtl *nic, const sluice_rtl_until *until);
/// Runs one cycle and leaves out `cycles` behind it, a multiple of 64 below 2^30: time goes on as if they had been run, of a top in
/// which nothing moves. Whether nothing does is for the caller to know, and whether the top has a message table, whose time goes on too.
/// Returns 0, or -1 where the top cannot or has failed.
SLUICE_RTL_EXPORT int sluice_rtl_skip(sluice_rtl *nic, uint64_t cycles, int has_messages);
/// All events since the last call; valid until the next call of any function with this handle.
SLUICE_RTL_EXPORT size_t sluice_rtl_take_events(sluice_rtl *nic, const uint8_t **events);

/// Writes waves to `path` for cycles with from <= tick < to. Returns 0, or -1 without waves.
SLUICE_RTL_EXPORT int sluice_rtl_waves(sluice_rtl *nic, const char *path, uint64_t from, uint64_t to);
