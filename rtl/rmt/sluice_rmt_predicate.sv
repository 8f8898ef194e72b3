/// Predicate of a stage: `(a & mask) op (b & mask)`, 48 bits, unsigned (docs/design/rmt.md).
///
/// All six comparisons are one carry chain. ~a + b + 1 carries out when a <= b, without the 1 when a < b; for equality
/// a bit that differs gives no carry of its own, so that the carry that goes in comes out only if all bits agree. The
/// result or its opposite is what holds; the opposite is left to the user, who has a truth table behind. A code of `a`, `b` or `op` that the row format does not name means anything.
///
/// Latency: 1 cycle, fixed. Throughput: 1 predicate a cycle. Never stalls.
module sluice_rmt_predicate
  import sluice_rmt_pkg::*;
  import sluice_rmt_rows_pkg::*;
(
    input  logic           clk_i,
    input  logic           valid_i,
    // "Bits of signal are not used": the structure travels whole, this module takes the fields that concern it.
    // verilator lint_off UNUSEDSIGNAL
    input  rmt_phv_t       phv_i,
    // verilator lint_on UNUSEDSIGNAL
    input  rmt_predicate_t row_i,
    output logic           opposite_o,  // with the row
    output logic           compares_o   // one cycle after `valid_i`; the predicate holds if this is not `opposite_o`
);

  localparam int unsigned Width = 48;

  typedef logic [15:0] part_t;  // the operands are chosen in three parts, which have different sources

  // Four to one, a LUT a bit. `keep` on what is between the steps of a choice makes each a level of LUTs.
  function automatic part_t choose(part_t [3:0] from, logic [1:0] which);
    return which[1] ? (which[0] ? from[3] : from[2]) : (which[0] ? from[1] : from[0]);
  endfunction

  // Groups of four codes: 0 and 1 containers of 2 bytes, 2 and 3 of 4, 4 and 5 of 6, 6 to 9 metadata words.
  part_t [9:0][3:0] low;
  part_t [5:2][3:0] mid;
  part_t [5:4][3:0] high;

  for (genvar i = 0; i < 8; i++) begin : gen_source
    assign low[i/4][i%4] = phv_i.c.c2[i];
    assign {mid[2+i/4][i%4], low[2+i/4][i%4]} = phv_i.c.c4[i];
    assign {high[4+i/4][i%4], mid[4+i/4][i%4], low[4+i/4][i%4]} = phv_i.c.c6[i];
    assign low[6+i/4][i%4] = phv_i.words[i];
    assign low[8+i/4][i%4] = phv_i.words[8+i];
  end

  (* keep *)part_t [9:0] a_low;
  (* keep *)part_t [5:0] b_low;
  (* keep *) part_t [5:2] a_mid, b_mid;
  (* keep *) part_t [5:4] a_high, b_high;

  for (genvar i = 0; i < 10; i++) begin : gen_low
    assign a_low[i] = choose(low[i], row_i.a[1:0]);
    if (i < 6) begin : gen_b
      assign b_low[i] = choose(low[i], row_i.b[1:0]);
    end
  end
  for (genvar i = 2; i < 6; i++) begin : gen_mid
    assign a_mid[i] = choose(mid[i], row_i.a[1:0]);
    assign b_mid[i] = choose(mid[i], row_i.b[1:0]);
  end
  for (genvar i = 4; i < 6; i++) begin : gen_high
    assign a_high[i] = choose(high[i], row_i.a[1:0]);
    assign b_high[i] = choose(high[i], row_i.b[1:0]);
  end

  // Among the groups.
  (* keep *) logic [1:0] a_last, b_last;
  (* keep *) logic a_has_mid, a_has_high, b_has_mid;
  (* keep *) part_t [1:0] a_low_of;
  (* keep *) part_t a_mid_of, b_low_of, b_mid_of;
  (* keep *) logic [Width-1:0] a, b;

  assign a_last = {row_i.a[5], row_i.a[5] ? row_i.a[2] : row_i.a[4]};
  assign b_last = row_i.b[4] ? (row_i.b[3] ? 2'd3 : {row_i.b[2], !row_i.b[2]}) : 2'd0;
  assign a_has_mid = !row_i.a[5] && (row_i.a[4] ^ row_i.a[3]);
  assign a_has_high = !row_i.a[5] && row_i.a[4] && !row_i.a[3];
  assign b_has_mid = row_i.b[4] ^ row_i.b[3];

  assign a_low_of[0] = choose(a_low[3:0], row_i.a[3:2]);
  assign a_low_of[1] = choose(a_low[7:4], row_i.a[3:2]);
  assign a_mid_of = choose({a_mid[3:2], a_mid[5:4]}, row_i.a[3:2]);
  assign b_low_of = choose(b_low[3:0], row_i.b[3:2]);
  assign b_mid_of = choose({b_mid[3:2], b_mid[5:4]}, row_i.b[3:2]);

  assign a = {
    (row_i.a[2] ? a_high[5] : a_high[4]) & {16{a_has_high}},
    a_mid_of & {16{a_has_mid}},
    choose({a_low[9:8], a_low_of}, a_last)
  };
  assign b = {
    choose({row_i.immediate[47:32], b_high[5:4], 16'd0}, b_last),
    (b_last == 2'd3) ? row_i.immediate[31:16] : b_mid_of & {16{b_has_mid}},
    choose({row_i.immediate[15:0], b_low[5:4], b_low_of}, b_last)
  };

  logic equality, carry_in, borrow;
  logic [Width-1:0] same, one, other;
  logic [Width:0] unused_difference;

  // As a subtraction, for there the order of the operands stays: bit by bit the chain passes the carry where `same` is
  // set and puts in `other` where not. Its lowest bit puts in `carry_in`.
  assign equality = row_i.op[2:1] == 2'(RmtRelationEq >> 1);  // and of ne, whose code differs in the lowest bit
  assign carry_in = equality || row_i.op == RmtRelationLe || row_i.op == RmtRelationGt;
  assign same = ~((a ^ b) & row_i.mask);
  assign other = b & {Width{!equality}};
  assign one = ~(other ^ same);
  assign {borrow, unused_difference} = {1'b0, other, carry_in} - {1'b0, one, !carry_in};

  // As the chain gives it: the other way round in front of the register would be one more level.
  logic borrow_q;
  always_ff @(posedge clk_i) if (valid_i) borrow_q <= borrow;
  assign compares_o = !borrow_q;

  assign opposite_o = row_i.op == RmtRelationNe || row_i.op == RmtRelationGt || row_i.op == RmtRelationGe;

endmodule
