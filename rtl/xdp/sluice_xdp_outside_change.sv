/// What an access to outside memory makes of the words that it found: the new word, and of a pair the second one, as they are written.
///
/// Latency: none. Never stalls.
module sluice_xdp_outside_change
  import sluice_xdp_pkg::*;
  import sluice_xdp_outside_pkg::*;
(
    // "Bits of signal are not used": whose it is was asked before.
    // verilator lint_off UNUSEDSIGNAL
    input outside_request_t        request_i,
    // verilator lint_on UNUSEDSIGNAL
    input logic             [63:0] found_i,
    input logic             [63:0] upper_i,    // the word behind
    input logic                    first_i,    // of its page

    output outside_write_t         write_o,
    output logic           [ 15:0] enable_o,  // of two words from an aligned one on
    output logic           [127:0] data_o
);

  logic pair, two;
  logic [63:0] changed, word, second;

  sluice_xdp_atomic u_atomic (
      .code_i    (request_i.code),
      .wide_i    (request_i.bytes[3]),
      .old_i     (found_i),
      .operand_i (request_i.data),
      .expected_i(request_i.expected),
      .new_o     (changed)
  );
  assign word = (request_i.op == OutsideAtomic) ? changed : request_i.data;
  // A pair lies at a multiple of 16, in one line.
  assign two = request_i.op == OutsideStoreTwo;
  assign pair = two || (request_i.op == OutsideAtomic && request_i.bytes[3] && request_i.code[2:1] == 2'b11);
  assign second = (two ? '0 : upper_i) + request_i.expected;
  assign enable_o = 16'({{8{pair}}, byte_mask(request_i.bytes)}) << request_i.place[2:0];
  assign data_o = 128'({pair ? second : '0, word}) << {request_i.place[2:0], 3'd0};
  assign write_o = '{
          place: request_i.place,
          bytes: request_i.bytes,
          data: word,
          pair: pair,
          second: second,
          first: first_i
      };

endmodule
