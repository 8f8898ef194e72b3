/// Whether two words agree wherever `mask_i` is one.
///
/// `agree_o` is `enable_i && ((a_i ^ b_i) & mask_i) == 0`. For synthesis that is a carry chain: a carry goes in with
/// `enable_i` and comes out if every group of `Group` bits lets it through, so that a wide comparison is one level of LUTs and a
/// chain. A LUT of six inputs takes a group of 2, or of 3 where the mask is constant. Simulation compares at once;
/// formal/common/agree.sby proves that both are the same.
///
/// Latency: 0 cycles.
module sluice_agree #(
    parameter int unsigned Width = 32,
    parameter int unsigned Group = 2
) (
    input  logic             enable_i,
    input  logic [Width-1:0] a_i,
    input  logic [Width-1:0] b_i,
    input  logic [Width-1:0] mask_i,
    output logic             agree_o
);

  if (Width < 1 || Group < 1) begin : gen_bad_width
    $fatal(1, "agree: Width is %0d and Group %0d, expected at least 1 (%m)", Width, Group);
  end

`ifdef SYNTHESIS
  localparam int unsigned Groups = (Width + Group - 1) / Group;

  logic [Groups*Group-1:0] differ;
  (* keep *) logic [Groups-1:0] same;
  (* keep *) logic enable;
  logic [Groups-1:0] unused_sum;

  assign differ = (Groups * Group)'((a_i ^ b_i) & mask_i);
  for (genvar g = 0; g < int'(Groups); g++) begin : gen_group
    assign same[g] = differ[g*int'(Group)+:Group] == '0;
  end
  assign enable = enable_i;
  assign {agree_o, unused_sum} = {1'b0, same} + (Groups + 1)'(enable);
`else
  assign agree_o = enable_i && ((a_i ^ b_i) & mask_i) == '0;
`endif

endmodule
