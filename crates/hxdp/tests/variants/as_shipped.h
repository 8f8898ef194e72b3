// What the turned sources share. Each includes the shipped one for its maps and types, and leaves its program out: as
// `static`, and in a section without `used`, the compiler drops it.
#ifndef SLUICE_VARIANTS_H
#define SLUICE_VARIANTS_H

#include "parse.h"

#undef SEC
#define SEC(name) __attribute__((section(name)))

#endif
