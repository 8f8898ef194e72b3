/// The eight containers of one size in an action: shared picks, rotator, ALUs (docs/design/rmt.md, "Operands", "ALUs").
///
///   c4  P0, P1, P2 and the action data picks chosen     c6  A and B of every ALU chosen
///   c5  P2 rotated, ALUs decoded                        c7  ALUs: `result_o`
///
/// The containers enter in c4; each group of inputs is taken in the cycle that it is named under.
/// Latency: `result_o` in the fourth cycle. Throughput: a packet a cycle. Never stalls.
module sluice_rmt_class
  import sluice_rmt_rows_pkg::*;
#(
    parameter  int unsigned Bytes = 2,
    localparam int unsigned Width = 8 * Bytes
) (
    input logic       clk_i,
    input logic [6:4] valid_i, // whether c4 to c6 hold a packet

    // c4
    input  logic [7:0][Width-1:0] containers_i,
    input  logic [2:0][      2:0] pick_i,
    input  logic [1:0][      2:0] data_i,
    input  logic [7:0][     15:0] halves_i,      // action data by 2-byte position, first byte most significant
    output logic [1:0][Width-1:0] picked_o,      // P2, DA

    // c5
    input logic                 act_i,
    input logic     [      1:0] conditions_i,
    input rmt_alu_t [      7:0] alus_i,
    input logic     [      5:0] amount_i,
    input logic     [Width-1:0] rotate_mask_i,

    // c6
    input  logic [      7:0][Width-1:0] immediates_i,
    input  logic [Width-1:0]            x_i,
    output logic [      3:0][Width-1:0] operands_o,    // P0, P1, DA, DB

    // c7
    input  logic [7:0][Width-1:0] masks_i,
    output logic [7:0][Width-1:0] result_o
);

  if (Bytes != 2 && Bytes != 4 && Bytes != 6) begin : gen_bad_bytes
    $fatal(1, "rmt_class: Bytes is %0d, expected 2, 4 or 6 (%m)", Bytes);
  end

  // c4: picks.
  localparam int unsigned Halves = Bytes / 2;
  logic [2:0][Width-1:0] pick_d, pick_q;
  logic [1:0][Width-1:0] data_d, data_q;
  // Behind the last position there are zeros.
  // "Bits of signal are not used": the word has the width of what it is computed from; some of it decides nothing.
  // verilator lint_off UNUSEDSIGNAL
  logic [15:0][15:0] halves;
  // verilator lint_on UNUSEDSIGNAL
  assign halves = {128'd0, halves_i};

  for (genvar i = 0; i < 3; i++) begin : gen_pick
    // Kept, so that each step maps as it is written.
    (* keep *) logic [1:0][Width-1:0] first;
    for (genvar h = 0; h < 2; h++) begin : gen_first
      assign first[h] = pick_i[i][1] ? (pick_i[i][0] ? containers_i[4*h+3] : containers_i[4*h+2]) :
          (pick_i[i][0] ? containers_i[4*h+1] : containers_i[4*h]);
    end
    assign pick_d[i] = pick_i[i][2] ? first[1] : first[0];
  end

  for (genvar i = 0; i < 2; i++) begin : gen_data
    for (genvar k = 0; k < int'(Halves); k++) begin : gen_half
      (* keep *) logic [1:0][15:0] first;
      for (genvar h = 0; h < 2; h++) begin : gen_first
        assign first[h] = data_i[i][1] ? (data_i[i][0] ? halves[4*h+3+k] : halves[4*h+2+k]) :
            (data_i[i][0] ? halves[4*h+1+k] : halves[4*h+k]);
      end
      assign data_d[i][16*(int'(Halves)-1-k)+:16] = data_i[i][2] ? first[1] : first[0];
    end
  end
  assign picked_o = {data_d[0], pick_d[2]};

  logic [7:0][Width-1:0] containers5_q, containers6_q, containers7_q;
  logic [1:0][Width-1:0] pick6_q, data6_q;
  always_ff @(posedge clk_i) begin
    if (valid_i[4]) begin
      pick_q        <= pick_d;
      data_q        <= data_d;
      containers5_q <= containers_i;
    end
    if (valid_i[5]) begin
      pick6_q       <= pick_q[1:0];
      data6_q       <= data_q;
      containers6_q <= containers5_q;
    end
    if (valid_i[6]) containers7_q <= containers6_q;
  end

  // c5: rotator, two bits of the amount a level; rotations by 32 and by 16 make one by 48, which is none for 6 bytes.
  function automatic logic [Width-1:0] rotated(logic [Width-1:0] value, int unsigned by);
    int unsigned n;
    n = by % Width;
    return (value << n) | (value >> (Width - n));
  endfunction

  logic [Width-1:0] rotate_a, rotate_b, rotate_c, r_q;
  always_comb begin
    case (amount_i[1:0])
      2'd0: rotate_a = pick_q[2];
      2'd1: rotate_a = rotated(pick_q[2], 1);
      2'd2: rotate_a = rotated(pick_q[2], 2);
      default: rotate_a = rotated(pick_q[2], 3);
    endcase
    case (amount_i[3:2])
      2'd0: rotate_b = rotate_a;
      2'd1: rotate_b = rotated(rotate_a, 4);
      2'd2: rotate_b = rotated(rotate_a, 8);
      default: rotate_b = rotated(rotate_a, 12);
    endcase
    case (amount_i[5:4])
      2'd0: rotate_c = rotate_b;
      2'd1: rotate_c = rotated(rotate_b, 16);
      2'd2: rotate_c = rotated(rotate_b, 32);
      default: rotate_c = rotated(rotate_b, 48);
    endcase
  end
  always_ff @(posedge clk_i) if (valid_i[5]) r_q <= rotate_c & rotate_mask_i;

  // c6 and c7: ALUs.
  assign operands_o = {data6_q, pick6_q};

  for (genvar i = 0; i < 8; i++) begin : gen_alu
    sluice_rmt_alu #(
        .Width(Width)
    ) u_alu (
        .clk_i,
        .valid_i    (valid_i[6:5]),
        .act_i,
        .conditions_i,
        .alu_i      (alus_i[i]),
        .self_i     (containers6_q[i]),
        .p0_i       (pick6_q[0]),
        .p1_i       (pick6_q[1]),
        .r_i        (r_q),
        .x_i,
        .da_i       (data6_q[0]),
        .db_i       (data6_q[1]),
        .immediate_i(immediates_i[i]),
        .mask_i     (masks_i[i]),
        .own_i      (containers7_q[i]),
        .result_o   (result_o[i])
    );
  end

endmodule
