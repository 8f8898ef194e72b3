/// The read-modify-write loop of a stage's state words: atom and meter (docs/design/rmt.md, "State").
///
///   c5  address of the memory     c6  word read, operands chosen     c7  update, results     c8  written
///
/// A word may be read again in every cycle: what was written one cycle before comes straight into the update, what was
/// written two and three cycles before comes in where the memory's word is registered. A meter is three subtractions
/// beside each other of which only the signs count; `top` below 2^31 is required for that.
///
/// `old_o`, `new_o` and `red_o` are results of c7, in it. An access without `write_i` leaves the word alone.
/// Latency: 3 cycles from the address to the results. Throughput: one access a cycle. Never stalls.
module sluice_rmt_atom
  import sluice_rmt_rows_pkg::*;
#(
    parameter int unsigned Words = 4096,
    localparam int unsigned AddrWidth = $clog2(Words)
) (
    input logic clk_i,
    input logic rst_ni,

    // c5
    input logic [AddrWidth-1:0] address_i,

    // c6
    input logic        write_i,       // the word is accessed and written
    input logic        meter_i,
    input logic        set_i,         // the word becomes `value_i`, whatever else is asked
    input logic [ 2:0] relation_i,    // old word with O
    input logic        compared_i,    // the relation decides, else `taken_i`
    input logic        taken_i,
    input logic        t_old_i,
    input logic        t_negate_i,
    input logic        f_old_i,
    input logic        f_negate_i,
    input logic [31:0] o_i,
    input logic [31:0] t_i,
    input logic [31:0] f_i,
    input logic [31:0] value_i,
    input logic [31:0] now_i,
    input logic [31:0] now_limit_i,
    input logic [31:0] now_top_i,
    input logic [31:0] inc_i,         // by bytes
    input logic        per_packet_i,  // else, and `t_i` is the cost
    input logic [31:0] next_i,        // now plus the packet's time

    // c7
    output logic [31:0] old_o,
    output logic [31:0] new_o,
    output logic        red_o
);

  if (2 ** AddrWidth != Words || Words < 2) begin : gen_bad_words
    $fatal(1, "rmt_atom: Words is %0d, expected a power of two from 2 on (%m)", Words);
  end

  // Codes before the loop: the relation, or one of these.
  localparam logic [2:0] Never = 3'd6;
  localparam logic [2:0] Always = 3'd7;

  // Writes under way: of c7, of c8 (going into the memory), of c9 (in the memory since this cycle).
  logic write7_q, write8_q, write9_q;
  logic [AddrWidth-1:0] address6_q, address7_q, address8_q, address9_q;
  logic [31:0] new8_q, new9_q;
  logic [31:0] from_ram;

  sluice_ram_1r1w #(
      .Width(32),
      .Depth(Words)
  ) u_words (
      .clk_i,
      .wr_en_i  (write8_q && rst_ni),  // RAM has no reset: before its first edge this is anything
      .wr_addr_i(address8_q),
      .wr_data_i(new8_q),
      .rd_en_i  (1'b1),
      .rd_addr_i(address_i),
      .rd_data_o(from_ram)
  );

  // c6: the word as far as it is known, operands.
  logic bypass_d, bypass_q;
  logic [31:0] read_d, read_q;
  logic [31:0] low_d, low_q, high_d, high_q, top_q, t_d, t_q, f_d, f_q;
  logic [2:0] code_d, code_q;
  logic t_old_q, t_negate_q, f_old_q, f_negate_q, meter_q;
  logic [1:0] t_choice;

  always_comb begin
    bypass_d = write7_q && address7_q == address6_q;
    if (write8_q && address8_q == address6_q) read_d = new8_q;
    else if (write9_q && address9_q == address6_q) read_d = new9_q;
    else read_d = from_ram;

    // The two comparisons: old with `low`, `high` with old.
    low_d  = meter_i ? now_i : o_i;
    high_d = meter_i ? now_limit_i : o_i;

    if (set_i) t_choice = 2'd3;
    else if (meter_i && !per_packet_i) t_choice = 2'd2;
    else t_choice = {1'b0, t_negate_i && !meter_i};
    case (t_choice)
      2'd0: t_d = t_i;
      2'd1: t_d = ~t_i;
      2'd2: t_d = inc_i;
      default: t_d = value_i;
    endcase
    f_d = meter_i ? next_i : (f_i ^ {32{f_negate_i}});

    if (set_i || meter_i) code_d = Always;
    else if (compared_i) code_d = relation_i;
    else code_d = taken_i ? Always : Never;
  end

  always_ff @(posedge clk_i) begin
    bypass_q   <= bypass_d;
    read_q     <= read_d;
    low_q      <= low_d;
    high_q     <= high_d;
    top_q      <= now_top_i;
    t_q        <= t_d;
    f_q        <= f_d;
    code_q     <= code_d;
    meter_q    <= meter_i;
    t_old_q    <= !set_i && (t_old_i || meter_i);
    t_negate_q <= !set_i && !meter_i && t_negate_i;
    f_old_q    <= f_old_i && !meter_i;
    f_negate_q <= f_negate_i && !meter_i;
  end

  // c7: the loop.
  logic [31:0] old, t_sum, f_sum;
  logic ge, le, t_unused, f_unused;
  logic before_now, beyond_limit, beyond_top;
  logic [30:0] before_unused, limit_unused, top_unused;
  // Kept, so that the choice of the new word is one LUT behind them.
  (* keep *) logic otherwise, behind, red;

  assign old = bypass_q ? new8_q : read_q;

  // 33 bits: the sign of the difference for a meter, its borrow for a comparison.
  logic less_borrow, more_borrow;
  assign {less_borrow, before_now, before_unused} = {1'b0, old} - {1'b0, low_q};
  assign {more_borrow, beyond_limit, limit_unused} = {1'b0, high_q} - {1'b0, old};
  assign {beyond_top, top_unused} = top_q - old;
  assign ge = !less_borrow;
  assign le = !more_borrow;

  // The carry enters through a bit of its own below the sum.
  assign {t_sum, t_unused} = {t_q, 1'b1} + {old & {32{t_old_q}}, t_negate_q};
  assign {f_sum, f_unused} = {f_q, 1'b1} + {old & {32{f_old_q}}, f_negate_q};

  always_comb begin
    case (code_q)
      RmtRelationEq: otherwise = !(ge && le);
      RmtRelationNe: otherwise = ge && le;
      RmtRelationLt: otherwise = ge;
      RmtRelationLe: otherwise = !le;
      RmtRelationGt: otherwise = le;
      RmtRelationGe: otherwise = !ge;
      Never: otherwise = 1'b1;
      default: otherwise = 1'b0;
    endcase
    // What lies before now, or so far ahead that it must, begins anew at now.
    behind = meter_q && (before_now || beyond_top);
    red = meter_q && !(before_now || beyond_top) && beyond_limit;
    if (red) new_o = old;
    else if (otherwise || behind) new_o = f_sum;
    else new_o = t_sum;
  end
  assign old_o = old;
  assign red_o = red;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      write7_q <= 1'b0;
      write8_q <= 1'b0;
      write9_q <= 1'b0;
    end else begin
      write7_q <= write_i;
      write8_q <= write7_q;
      write9_q <= write8_q;
    end
  end
  always_ff @(posedge clk_i) begin
    address6_q <= address_i;
    address7_q <= address6_q;
    address8_q <= address7_q;
    address9_q <= address8_q;
    new8_q     <= new_o;
    new9_q     <= new8_q;
  end

endmodule
