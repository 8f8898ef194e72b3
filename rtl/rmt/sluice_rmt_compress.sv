/// One level of adding 16-bit words modulo 0xffff, without carries that ripple.
///
/// Of each group of up to `Group` words, every column of bits is counted; the count's bits become up to three
/// words. A carry out of bit 15 comes in at bit 0, as 2^16 = 1 modulo 0xffff. All words that go out are zero only
/// if all that come in are.
///
/// Simulation counts all columns of a group at once; formal/rmt/compress.sby proves both.
///
/// Latency: 0 cycles (combinational).
module sluice_rmt_compress
  import sluice_rmt_sum_pkg::*;
#(
    parameter  int unsigned Inputs  = 32,
    parameter  int unsigned Group   = 6,
    localparam int unsigned Outputs = compressed(Inputs, Group)
) (
    input  logic [ Inputs-1:0][15:0] data_i,
    output logic [Outputs-1:0][15:0] data_o
);

`ifdef SYNTHESIS
  // Bits of the number of ones in 6 bits, as tables: each is one LUT then. The `+` of the language would be mapped to
  // a carry chain, full adders to two levels.
  function automatic logic [2:0][63:0] count_bits();
    for (int unsigned x = 0; x < 64; x++) begin
      {count_bits[2][x], count_bits[1][x], count_bits[0][x]} = 3'($countones(6'(x)));
    end
  endfunction
  localparam logic [2:0][63:0] CountBit = count_bits();
`endif

  (* keep *) logic [Outputs-1:0][15:0] sum;
  assign data_o = sum;

  for (genvar first = 0; first < int'(Inputs); first += int'(Group)) begin : gen_group
    localparam int unsigned Left = Inputs - first;
    localparam int unsigned Words = (Left < Group) ? Left : Group;
    localparam int unsigned Bits = count_words(Words);
    localparam int unsigned Out = (first / Group) * count_words(Group);
    if (Words <= 2) begin : gen_through
      assign sum[Out+:Words] = data_i[first+:Words];
    end else begin : gen_count
`ifdef SYNTHESIS
      for (genvar b = 0; b < 16; b++) begin : gen_column
        logic [Words-1:0] column;
        for (genvar w = 0; w < int'(Words); w++) begin : gen_word
          assign column[w] = data_i[first+w][b];
        end
        for (genvar k = 0; k < int'(Bits); k++) begin : gen_bit
          assign sum[Out+k][(b+k)%16] = CountBit[k][6'(column)];
        end
      end
`else
      logic [Bits-1:0][15:0] counts;
      assign counts = (16 * Bits)'(counts_of_six(96'(data_i[first+:Words])));
      for (genvar k = 0; k < int'(Bits); k++) begin : gen_rotated
        assign sum[Out+k] = (counts[k] << k) | (counts[k] >> ((16 - k) % 16));
      end
`endif
    end
  end

endmodule
