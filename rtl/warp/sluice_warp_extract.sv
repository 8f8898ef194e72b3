/// What a step takes: a part of what is seen of a packet (`xdp_warp_part`), or a constant.
///
/// A part's bytes are one number, in the order of the frame or of the network. It is shifted down, cut, and shifted up. Bytes behind the frame's end, and such that there are
/// not, are zero.
///
/// Latency, from the cycle of `row_i`: 2 cycles to `value_o`. Throughput: a step a cycle. Stall behaviour: stands still without `advance_i`.
module sluice_warp_extract
  import sluice_xdp_rows_pkg::*;
  import sluice_warp_pkg::*;
(
    input logic clk_i,

    input logic advance_i,

    input logic        [              63:0]      number_i,
    input logic                                  constant_i,
    input warp_bytes_t                           frame_i,
    input logic        [               6:0]      bytes_i,     // of the frame that are seen
    input logic        [               3:0][7:0] ifindex_i,
    input logic        [WarpLengthBits-1:0]      length_i,


    output logic [63:0] value_o
);

  localparam int unsigned Columns = 8;
  localparam int unsigned RowBits = 5;
  localparam int unsigned FrameRows = WarpFrameBytes / Columns;

  // "Bits of signal are not used": a part has fewer bits than a constant.
  // verilator lint_off UNUSEDSIGNAL
  xdp_warp_part_t part;
  // verilator lint_on UNUSEDSIGNAL
  assign part = number_i[XdpWarpPartBits-1:0];

  // ---------------------------------------------------------------------------------------------------------------
  // Eight bytes from the part's first one on, each in its column: byte n of the packet is in column n % 8.

  logic [2:0] begins;
  logic [Columns-1:0][7:0] column, column_q;
  logic [Columns-1:0] there;
  assign begins = part.offset[2:0];
  for (genvar c = 0; c < int'(Columns); c++) begin : gen_column
    logic [RowBits-1:0] row;
    logic [FrameRows-1:0][7:0] bytes;
    logic [7:0] chosen;
    logic seen;
    assign row = RowBits'(part.offset[6:3]) + RowBits'({1'b0, begins} > 4'(c));
    for (genvar r = 0; r < int'(FrameRows); r++) begin : gen_row
      assign bytes[r] = frame_i[Columns*r+c];
    end
    sluice_mux #(
        .Inputs(FrameRows),
        .Width (8)
    ) u_row (
        .data_i (bytes),
        .index_i(row[2:0]),
        .data_o (chosen)
    );
    // Rows behind the frame: its interface in the first four columns, its length in the first two.
    localparam int unsigned InterfaceRow = FrameRows;
    localparam int unsigned LengthRow = FrameRows + 1;
    if (c < 2) begin : gen_both
      assign column[c] = !row[3] ? chosen : row[0] ? 8'(length_i >> 8 * c) : ifindex_i[c];
      assign seen = row == RowBits'(InterfaceRow) || row == RowBits'(LengthRow) || {row, 3'(c)} < 8'(bytes_i);
    end else if (c < 4) begin : gen_interface
      assign column[c] = row[3] ? ifindex_i[c] : chosen;
      assign seen = row == RowBits'(InterfaceRow) || {row, 3'(c)} < 8'(bytes_i);
    end else begin : gen_frame
      assign column[c] = chosen;
      assign seen = {row, 3'(c)} < 8'(bytes_i);
    end
    // Of the part, and no bytes where the step is a constant.
    assign there[c] = seen && 3'(c) - begins <= part.bytes && !constant_i;
  end

  // How far all turns down, and which bits stay. No more than the number has: what turns around the end is of its lowest bits, which are shifted out.
  logic [2:0] width_low;
  assign width_low = (part.width[5:3] == '1 && part.width[2:0] > ~part.down) ? ~part.down : part.width[2:0];

  logic swap_q;
  logic [5:0] turn_q, up_q;
  logic [ 6:0] last_q;
  logic [63:0] number_q;
  always_ff @(posedge clk_i) begin
    if (advance_i) begin
      for (int unsigned c = 0; c < Columns; c++) column_q[c] <= there[c] ? column[c] : '0;
      swap_q <= part.swap;
      // In reverse columns the number's lowest byte, which is the part's last one, is in column 7 - (begins + part.bytes).
      turn_q <= 6'(part.down) - part.up + {part.swap ? ~(begins + part.bytes) : begins, 3'd0};
      up_q <= part.up;
      last_q <= 7'(part.up) + 7'({part.width[5:3], width_low});
      number_q <= constant_i ? number_i : '0;
    end
  end

  // ---------------------------------------------------------------------------------------------------------------
  // Turned and cut.

  logic [Columns-1:0][7:0] ordered;
  logic [63:0] kept, turned_q, kept_q, constant_q;
  always_comb begin
    for (int unsigned c = 0; c < Columns; c++) ordered[c] = swap_q ? column_q[Columns-1-c] : column_q[c];
    // Of each eight bits whether all are, and the one eight in which it begins or ends.
    for (int unsigned r = 0; r < 8; r++) begin
      for (int unsigned b = 0; b < 8; b++) begin
        kept[8*r+b] = (3'(r) > up_q[5:3] || (3'(r) == up_q[5:3] && 3'(b) >= up_q[2:0])) &&
            (4'(r) < last_q[6:3] || (4'(r) == last_q[6:3] && 3'(b) <= last_q[2:0]));
      end
    end
  end
  // Two bits of the turn at a time: each choice of four is one LUT.
  localparam int unsigned Turns = 3;
  logic [Turns:0][63:0] turned;
  assign turned[0] = ordered;
  for (genvar t = 0; t < int'(Turns); t++) begin : gen_turn
    localparam int unsigned Far = 1 << 2 * t;
    for (genvar b = 0; b < 64; b++) begin : gen_bit
      assign turned[t+1][b] = turn_q[2*t+1] ? (turn_q[2*t] ? turned[t][(b+3*Far)%64] : turned[t][(b+2*Far)%64]) :
          (turn_q[2*t] ? turned[t][(b+Far)%64] : turned[t][b]);
    end
  end
  always_ff @(posedge clk_i) begin
    if (advance_i) begin
      turned_q   <= turned[Turns];
      kept_q     <= kept;
      constant_q <= number_q;
    end
  end
  assign value_o = constant_q | (turned_q & kept_q);

endmodule
