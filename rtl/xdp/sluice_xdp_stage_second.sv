/// Fifth stage of a core: results; what the access may, which lane stops the bundle, which unit it launches.
///
/// Lanes have an order: a lane behind one that faults, branches or exits does nothing.
///
/// Latency: 1 cycle. Throughput: a bundle a cycle. Never stalls.
module sluice_xdp_stage_second
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_pkg::*;
  import sluice_xdp_instructions_pkg::*;
  import sluice_xdp_stages_pkg::*;
#(
    parameter int unsigned Contexts = 8,
    localparam int unsigned ContextBits = $clog2(Contexts)
) (
    input logic clk_i,
    input logic rst_ni,

    // "Bits of signal are not used": lanes, an access and a unit's result travel whole.
    // verilator lint_off UNUSEDSIGNAL
    input xdp_first_t                         bundle_i,
    // verilator lint_on UNUSEDSIGNAL
    input logic       [ContextBits-1:0]       context_i,
    input logic       [   XdpLanes-1:0][63:0] sum_i,
    input logic       [   XdpLanes-1:0][63:0] result_i,
    input logic       [   XdpLanes-1:0]       holds_i,

    output xdp_second_t                   bundle_o,
    output logic        [ContextBits-1:0] context_o
);

  localparam int unsigned Lanes = XdpLanes;

  xdp_access_t access;
  sluice_xdp_access u_access (
      .bundle_i,
      .access_o(access)
  );

  // A tail call, which has found a program and may still go there.
  logic tail;
  assign tail = access.is_tail && bundle_i.resume && bundle_i.result.refers && bundle_i.kept.tails != MostTailCalls;

  // A program's end, by exit or tail call, with a record or lock that it still holds is a fault.
  logic keeps;
  assign keeps = bundle_i.kept.record.held || bundle_i.kept.locked;

  // Lanes in their order: what each does to those behind it.
  logic [Lanes-1:0] beyond, active, faults, takes, exits, stops, longs;
  logic stopped, fault, taken, back, exit, lasting;
  logic [CodeBits-1:0] target;
  logic [31:0] verdict;
  xdp_unit_e unit;

  always_comb begin
    for (int unsigned l = 0; l < Lanes; l++) begin
      exits[l] = bundle_i.lanes[l].op inside {XdpOpExit, XdpOpExitValue};
      beyond[l] = sum_i[l][63:32] != '0 || sum_i[l][31:0] > (PacketAddress | 32'(bundle_i.kept.bounds.past));
      takes[l]  = holds_i[l] || bundle_i.lanes[l].op inside {XdpOpJump, XdpOpCall} || (tail && bundle_i.access_lane[l]) ||
          (bundle_i.lanes[l].op == XdpOpLength && beyond[l] != bundle_i.lanes[l].wide);
      longs[l] = bundle_i.muldiv_lane[l] || (bundle_i.access_lane[l] && (access.waits || bundle_i.lanes[l].op inside {XdpOpHelper, XdpOpCall}));
      faults[l] = (bundle_i.access_lane[l] && !(access.is_load && bundle_i.lanes[l].wide) &&
                   (access.faults || (access.is_tail && bundle_i.third != 64'(ContextAddress)) ||
                    (longs[l] && bundle_i.resume && bundle_i.result.fault) || (tail && keeps))) ||
          (exits[l] && keeps && bundle_i.turn.depth == '0) ||
          (bundle_i.lanes[l].op == XdpOpCall && (l != 0 || bundle_i.turn.depth == bundle_i.frames ||
                                                 (bundle_i.lanes[l].wide && bundle_i.third[63:CodeBits] != 51'(FunctionAddress[31:CodeBits])))) ||
          ((is_access(bundle_i.lanes[l].op) || is_atomic(bundle_i.lanes[l].op) ||
          bundle_i.lanes[l].op inside {XdpOpHelper, XdpOpCall}) && !bundle_i.access_lane[l]) ||
          (is_muldiv(bundle_i.lanes[l].op) && !bundle_i.muldiv_lane[l]);
      stops[l] = faults[l] || takes[l] || exits[l];
    end
    stopped = 1'b0;
    fault = bundle_i.foreign;
    taken = 1'b0;
    back = 1'b0;
    exit = 1'b0;
    lasting = 1'b0;
    target = '0;
    verdict = '0;
    for (int unsigned l = 0; l < Lanes; l++) begin
      active[l] = !stopped && !bundle_i.foreign;
      if (active[l]) begin
        if (faults[l]) begin
          fault = 1'b1;
          back  = exits[l] && bundle_i.lanes[l].extra;
        end else if (takes[l]) begin
          taken = 1'b1;
          back = bundle_i.lanes[l].extra || (bundle_i.lanes[l].op == XdpOpCall && !bundle_i.lanes[l].spare) || (tail && bundle_i.access_lane[l]);
          target = (tail && bundle_i.access_lane[l]) ? bundle_i.result.referent[CodeBits-1:0] :
              (bundle_i.lanes[l].op == XdpOpCall && bundle_i.lanes[l].wide) ? bundle_i.third[CodeBits-1:0] : bundle_i.lanes[l].off[CodeBits-1:0];
        end else if (exits[l]) begin
          exit = 1'b1;
          back = bundle_i.lanes[l].extra;
          // What an exit behind a redirect gives is the redirect's.
          verdict = (access.gives_verdict && !bundle_i.access_lane[l]) ? bundle_i.result.value[31:0] : bundle_i.low[l];
        end
        if (longs[l]) lasting = 1'b1;
      end
      stopped = stopped || stops[l];
    end
    unit = UnitNone;
    for (int unsigned l = 0; l < Lanes; l++) begin
      if (active[l] && longs[l]) begin
        unit = bundle_i.muldiv_lane[l] ? UnitMuldiv : access.waits ? UnitValues : access.is_map ? UnitMaps : UnitHelper;
      end
    end
    if (bundle_i.turn.pass == PassClear) begin
      lasting = 1'b1;
      unit = UnitHelper;
    end
  end

  // Done with its launch: what changes a register at most, or where the packet goes, while the bundle goes on to another row of its frame. So is what ends the packet and gives nothing but its verdict.
  logic late, late_writes, ends;
  logic [3:0] late_register;
  always_comb begin
    case (unit)
      UnitValues: late = (access.in_values || access.is_lookup || access.is_reference) && !access.is_lock;
      UnitMaps: late = !access.redirects && !access.is_tail;
      UnitMuldiv: late = 1'b1;
      default: late = 1'b0;
    endcase
    late_writes   = 1'b0;
    late_register = '0;
    for (int unsigned l = 0; l < Lanes; l++) begin
      if (active[l] && longs[l] && writes(bundle_i.lanes[l])) begin
        late_writes   = 1'b1;
        late_register = bundle_i.lanes[l].dst;
      end else if (active[l] && !longs[l] && writes(bundle_i.lanes[l]) && bundle_i.lanes[l].dst == late_register) begin
        // A lane behind it has the last word.
        late_writes = 1'b0;
      end
    end
    ends = exit && bundle_i.turn.depth == '0 && late && (!back || bundle_i.kept.work != '0) && unit == UnitValues &&
        (access.is_reference || (access.in_values && !late_writes));
    if ((exit || back) && !ends) late = 1'b0;
  end

  logic [63:0] atomic;
  sluice_xdp_atomic u_atomic (
      .code_i    (bundle_i.access.op[2:0]),
      .wide_i    (bundle_i.access.op[3]),
      .old_i     (bundle_i.result.value),
      .operand_i (bundle_i.data),
      .expected_i(bundle_i.third),
      .new_o     (atomic)
  );

  // Whether the access is made.
  logic accesses;
  assign accesses = (bundle_i.access_lane & active) != '0;

  xdp_request_e kind;
  always_comb begin
    kind = access.is_store ? RequestStore : RequestLoad;
    if (access.is_atomic) kind = RequestAtomic;
    if (!access.in_values) kind = RequestEcho;
    if (access.is_lookup) kind = RequestLookup;
    if (access.is_reference) kind = RequestReference;
    if (access.is_lock) kind = (bundle_i.access.imm[15:0] == HelperLock) ? RequestLock : RequestUnlock;
  end

  logic [31:0] context_value;
  always_comb begin
    case (bundle_i.address[4:2])
      3'd0: context_value = PacketAddress | 32'(bundle_i.kept.bounds.data);
      3'd1: context_value = PacketAddress | 32'(bundle_i.kept.bounds.past);
      3'd2: context_value = PacketAddress | 32'(bundle_i.kept.bounds.meta);
      3'd3: context_value = bundle_i.ifindex;
      default: context_value = '0;
    endcase
  end

  logic [5:0] stack_word;
  assign stack_word = bundle_i.address[8:3];

  always_ff @(posedge clk_i) begin
    context_o <= context_i;
    bundle_o.valid <= bundle_i.valid && rst_ni;
    bundle_o.start <= bundle_i.start;
    bundle_o.waited <= bundle_i.resume && lasting;
    bundle_o.held <= bundle_i.held;
    bundle_o.row <= bundle_i.row;
    bundle_o.next_page <= bundle_i.next_page;
    bundle_o.turn <= bundle_i.turn;
    bundle_o.kept <= bundle_i.kept;
    bundle_o.written <= bundle_i.written;

    // What a fault was. Of a bundle's lanes the one that stopped it has faulted.
    bundle_o.fault <= fault;
    bundle_o.late_fault <= bundle_i.late_fault;
    bundle_o.foreign <= bundle_i.foreign;
    bundle_o.helps <= bundle_i.access.op == XdpOpHelper;
    bundle_o.behind <= !stops[0] && !bundle_i.foreign;
    bundle_o.long_behind <= !(active[0] && longs[0]);
    // Only a call in the first lane may be one too many.
    bundle_o.frames <= bundle_i.lanes[0].op == XdpOpCall;
    bundle_o.holds         <= ((exits & active & faults) != '0 && keeps) || (tail && keeps && accesses) ||
        (access.is_lock && bundle_i.resume && bundle_i.result.fault && bundle_i.result.value[0] && accesses);
    // Something of which a bundle has one: the lane that stops it is not the one that has it.
    bundle_o.wrong <= (bundle_i.access_lane & active & faults) == '0;
    bundle_o.workless <= bundle_i.kept.work == '0;
    bundle_o.taken <= taken || bundle_i.turn.pass == PassUpper;
    bundle_o.back <= back;
    bundle_o.exit <= exit;
    bundle_o.enters <= (bundle_i.lanes[0].op == XdpOpCall && !fault) || bundle_i.turn.pass == PassClear;
    bundle_o.tail <= tail && !fault;
    bundle_o.target <= (bundle_i.turn.pass == PassUpper) ? bundle_i.caller_row : target;
    bundle_o.verdict <= verdict;

    bundle_o.launch <= lasting && !bundle_i.resume && !fault;
    bundle_o.unit <= unit;
    bundle_o.late <= late;
    bundle_o.ends_late <= ends;
    bundle_o.to_host <= bundle_i.access.immediate;
    bundle_o.pair <= access.is_pair;
    bundle_o.late_writes <= late_writes;
    bundle_o.late_register <= late_register;
    bundle_o.kind <= kind;
    bundle_o.code <= bundle_i.access.op[2:0];
    bundle_o.map <= bundle_i.access.imm[31:16];
    bundle_o.handle <= !bundle_i.access.extra;
    bundle_o.helper <= bundle_i.access.imm[15:0];
    bundle_o.muldiv_op <= bundle_i.access.op;
    bundle_o.muldiv_wide <= bundle_i.access.wide;
    bundle_o.data <= (access.is_atomic && !access.in_values && bundle_i.resume) ? atomic : bundle_i.data;
    bundle_o.address <= bundle_i.address;
    bundle_o.third <= bundle_i.third;
    bundle_o.fourth <= bundle_i.fourth;

    bundle_o.locks <= access.is_lock && bundle_i.resume && accesses && !fault;
    bundle_o.redirects <= access.redirects;
    bundle_o.result <= bundle_i.result;

    bundle_o.load <= access.is_load && accesses && !access.in_values;
    bundle_o.store         <= (access.is_store || (access.is_atomic && bundle_i.resume && !bundle_i.access.wide)) && accesses && !access.faults && !access.in_values;
    bundle_o.reads_late <= (access.is_lookup || access.is_atomic) && !access.in_values;
    bundle_o.place <= access.place;
    bundle_o.byte_number <= bundle_i.address[2:0];
    bundle_o.bytes <= bundle_i.bytes;
    // Of an atomic operation this flag is that the old value is fetched, which has no sign.
    bundle_o.sign <= bundle_i.access.extra && !access.is_atomic;
    bundle_o.nothing <= !access.allowed;
    bundle_o.in_first <= access.in_first;
    bundle_o.in_context <= access.in_context;
    bundle_o.context_value <= context_value;
    bundle_o.stack_word <= stack_word;
    // Words of the stack that nobody wrote are zero.
    bundle_o.words_unset <= {
      access.in_first && !bundle_i.written[6'(stack_word+6'd1)], access.in_first && !bundle_i.written[stack_word]
    };

    for (int unsigned l = 0; l < Lanes; l++) begin
      // What is launched is not there yet. A tail call leaves all registers: r1 was the context already.
      bundle_o.write[l] <= active[l] && !faults[l] && writes(
          bundle_i.lanes[l]
      ) && (!longs[l] || (bundle_i.resume && !tail));
      bundle_o.load_lane[l] <= bundle_i.access_lane[l] && access.is_load && !longs[l];
      bundle_o.registers[l] <= bundle_i.lanes[l].dst;
      // The address of an array's value: of its first one, and the index's distance.
      bundle_o.value[l] <= {result_i[l][63:32], (result_i[l][31:0] & {32{!bundle_i.beyond[l]}}) + bundle_i.copy[l]};
      if (bundle_i.turn.pass inside {PassLower, PassUpper} && l < 2) begin
        bundle_o.write[l]    <= 1'b1;
        bundle_o.registers[l] <= ((bundle_i.turn.pass == PassLower) ? 4'd6 : 4'd8) + 4'(l);
      end
    end
  end

endmodule
