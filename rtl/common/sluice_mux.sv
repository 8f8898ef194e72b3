/// One of `Inputs` words, by levels of 4:1 choices.
///
/// A 4:1 choice is one LUT with 6 inputs. `keep` makes it stay one; an index into the whole, or the same levels
/// without it, is mapped to something larger and deeper. An odd power of two ends in a 2:1 choice.
///
/// Latency: 0 cycles (combinational).
module sluice_mux #(
    parameter int unsigned Inputs = 64,
    parameter int unsigned Width = 8,
    localparam int unsigned IndexWidth = $clog2(Inputs)
) (
    input  logic [    Inputs-1:0][Width-1:0] data_i,
    input  logic [IndexWidth-1:0]            index_i,
    output logic [     Width-1:0]            data_o
);

  localparam int unsigned Levels = (IndexWidth + 1) / 2;

  if (2 ** IndexWidth != Inputs || Inputs < 2) begin : gen_bad_inputs
    $fatal(1, "mux: Inputs is %0d, expected a power of two, at least 2 (%m)", Inputs);
  end

  // The words left in front of level l are at most Inputs / 4^l.
  (* keep *) logic [Levels:0][Inputs-1:0][Width-1:0] left;
  assign left[0] = data_i;

  for (genvar l = 0; l < int'(Levels); l++) begin : gen_level
    localparam int unsigned After = (Inputs >> (2 * l + 2)) > 0 ? Inputs >> (2 * l + 2) : 1;
    for (genvar i = 0; i < int'(Inputs); i++) begin : gen_word
      if (i >= int'(After)) begin : gen_none
        assign left[l+1][i] = '0;
      end else if (2 * l + 1 < int'(IndexWidth)) begin : gen_four
        // No unique case, here and in the ALUs: simulation would check it bit by bit of every choice.
        assign left[l+1][i] = index_i[2*l+1] ? (index_i[2*l] ? left[l][4*i+3] : left[l][4*i+2]) :
            (index_i[2*l] ? left[l][4*i+1] : left[l][4*i]);
      end else begin : gen_two
        assign left[l+1][i] = index_i[2*l] ? left[l][2*i+1] : left[l][2*i];
      end
    end
  end

  assign data_o = left[Levels][0];

endmodule
