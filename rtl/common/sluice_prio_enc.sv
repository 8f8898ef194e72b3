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

  // A tree of nodes with four children each: whether one has a bit set, and where the lowest one is. The depth in LUTs is
  // logarithmic, which a chain of `if`s over the bits is not; `keep` makes what is between two levels a LUT's output.
  localparam int unsigned Levels = (IndexWidth + 1) / 2;

  for (genvar l = 1; l <= int'(Levels); l++) begin : gen_level
    localparam int unsigned Nodes = 4 ** (Levels - l);
    (* keep *) logic [Nodes-1:0] any;
    (* keep *) logic [Nodes-1:0][2*l-1:0] index;
    logic [4*Nodes-1:0] child;

    if (l == 1) begin : gen_bits
      assign child = (4 * Nodes)'(req_i);
    end else begin : gen_below
      assign child = gen_level[l-1].any;
    end

    for (genvar n = 0; n < int'(Nodes); n++) begin : gen_node
      logic [3:0] of;
      logic [1:0] which;
      assign of = child[4*n+:4];
      assign any[n] = |of;
      // Without a set bit at all the index stays zero.
      assign which = {!of[0] && !of[1] && (of[2] || of[3]), !of[0] && (of[1] || (!of[2] && of[3]))};
      if (l == 1) begin : gen_whole
        assign index[n] = which;
      end else begin : gen_lower
        logic [3:0][2*l-3:0] lower;
        assign lower = gen_level[l-1].index[4*n+:4];
        assign index[n] = {which, lower[which]};
      end
    end
  end

  assign valid_o  = gen_level[Levels].any[0];
  assign index_o  = gen_level[Levels].index[0][IndexWidth-1:0];
  assign onehot_o = req_i & (~req_i + 1'b1);

endmodule
