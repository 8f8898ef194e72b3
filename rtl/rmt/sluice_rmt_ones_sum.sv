/// Two 16-bit words with the ones' complement sum of `Words` words, as far as their bytes count.
///
/// Carries out of bit 15 come back at bit 0, so all rows of the tree stay 16 bits wide. The two words are zero only if
/// every byte that counts is. Byte 0 is the high byte of word 0.
///
/// Latency: 0 cycles (combinational). 5 LUT levels for 32 words: three masked words into two, then six into three.
module sluice_rmt_ones_sum #(
    parameter int unsigned Words = 32
) (
    input  logic [2*Words-1:0][ 7:0] data_i,
    input  logic [2*Words-1:0]       counts_i,
    output logic [        1:0][15:0] sum_o
);

  if (Words < 3) begin : gen_bad_words
    $fatal(1, "rmt_ones_sum: Words is %0d, expected at least 3 (%m)", Words);
  end

  // Rows behind a level: of six come three, of a rest of three two, of four three.
  function automatic int unsigned behind(int unsigned rows);
    int unsigned rest;
    rest = rows % 6;
    return 3 * (rows / 6) + ((rest < 3) ? rest : (rest == 3) ? 2 : 3);
  endfunction

  function automatic int unsigned rows_of(int unsigned level);
    int unsigned rows;
    rows = 2 * (Words / 3) + Words % 3;
    for (int unsigned l = 1; l < level; l++) rows = behind(rows);
    return rows;
  endfunction

  function automatic int unsigned levels_to_two();
    int unsigned level;
    level = 1;
    while (rows_of(level) > 2) level++;
    return level;
  endfunction

  localparam int unsigned Levels = levels_to_two();
  localparam int unsigned MostRows = rows_of(1);

  function automatic logic [15:0] twice(logic [15:0] x);
    return {x[14:0], x[15]};
  endfunction

  function automatic logic [15:0] majority(logic [15:0] a, logic [15:0] b, logic [15:0] c);
    return (a & b) | (a & c) | (b & c);
  endfunction

  logic [Words-1:0][15:0] words;
  for (genvar w = 0; w < int'(Words); w++) begin : gen_word
    assign words[w] = {data_i[2*w] & {8{counts_i[2*w]}}, data_i[2*w+1] & {8{counts_i[2*w+1]}}};
  end

  // One LUT a bit and row: `keep` keeps it so.
  for (genvar l = 1; l <= int'(Levels); l++) begin : gen_level
    (* keep *) logic [MostRows-1:0][15:0] rows;
    if (l == 1) begin : gen_words
      for (genvar g = 0; g < int'(Words / 3); g++) begin : gen_three
        assign rows[2*g]   = words[3*g] ^ words[3*g+1] ^ words[3*g+2];
        assign rows[2*g+1] = twice(majority(words[3*g], words[3*g+1], words[3*g+2]));
      end
      for (genvar w = 0; w < int'(Words % 3); w++) begin : gen_rest
        assign rows[2*(Words/3)+w] = words[3*(Words/3)+w];
      end
    end else begin : gen_rows
      localparam int unsigned From = rows_of(l - 1);
      localparam int unsigned Sixes = From / 6;
      localparam int unsigned Rest = From % 6;
      logic [MostRows-1:0][15:0] x;
      assign x = gen_level[l-1].rows;
      for (genvar g = 0; g < int'(Sixes); g++) begin : gen_six
        logic [15:0] s0, s1, c0, c1;
        assign s0 = x[6*g] ^ x[6*g+1] ^ x[6*g+2];
        assign s1 = x[6*g+3] ^ x[6*g+4] ^ x[6*g+5];
        assign c0 = majority(x[6*g], x[6*g+1], x[6*g+2]);
        assign c1 = majority(x[6*g+3], x[6*g+4], x[6*g+5]);
        assign rows[3*g] = s0 ^ s1;
        assign rows[3*g+1] = twice(c0 ^ c1 ^ (s0 & s1));
        assign rows[3*g+2] = twice(twice((c0 & c1) | ((c0 ^ c1) & (s0 & s1))));
      end
      if (Rest == 5) begin : gen_five
        logic [15:0] s0, c0, c1;
        assign s0 = x[6*Sixes] ^ x[6*Sixes+1] ^ x[6*Sixes+2];
        assign c0 = majority(x[6*Sixes], x[6*Sixes+1], x[6*Sixes+2]);
        assign c1 = majority(s0, x[6*Sixes+3], x[6*Sixes+4]);
        assign rows[3*Sixes] = s0 ^ x[6*Sixes+3] ^ x[6*Sixes+4];
        assign rows[3*Sixes+1] = twice(c0 ^ c1);
        assign rows[3*Sixes+2] = twice(twice(c0 & c1));
      end else if (Rest >= 3) begin : gen_three
        assign rows[3*Sixes]   = x[6*Sixes] ^ x[6*Sixes+1] ^ x[6*Sixes+2];
        assign rows[3*Sixes+1] = twice(majority(x[6*Sixes], x[6*Sixes+1], x[6*Sixes+2]));
        if (Rest == 4) begin : gen_fourth
          assign rows[3*Sixes+2] = x[6*Sixes+3];
        end
      end else begin : gen_pass
        for (genvar r = 0; r < int'(Rest); r++) begin : gen_row
          assign rows[3*Sixes+r] = x[6*Sixes+r];
        end
      end
    end
    for (genvar r = int'(rows_of(l)); r < int'(MostRows); r++) begin : gen_unused
      assign rows[r] = '0;
    end
  end

  assign sum_o = gen_level[Levels].rows[1:0];

endmodule
