/// Toeplitz hash of a key under a secret: bit i is the parity of the key's bits and the secret's from i on.
///
/// Keys that collide under one secret do not under another one, so nobody can choose them without knowing it.
///
/// Latency: 0 cycles (combinational).
module sluice_toeplitz #(
    parameter int unsigned KeyBits = 118,
    parameter int unsigned HashBits = 8,
    parameter int unsigned SecretBits = 128
) (
    input  logic [   KeyBits-1:0] key_i,
    // "Bits of signal are not used": secrets are as long as the longest hash needs.
    // verilator lint_off UNUSEDSIGNAL
    input  logic [SecretBits-1:0] secret_i,
    // verilator lint_on UNUSEDSIGNAL
    output logic [  HashBits-1:0] hash_o
);

  if (KeyBits + HashBits - 1 > SecretBits) begin : gen_bad_bits
    $fatal(1, "toeplitz: SecretBits is %0d, expected at least %0d (%m)", SecretBits, KeyBits + HashBits - 1);
  end

  // Three bits of the key with those of the secret are a LUT, and so are six of such; `keep` holds them together.
  localparam int unsigned Threes = (KeyBits + 2) / 3;
  localparam int unsigned Sixes = (Threes + 5) / 6;

  for (genvar i = 0; i < int'(HashBits); i++) begin : gen_bit
    logic [3*Threes-1:0] both;
    (* keep *) logic [6*Sixes-1:0] three;
    (* keep *) logic [Sixes-1:0] six;
    assign both = (3 * Threes)'(key_i & secret_i[i+:KeyBits]);
    always_comb begin
      three = '0;
      for (int unsigned t = 0; t < Threes; t++) three[t] = ^both[3*t+:3];
      for (int unsigned s = 0; s < Sixes; s++) six[s] = ^three[6*s+:6];
      hash_o[i] = ^six;
    end
  end

endmodule
