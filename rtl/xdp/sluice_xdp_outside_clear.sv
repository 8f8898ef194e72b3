/// Takes away what pages of outside memory hold: forgets that they were written, and their lines in the cache.
///
/// `valid_i` begins with units of 64 KiB; the row of bits of each is made zero, then each tag of the cache is looked at. `done_o` is high for a cycle. A page
/// whose bit is zero reads as zeros, so nothing in memory is written. Accesses go on meanwhile, at half their rate at the least.
///
/// Latency: 1 cycle a unit, 2 a line of the cache, and as many again while accesses go on. Stall behaviour: waits for cycles in which nobody has the
/// memories (`pages_free_i`, `tags_free_i`).
module sluice_xdp_outside_clear #(
    parameter int unsigned UnitBits  = 15,
    parameter int unsigned IndexBits = 12
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic                valid_i,
    input  logic [UnitBits-1:0] first_i,
    input  logic [  UnitBits:0] units_i,
    output logic                busy_o,
    output logic                done_o,

    input  logic                pages_free_i,
    output logic                page_valid_o,
    output logic [UnitBits-1:0] page_unit_o,

    input  logic                 tags_free_i,
    output logic                 tag_read_o,
    output logic [IndexBits-1:0] tag_index_o,
    // In the cycle behind: whether there is a line, and in which unit it lies.
    input  logic                 tag_valid_i,
    input  logic [ UnitBits-1:0] tag_unit_i,
    output logic                 tag_judges_o,
    output logic                 tag_clears_o
);

  typedef enum logic [2:0] {
    Idle,
    Pages,
    TagRead,
    TagJudge,
    Done
  } state_e;

  state_e state_q;
  logic [UnitBits-1:0] unit_q, first_q;
  logic [UnitBits:0] left_q, units_q, behind;
  logic [IndexBits-1:0] index_q;

  assign busy_o = state_q != Idle;
  assign done_o = state_q == Done;
  assign page_valid_o = state_q == Pages && pages_free_i && left_q != '0;
  assign page_unit_o = unit_q;
  assign tag_read_o = state_q == TagRead && tags_free_i;
  assign tag_index_o = index_q;
  assign tag_judges_o = state_q == TagJudge;
  assign behind = {1'b0, tag_unit_i} - {1'b0, first_q};
  assign tag_clears_o = tag_judges_o && tag_valid_i && !behind[UnitBits] && behind < units_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= Idle;
    end else begin
      case (state_q)
        Idle: if (valid_i) state_q <= Pages;
        Pages: if (left_q == '0) state_q <= TagRead;
        TagRead: if (tags_free_i) state_q <= TagJudge;
        TagJudge: state_q <= (index_q == '1) ? Done : TagRead;
        default: state_q <= Idle;
      endcase
    end
    if (state_q == Idle) begin
      unit_q  <= first_i;
      first_q <= first_i;
      left_q  <= units_i;
      units_q <= units_i;
      index_q <= '0;
    end
    if (page_valid_o) begin
      unit_q <= unit_q + UnitBits'(1);
      left_q <= left_q - (UnitBits + 1)'(1);
    end
    if (state_q == TagJudge) index_q <= index_q + IndexBits'(1);
  end

endmodule
