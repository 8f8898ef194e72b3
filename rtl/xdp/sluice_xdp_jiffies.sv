/// The clock in jiffies of a millisecond (docs/design/xdp-helpers.md, `jiffies64`): a division bit by bit.
///
/// `start_i` begins the call `call_i`, which stays until `done_o` is high for one cycle with the answer.
///
/// Latency: 45 cycles. Stall behaviour: one call at a time.
module sluice_xdp_jiffies
  import sluice_xdp_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,

    input logic      start_i,
    // "Bits of signal are not used": the clock needs the packet's stamp only.
    // verilator lint_off UNUSEDSIGNAL
    input xdp_call_t call_i,
    // verilator lint_on UNUSEDSIGNAL

    output logic        done_o,
    output logic [63:0] value_o
);

  // A million nanoseconds are 64 * 15,625: 6 bits of the time in nanoseconds decide nothing.
  localparam int unsigned Divisor = 15625;
  localparam int unsigned Bits = StampBits + TickShift - 6;
  localparam int unsigned CountBits = $clog2(Bits + 1);

  logic [CountBits-1:0] left_q;
  logic [Bits-1:0] quotient_q;
  logic [13:0] rest_q;
  logic [14:0] rest;
  logic fits;

  // The dividend leaves the register at the front, the quotient comes in behind.
  assign rest = {rest_q, quotient_q[Bits-1]};
  assign fits = rest >= 15'(Divisor);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      left_q <= '0;
      done_o <= 1'b0;
    end else begin
      done_o <= left_q == CountBits'(1);
      if (start_i) left_q <= CountBits'(Bits);
      else if (left_q != '0) left_q <= left_q - CountBits'(1);
    end
    if (start_i) begin
      quotient_q <= call_i.stamp[StampBits-1:6-TickShift];
      rest_q     <= '0;
    end else if (left_q != '0) begin
      quotient_q <= {quotient_q[Bits-2:0], fits};
      rest_q     <= fits ? 14'(rest - 15'(Divisor)) : rest[13:0];
    end
  end

  assign value_o = 64'(quotient_q);

endmodule
