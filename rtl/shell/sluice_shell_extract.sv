/// The 5-tuple of a packet and whether it is a reconfiguration packet, from its first 64 bytes (docs/design/nic.md,
/// "Flow hash").
///
/// A frame that still begins with a whole 0x8100 tag has its fields 4 bytes further. Bytes at
/// or beyond `length_i` are never believed.
///
/// Latency: 0 cycles (combinational).
module sluice_shell_extract
  import sluice_pkg::*;
  import sluice_shell_pkg::*;
(
    // "Bits of signal are not used": the word has the width of what it is computed from; some of it decides nothing.
    // verilator lint_off UNUSEDSIGNAL
    input  logic    [8*WindowBytes-1:0] window_i,
    // verilator lint_on UNUSEDSIGNAL
    input  logic    [             13:0] length_i,
    output fields_t                     fields_o
);

  // Bytes 12 to 45 at their place without the tag.
  localparam int unsigned HeaderBytes = 26;
  localparam int unsigned Ethernet = 12;

  logic shifted;
  logic [8*HeaderBytes-1:0] header;
  logic [13:0] length;

  function automatic logic [7:0] at(logic [8*HeaderBytes-1:0] bytes, int unsigned offset);
    return bytes[8*(offset-Ethernet)+:8];
  endfunction

  assign shifted = length_i >= 14'd16 && {window_i[8*12+:8], window_i[8*13+:8]} == VlanEthertype;
  assign header  = shifted ? window_i[8*16+:8*HeaderBytes] : window_i[8*Ethernet+:8*HeaderBytes];
  assign length  = shifted ? length_i - 14'(TagBytes) : length_i;

  logic ipv4, l4;
  assign ipv4 = length >= 14'd34 && {at(header, 12), at(header, 13)} == 16'h0800 && at(header, 14) == 8'h45;
  assign l4 = ipv4 && (at(
      header, 23
  ) == 8'd6 || at(
      header, 23
  ) == 8'd17) && at(
      header, 20
  ) [4:0] == 5'd0 && at(
      header, 21
  ) == 8'd0 && length >= 14'd38;

  always_comb begin
    fields_o = '{ipv4: ipv4, tuple: '0, reconfig: 1'b0};
    if (ipv4) begin
      fields_o.tuple[63:0]   = header[8*(26-Ethernet)+:64];
      fields_o.tuple[95:64]  = l4 ? header[8*(34-Ethernet)+:32] : 32'd0;
      fields_o.tuple[103:96] = at(header, 23);
    end
    fields_o.reconfig = l4 && at(header, 23) == 8'd17 && {at(header, 36), at(header, 37)} == ReconfigUdpPort;
  end

endmodule
