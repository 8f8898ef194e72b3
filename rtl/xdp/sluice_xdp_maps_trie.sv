/// A trie: goes down from its root while a node's prefix covers the operation's address, and takes the longest that has a value.
///
/// A node's first row has children, length and value; bits of the address that its prefix covers are compared row by row. While a row is compared the one behind it is read, of this
/// node or of the child on the address' side, and nobody looks at it if the prefix is not the address's.
///
/// Latency: 1 cycle to the root, 2 for each node and each further row of its prefix, 1 behind the last. Stands still while `hold_i`.
module sluice_xdp_maps_trie
  import sluice_xdp_pkg::*;
  import sluice_xdp_walk_pkg::*;
(
    input  logic clk_i,
    input  logic rst_ni,
    input  logic hold_i,
    output logic looks_o, // at what comes of search memory

    // "Bits of signal are not used": of an operation its key, and where its map's rows are.
    // verilator lint_off UNUSEDSIGNAL
    input walk_operation_t operation_i,
    // verilator lint_on UNUSEDSIGNAL
    input logic            takes_i,
    input walk_go_e        go_i,

    // "Bits of signal are not used": which node it is, and how many there were.
    // verilator lint_off UNUSEDSIGNAL
    input walk_cursor_t               cursor_i,
    // verilator lint_on UNUSEDSIGNAL
    input logic         [  3:0][31:0] search_i,
    input logic         [127:0]       rest_key_i, // the key's part in the row that comes

    output walk_go_e   go_o,
    output walk_move_t move_o,
    output walk_look_t look_o,
    output row_t       node_o   // the row of the node that is read
);

  typedef enum logic [2:0] {
    Rest,
    Root,
    RootRow,
    NodeRow,
    NodeCheck
  } state_e;

  state_e state_q, state_next;
  logic [8:0] prefix_q;
  logic real_q, best_valid_q;
  slot_t value_slot_q, best_q;
  link_t [1:0] children_q;
  logic [127:0] node_q, address_q;
  // Bits of the row up to the prefix' end; a first row has 64 in front of the address.
  logic [9:0] covered_q;
  // What the row before has come to: checked, not the address's, its node's last, and with it the walk.
  logic checked_q, differs_q, whole_q, stops_q;

  logic [ 62:0] node;
  logic [ 31:0] length;
  logic [127:0] mask;
  logic first, side, whole, stops, covers, ends;
  row_t [1:0] child_row;

  assign node   = 63'({search_i[1], search_i[0]});
  assign length = operation_i.key.first[31:0];
  assign first  = cursor_i.rest == '0;

  // In a row its first bit is the highest of its first byte.
  always_comb begin
    for (int unsigned i = 0; i < 16; i++) begin
      for (int unsigned b = 0; b < 8; b++) mask[8*i+7-b] = covered_q > 10'(8 * i + b);
    end
  end

  // The bit behind a prefix that ends in this row: the next row's first one, where it ends with it. The walker has gone on to that row's number.
  assign side = (covered_q[6:0] == '0) ? operation_i.key.bits[2'(cursor_i.rest[1:0]-2'd1)] : address_q[{covered_q[6:3], ~covered_q[2:0]}];
  assign whole = covered_q <= 10'd128;
  assign stops = 32'(prefix_q) == length || children_q[side] == '0 || cursor_i.too_far;

  // The prefix is the address's, and has a value; nothing below it is longer.
  assign covers = whole_q && !differs_q && real_q;
  assign ends = checked_q && (differs_q || (whole_q && stops_q));
  assign looks_o = state_q == RootRow || (state_q == NodeRow && !ends);

  function automatic row_t row_of(link_t link);
    return row_at(operation_i.map.entry, operation_i.wide) - (row_t'(1) << operation_i.map.entry_shift) +
        row_t'({3'd0, link} << operation_i.map.entry_shift);
  endfunction
  assign child_row = {row_of(children_q[1]), row_of(children_q[0])};
  assign node_o = (state_q == NodeCheck) ? child_row[side] : row_of(link_t'(search_i[3]));

  always_comb begin
    state_next = state_q;
    go_o = GoStay;
    move_o = '0;
    look_o = '0;
    case (state_q)
      Root: begin
        state_next   = RootRow;
        look_o.valid = 1'b1;
        look_o.row   = LookState;
      end
      RootRow: begin
        state_next = NodeRow;
        move_o.at_valid = 1'b1;
        move_o.at = slot_t'(search_i[3] - 32'd1);
        move_o.step = 1'b1;
        look_o.valid = 1'b1;
        look_o.row = LookNode;
        if (search_i[3] == '0 || length > {22'd0, operation_i.map.key_bytes, 3'd0} - 32'd32) go_o = GoMiss;
      end
      NodeRow: begin
        state_next = NodeCheck;
        move_o.rest_valid = 1'b1;
        move_o.rest = cursor_i.rest + 3'd1;
        if (ends) begin
          // The longest prefix was the last one's that was checked, or the last one's before it that has a value.
          move_o.at_valid = 1'b1;
          move_o.at = covers ? value_slot_q : best_q;
          go_o = (best_valid_q || covers) ? GoFound : GoMiss;
        end
      end
      NodeCheck: begin
        state_next   = NodeRow;
        look_o.valid = 1'b1;
        if (whole) begin
          look_o.row = LookNode;
          move_o.rest_valid = 1'b1;
          move_o.at_valid = 1'b1;
          move_o.at = slot_of(children_q[side]);
          move_o.step = 1'b1;
        end
      end
      default: ;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= Rest;
    end else if (!hold_i) begin
      case (go_i)
        GoStay: state_q <= state_next;
        GoRoot: state_q <= Root;
        GoRootRow: state_q <= RootRow;
        default: state_q <= Rest;
      endcase
    end
    if (!hold_i) begin
      if (state_q == NodeRow) begin
        node_q    <= search_i;
        address_q <= first ? {operation_i.key.first[95:32], 64'd0} : rest_key_i;
        covered_q <= first ? 10'(node[44:36]) + 10'd64 : covered_q - 10'd128;
        if (first) begin
          // What is no prefix.
          node_q[63:0] <= '0;
          children_q   <= {link_t'(node[35:18]), link_t'(node[17:0])};
          prefix_q     <= node[44:36];
          real_q       <= node[45];
          value_slot_q <= slot_t'(node[62:46]);
        end
        if (checked_q && covers) begin
          best_q       <= value_slot_q;
          best_valid_q <= 1'b1;
        end
      end
      if (state_q == NodeCheck) begin
        differs_q <= ((node_q ^ address_q) & mask) != '0 || 32'(prefix_q) > length;
        whole_q   <= whole;
        stops_q   <= stops;
      end
      checked_q <= state_q == NodeCheck;
      if (takes_i) best_valid_q <= 1'b0;
    end
  end

endmodule
