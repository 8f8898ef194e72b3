// Read before every file of a plug-in (`-include`): Verilator's messages and failures come
// to the shim, which hands them to the caller instead of printing and exiting.
#pragma once

#define VL_USER_FINISH 1
#define VL_USER_STOP 1
#define VL_USER_FATAL 1
#define VL_USER_WARN 1

extern "C" int sluice_hook_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));
#define VL_PRINTF sluice_hook_printf
