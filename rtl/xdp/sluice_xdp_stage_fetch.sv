/// Second stage of a core: the picked context's row is asked of the instruction memory.
///
/// Latency: 1 cycle. Throughput: a bundle a cycle. Never stalls.
module sluice_xdp_stage_fetch
  import sluice_pkg::*;
  import sluice_xdp_pkg::*;
  import sluice_xdp_stages_pkg::*;
#(
    parameter int unsigned Contexts = 8,
    localparam int unsigned ContextBits = $clog2(Contexts)
) (
    input logic clk_i,
    input logic rst_ni,

    input xdp_picked_t                   bundle_i,
    input logic        [ContextBits-1:0] context_i,
    input logic                          resume_i,
    // Its packet, if it was taken just now.
    input xdp_start_t                    taken_i,
    // What its context has kept.
    input logic        [   CodeBits-1:0] row_i,
    input logic        [ ModuleBits-1:0] module_i,
    input xdp_turn_t                     turn_i,

    output logic                fetch_valid_o,
    output logic [CodeBits-1:0] fetch_row_o,

    output xdp_fetched_t                   bundle_o,
    output logic         [ContextBits-1:0] context_o
);

  // "Bits of signal are not used": a packet travels whole.
  // verilator lint_off UNUSEDSIGNAL
  xdp_start_t taken;
  // verilator lint_on UNUSEDSIGNAL
  assign taken = taken_i;

  assign fetch_valid_o = bundle_i.valid;
  assign fetch_row_o = bundle_i.start ? taken.start : row_i;

  always_ff @(posedge clk_i) begin
    bundle_o <= '{
        valid: bundle_i.valid && rst_ni,
        start: bundle_i.start,
        resume: resume_i && !bundle_i.start,
        row: fetch_row_o,
        module_id: bundle_i.start ? taken.module_id : module_i,
        turn: bundle_i.start ? '{pass: PassBundle, depth: '0} : turn_i,
        past: taken.past,
        work: taken.work - WorkBits'(taken.made)
    };
    context_o <= context_i;
  end

endmodule
