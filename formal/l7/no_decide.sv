/// Stands for sluice_l7_decide in l7/matcher: what a message does next is free, the harness says what formal/l7/phases shows of it.
module sluice_l7_decide
  import sluice_l7_rows_pkg::*;
  import sluice_l7_pkg::*;
  import sluice_l7_matcher_pkg::*;
  import sluice_l7_phase_pkg::*;
(
    // "Bits of signal are not used": the stop byte is for the window.
    // verilator lint_off UNUSEDSIGNAL
    input  l7_a_t                  a_i,
    // verilator lint_on UNUSEDSIGNAL
    output l7_b_t                  b_o,
    // The row of the target.
    output logic  [NumberBits-1:0] row_o
);
endmodule
