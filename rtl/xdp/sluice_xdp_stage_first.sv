/// Fourth stage of a core: arithmetic begins; the address of the bundle's access, or a helper's second argument, or what is multiplied or divided.
///
/// Latency: 1 cycle; results of arithmetic come behind the register, beside the bundle. Throughput: a bundle a cycle. Never stalls.
module sluice_xdp_stage_first
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_pkg::*;
  import sluice_xdp_instructions_pkg::*;
  import sluice_xdp_stages_pkg::*;
#(
    parameter int unsigned Contexts = 8,
    // Of the core whose stage it is.
    parameter int unsigned Core = 0,
    localparam int unsigned ContextBits = $clog2(Contexts)
) (
    input logic clk_i,
    input logic rst_ni,

    input xdp_read_t                         bundle_i,
    input logic      [ContextBits-1:0]       context_i,
    input logic      [   XdpLanes-1:0][63:0] a_i,
    input logic      [   XdpLanes-1:0][63:0] b_i,

    // Whether its flow's section is another packet's; it leaves that. All changes are behind it, so nobody has to wait for its end.
    input  logic       flow_waits_i,
    output logic       leaves_o,
    output logic [7:0] leaves_slot_o,

    // What its context has kept, and what its unit has answered.
    input xdp_fixed_t                   fixed_i,
    input xdp_caller_t                  caller_i,
    input logic        [StackWords-1:0] written_i,
    input xdp_result_t                  result_i,

    output xdp_first_t                         bundle_o,
    output logic       [ContextBits-1:0]       context_o,
    // Of each lane's arithmetic.
    output logic       [   XdpLanes-1:0][63:0] sum_o,
    output logic       [   XdpLanes-1:0][63:0] result_o,
    output logic       [   XdpLanes-1:0]       holds_o
);

  localparam int unsigned Lanes = XdpLanes;

  // "Bits of signal are not used": the first stage takes the fields that concern it.
  // verilator lint_off UNUSEDSIGNAL
  xdp_fixed_t fixed;
  // verilator lint_on UNUSEDSIGNAL
  assign fixed = fixed_i;

  logic [4:0] processor;
  assign processor = 5'(Core * Contexts) + 5'(context_i);

  // What others have made of a lane's register: its unit, or the function that it has called, behind whose exit it comes back. A tail call beyond the
  // last one is refused.
  logic [Lanes-1:0][63:0] given;
  logic [Lanes-1:0] refused;
  logic restores, upper;
  assign restores = bundle_i.turn.pass inside {PassLower, PassUpper};
  assign upper = bundle_i.turn.pass == PassUpper;
  always_comb begin
    for (int unsigned l = 0; l < Lanes; l++) begin
      given[l] = result_i.value;
      if (restores && l < 2) given[l] = upper ? caller_i.registers[2+l] : caller_i.registers[l];
      refused[l] = bundle_i.lanes[l].op == XdpOpHelper && bundle_i.lanes[l].imm[15:0] == HelperTailCall && bundle_i.kept.tails == MostTailCalls;
    end
  end

  for (genvar l = 0; l < int'(Lanes); l++) begin : gen_alu
    sluice_xdp_alu u_alu (
        .clk_i,
        .op_i     (bundle_i.lanes[l].op),
        .does_i   (bundle_i.does[l]),
        .a_i      (a_i[l]),
        .b_i      (b_i[l]),
        .given_i  (given[l]),
        .nothing_i(result_i.fault && !restores),
        .refused_i(refused[l]),
        .shift_i  (bundle_i.lanes[l].off[4:0]),
        .sum_o    (sum_o[l]),
        .result_o (result_o[l]),
        .holds_o  (holds_o[l])
    );
  end

  // The one lane that accesses memory, calls, multiplies or divides: the first of them.
  logic [Lanes-1:0] accesses, muldivs, uses, use_lane;
  logic [63:0] base, data;
  logic [15:0] off;
  // "Bits of signal are not used": a lane is chosen whole.
  // verilator lint_off UNUSEDSIGNAL
  xdp_lane_t access;
  // verilator lint_on UNUSEDSIGNAL

  always_comb begin
    base   = '0;
    data   = '0;
    off    = '0;
    access = '0;
    for (int unsigned l = 0; l < Lanes; l++) begin
      accesses[l] = is_access(bundle_i.lanes[l].op) || is_atomic(bundle_i.lanes[l].op) ||
          bundle_i.lanes[l].op inside {XdpOpHelper, XdpOpCall};
      muldivs[l] = is_muldiv(bundle_i.lanes[l].op);
    end
    uses = accesses | muldivs;
    use_lane = uses & (~uses + Lanes'(1));
    for (int unsigned l = 0; l < Lanes; l++) begin
      if (use_lane[l]) begin
        base   = base | a_i[l];
        data   = data | b_i[l];
        access = access | bundle_i.lanes[l];
        // Operands of arithmetic, and r6 and r7 of a call, are as they are.
        if (!muldivs[l] && bundle_i.lanes[l].op != XdpOpCall) off = off | bundle_i.lanes[l].off;
      end
    end
  end

  logic [3:0] bytes;
  always_comb begin
    bytes = bytes_of(access.op[2:0]);
    if (is_atomic(access.op)) bytes = access.op[3] ? 4'd8 : 4'd4;
    // A lookup reads its key.
    if (access.op == XdpOpHelper) bytes = 4'd4;
  end

  assign leaves_o = bundle_i.valid && bundle_i.leaves && !(bundle_i.enters && flow_waits_i);
  assign leaves_slot_o = fixed.slot;

  // A late result was a fault: its context's next pass ends the packet.
  logic late_fault;
  assign late_fault = bundle_i.resume && result_i.fault && result_i.late;

  always_ff @(posedge clk_i) begin
    context_o            <= context_i;
    bundle_o.valid       <= bundle_i.valid && rst_ni;
    bundle_o.start       <= bundle_i.start;
    bundle_o.resume      <= bundle_i.resume;
    bundle_o.row         <= bundle_i.row;
    bundle_o.turn        <= bundle_i.turn;
    bundle_o.kept        <= bundle_i.kept;
    bundle_o.foreign     <= bundle_i.foreign || late_fault;
    bundle_o.late_fault  <= late_fault;
    bundle_o.held        <= bundle_i.enters && flow_waits_i && !late_fault;
    bundle_o.next_page   <= bundle_i.next_page;
    bundle_o.lanes       <= bundle_i.lanes;
    bundle_o.access_lane <= use_lane & accesses;
    bundle_o.muldiv_lane <= use_lane & muldivs;
    bundle_o.access      <= access;
    bundle_o.address     <= base + {{48{off[15]}}, off};
    bundle_o.data        <= data;
    // A third argument may be a number.
    // A third and fourth argument, what compare-and-exchange expects, and r8 and r9 of a call are read by the last lane: nothing
    // else is in the bundle.
    bundle_o.third       <= bundle_i.lanes[Lanes-1].immediate ? b_i[Lanes-1] : a_i[Lanes-1];
    bundle_o.fourth      <= b_i[Lanes-1];
    bundle_o.bytes       <= bytes;
    bundle_o.last        <= $signed({2'd0, bundle_i.kept.bounds.past}) - $signed({12'd0, bytes});
    bundle_o.base        <= fixed.base;
    bundle_o.place       <= fixed.place;
    bundle_o.ifindex     <= fixed.ifindex;
    bundle_o.caller_row  <= caller_i.row;
    bundle_o.frames      <= fixed.frames;
    bundle_o.written     <= bundle_i.start ? {bundle_i.given, (StackWords - StackGiven)'(0)} : written_i;
    bundle_o.result      <= result_i;
    for (int unsigned l = 0; l < Lanes; l++) begin
      bundle_o.low[l] <= b_i[l][31:0];
      bundle_o.beyond[l] <= bundle_i.lanes[l].op == XdpOpIndexed && a_i[l][31:0] > bundle_i.lanes[l].imm;
      bundle_o.copy[l] <= '0;
      // A per-CPU array's value: its address, and the distance of copies above.
      if (bundle_i.lanes[l].op == XdpOpElement) bundle_o.copy[l] <= b_i[l][31:0] + b_i[l][63:32] * 32'(processor);
      if (bundle_i.lanes[l].op == XdpOpIndexed && a_i[l][31:0] <= bundle_i.lanes[l].imm)
        bundle_o.copy[l] <= b_i[l][31:0];
    end
  end

endmodule
