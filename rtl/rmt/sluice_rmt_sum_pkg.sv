/// How many words are left when words are added column by column (sluice_rmt_compress).
package sluice_rmt_sum_pkg;

  // Words that hold the sum of up to 6: as they are, or the bits of the counts.
  function automatic int unsigned count_words(int unsigned words);
    return (words <= 2) ? words : (words == 3) ? 2 : 3;
  endfunction

  function automatic int unsigned compressed(int unsigned words, int unsigned most);
    return (words / most) * count_words(most) + count_words(words % most);
  endfunction

  // The counts of ones in each column of six words, bit by bit of the count: fours, twos, ones. For simulation, which does
  // all columns at once.
  function automatic logic [2:0][15:0] counts_of_six(logic [5:0][15:0] words);
    logic [15:0] one_a, one_b, two_a, two_b, two_c;
    one_a = words[0] ^ words[1] ^ words[2];
    two_a = (words[0] & words[1]) | (words[2] & (words[0] | words[1]));
    one_b = words[3] ^ words[4] ^ words[5];
    two_b = (words[3] & words[4]) | (words[5] & (words[3] | words[4]));
    two_c = one_a & one_b;
    return {(two_a & two_b) | (two_c & (two_a | two_b)), two_a ^ two_b ^ two_c, one_a ^ one_b};
  endfunction

endpackage
