// What every model includes: precompiled once, for reading it takes longer than compiling a small model.
#include "verilated.h"
#include "verilated_vpi.h"
