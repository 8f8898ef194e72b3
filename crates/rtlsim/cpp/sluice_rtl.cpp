// The C functions: no exception leaves them.
#include "sluice_rtl.h"

#include <cstdio>
#include <exception>

#include "instance.h"

struct sluice_rtl {
  sluice_rtl(const sluice_rtl_layout &layout, uint64_t seed) : instance(layout, seed) {}
  sluice::Instance instance;
};

namespace {

constexpr uint32_t kFlags = (VM_TRACE_FST ? SLUICE_RTL_HAS_WAVES : 0)
#ifdef VL_USER_STOP
                            | SLUICE_RTL_HAS_HOOKS
#endif
    ;

const sluice_rtl_info kInfo = {SLUICE_RTL_ABI, kFlags, SLUICE_CONFIG_NAME};

}  // namespace

const sluice_rtl_info *sluice_rtl_info_get(void) { return &kInfo; }

sluice_rtl *sluice_rtl_open(const sluice_rtl_layout *layout, uint64_t seed, char *error, size_t room) {
  try {
    const std::string misfit = sluice::Instance::misfit(*layout);
    if (!misfit.empty()) {
      std::snprintf(error, room, "the top does not fit the target: %s", misfit.c_str());
      return nullptr;
    }
    auto nic = std::make_unique<sluice_rtl>(*layout, seed);
    nic->instance.reset();
    if (nic->instance.failure().stopped()) {
      std::snprintf(error, room, "%s", nic->instance.failure().text().c_str());
      return nullptr;
    }
    return nic.release();
  } catch (const std::exception &exception) {
    std::snprintf(error, room, "%s", exception.what());
    return nullptr;
  }
}

void sluice_rtl_close(sluice_rtl *nic) {
  try {
    delete nic;
  } catch (const std::exception &) {
    // The instance is gone either way.
  }
}

int sluice_rtl_reset(sluice_rtl *nic) {
  try {
    nic->instance.reset();
  } catch (const std::exception &exception) {
    nic->instance.failure().stop(exception.what());
  }
  return nic->instance.failure().stopped() ? -1 : 0;
}

uint64_t sluice_rtl_now(const sluice_rtl *nic) { return nic->instance.now(); }
uint64_t sluice_rtl_cycles(const sluice_rtl *nic) { return nic->instance.cycles(); }
const char *sluice_rtl_error_text(const sluice_rtl *nic) { return nic->instance.failure().text().c_str(); }

int sluice_rtl_offer_frames(sluice_rtl *nic, const uint8_t *frames, size_t bytes) {
  try {
    return nic->instance.pins().offer(frames, bytes);
  } catch (const std::exception &exception) {
    nic->instance.failure().stop(exception.what());
    return -1;
  }
}

void sluice_rtl_send(sluice_rtl *nic, const uint32_t *words, size_t count, int last) {
  try {
    nic->instance.pins().config().send(words, count, last != 0);
  } catch (const std::exception &exception) {
    nic->instance.failure().stop(exception.what());
  }
}

int sluice_rtl_set_ready(sluice_rtl *nic, uint32_t destination, uint32_t chance, uint32_t burst) {
  auto &stalls = nic->instance.pins().stalls();
  if (destination >= stalls.size()) return -1;
  stalls[destination].set(chance, burst);
  return 0;
}

int sluice_rtl_set_gaps(sluice_rtl *nic, uint32_t port, uint32_t chance) {
  auto &sources = nic->instance.pins().sources();
  // A chance of 1 would never let a beat through.
  if (port >= sources.size() || chance > 255) return -1;
  sources[port].set_gaps(chance);
  return 0;
}

void sluice_rtl_set_config_stalls(sluice_rtl *nic, uint32_t gap, uint32_t stall) {
  nic->instance.pins().config().set_stalls(gap > 255 ? 255 : gap, stall > 255 ? 255 : stall);
}

void sluice_rtl_memory_write(sluice_rtl *nic, uint64_t address, const uint8_t *bytes, size_t count) {
  try {
    nic->instance.host().memory().write(address, bytes, count);
  } catch (const std::exception &exception) {
    nic->instance.failure().stop(exception.what());
  }
}

void sluice_rtl_memory_read(sluice_rtl *nic, uint64_t address, uint8_t *bytes, size_t count) {
  try {
    nic->instance.host().memory().read(address, bytes, count);
  } catch (const std::exception &exception) {
    nic->instance.failure().stop(exception.what());
  }
}

int sluice_rtl_set_memory(sluice_rtl *nic, uint32_t least, uint32_t most, uint32_t ready) {
  if (least > most || ready == 0) return -1;
  nic->instance.host().set_pace({least, most, ready});
  return 0;
}

int sluice_rtl_set_values_memory(sluice_rtl *nic, uint32_t least, uint32_t most, uint32_t ready, uint32_t errors,
                                 uint32_t lost) {
  if (least > most || ready == 0 || errors > 256 || lost > 256) return -1;
  nic->instance.pins().values().set_pace({least, most, ready, errors, lost});
  return 0;
}

uint32_t sluice_rtl_run(sluice_rtl *nic, const sluice_rtl_until *until) {
  try {
    return nic->instance.run(*until);
  } catch (const std::exception &exception) {
    nic->instance.failure().stop(exception.what());
    return SLUICE_RTL_STOP_ERROR;
  }
}

int sluice_rtl_skip(sluice_rtl *nic, uint64_t cycles, int has_messages) {
  try {
    return nic->instance.skip(cycles, has_messages != 0) ? 0 : -1;
  } catch (const std::exception &exception) {
    nic->instance.failure().stop(exception.what());
    return -1;
  }
}

size_t sluice_rtl_take_events(sluice_rtl *nic, const uint8_t **events) { return nic->instance.events().take(events); }

int sluice_rtl_waves(sluice_rtl *nic, const char *path, uint64_t from, uint64_t to) {
  try {
    return nic->instance.waves(path, from, to);
  } catch (const std::exception &) {
    return -1;
  }
}
