/// Hash of a stage: CRC-32C of the masked key as 25 bytes, bits 7:0 first (docs/design/rmt.md, "Key and conditions").
///
/// The function is that of `sluice_crc32c`, split over two cycles: `pieces_i` comes in c0, the conditions, which are the upper
/// two bits of the key, come in c1 and enter last. For synthesis the pieces are summed up in groups of six, a LUT each;
/// simulation looks up what each four bits add. formal/rmt/hash.sby proves both.
///
/// Latency: 1 cycle from `pieces_i` with `valid_i`, 0 from `conditions_i`, fixed. Throughput: 1 key a cycle. Never stalls.
module sluice_rmt_hash
  import sluice_rmt_rows_pkg::*;
(
    input  logic         clk_i,
    input  logic         valid_i,       // c0
    input  logic [191:0] pieces_i,      // c0
    input  logic [  1:0] conditions_i,  // c1
    output logic [ 31:0] hash_o         // c1
);

  localparam int unsigned Pieces = 192;
  localparam int unsigned Width = 8 * RmtKeyHashBytes;
  localparam logic [31:0] ReflectedPolynomial = 32'h82F6_3B78;

  typedef logic [Width-1:0][31:0] columns_t;

  // The register after one more bit that is zero.
  function automatic logic [31:0] after_zero(logic [31:0] crc);
    return (crc >> 1) ^ (crc[0] ? ReflectedPolynomial : 32'h0);
  endfunction

  // What each bit of the key adds: the polynomial moved on by the zeros that follow the bit.
  function automatic columns_t columns();
    columns_t c;
    c[Width-1] = ReflectedPolynomial;
    // "Declaration of signal hides declaration in upper scope": a name inside a function, found again when the
    // stages of a pipeline are copies with parameters of their own.
    // verilator lint_off VARHIDDEN
    for (int i = int'(Width) - 2; i >= 0; i--) c[i] = after_zero(c[i+1]);
    // verilator lint_on VARHIDDEN
    return c;
  endfunction

  function automatic logic [31:0] of_zeros();
    logic [31:0] crc = '1;
    // "Declaration of signal hides declaration in upper scope": a name inside a function, found again when the
    // stages of a pipeline are copies with parameters of their own.
    // verilator lint_off VARHIDDEN
    for (int i = 0; i < int'(Width); i++) crc = after_zero(crc);
    // verilator lint_on VARHIDDEN
    return ~crc;
  endfunction

  localparam columns_t Columns = columns();
  localparam logic [31:0] OfZeros = of_zeros();

`ifdef SYNTHESIS
  localparam int unsigned Leaves = 24;
  localparam int unsigned Order = 256;  // a power of two of at least Pieces

  // The bits of the pieces that go into leaf `leaf` of the hash's bit `row`.
  function automatic logic [Pieces-1:0] inputs_of(int unsigned row, int unsigned leaf);
    logic [Pieces-1:0] mask = '0;
    int unsigned count = 0;
    for (int unsigned n = 0; n < Order; n++) begin
      // An odd factor modulo a power of two visits every place once. Rows take their bits in different orders: trees
      // with pairs in common would be built of more and smaller LUTs.
      automatic int unsigned i = (n * (2 * row + 1) * 37) % Order;
      if (i < Pieces && Columns[i][row]) begin
        if (count / 6 == leaf) mask[i] = 1'b1;
        count++;
      end
    end
    return mask;
  endfunction

  (* keep *) logic both;
  assign both = ^conditions_i;

  for (genvar b = 0; b < 32; b++) begin : gen_bit
    localparam logic [1:0] Late = {Columns[193][b], Columns[192][b]};
    logic late;
    logic [Leaves-1:0] leaf_q;
    (* keep *) logic [Leaves/6-1:0] branch;
    for (genvar l = 0; l < int'(Leaves); l++) begin : gen_leaf
      localparam logic [Pieces-1:0] Inputs = inputs_of(b, l);
      always_ff @(posedge clk_i) if (valid_i) leaf_q[l] <= ^(pieces_i & Inputs);
    end
    for (genvar l = 0; l < int'(Leaves / 6); l++) begin : gen_branch
      assign branch[l] = ^leaf_q[6*l+:6];
    end
    assign late = (Late == 2'b11) ? both : |(conditions_i & Late);
    assign hash_o[b] = (^branch) ^ late ^ OfZeros[b];
  end
`else
  typedef logic [15:0][31:0] table_t;

  // What the values of four bits add.
  function automatic table_t table_of(int unsigned place);
    table_t t;
    t[0] = '0;
    for (int unsigned b = 0; b < 4; b++) begin
      for (int unsigned i = 0; i < 2 ** b; i++) t[2**b+i] = t[i] ^ Columns[4*place+b];
    end
    return t;
  endfunction

  logic [Pieces/4-1:0][31:0] added;
  logic [31:0] sum_q;

  for (genvar i = 0; i < int'(Pieces / 4); i++) begin : gen_four
    localparam table_t Table = table_of(i);
    assign added[i] = Table[pieces_i[4*i+:4]];
  end

  always_ff @(posedge clk_i) begin
    if (valid_i) begin
      automatic logic [31:0] sum = OfZeros;
      for (int unsigned i = 0; i < Pieces / 4; i++) sum ^= added[i];
      sum_q <= sum;
    end
  end

  assign hash_o = sum_q ^ (Columns[Pieces] & {32{conditions_i[0]}}) ^ (Columns[Pieces+1] & {32{conditions_i[1]}});
`endif

endmodule
