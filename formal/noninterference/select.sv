/// Proof about two copies of sluice_rmt_select: what a selection of the parser finds in a module's packet is the same in both,
/// whatever packets of other modules and rows of theirs come before and behind it in each.
///
/// By k-induction, for runs of any length, with resets at any time. The slots of a chosen module's packet, with its row, are
/// common to both copies and come in the same cycles, one behind the other as the parser gives them; all else is free in
/// each, slots that are no packets among it. That the row is the module's is the address of the parser's tables:
/// module and generation of the packet's first slot, which go with it.
module select
  import sluice_rmt_rows_pkg::*;
#(
    parameter int unsigned Bytes = 32,
    localparam int unsigned BeatBits = $clog2(RmtWindowBytes / Bytes)
) (
    input logic                                     clk_i,
    input logic                                     rst_ni,
    // [2] is the chosen module's.
    input logic                                     ours_i,
    input logic            [2:0]                    valid_i,
    input logic            [2:0]                    first_i,
    input logic            [2:0]                    last_i,
    input logic            [1:0][BeatBits-1:0]      beat_i,
    input logic            [2:0][   Bytes-1:0][7:0] data_i,
    input rmt_select_row_t [2:0]                    row_i,
    input logic            [2:0]                    other_i,
    input logic            [2:0][         3:0]      other_to_i
);

  logic init_q = 1'b1;
  logic ours_q, within_q, ends_q;
  logic [BeatBits-1:0] beat, beat_q;
  rmt_select_row_t row_q;

  assign beat = first_i[2] ? '0 : beat_q + 1'b1;
  always_ff @(posedge clk_i) begin
    init_q   <= 1'b0;
    ours_q   <= rst_ni && ours_i;
    within_q <= rst_ni && ours_i && !last_i[2];
    ends_q   <= rst_ni && ours_i && last_i[2];
    beat_q   <= beat;
    row_q    <= row_i[2];
  end
  always_comb begin
    if (init_q) assume (!rst_ni);
    assume (rst_ni || !ours_i);
    // A packet's slots follow each other from its first to its last, with one row; they are as many as the window has.
    assume (!within_q || !rst_ni || ours_i);
    assume (!ours_i || first_i[2] == !within_q);
    assume (!ours_i || !within_q || row_i[2] == row_q);
    assume (!ours_i || beat != '1 || last_i[2]);
  end

  logic [1:0] valid, program_of, hit;
  logic [1:0][3:0] to, address;
  logic [1:0][RmtSelectors-1:0][7:0] bytes;
  rmt_alternative_t [1:0][7:0] alternatives;
  for (genvar k = 0; k < 2; k++) begin : gen_copy
    sluice_rmt_select #(
        .Bytes(Bytes)
    ) u_dut (
        .clk_i,
        .rst_ni,
        .valid_i   (ours_i || valid_i[k]),
        .first_i   (first_i[ours_i?2 : k]),
        .last_i    (last_i[ours_i?2 : k]),
        .beat_i    (ours_i ? beat : beat_i[k]),
        .data_i    (data_i[ours_i?2 : k]),
        .row_i     (row_i[ours_i?2 : k]),
        .valid_o   (valid[k]),
        .program_o (program_of[k]),
        .hit_o     (hit[k]),
        .to_o      (to[k]),
        .other_i   (other_i[ends_q?2 : k]),
        .other_to_i(other_to_i[ends_q?2 : k]),
        .address_o (address[k])
    );
    assign bytes[k] = u_dut.byte_q;
    assign alternatives[k] = u_dut.alternatives_q;
  end

  AResultComesInBoth_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) init_q || !ends_q || valid == 2'b11);
  TheResultIsTheSame_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) init_q || !ends_q || (program_of[0] == program_of[1] &&
      hit[0] == hit[1] && to[0] == to[1] && address[0] == address[1]));

  // Strengthening for the induction.
  WithinIsOfThePacket_A :
  assert property (@(posedge clk_i) init_q || ours_q == (within_q || ends_q));
  BytesAreOfThePacketAlone_A :
  assert property (@(posedge clk_i) init_q || !ours_q || bytes[0] == bytes[1]);
  AlternativesAreTheRows_A :
  assert property (@(posedge clk_i) init_q || !ours_q || alternatives[0] == alternatives[1]);
endmodule
