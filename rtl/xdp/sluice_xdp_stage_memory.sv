/// Sixth stage of a core: loads read, stores write, units are asked; the next row is known, and what the context keeps.
///
/// A bundle that launches what comes late is done but for that. Of a bundle with two passes the first one launches and does nothing else. A
/// unit that is busy sends the context back. A bundle of its flow's section that is another packet's does nothing, and stops its context.
///
/// Latency: 1 cycle. Throughput: a bundle a cycle. Never stalls.
module sluice_xdp_stage_memory
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_pkg::*;
  import sluice_xdp_stages_pkg::*;
#(
    parameter int unsigned Contexts = 8,
    localparam int unsigned ContextBits = $clog2(Contexts)
) (
    input logic clk_i,
    input logic rst_ni,

    // "Bits of signal are not used": others take what faults, ends and launches are made of.
    // verilator lint_off UNUSEDSIGNAL
    input xdp_second_t                   bundle_i,
    // verilator lint_on UNUSEDSIGNAL
    input logic        [ContextBits-1:0] context_i,

    // Units: whether they take what is launched, and what a helper has answered.
    input logic                          request_ready_i,
    input logic                          muldiv_ready_i,
    input logic                          helper_busy_i,
    input logic        [ContextBits-1:0] helper_context_i,
    // "Bits of signal are not used": a fault and a value are told with the units' results.
    // verilator lint_off UNUSEDSIGNAL
    input xdp_return_t                   return_i,
    // verilator lint_on UNUSEDSIGNAL
    input logic        [           31:0] redirect_i,

    // "Bits of signal are not used": others take what a reference and an end are made of.
    // verilator lint_off UNUSEDSIGNAL
    input xdp_late_t                   late_i,
    // verilator lint_on UNUSEDSIGNAL
    input logic      [ContextBits-1:0] late_context_i,

    output xdp_decided_t decided_o,
    output xdp_keep_t    keep_o,

    output logic                   read_valid_o,
    output xdp_place_t             read_place_o,
    output logic                   write_valid_o,
    output xdp_place_t             write_place_o,
    output logic       [7:0][ 7:0] write_enable_o,
    output logic       [1:0][63:0] write_data_o,

    output xdp_done_t                   bundle_o,
    output logic      [ContextBits-1:0] context_o,
    output logic      [ContextBits-1:0] late_context_o
);

  localparam int unsigned Lanes = XdpLanes;

  // ---------------------------------------------------------------------------------------------------------------
  // What becomes of the bundle.

  logic
      held,
      launches,
      retries,
      parks,
      commits,
      completes,
      ends,
      calls,
      leaves,
      helped,
      referred,
      out_of_work,
      unit_ready;

  always_comb begin
    case (bundle_i.unit)
      UnitHelper: unit_ready = !helper_busy_i;
      UnitMuldiv: unit_ready = muldiv_ready_i;
      UnitMaps: unit_ready = 1'b1;
      default: unit_ready = request_ready_i;
    endcase
  end

  assign held = bundle_i.valid && bundle_i.held;
  assign launches = bundle_i.valid && bundle_i.launch && !held;
  assign retries = launches && !unit_ready;
  assign parks = launches && !retries;
  // An exit in the place of a jump back counts as work, before what it still holds is looked at.
  assign out_of_work = (bundle_i.taken || bundle_i.exit || bundle_i.holds) && bundle_i.back && bundle_i.workless;
  assign commits = bundle_i.valid && !held && (!bundle_i.launch || (bundle_i.late && unit_ready));
  assign completes = bundle_i.valid && !held && !bundle_i.launch;
  assign ends = completes && (bundle_i.fault || (bundle_i.exit && bundle_i.turn.depth == '0) || out_of_work);
  assign calls = completes && bundle_i.enters && bundle_i.turn.pass == PassBundle && !out_of_work;
  assign leaves = completes && bundle_i.exit && !bundle_i.fault && bundle_i.turn.depth != '0;
  assign helped = completes && helper_busy_i && context_i == helper_context_i && bundle_i.unit == UnitHelper;
  assign referred = completes && bundle_i.unit == UnitMaps && bundle_i.redirects;

  assign decided_o = '{
          held: held,
          launches: launches,
          retries: retries || held,
          parks: parks,
          commits: commits,
          completes: completes,
          ends: ends,
          stops: parks || ends || held,
          may_stop:
          bundle_i.valid
          && (
          bundle_i.launch
          ||
          bundle_i.fault
          ||
          bundle_i.held
          || (
          bundle_i.exit && bundle_i.turn.depth == '0
          ) || (
          bundle_i.back && bundle_i.workless
          )
          ),
          helped: helped,
          out_of_work: out_of_work
      };

  // ---------------------------------------------------------------------------------------------------------------
  // What the context keeps.

  logic [CodeBits-1:0] row_behind, next_row;
  always_comb begin
    row_behind = bundle_i.row + CodeBits'(1);
    if (bundle_i.row[5:0] == '1) row_behind = {bundle_i.next_page, 6'd0};
    next_row = row_behind;
    if (bundle_i.taken) next_row = bundle_i.target;
    // The packet's first bundle comes again.
    if (bundle_i.start && !commits) next_row = bundle_i.row;
  end

  // Calls and exits change the frame, a packet's first bundle is in the program's own.
  xdp_turn_t turn;
  always_comb begin
    turn = '{pass: PassBundle, depth: bundle_i.turn.depth};
    if (bundle_i.turn.pass == PassLower) turn.pass = PassUpper;
    if (bundle_i.enters && bundle_i.turn.pass == PassBundle) turn.depth = bundle_i.turn.depth + depth_t'(1);
    if (bundle_i.tail && bundle_i.turn.depth != '0) turn.pass = PassClear;
    if (bundle_i.exit) turn = '{pass: PassLower, depth: bundle_i.turn.depth - depth_t'(1)};
    if (bundle_i.start) turn = '{pass: PassBundle, depth: '0};
  end

  // The kept part is written by a packet's first pass, taken back edges, and when a helper has answered.
  xdp_kept_t kept;
  always_comb begin
    kept = bundle_i.kept;
    if (completes && bundle_i.taken && bundle_i.back) kept.work = bundle_i.kept.work - WorkBits'(1);
    if (completes && bundle_i.tail) kept.tails = bundle_i.kept.tails + 6'd1;
    if (completes && bundle_i.locks) kept.locked = bundle_i.kind == RequestLock;
    // The second pass of a helper's bundle brings the bounds that it left.
    if (helped) begin
      kept.bounds = return_i.bounds;
      kept.low = return_i.low;
      kept.record = return_i.record;
      if (return_i.redirects) kept.redirect = '{redirected: 1'b1, to_host: 1'b0, to: redirect_i, asked: redirect_i};
    end
    if (referred) kept.redirect = redirect_to(bundle_i.kept.redirect, bundle_i.result, bundle_i.address[31:0]);
  end

  // Words of the stack that are written.
  logic store, two_words;
  logic [StackWords-1:0] written;
  assign two_words = 5'(bundle_i.byte_number) + 5'(bundle_i.bytes) > 5'd8;
  assign store = completes && bundle_i.store;
  // By eight words: those of the first one written, and of the one behind it.
  logic [5:0] second_word;
  logic [7:0] first_eight, first_of, second_eight, second_of;
  assign second_word = bundle_i.stack_word + 6'd1;
  always_comb begin
    for (int unsigned i = 0; i < 8; i++) begin
      first_eight[i] = store && bundle_i.in_first && bundle_i.stack_word[5:3] == 3'(i);
      first_of[i] = bundle_i.stack_word[2:0] == 3'(i);
      second_eight[i] = store && bundle_i.in_first && two_words && second_word[5:3] == 3'(i);
      second_of[i] = second_word[2:0] == 3'(i);
    end
    // A packet's first bundle writes what it stores alone.
    for (int unsigned i = 0; i < StackWords; i++) begin
      written[i] = bundle_i.written[i] || (first_eight[i/8] && first_of[i%8]) || (second_eight[i/8] && second_of[i%8]);
    end
    if (helped) written = return_i.written;
    if (bundle_i.tail) written = '0;
  end

  logic starts, keeps, writes_row, writes_turn, writes_kept, writes_stack;
  xdp_caller_t caller;
  assign starts = bundle_i.valid && bundle_i.start;
  assign keeps = (bundle_i.taken && bundle_i.back) || bundle_i.locks;
  assign writes_row = starts || (commits && !ends && bundle_i.turn.pass != PassClear);
  assign writes_turn = starts || calls || leaves || (completes && (bundle_i.tail || bundle_i.turn.pass != PassBundle));
  assign writes_kept = starts || helped || referred || (completes && keeps);
  assign writes_stack = starts || helped || (store && bundle_i.in_first) ||
      (completes && bundle_i.tail && bundle_i.turn.depth == '0);
  assign caller = '{row: row_behind, registers: {bundle_i.fourth, bundle_i.third, bundle_i.data, bundle_i.address}};

  assign keep_o = '{
          row_valid: writes_row,
          row: next_row,
          turn_valid: writes_turn,
          turn: turn,
          kept_valid: writes_kept,
          kept: kept,
          written_valid: writes_stack,
          written: written,
          caller_valid: calls,
          caller: caller
      };

  // ---------------------------------------------------------------------------------------------------------------
  // Loads and stores.

  logic [15:0] enable;
  assign enable = 16'(byte_mask(bundle_i.bytes)) << bundle_i.byte_number;

  assign read_valid_o = (completes && bundle_i.load) || (launches && bundle_i.reads_late);
  assign read_place_o = bundle_i.place;
  assign write_valid_o = store;
  assign write_place_o = bundle_i.place;
  // Bytes of a word that are not the store's are zeros, of a word of the stack that nobody wrote.
  logic [7:0][7:0] turned;
  assign turned = turned_up(bundle_i.data, bundle_i.byte_number);
  always_comb begin
    for (int unsigned i = 0; i < 8; i++) begin
      write_data_o[0][8*i+:8] = turned[i] & {8{enable[i]}};
      write_data_o[1][8*i+:8] = turned[i] & {8{enable[8+i]}};
    end
    write_enable_o = '0;
    write_enable_o[0] = enable[7:0] | {8{bundle_i.words_unset[0]}};
    if (two_words) write_enable_o[1] = enable[15:8] | {8{bundle_i.words_unset[1]}};
  end

  // ---------------------------------------------------------------------------------------------------------------
  // What is written into registers.

  always_ff @(posedge clk_i) begin
    context_o              <= context_i;
    bundle_o.clear         <= bundle_i.valid && bundle_i.start && rst_ni;
    bundle_o.write         <= (commits && !out_of_work && rst_ni) ? bundle_i.write : '0;
    bundle_o.registers     <= bundle_i.registers;
    bundle_o.load_lane     <= bundle_i.load_lane;
    bundle_o.value         <= bundle_i.value;
    bundle_o.takes[0]      <= (bundle_i.nothing || bundle_i.in_context || bundle_i.words_unset[0]) ? '0 : enable[7:0];
    bundle_o.takes[1]      <= (bundle_i.nothing || bundle_i.in_context || bundle_i.words_unset[1]) ? '0 : enable[15:8];
    bundle_o.byte_number   <= bundle_i.byte_number;
    bundle_o.sign_byte     <= 3'(4'(bundle_i.byte_number) + bundle_i.bytes - 4'd1);
    bundle_o.signs         <= bundle_i.sign ? ~byte_mask(bundle_i.bytes) : '0;
    bundle_o.context_value <= bundle_i.in_context ? bundle_i.context_value : '0;
    bundle_o.mark          <= commits && bundle_i.launch && bundle_i.late_writes && rst_ni;
    bundle_o.marked        <= bundle_i.late_register;
    bundle_o.late          <= late_i.valid && late_i.writes && rst_ni;
    late_context_o         <= late_context_i;
    if (late_i.valid && late_i.writes) begin
      bundle_o.registers[Lanes-1] <= late_i.target;
      bundle_o.value[Lanes-1]     <= late_i.result.value;
      bundle_o.load_lane[Lanes-1] <= 1'b0;
    end
  end

endmodule
