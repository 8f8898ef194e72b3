/// `Rows` 16-bit words with the ones' complement sum of `Words` words.
///
/// Carries out of bit 15 come back at bit 0, so all rows of the tree stay 16 bits wide: with 2^16 = 1 the sum stays the
/// same, and zero only if every word that is added is.
///
/// The first `Complements` words count with their complement: each bit of them is inverted where the first step counts it.
///
/// Latency: 0 cycles (combinational). Four steps for 32 words and three rows, three for 32 and six, mostly
/// of six rows into three.
module sluice_rmt_ones_sum
  import sluice_rmt_sum_pkg::*;
#(
    parameter int unsigned Words = 32,
    parameter int unsigned Complements = 0,
    parameter int unsigned Rows = 3
) (
    input  logic [Words-1:0][15:0] words_i,
    output logic [ Rows-1:0][15:0] sum_o
);

  if (Words < 6) begin : gen_bad_words
    $fatal(1, "rmt_ones_sum: Words is %0d, expected at least 6 (%m)", Words);
  end

  // Their rows are to be counted, not passed on, for an inverter would be a LUT.
  if (Complements > 6 * (Words / 6)) begin : gen_bad_complements
    $fatal(
        1,
        "rmt_ones_sum: Complements is %0d, expected at most %0d of %0d words (%m)",
        Complements,
        6 * (Words / 6),
        Words
    );
  end

  // Rows behind a level: of six come three; of a rest of three or more, three become two.
  function automatic int unsigned behind(int unsigned rows);
    return 3 * (rows / 6) + ((rows % 6 < 3) ? rows % 6 : rows % 6 - 1);
  endfunction

  function automatic int unsigned rows_of(int unsigned level);
    int unsigned rows;
    rows = Words;
    for (int unsigned l = 0; l < level; l++) rows = behind(rows);
    return rows;
  endfunction

  function automatic int unsigned levels_to_rows();
    int unsigned level;
    level = 0;
    while (rows_of(level) > Rows) level++;
    return level;
  endfunction

  localparam int unsigned Levels = levels_to_rows();

  if (rows_of(Levels) != Rows) begin : gen_bad_rows
    $fatal(1, "rmt_ones_sum: Rows is %0d, but %0d words become %0d (%m)", Rows, Words, rows_of(Levels));
  end

  function automatic logic [15:0] twice(logic [15:0] x);
    return {x[14:0], x[15]};
  endfunction

`ifdef SYNTHESIS
  // How many of six bits are set, or the first ones are not, as tables: each bit of the number is to be one LUT, which
  // `keep` keeps.
  function automatic logic [63:0] table_of(int unsigned bit_of_count, int unsigned complements);
    logic [63:0] t;
    for (int unsigned i = 0; i < 64; i++) begin
      int unsigned n;
      n = 0;
      for (int unsigned b = 0; b < 6; b++) n += ((i >> b) & 1) ^ 32'(b < complements);
      t[i] = 1'(n >> bit_of_count);
    end
    return t;
  endfunction
`endif

  for (genvar l = 0; l <= int'(Levels); l++) begin : gen_level
    (* keep *) logic [rows_of(l)-1:0][15:0] rows;
    if (l == 0) begin : gen_words
      assign rows = words_i;
    end else begin : gen_rows
      // A front end looks at this branch for level 0, too, and would count up to level -1.
      localparam int unsigned From = rows_of((l == 0) ? 0 : l - 1);
      for (genvar g = 0; g < int'((From + 5) / 6); g++) begin : gen_group
        localparam int unsigned Rest = (From - 6 * g >= 6) ? 6 : From - 6 * g;
        if (Rest < 3) begin : gen_pass
          assign rows[3*g+:Rest] = gen_level[l-1].rows[6*g+:Rest];
        end else if (Rest < 6) begin : gen_three
          logic [2:0][15:0] x;
          assign x = gen_level[l-1].rows[6*g+:3];
          assign rows[3*g] = x[0] ^ x[1] ^ x[2];
          assign rows[3*g+1] = twice((x[0] & x[1]) | (x[2] & (x[0] | x[1])));
          if (Rest > 3) begin : gen_pass
            assign rows[3*g+2+:Rest-3] = gen_level[l-1].rows[6*g+3+:Rest-3];
          end
        end else begin : gen_six
          // All columns at once in simulation (formal/rmt/ones_sum.sby proves both).
          logic [15:0] ones, twos, fours;
          localparam int unsigned Inverted = (l > 1 || Complements < 6 * g) ? 0 :
              (Complements - 6 * g > 6) ? 6 : Complements - 6 * g;
`ifdef SYNTHESIS
          localparam logic [63:0] Ones = table_of(0, Inverted);
          localparam logic [63:0] Twos = table_of(1, Inverted);
          localparam logic [63:0] Fours = table_of(2, Inverted);
          for (genvar b = 0; b < 16; b++) begin : gen_bit
            logic [5:0] bits;
            for (genvar r = 0; r < 6; r++) begin : gen_row
              assign bits[r] = gen_level[l-1].rows[6*g+r][b];
            end
            (* keep *) logic one, two, four;
            assign one = Ones[bits];
            assign two = Twos[bits];
            assign four = Fours[bits];
            assign {ones[b], twos[b], fours[b]} = {one, two, four};
          end
`else
          localparam logic [5:0] Inversion = 6'((1 << Inverted) - 1);
          logic [5:0][15:0] x;
          for (genvar r = 0; r < 6; r++) begin : gen_word
            assign x[r] = gen_level[l-1].rows[6*g+r] ^ {16{Inversion[r]}};
          end
          assign {fours, twos, ones} = counts_of_six(x);
`endif
          assign rows[3*g]   = ones;
          assign rows[3*g+1] = twice(twos);
          assign rows[3*g+2] = twice(twice(fours));
        end
      end
    end
  end

  assign sum_o = gen_level[Levels].rows;

endmodule
