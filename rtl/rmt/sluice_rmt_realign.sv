/// The packet's bytes of an outgoing beat: as they stood, and moved by the delta (docs/decisions/rmt-packet-path.md).
///
/// Beats come in with `load_i` (`here_i`, if `load_beat_i`; zeros if not), one for each slot; a slot wants bytes of
/// the beats up to `Reach` = 64 / Bytes behind and before its own. Those before are zero at a packet's begin; those
/// behind wait on `here_i` and `behind_i` (a bus of 32 bytes) while the slot stands in the first register.
///
/// The wanted bytes are any Bytes that follow each other in 2 * Reach + 1 beats. First each column of 2 bytes takes
/// the beat in which its wanted bytes are, then the columns are rotated, in steps of 8, 2 and 1 words. The last step
/// is left to the user, who has a choice to make anyway: a moved word is that of `even_o` at its own place if
/// `shift_i[0]` was low, else the next one's (that of place 0 for the last).
///
/// Latency: 2 cycles from `load_i`, if the slot moves on at once; `moved`, `own_o` follow it one cycle later.
/// Throughput: one beat a cycle.
module sluice_rmt_realign #(
    parameter  int unsigned Bytes = 64,
    localparam int unsigned Words = Bytes / 2
) (
    input logic clk_i,

    input logic                   load_i,
    input logic                   load_first_i,
    input logic                   load_beat_i,
    input logic [      6:0]       half_delta_i,
    input logic [Words-1:0][15:0] here_i,
    input logic [Words-1:0][15:0] behind_i,

    // "Bits of signal are not used": the word has the width of what it is computed from; some of it decides nothing.
    // verilator lint_off UNUSEDSIGNAL
    input  logic [      6:0]       shift_i,  // of the slot in the first register: 32 - half the delta
    // verilator lint_on UNUSEDSIGNAL
    output logic [Words-1:0][15:0] own_o,
    output logic [Words-1:0][15:0] even_o
);

  if (Bytes != 32 && Bytes != 64) begin : gen_bad_bytes
    $fatal(1, "rmt_realign: Bytes is %0d, expected 32 or 64 (%m)", Bytes);
  end

  localparam int unsigned Reach = 64 / Bytes;
  localparam int unsigned WordBits = $clog2(Words);

  if (Reach == 1) begin : gen_no_behind
    logic unused_behind;
    assign unused_behind = ^behind_i;
  end

  // The slot's beat and those before it, latest first.
  logic [Words-1:0][15:0] beat_q[Reach+1];

  always_ff @(posedge clk_i) begin
    if (load_i) begin
      beat_q[0] <= load_beat_i ? here_i : '0;
      for (int unsigned i = 1; i <= Reach; i++) beat_q[i] <= load_first_i ? '0 : beat_q[i-1];
    end
  end

  // Which beat each column takes, 0 the oldest.
  logic [6:0] shift3;
  logic [Words-1:0][2:0] row_q;
  assign shift3 = 7'd32 - half_delta_i;
  always_ff @(posedge clk_i) begin
    if (load_i) begin
      for (int unsigned c = 0; c < Words; c++) begin
        row_q[c] <= 3'(shift3 >> WordBits) + 3'(WordBits'(c) < shift3[WordBits-1:0]);
      end
    end
  end

  logic [Words-1:0][15:0] columns, by8, by8_q, by2, own_q;
  // "Bits of signal are not used": the word has the width of what it is computed from; some of it decides nothing.
  // verilator lint_off UNUSEDSIGNAL
  logic [2:0] shift_q;
  // verilator lint_on UNUSEDSIGNAL

  for (genvar c = 0; c < int'(Words); c++) begin : gen_column
    (* keep *) logic [15:0] column;
    if (Bytes == 64) begin : gen_64
      assign column = row_q[c][1] ? here_i[c] : (row_q[c][0] ? beat_q[0][c] : beat_q[Reach][c]);
    end else begin : gen_32
      (* keep *) logic [15:0] old;
      assign old = row_q[c][1] ? beat_q[0][c] : (row_q[c][0] ? beat_q[1][c] : beat_q[Reach][c]);
      assign column = row_q[c][2] ? behind_i[c] : (&row_q[c][1:0] ? here_i[c] : old);
    end
    assign columns[c] = column;
  end

  for (genvar j = 0; j < int'(Words); j++) begin : gen_rotate
    if (Words == 32) begin : gen_32
      assign by8[j] = shift_i[4] ? (shift_i[3] ? columns[(j+24)%32] : columns[(j+16)%32]) :
          (shift_i[3] ? columns[(j+8)%32] : columns[j]);
    end else begin : gen_16
      assign by8[j] = shift_i[3] ? columns[(j+8)%16] : columns[j];
    end
    (* keep *) logic [15:0] word;
    assign word = shift_q[2] ? (shift_q[1] ? by8_q[(j+6)%Words] : by8_q[(j+4)%Words]) :
        (shift_q[1] ? by8_q[(j+2)%Words] : by8_q[j]);
    assign by2[j] = word;
  end

  always_ff @(posedge clk_i) begin
    by8_q   <= by8;
    own_q   <= beat_q[0];
    shift_q <= shift_i[2:0];
  end

  assign own_o  = own_q;
  assign even_o = by2;

endmodule
