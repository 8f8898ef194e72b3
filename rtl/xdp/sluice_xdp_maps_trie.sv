/// A trie: goes down from its root while a node's prefix covers the operation's address, and takes the longest that has a value.
///
/// A node's first row has children, length and value; bits of the address that its prefix covers are compared row by row.
///
/// Latency: 1 cycle to the root, 3 for each node, 4 for each further row of its prefix. Stands still while `hold_i`.
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
    input logic         [127:0]       rest_key_i, // the key's part in the row that is read

    output walk_go_e   go_o,
    output walk_move_t move_o,
    output walk_look_t look_o
);

  typedef enum logic [2:0] {
    Rest,
    Root,
    RootRow,
    Node,  // a further row of its prefix
    NodeRow,
    NodeCheck,
    NodeStep
  } state_e;

  state_e state_q, state_next;
  logic [8:0] prefix_q;
  logic real_q, differs_q, side_q, best_valid_q;
  slot_t value_slot_q, best_q;
  link_t [  1:0] children_q;
  logic  [127:0] node_q;

  logic  [ 62:0] node;
  logic  [511:0] key;
  logic  [479:0] address;
  logic  [ 31:0] length;
  logic [127:0] node_mask, node_address;
  logic covered, covers, ends;

  assign node = 63'({search_i[1], search_i[0]});
  assign key = operation_i.key;
  assign length = key[31:0];
  assign address = key[511:32];
  assign covered = 32'(prefix_q) <= 64 + 128 * 32'(cursor_i.rest);
  always_comb begin
    // The first row has its 8 bytes in the upper half.
    node_address = (cursor_i.rest == '0) ? {address[63:0], 64'd0} : rest_key_i;
    for (int unsigned i = 0; i < 16; i++) begin
      for (int unsigned b = 0; b < 8; b++) begin
        node_mask[8*i+7-b] = 32'(prefix_q) + 64 > 128 * 32'(cursor_i.rest) + 8 * i + b && (cursor_i.rest != '0 || i >= 8);
      end
    end
  end

  // The bit behind a prefix that ends in this row: the next row's first one, where it ends with it.
  logic [6:0] behind;
  logic side;
  assign behind = prefix_q[6:0] + 7'd64;
  assign side = (behind == '0) ? address[{cursor_i.rest[1:0], 7'd71}] : node_address[{behind[6:3], ~behind[2:0]}];

  // The prefix is the address's, and has a value; nothing below it is longer.
  assign looks_o = state_q inside {RootRow, NodeRow};
  assign covers = !differs_q && real_q;
  assign ends = differs_q || 32'(prefix_q) == length || children_q[side_q] == '0 || cursor_i.too_far;

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
        look_o.entry = slot_t'(search_i[3]);
        if (search_i[3] == '0 || length > {22'd0, operation_i.map.key_bytes, 3'd0} - 32'd32) go_o = GoMiss;
      end
      Node: begin
        state_next   = NodeRow;
        look_o.valid = 1'b1;
      end
      NodeRow:   state_next = NodeCheck;
      NodeCheck: state_next = NodeStep;
      NodeStep: begin
        state_next = Node;
        move_o.rest_valid = 1'b1;
        if (!differs_q && !covered) begin
          move_o.rest = cursor_i.rest + 3'd1;
        end else begin
          state_next = NodeRow;
          move_o.at_valid = 1'b1;
          move_o.at = slot_of(children_q[side_q]);
          move_o.step = !ends;
          look_o.valid = 1'b1;
          look_o.row = LookNode;
          look_o.entry = slot_t'(children_q[side_q]);
          if (ends) begin
            // The longest prefix was this one's, or the last one's before it that has a value.
            move_o.at = covers ? value_slot_q : best_q;
            go_o = (best_valid_q || covers) ? GoFound : GoMiss;
          end
        end
      end
      default:   ;
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
    if (state_q == NodeRow) begin
      node_q <= search_i;
      if (cursor_i.rest == '0) begin
        children_q   <= {link_t'(node[35:18]), link_t'(node[17:0])};
        prefix_q     <= node[44:36];
        real_q       <= node[45];
        value_slot_q <= slot_t'(node[62:46]);
      end
    end
    if (state_q == NodeCheck) begin
      differs_q <= ((node_q ^ node_address) & node_mask) != '0 || 32'(prefix_q) > length;
      side_q    <= side;
    end
    if (state_q == NodeStep && covered && covers) begin
      best_q       <= value_slot_q;
      best_valid_q <= 1'b1;
    end
    if (takes_i) best_valid_q <= 1'b0;
  end

endmodule
