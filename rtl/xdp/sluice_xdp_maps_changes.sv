/// Writes rows of search memory: those of a change, one a cycle, from the cycle on in which its value is known to come; beside them what the hand
/// of LRU maps leaves, the slot set aside, and bits of slots in a cycle in which nothing else is written.
///
/// A new entry is written behind what leads to it, a victim is taken out before. An exchange's slot that goes has its bits written before its entry
/// is, so that those of the one that comes may be read beside it.
///
/// Latency: none. Throughput: a row a cycle. Stands still while `hold_i`.
module sluice_xdp_maps_changes
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_pkg::*;
  import sluice_xdp_walk_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic hold_i,

    // "Bits of signal are not used": of an operation its key and its map's rows.
    // verilator lint_off UNUSEDSIGNAL
    input walk_operation_t operation_i,
    input walk_cursor_t    cursor_i,
    // verilator lint_on UNUSEDSIGNAL
    input logic            takes_i,
    input walk_write_e     start_i,
    input logic            cancel_i,
    input logic            sure_i,

    // "Bits of signal are not used": whether there is room was decided before.
    // verilator lint_off UNUSEDSIGNAL
    input walk_plan_t     plan_i,
    // verilator lint_on UNUSEDSIGNAL
    input xdp_map_state_t counts_i,
    // "Bits of signal are not used": of a queue its state.
    // verilator lint_off UNUSEDSIGNAL
    input walk_queue_t    queue_i,
    // verilator lint_on UNUSEDSIGNAL
    input link_t          next_i,
    input link_t          hook_i,
    input logic           holds_entry_i,

    // Rows by the walker, which is told what they are of.
    output logic               chain_valid_o,
    output logic               slot_valid_o,
    output logic               prev_valid_o,
    output walk_move_t         move_o,
    // "Bits of signal are not used": those of wide links.
    // verilator lint_off UNUSEDSIGNAL
    input  chain_t             chain_i,
    // verilator lint_on UNUSEDSIGNAL
    input  walk_rows_t         rows_i,
    input  logic       [127:0] rest_key_i,

    input  logic              aside_i,
    input  logic              passed_valid_i,
    input  logic [63:0]       passed_i,
    input  logic              counts_valid_i,
    input  logic              marked_valid_i,
    output logic              marked_ready_o,
    input  row_t              marked_row_i,
    input  logic [ 3:0][31:0] marked_i,

    output logic links_o,   // a link is being written
    output logic leaves_o,  // what is left for the cycle behind this one is one row at most
    output logic idle_o,

    output logic [3:0]       search_write_o,
    output row_t             search_write_row_o,
    output logic [3:0][31:0] search_o
);

  walk_write_e write_q, write_next;
  logic written_q, writing, last, at_bucket;
  link_t hook;
  logic [127:0] entry_data;

  logic moves;
  logic [2:0] rest;
  always_comb begin
    move_o = '0;
    move_o.rest_valid = moves;
    if (moves) move_o.rest = rest;
  end

  assign writing = write_q != WriteNone && (sure_i || written_q || plan_i.deletes || operation_i.call.op == XdpMapOpPop) &&
      !(plan_i.exchanges && write_q == WriteEntry && marked_valid_i && holds_entry_i);
  logic [2:0] rests;
  assign rests = rests_of(operation_i.map, operation_i.wide);
  assign last = cursor_i.rest == rests;
  assign idle_o = write_q == WriteNone;
  assign links_o = writing && write_q == WriteLink;

  assign chain_valid_o = write_q == WriteUnhook;
  assign slot_valid_o = write_q == WriteEntry;
  assign prev_valid_o = write_q inside {WriteUnhook, WriteLink};
  assign moves = writing && write_q == WriteEntry;
  assign rest = last ? '0 : cursor_i.rest + 3'd1;

  always_comb begin
    write_next = write_q;
    if (writing) begin
      case (write_q)
        WriteUnhook, WriteCounts: write_next = WriteLink;
        WriteLink: write_next = plan_i.deletes ? WriteFree : WriteEntry;
        WriteEntry: write_next = last ? WriteNone : WriteEntry;
        default: write_next = WriteNone;
      endcase
    end
  end
  assign leaves_o = write_next inside {WriteNone, WriteFree} ||
      (write_next == WriteEntry && (moves ? rest : cursor_i.rest) == rests);

  always_ff @(posedge clk_i) begin
    if (!rst_ni || cancel_i) write_q <= WriteNone;
    else if (!hold_i) write_q <= (start_i != WriteNone) ? start_i : write_next;
    if (writing && !hold_i) written_q <= 1'b1;
    if (takes_i) written_q <= 1'b0;
  end

  // The row of an entry: its link and its chain, in a word or in one each.
  function automatic logic [127:0] first_row(link_t link);
    if (operation_i.wide) return {operation_i.key.first[63:0], 32'(operation_i.chain), 32'(link)};
    return {operation_i.key.first, operation_i.chain[ChipChainBits-1:0], link[ChipLinkBits-1:0]};
  endfunction
  assign entry_data = (cursor_i.rest == '0) ? first_row(plan_i.exchanges ? next_i : cursor_i.head) : rest_key_i;

  assign hook = (write_q == WriteUnhook) ? hook_i : plan_i.deletes ? next_i : link_to(cursor_i.slot);
  assign at_bucket = cursor_i.prev_bucket || (plan_i.inserts && write_q == WriteLink);
  always_comb begin
    search_write_o = '0;
    search_write_row_o = rows_i.entry;
    search_o = entry_data;
    marked_ready_o = 1'b0;
    if (writing) begin
      case (write_q)
        WriteCounts: begin
          search_write_o = '1;
          search_write_row_o = rows_i.state;
          search_o = counts_i;
        end
        WriteQueue: begin
          search_write_o = '1;
          search_write_row_o = rows_i.state;
          search_o = queue_i.state;
        end
        WriteEntry: search_write_o = '1;
        WriteFree:  search_write_o = 4'b0001;
        default: begin
          search_write_o = 4'b0001;
          search_o[0] = operation_i.wide ? 32'(hook) : {chain_i[ChipChainBits-1:0], hook[ChipLinkBits-1:0]};
          if (at_bucket) begin
            search_write_o = 4'b0001 << chain_i[1:0];
            search_write_row_o = rows_i.bucket;
            search_o = {4{32'(hook)}};
          end
        end
      endcase
    end else if (aside_i) begin
      search_write_o = 4'b0001 << operation_i.processor[1:0];
      search_write_row_o = rows_i.aside;
      search_o = {4{32'(cursor_i.at)}};
    end else if (passed_valid_i) begin
      search_write_o = 4'b1100;
      search_write_row_o = rows_i.mark;
      search_o[3:2] = passed_i;
    end else if (counts_valid_i) begin
      search_write_o = '1;
      search_write_row_o = rows_i.state;
      search_o = counts_i;
    end else if (marked_valid_i) begin
      marked_ready_o = 1'b1;
      search_write_o = '1;
      search_write_row_o = marked_row_i;
      search_o = marked_i;
    end
  end

`ifndef SYNTHESIS
  // What the next operation reads first was written before it was taken.
  LinksAreWrittenBeforeTheNext_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) takes_i |-> write_next == WriteNone && write_q inside {WriteNone, WriteEntry, WriteFree});
`endif

endmodule
