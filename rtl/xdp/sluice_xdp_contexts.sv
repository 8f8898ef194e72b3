/// What the contexts of a core keep from pass to pass.
///
/// Written by a packet's start, a cycle after it was taken, and by the memory stage. Each stage reads what it needs in its own cycle; a
/// caller's registers come a cycle after they were asked for.
///
/// Latency: none, but for callers. Throughput: a read a stage and a write a cycle. Never stalls.
module sluice_xdp_contexts
  import sluice_pkg::*;
  import sluice_xdp_pkg::*;
  import sluice_xdp_stages_pkg::*;
#(
    parameter int unsigned Contexts = 8,
    localparam int unsigned ContextBits = $clog2(Contexts)
) (
    input logic clk_i,
    input logic rst_ni,

    input logic                         start_take_i,
    input xdp_start_t                   start_i,
    input logic       [ContextBits-1:0] start_context_i,

    input  logic       [ContextBits-1:0] fetch_context_i,
    output xdp_start_t                   taken_o,          // the packet that was taken a cycle ago
    output logic       [   CodeBits-1:0] row_o,
    output logic       [ ModuleBits-1:0] module_o,
    output xdp_turn_t                    turn_o,

    input  logic       [ContextBits-1:0] read_context_i,
    input  depth_t                       read_depth_i,
    output xdp_kept_t                    kept_o,
    // What its packet began with, and the slot that has the registers of that.
    output xdp_given_t                   given_o,
    output logic       [            7:0] slot_o,

    input  logic        [ContextBits-1:0] first_context_i,
    output xdp_fixed_t                    first_fixed_o,
    output xdp_caller_t                   caller_o,         // of the read stage's context and depth
    output logic        [ StackWords-1:0] written_o,

    input  logic       [ContextBits-1:0] memory_context_i,
    input  depth_t                       memory_depth_i,
    output xdp_fixed_t                   memory_fixed_o,
    output logic       [  StampBits-1:0] stamp_o,
    output steps_t                       steps_o,
    input  xdp_keep_t                    keep_i,

    // A late reference has said where a packet goes; never beside a kept part that is written.
    input logic                            late_valid_i,
    input logic          [ContextBits-1:0] late_context_i,
    input xdp_redirect_t                   late_redirect_i
);

  xdp_fixed_t taken_fixed;
  // "Bits of signal are not used": of the fixed part the fetch stage takes the module.
  // verilator lint_off UNUSEDSIGNAL
  xdp_fixed_t fetch_fixed;
  // verilator lint_on UNUSEDSIGNAL
  xdp_start_t taken_q;
  logic taken_valid_q;
  logic [ContextBits-1:0] taken_context_q;

  // The packet was taken a cycle ago: its fixed part is written in its fetch stage.
  always_ff @(posedge clk_i) begin
    taken_valid_q <= start_take_i && rst_ni;
    if (start_take_i) begin
      taken_q         <= start_i;
      taken_context_q <= start_context_i;
    end
  end

  assign taken_o = taken_q;
  assign module_o = fetch_fixed.module_id;
  assign taken_fixed = '{
          slot: taken_q.slot,
          place: taken_q.place,
          base: taken_q.base,
          records: taken_q.records,
          generation: taken_q.generation,
          module_id: taken_q.module_id,
          ifindex: taken_q.ifindex,
          regions: taken_q.regions,
          frames: taken_q.frames,
          most: taken_q.most
      };

  sluice_ram_lut #(
      .Width    ($bits(xdp_fixed_t)),
      .Depth    (Contexts),
      .ReadPorts(3)
  ) u_fixed (
      .clk_i,
      .we_i   (taken_valid_q),
      .waddr_i(taken_context_q),
      .wdata_i(taken_fixed),
      .raddr_i({memory_context_i, first_context_i, fetch_context_i}),
      .rdata_o({memory_fixed_o, first_fixed_o, fetch_fixed})
  );

  sluice_ram_lut #(
      .Width(StampBits + StepBits),
      .Depth(Contexts)
  ) u_stamp (
      .clk_i,
      .we_i   (taken_valid_q),
      .waddr_i(taken_context_q),
      .wdata_i({taken_q.stamp, taken_q.steps}),
      .raddr_i(memory_context_i),
      .rdata_o({stamp_o, steps_o})
  );

  sluice_ram_lut #(
      .Width($bits(xdp_given_t) + 8),
      .Depth(Contexts)
  ) u_given (
      .clk_i,
      .we_i   (taken_valid_q),
      .waddr_i(taken_context_q),
      .wdata_i({taken_q.given, taken_q.slot}),
      .raddr_i(read_context_i),
      .rdata_o({given_o, slot_o})
  );

  sluice_ram_lut #(
      .Width(CodeBits),
      .Depth(Contexts)
  ) u_row (
      .clk_i,
      .we_i   (keep_i.row_valid),
      .waddr_i(memory_context_i),
      .wdata_i(keep_i.row),
      .raddr_i(fetch_context_i),
      .rdata_o(row_o)
  );

  sluice_ram_lut #(
      .Width($bits(xdp_turn_t)),
      .Depth(Contexts)
  ) u_turn (
      .clk_i,
      .we_i   (keep_i.turn_valid),
      .waddr_i(memory_context_i),
      .wdata_i(keep_i.turn),
      .raddr_i(fetch_context_i),
      .rdata_o(turn_o)
  );

  localparam int unsigned RedirectBits = $bits(xdp_redirect_t);
  localparam int unsigned KeptBits = $bits(xdp_kept_t) - RedirectBits;

  sluice_ram_lut #(
      .Width(KeptBits),
      .Depth(Contexts)
  ) u_kept (
      .clk_i,
      .we_i   (keep_i.kept_valid),
      .waddr_i(memory_context_i),
      .wdata_i(keep_i.kept[RedirectBits+:KeptBits]),
      .raddr_i(read_context_i),
      .rdata_o(kept_o[RedirectBits+:KeptBits])
  );
  sluice_ram_lut #(
      .Width(RedirectBits),
      .Depth(Contexts)
  ) u_redirect (
      .clk_i,
      .we_i   (keep_i.kept_valid || late_valid_i),
      .waddr_i(late_valid_i ? late_context_i : memory_context_i),
      .wdata_i(late_valid_i ? late_redirect_i : keep_i.kept.redirect),
      .raddr_i(read_context_i),
      .rdata_o(kept_o.redirect)
  );

  sluice_ram_1r1w #(
      .Width   ($bits(xdp_caller_t)),
      .Depth   (Contexts * 2 ** DepthBits),
      .InitZero(1'b0),
      .Style   ("block")
  ) u_caller (
      .clk_i,
      .wr_en_i  (keep_i.caller_valid),
      .wr_addr_i({memory_context_i, memory_depth_i}),
      .wr_data_i(keep_i.caller),
      .rd_en_i  (1'b1),
      .rd_addr_i({read_context_i, read_depth_i}),
      .rd_data_o(caller_o)
  );

  // Words of the stack that were written.
  sluice_ram_lut #(
      .Width(StackWords),
      .Depth(Contexts)
  ) u_written (
      .clk_i,
      .we_i   (keep_i.written_valid),
      .waddr_i(memory_context_i),
      .wdata_i(keep_i.written),
      .raddr_i(first_context_i),
      .rdata_o(written_o)
  );

endmodule
