/// The packet's bytes of an outgoing beat: as they stood, and moved by the delta (docs/decisions/rmt-packet-path.md).
///
/// Beats come in with `load_i` (`here_i`, if `load_beat_i`; zeros if not), one for each slot; a slot wants bytes of
/// the beats up to `Reach` = 64 / Bytes behind and before its own. Those before are zero at a packet's begin; those
/// behind wait on `here_i` and `behind_i` (a bus of 32 bytes) while the slot stands in the first register.
///
/// The wanted bytes are any Bytes that follow each other in 2 * Reach + 1 beats. First each column of a byte takes the
/// beat in which its wanted byte is, then the columns are rotated, in steps of 16, 4, 2 and 1 bytes. The last step is
/// left to the user, who has a choice to make anyway: a moved byte is that of `even_o` at its own place if `shift_i[0]`
/// was low, else the next one's (that of place 0 for the last).
///
/// Latency: 2 cycles from `load_i`, if the slot moves on at once; `moved`, `own_o` follow it one cycle later.
/// Throughput: one beat a cycle.
module sluice_rmt_realign
  import sluice_rmt_deparse_pkg::*;
#(
    parameter int unsigned Bytes = 64
) (
    input logic clk_i,

    input logic                  load_i,
    input logic                  load_first_i,
    input logic                  load_beat_i,
    input logic [      7:0]      delta_i,
    input logic [Bytes-1:0][7:0] here_i,
    input logic [Bytes-1:0][7:0] behind_i,

    // "Bits of signal are not used": the word has the width of what it is computed from; some of it decides nothing.
    // verilator lint_off UNUSEDSIGNAL
    input  logic [      7:0]      shift_i,  // of the slot in the first register: 64 - delta
    // verilator lint_on UNUSEDSIGNAL
    output logic [Bytes-1:0][7:0] own_o,
    output logic [Bytes-1:0][7:0] even_o
);

  if (Bytes != 32 && Bytes != 64) begin : gen_bad_bytes
    $fatal(1, "rmt_realign: Bytes is %0d, expected 32 or 64 (%m)", Bytes);
  end

  localparam int unsigned Reach = 64 / Bytes;
  localparam int unsigned ByteBits = $clog2(Bytes);

  if (Reach == 1) begin : gen_no_behind
    logic unused_behind;
    assign unused_behind = ^behind_i;
  end

  // The slot's beat and those before it, latest first.
  logic [Bytes-1:0][7:0] beat_q[Reach+1];

  always_ff @(posedge clk_i) begin
    if (load_i) begin
      beat_q[0] <= load_beat_i ? here_i : '0;
      for (int unsigned i = 1; i <= Reach; i++) beat_q[i] <= load_first_i ? '0 : beat_q[i-1];
    end
  end

  // Which beat each column takes, 0 the oldest: those before the first wanted byte's take one more.
  logic [7:0] shift3;
  (* keep *) leading_t lower_code;
  logic [Bytes-1:0] lower;
  logic [Bytes-1:0][2:0] row_q;
  assign shift3 = 8'd64 - delta_i;
  assign lower_code = leading(1'b0, 6'(shift3[ByteBits-1:0]));
  assign lower = Bytes'(leading_bytes(lower_code));
  always_ff @(posedge clk_i) begin
    if (load_i) begin
      for (int unsigned c = 0; c < Bytes; c++) row_q[c] <= 3'(shift3 >> ByteBits) + 3'(lower[c]);
    end
  end

  logic [Bytes-1:0][7:0] columns, by16, by16_q, by2, own_q;
  // "Bits of signal are not used": the word has the width of what it is computed from; some of it decides nothing.
  // verilator lint_off UNUSEDSIGNAL
  logic [3:0] shift_q;
  // verilator lint_on UNUSEDSIGNAL

  for (genvar c = 0; c < int'(Bytes); c++) begin : gen_column
    (* keep *) logic [7:0] column;
    if (Bytes == 64) begin : gen_64
      assign column = row_q[c][1] ? here_i[c] : (row_q[c][0] ? beat_q[0][c] : beat_q[Reach][c]);
    end else begin : gen_32
      (* keep *) logic [7:0] old;
      assign old = row_q[c][1] ? beat_q[0][c] : (row_q[c][0] ? beat_q[1][c] : beat_q[Reach][c]);
      assign column = row_q[c][2] ? behind_i[c] : (&row_q[c][1:0] ? here_i[c] : old);
    end
    assign columns[c] = column;
  end

  for (genvar j = 0; j < int'(Bytes); j++) begin : gen_rotate
    if (Bytes == 64) begin : gen_64
      assign by16[j] = shift_i[5] ? (shift_i[4] ? columns[(j+48)%64] : columns[(j+32)%64]) :
          (shift_i[4] ? columns[(j+16)%64] : columns[j]);
    end else begin : gen_32
      assign by16[j] = shift_i[4] ? columns[(j+16)%32] : columns[j];
    end
    (* keep *) logic [7:0] by4;
    assign by4 = shift_q[3] ? (shift_q[2] ? by16_q[(j+12)%Bytes] : by16_q[(j+8)%Bytes]) :
        (shift_q[2] ? by16_q[(j+4)%Bytes] : by16_q[j]);
  end
  for (genvar j = 0; j < int'(Bytes); j++) begin : gen_pair
    (* keep *) logic [7:0] moved;
    assign moved  = shift_q[1] ? gen_rotate[(j+2)%Bytes].by4 : gen_rotate[j].by4;
    assign by2[j] = moved;
  end

  always_ff @(posedge clk_i) begin
    by16_q  <= by16;
    own_q   <= beat_q[0];
    shift_q <= shift_i[3:0];
  end

  assign own_o  = own_q;
  assign even_o = by2;

endmodule
