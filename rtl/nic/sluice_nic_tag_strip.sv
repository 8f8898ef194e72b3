/// Removes bytes 12 to 15 of a frame where `off_i` asks for it.
///
/// Beats come in at any rate, `bytes_i` valid bytes each (all but the last beat are full);
/// `off_i` holds for the whole frame and needs at least 16 bytes in the first beat. `meta_i`
/// comes with the last beat and leaves with it.
///
/// A frame of n bytes leaves as ceil((n - 4) / Bytes) beats, or as it came. Bytes beyond the
/// end of the last beat are unspecified.
/// Latency: a beat leaves when the next beat of its frame arrives, the last one a cycle later.
/// Throughput: one beat a cycle. Never stalls.
module sluice_nic_tag_strip #(
    parameter int unsigned Bytes = 64,
    parameter int unsigned MetaWidth = 1,
    localparam int unsigned CountWidth = $clog2(Bytes + 1)
) (
    input logic clk_i,
    input logic rst_ni,

    input logic                  valid_i,
    input logic [   8*Bytes-1:0] data_i,
    input logic [CountWidth-1:0] bytes_i,
    input logic                  first_i,
    input logic                  last_i,
    input logic                  off_i,
    input logic [ MetaWidth-1:0] meta_i,

    output logic                 valid_o,
    output logic [  8*Bytes-1:0] data_o,
    output logic                 last_o,
    output logic [MetaWidth-1:0] meta_o
);

  localparam int unsigned Width = 8 * Bytes;
  localparam int unsigned MacBits = 96;  // both addresses lie before the tag
  localparam int unsigned TagBits = 32;

  if (Bytes < 32) begin : gen_bad_bytes
    $fatal(1, "nic_tag_strip: Bytes is %0d, expected at least 32 (%m)", Bytes);
  end

  logic held_valid_q, held_first_q, held_last_q, held_off_q;
  logic [Width-1:0] held_data_q;
  logic [MetaWidth-1:0] held_meta_q;
  logic absorb;
  logic [Width-1:0] shifted;

  // The last beat holds only bytes that move into the beat before it.
  assign absorb = valid_i && last_i && !first_i && held_off_q && bytes_i <= CountWidth'(TagBits / 8);

  assign shifted = {
    data_i[TagBits-1:0],
    held_data_q[Width-1:MacBits+TagBits],
    held_first_q ? held_data_q[MacBits-1:0] : held_data_q[MacBits+TagBits-1:TagBits]
  };

  assign valid_o = held_valid_q && (held_last_q || valid_i);
  assign data_o = held_off_q ? shifted : held_data_q;
  assign last_o = held_last_q || absorb;
  assign meta_o = held_last_q ? held_meta_q : meta_i;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) held_valid_q <= 1'b0;
    else if (valid_i) held_valid_q <= !absorb;
    else if (held_last_q) held_valid_q <= 1'b0;
  end

  always_ff @(posedge clk_i) begin
    if (valid_i) begin
      held_data_q  <= data_i;
      held_first_q <= first_i;
      held_last_q  <= last_i;
      held_off_q   <= off_i;
      held_meta_q  <= meta_i;
    end
  end

`ifndef SYNTHESIS
  FrameStartsWhenTheOneBeforeIsComplete_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !(valid_i && first_i && held_valid_q) || held_last_q);
  TagNeedsSixteenBytes_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !(valid_i && first_i && off_i) || bytes_i >= CountWidth'(16));
`endif

endmodule
