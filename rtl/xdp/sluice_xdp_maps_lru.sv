/// Of a full LRU map the entry that goes: the hand looks for one that is not touched, then what leads to it is looked for in its chain. Beside that
/// what operations change in used and touched bits (docs/design/xdp-maps.md, "What an LRU map gives up").
///
/// Latency: 4 cycles for each 64 slots that the hand passes, 3 to the victim's chain, 1 for each entry before it. Stall behaviour: waits until it is sure that the
/// value may be read; stands still while `hold_i`.
module sluice_xdp_maps_lru
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_pkg::*;
  import sluice_xdp_walk_pkg::*;
(
    input  logic clk_i,
    input  logic rst_ni,
    input  logic hold_i,
    output logic looks_o,       // at what comes of search memory
    output logic looks_marks_o,

    // "Bits of signal are not used": of an operation what its map's size is.
    // verilator lint_off UNUSEDSIGNAL
    input walk_operation_t operation_i,
    // verilator lint_on UNUSEDSIGNAL
    input walk_go_e        go_i,
    input logic            sure_i,       // the value may be read

    // "Bits of signal are not used": where a chain is walked.
    // verilator lint_off UNUSEDSIGNAL
    input walk_cursor_t              cursor_i,
    // verilator lint_on UNUSEDSIGNAL
    input logic         [ 3:0][31:0] search_i,
    input link_t                     chain_word_i,
    input link_t                     entry_link_i,
    input logic         [31:0]       hand_i,

    output logic               scans_o,
    output walk_go_e           go_o,
    output logic        [63:0] error_o,
    output walk_move_t         move_o,
    output walk_look_t         look_o,
    output logic               first_o,       // a chain's beginning is there
    output logic               mark_hand_o,   // the row of bits is the hand's
    output walk_write_e        write_o,
    output logic               hand_valid_o,
    output logic        [31:0] hand_o,

    // What is written besides: what the hand leaves of touched bits, the map's state.
    output logic          write_passed_o,
    output logic   [63:0] passed_o,
    output logic          write_counts_o,
    output link_t         hook_o,          // what the victim leads to
    output chain_t        chain_o,         // its chain

    // A slot's bits.
    input  logic                  mark_valid_i,
    input  row_t                  mark_row_i,
    input  logic      [5:0]       mark_slot_i,
    input  map_mark_e             mark_i,
    output logic                  marks_idle_o,
    output logic                  marked_valid_o,
    input  logic                  marked_ready_i,
    output row_t                  marked_row_o,
    output logic      [3:0][31:0] marked_o
);

  typedef enum logic [2:0] {
    Rest,
    Scan,
    ScanRow,
    ScanPick,
    ScanWrite,
    VictimRow,
    SeekRow,
    SeekEntryRow
  } state_e;

  state_e state_q, state_next;
  link_t hook_q;
  chain_t chain_q;
  logic picked_valid;
  logic [5:0] picked;
  logic [31:0] slots, victim, behind;

  assign slots = 32'(operation_i.map.slots);
  assign victim = {hand_i[31:6], picked};
  assign behind = {hand_i[31:6], 6'd0} + 32'd64;
  assign scans_o = state_q == Scan;
  assign looks_o = state_q inside {ScanRow, VictimRow, SeekRow, SeekEntryRow};
  assign first_o = state_q == SeekRow;
  assign mark_hand_o = state_q inside {Scan, ScanWrite};
  assign write_passed_o = state_q == ScanWrite;
  assign write_counts_o = state_q == VictimRow;
  assign hook_o = hook_q;
  assign chain_o = chain_q;

  // Behind the hand's stop: what it has picked, or the next row.
  assign hand_valid_o = state_q == ScanWrite;
  always_comb begin
    hand_o = (behind >= slots) ? '0 : behind;
    if (picked_valid) hand_o = (victim + 32'd1 == slots) ? '0 : victim + 32'd1;
  end

  always_comb begin
    state_next = state_q;
    go_o = GoStay;
    error_o = '0;
    move_o = '0;
    look_o = '0;
    write_o = WriteNone;
    case (state_q)
      Scan: begin
        look_o.valid = 1'b1;
        look_o.row   = LookMark;
        if (sure_i) begin
          state_next  = ScanRow;
          move_o.step = 1'b1;
        end
      end
      ScanRow:  state_next = ScanPick;
      ScanPick: state_next = ScanWrite;
      ScanWrite: begin
        look_o.valid = 1'b1;
        look_o.entry_valid = 1'b1;
        look_o.entry = slot_in(slot_t'(victim), operation_i.wide);
        if (picked_valid) begin
          state_next = VictimRow;
          move_o.slot_valid = 1'b1;
          move_o.slot = slot_in(slot_t'(victim), operation_i.wide);
        end else begin
          state_next = Scan;
          // Twice around is enough.
          if (32'(cursor_i.steps) > 32'(operation_i.map.slots[SlotNumberBits-1:5]) + 32'd4) begin
            error_o = ErrorNoMemory;
            go_o = GoFail;
          end
        end
      end
      VictimRow: begin
        state_next = SeekRow;
        look_o.valid = 1'b1;
        look_o.row = LookBucket;
        look_o.chain_valid = 1'b1;
        look_o.chain = chain_in(search_i, operation_i.wide);
        move_o.restart = 1'b1;
      end
      SeekRow: begin
        state_next = SeekEntryRow;
        look_o.valid = 1'b1;
        look_o.row = LookWalk;
        move_o.begins = 1'b1;
        move_o.at_valid = 1'b1;
        move_o.at = slot_of(chain_word_i);
        if (chain_word_i == link_to(cursor_i.slot)) begin
          // What the new entry leads to may be what goes.
          move_o.head_valid = chain_q == operation_i.chain;
          move_o.head = hook_q;
          write_o = WriteUnhook;
          go_o = operation_i.map.per_cpu ? GoZero : GoValue;
        end
        if (chain_word_i == '0) begin
          error_o = ErrorNoMemory;
          go_o = GoFail;
        end
      end
      SeekEntryRow: begin
        look_o.valid = 1'b1;
        look_o.row = LookWalk;
        move_o.step = 1'b1;
        move_o.follows = 1'b1;
        move_o.at_valid = 1'b1;
        move_o.at = slot_of(entry_link_i);
        if (entry_link_i == link_to(cursor_i.slot)) begin
          write_o = WriteUnhook;
          go_o = operation_i.map.per_cpu ? GoZero : GoValue;
        end
        if (entry_link_i == '0 || cursor_i.too_far) begin
          error_o = ErrorNoMemory;
          write_o = WriteNone;
          go_o = GoFail;
        end
      end
      default:  ;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= Rest;
    end else if (!hold_i) begin
      case (go_i)
        GoStay:  state_q <= state_next;
        GoScan:  state_q <= Scan;
        default: state_q <= Rest;
      endcase
    end
    if (state_q == VictimRow) begin
      chain_q <= chain_in(search_i, operation_i.wide);
      hook_q  <= entry_link_i;
    end
  end

  sluice_xdp_maps_marks u_marks (
      .clk_i,
      .rst_ni,
      .hold_i,
      .looks_o      (looks_marks_o),
      .search_i,
      .mark_valid_i,
      .mark_row_i,
      .mark_slot_i,
      .mark_i,
      .idle_o       (marks_idle_o),
      .write_valid_o(marked_valid_o),
      .write_ready_i(marked_ready_i),
      .write_row_o  (marked_row_o),
      .write_o      (marked_o),
      .scan_i       (state_q == ScanRow),
      .hand_i       (hand_i[5:0]),
      .pick_valid_o (picked_valid),
      .pick_o       (picked),
      .passed_o
  );

`ifndef SYNTHESIS
  MarksAreWrittenBeforeTheHand_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) state_q == Scan |-> marks_idle_o);
`endif

endmodule
