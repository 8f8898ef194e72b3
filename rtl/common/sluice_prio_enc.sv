/// Finds the lowest set bit of a vector.
///
/// `valid_o` says that a bit is set, `index_o` is the position of the lowest one and
/// `onehot_o` has only that bit. With no bit set `index_o` and `onehot_o` are zero.
///
/// Latency: 0 cycles (combinational).
module sluice_prio_enc #(
    parameter int unsigned Width = 8,
    localparam int unsigned IndexWidth = (Width > 1) ? $clog2(Width) : 1
) (
    input  logic [     Width-1:0] req_i,
    output logic                  valid_o,
    output logic [IndexWidth-1:0] index_o,
    output logic [     Width-1:0] onehot_o
);

  if (Width < 1) begin : gen_bad_width
    $fatal(1, "prio_enc: Width is %0d, expected at least 1 (%m)", Width);
  end

  localparam int unsigned Leaves = 2 ** IndexWidth;

  // A binary tree in heap order: node n has the children 2n+1 (lower bits) and 2n+2, the
  // leaves are the last `Leaves` nodes. The depth in LUTs is logarithmic, which a chain of
  // `if`s over the bits is not.
  logic [2*Leaves-2:0]                 node_valid;
  logic [2*Leaves-2:0][IndexWidth-1:0] node_index;

  for (genvar i = 0; i < int'(Leaves); i++) begin : gen_leaf
    assign node_valid[int'(Leaves)-1+i] = (i < int'(Width)) ? req_i[(i<int'(Width))?i : 0] : 1'b0;
    assign node_index[int'(Leaves)-1+i] = '0;
  end

  for (genvar level = 0; level < int'(IndexWidth); level++) begin : gen_level
    localparam int unsigned Bit = IndexWidth - 1 - level;
    for (genvar n = 2 ** level - 1; n < 2 ** (level + 1) - 1; n++) begin : gen_node
      assign node_valid[n] = node_valid[2*n+1] | node_valid[2*n+2];
      always_comb begin
        node_index[n] = node_valid[2*n+1] ? node_index[2*n+1] : node_index[2*n+2];
        // Without a set bit at all the index stays zero.
        node_index[n][Bit] = ~node_valid[2*n+1] & node_valid[2*n+2];
      end
    end
  end

  assign valid_o  = node_valid[0];
  assign index_o  = node_index[0];
  assign onehot_o = req_i & (~req_i + 1'b1);

endmodule
