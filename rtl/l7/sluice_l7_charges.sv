/// What packets cost, for the scheduler in front of the engine: once for each, with its module.
///
/// A packet whose message goes through the matchers costs its steps, or its beats where these are more (`job_*` when it begins, `verdict_*`
/// when it is known). Any other costs its beats, as soon as it is known to be no such one (`idle_*`).
///
/// Latency: 1 cycle from a verdict to its charge; what has no job comes when no verdict does. Throughput: a charge a cycle. Never stalls: of
/// what has no job no more can wait than verdicts come one behind the other, and these are of messages with a place in a matcher (`Jobs`).
module sluice_l7_charges
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_l7_pkg::*;
#(
    parameter int unsigned Bytes   = 64,
    parameter int unsigned Packets = 256,
    parameter int unsigned Jobs    = 16
) (
    input logic clk_i,
    input logic rst_ni,

    // The packet that is looked at.
    input logic [ModuleBits-1:0] module_i,
    input logic [          13:0] length_i,
    input logic                  idle_valid_i,
    input logic                  job_valid_i,
    input logic                  verdict_valid_i,
    // "Bits of signal are not used": slots are numbered as for the largest target.
    // verilator lint_off UNUSEDSIGNAL
    input logic [   TagBits-1:0] job_tag_i,
    input logic [   TagBits-1:0] verdict_tag_i,
    // verilator lint_on UNUSEDSIGNAL
    input logic [ModuleBits-1:0] verdict_module_i,
    input logic [           9:0] verdict_steps_i,

    output logic                  charge_valid_o,
    output logic [ModuleBits-1:0] charge_module_o,
    output logic [           9:0] charge_o
);

  localparam int unsigned ByteBits = $clog2(Bytes);
  localparam int unsigned SlotBits = $clog2(Packets);
  localparam int unsigned Depth = 2 ** $clog2(Jobs + 1);

  logic [9:0] beats, idle_beats, job_beats;
  logic idle_valid, idle_room;
  logic [ModuleBits-1:0] idle_module;
  logic [$clog2(Depth+1)-1:0] unused_level;

  assign beats = beats_of(length_i, ByteBits);

  sluice_ram_lut #(
      .Width   (10),
      .Depth   (Packets),
      .InitZero(1'b0)
  ) u_beats (
      .clk_i,
      .we_i   (job_valid_i),
      .waddr_i(job_tag_i[SlotBits-1:0]),
      .wdata_i(beats),
      .raddr_i(verdict_tag_i[SlotBits-1:0]),
      .rdata_o(job_beats)
  );

  sluice_fifo #(
      .Width(ModuleBits + 10),
      .Depth(Depth)
  ) u_idle (
      .clk_i,
      .rst_ni,
      .valid_i(idle_valid_i),
      .ready_o(idle_room),
      .data_i ({module_i, beats}),
      .valid_o(idle_valid),
      .ready_i(!verdict_valid_i),
      .data_o ({idle_module, idle_beats}),
      .level_o(unused_level)
  );

  always_ff @(posedge clk_i) begin
    charge_valid_o <= rst_ni && (verdict_valid_i || idle_valid);
    if (verdict_valid_i) begin
      charge_module_o <= verdict_module_i;
      charge_o <= (verdict_steps_i > job_beats) ? verdict_steps_i : job_beats;
    end else begin
      charge_module_o <= idle_module;
      charge_o <= idle_beats;
    end
  end

`ifndef SYNTHESIS
  NothingIsForgotten_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !idle_valid_i || idle_room);
`endif

endmodule
