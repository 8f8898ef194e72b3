/// Extracts one container of `Size` bytes from the window, which comes by slots.
///
/// Byte k of the container is byte offset + k of the window, the first one most significant; it is zero where the
/// packet has no such slot, behind the window, and where the container is not taken. `extract_i` has to hold
/// from the packet's first slot to its last.
///
/// A shift by 4:1 choices, coarse steps first; each drops what is not needed any more. Banks of 2 or 4 bytes with a row
/// each are smaller for small containers, but finding the rows is a level more, which there is no room for.
///
/// Latency: 1 cycle from the last slot. Throughput: 1 slot a cycle. Never stalls.
module sluice_rmt_extract
  import sluice_rmt_rows_pkg::*;
#(
    parameter int unsigned Bytes = 64,
    parameter int unsigned Size = 6,
    localparam int unsigned BeatBits = $clog2(RmtWindowBytes / Bytes)
) (
    input logic clk_i,

    input logic                             first_i,
    input logic         [BeatBits-1:0]      beat_i,
    input logic         [   Bytes-1:0][7:0] data_i,
    input rmt_extract_t                     extract_i,

    output logic [8*Size-1:0] value_o
);

  localparam int unsigned ByteBits = $clog2(Bytes);

  if (Size != 2 && Size != 4 && Size != 6) begin : gen_bad_size
    $fatal(1, "rmt_extract: Size is %0d, expected 2, 4 or 6 (%m)", Size);
  end

  logic [ByteBits-1:0] offset;
  assign offset = extract_i.offset[ByteBits-1:0];

  // Byte k is byte (offset + k) modulo Bytes of the slot.
  logic [Size-1:0][7:0] picked;

  localparam int unsigned Steps = (ByteBits + 1) / 2;
  // What step s may still be shifted by after it, and how many bytes it keeps.
  logic [Steps:0][Bytes-1:0][7:0] kept;
  assign kept[0] = data_i;
  for (genvar s = 0; s < int'(Steps); s++) begin : gen_step
    localparam int unsigned High = ByteBits - 2 * s;
    localparam int unsigned Grain = (High >= 2) ? 2 ** (High - 2) : 1;
    for (genvar i = 0; i < int'(Bytes); i++) begin : gen_byte
      if (i >= int'(Grain + Size - 1)) begin : gen_none
        assign kept[s+1][i] = '0;
      end else if (High >= 2) begin : gen_four
        sluice_mux #(
            .Inputs(4),
            .Width (8)
        ) u_mux (
            .data_i ({kept[s][(i+3*Grain)%Bytes], kept[s][(i+2*Grain)%Bytes], kept[s][(i+Grain)%Bytes], kept[s][i]}),
            .index_i(offset[High-1-:2]),
            .data_o (kept[s+1][i])
        );
      end else begin : gen_two
        assign kept[s+1][i] = offset[0] ? kept[s][i+1] : kept[s][i];
      end
    end
  end
  assign picked = kept[Steps][Size-1:0];

  for (genvar k = 0; k < int'(Size); k++) begin : gen_keep
    // The byte lies in the slot of the first one, or in the one behind it.
    (* keep *)logic crosses;
    logic here;
    always_comb begin
      crosses = 1'b0;
      for (int unsigned j = 0; j < 8; j++) begin
        if (&offset[ByteBits-1:3] && 32'(offset[2:0]) == j && j + k >= 8) crosses = 1'b1;
      end
      here = 1'b0;
      for (int unsigned j = 0; j < RmtWindowBytes / Bytes; j++) begin
        if (32'(beat_i) == j && (crosses ? j != 0 && 32'(extract_i.offset[6:ByteBits]) == j - 1 : 32'(extract_i.offset[6:ByteBits]) == j))
          here = extract_i.taken;
      end
    end
    always_ff @(posedge clk_i) begin
      if (here) value_o[8*(Size-1-k)+:8] <= picked[k];
      else if (first_i) value_o[8*(Size-1-k)+:8] <= '0;
    end
  end

endmodule
