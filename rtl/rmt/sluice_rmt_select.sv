/// One selection of the parser: 8 bytes of the window against 8 ternary alternatives; the lowest that matches, and that
/// takes packets of this length, counts.
///
/// docs/design/rmt.md, "Parser", `select(row)`. The window comes by slots, one a cycle without gaps; each
/// selector byte is taken from the slot that it lies in and is zero where the packet has no such slot.
/// `row_i` and `length_i` have to hold from the packet's first slot to its last.
///
/// Latency: 1 cycle from the last slot to `valid_o` and the result, which is combinational behind the compared
/// bytes. Throughput: 1 slot a cycle. Never stalls.
module sluice_rmt_select
  import sluice_rmt_rows_pkg::*;
#(
    parameter int unsigned Bytes = 64,
    localparam int unsigned BeatBits = $clog2(RmtWindowBytes / Bytes)
) (
    input logic clk_i,
    input logic rst_ni,

    input logic                                valid_i,
    input logic                                first_i,
    input logic                                last_i,
    input logic            [BeatBits-1:0]      beat_i,
    input logic            [   Bytes-1:0][7:0] data_i,
    input rmt_select_row_t                     row_i,
    input logic            [         7:0]      length_i, // bytes of the packet; 255 stands for more, too

    output logic       valid_o,
    output logic       program_o,  // row_i.valid
    output logic       hit_o,
    output logic [3:0] to_o,

    // `to_o`, or `other_to_i` with `other_i`: the table that it leads to has both as addresses, and `to_o` comes late.
    input  logic       other_i,
    input  logic [3:0] other_to_i,
    output logic [3:0] address_o
);

  localparam int unsigned ByteBits = $clog2(Bytes);

  // Bytes: taken once each, kept while the other slots pass.
  logic [RmtSelectors-1:0][7:0] byte_d, byte_q;
  logic valid_q, program_q;
  rmt_alternative_t [7:0] alternatives_q;

  for (genvar k = 0; k < int'(RmtSelectors); k++) begin : gen_byte
    sluice_mux #(
        .Inputs(Bytes),
        .Width (8)
    ) u_mux (
        .data_i,
        .index_i(row_i.offsets[k][ByteBits-1:0]),
        .data_o (byte_d[k])
    );
    always_ff @(posedge clk_i) begin
      if (row_i.offsets[k][6:ByteBits] == beat_i) byte_q[k] <= byte_d[k];
      else if (first_i) byte_q[k] <= '0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) valid_q <= 1'b0;
    else valid_q <= valid_i && last_i;
  end
  // The next packet's row may follow at once.
  always_ff @(posedge clk_i) begin
    program_q <= row_i.valid;
    alternatives_q <= row_i.alternatives;
    for (int unsigned i = 0; i < 8; i++) begin
      alternatives_q[i].valid <= row_i.alternatives[i].valid && length_i >= row_i.leasts[i];
    end
  end

  logic [7:0] match;
  for (genvar i = 0; i < 8; i++) begin : gen_alternative
    sluice_agree #(
        .Width(8 * RmtSelectors)
    ) u_agree (
        .enable_i(alternatives_q[i].valid),
        .a_i     (byte_q),
        .b_i     (alternatives_q[i].value),
        .mask_i  (alternatives_q[i].mask),
        .agree_o (match[i])
    );
  end

  // The lowest of eight as three groups, so that it takes two levels.
  logic [2:0] group_hit;
  logic [2:0][3:0] group_to;
  always_comb begin
    for (int unsigned g = 0; g < 3; g++) begin
      group_hit[g] = 1'b0;
      group_to[g]  = '0;
      for (int unsigned j = 0; j < 3; j++) begin
        if (3 * g + j < 8) begin
          if (!group_hit[g] && match[3*g+j]) group_to[g] = alternatives_q[3*g+j].to;
          group_hit[g] |= match[3*g+j];
        end
      end
    end
  end

  assign valid_o = valid_q;
  assign program_o = program_q;
  assign hit_o = |group_hit;
  // No deeper for the other one: it takes the last group's place, and the first two give way.
  (* keep *) logic [1:0] address_hit;
  (* keep *) logic [2:0][3:0] address_to;
  assign address_hit = group_hit[1:0] & {2{!other_i}};
  assign address_to = {other_i ? other_to_i : group_to[2], group_to[1:0]};
  assign address_o = address_hit[0] ? address_to[0] : address_hit[1] ? address_to[1] : address_to[2];
  assign to_o = group_hit[0] ? group_to[0] : group_hit[1] ? group_to[1] : group_to[2];

endmodule
