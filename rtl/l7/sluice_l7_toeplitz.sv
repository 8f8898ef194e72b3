/// Toeplitz hash of a key under a secret: bit i is the parity of the key's bits and the secret's from i on.
///
/// Keys that collide under one secret do not under another one, so nobody can choose them without knowing it.
///
/// Latency: 0 cycles (combinational).
module sluice_l7_toeplitz #(
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
    $fatal(1, "l7_toeplitz: SecretBits is %0d, expected at least %0d (%m)", SecretBits, KeyBits + HashBits - 1);
  end

  always_comb begin
    for (int unsigned i = 0; i < HashBits; i++) hash_o[i] = ^(key_i & secret_i[i+:KeyBits]);
  end

endmodule
