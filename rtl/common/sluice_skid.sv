/// Two-entry buffer that cuts every combinational path between its two sides.
///
/// `valid_o`, `data_o` and `ready_o` come straight from registers.
///
/// Latency: 1 cycle. Throughput: one word per cycle.
/// Stall behaviour: a word that arrives in the cycle in which the output begins to stall goes
/// into the second entry; `ready_o` falls in the next cycle and rises one cycle after the
/// output moves again. Words offered while `rst_ni` is low are lost.
module sluice_skid #(
    parameter int unsigned Width = 8
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic             valid_i,
    output logic             ready_o,
    input  logic [Width-1:0] data_i,

    output logic             valid_o,
    input  logic             ready_i,
    output logic [Width-1:0] data_o
);

  if (Width == 0) begin : gen_bad_width
    $fatal(1, "skid: Width is %0d, expected at least 1 (%m)", Width);
  end

  logic valid_q;
  logic [Width-1:0] data_q;
  // Low exactly while the second entry holds a word.
  logic ready_q;
  logic [Width-1:0] skid_q;
  logic advance;

  assign ready_o = ready_q;
  assign valid_o = valid_q;
  assign data_o  = data_q;

  assign advance = !valid_q || ready_i;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      valid_q <= 1'b0;
      ready_q <= 1'b1;
    end else if (advance) begin
      valid_q <= valid_i || !ready_q;
      ready_q <= 1'b1;
    end else if (valid_i) begin
      ready_q <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (advance) data_q <= ready_q ? data_i : skid_q;
    if (ready_q) skid_q <= data_i;
  end

`ifndef SYNTHESIS
  logic stalled;
  assign stalled = rst_ni && valid_o && !ready_i;

  // A property would copy what is wide in every cycle.
  logic stalled_q;
  logic [Width-1:0] held_q;
  always_ff @(posedge clk_i) begin
    stalled_q <= stalled;
    if (stalled) held_q <= data_o;
    if (rst_ni && stalled_q) begin
      OutputHoldsUntilReady_A : assert (valid_o && data_o == held_q);
    end
  end
  SecondEntryOnlyBehindTheFirst_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) ready_q || valid_q);
`endif

endmodule
