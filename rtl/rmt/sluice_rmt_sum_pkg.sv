/// How many words are left when words are added column by column (sluice_rmt_compress).
package sluice_rmt_sum_pkg;

  // Words that hold the sum of up to 6: as they are, or the bits of the counts.
  function automatic int unsigned count_words(int unsigned words);
    return (words <= 2) ? words : (words == 3) ? 2 : 3;
  endfunction

  function automatic int unsigned compressed(int unsigned words, int unsigned most);
    return (words / most) * count_words(most) + count_words(words % most);
  endfunction

endpackage
