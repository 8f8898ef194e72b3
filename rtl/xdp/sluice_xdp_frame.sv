/// Makes the frame of a function that is called: its rows become zero (docs/design/hxdp-core.md, "Calls").
///
/// `start_i` begins the call `call_i`, which stays until `done_o` is high for one cycle with the answer. The frame is the one behind
/// the caller's, `call_i.depth`; who calls has made sure that the packet's memory has it.
///
/// Latency: 9 cycles, and one for each in which somebody else has the memory's port. Stall behaviour: one call at a time;
/// `write_valid_o` holds with its place until taken.
module sluice_xdp_frame
  import sluice_xdp_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,

    input logic      start_i,
    // "Bits of signal are not used": a frame has only a place.
    // verilator lint_off UNUSEDSIGNAL
    input xdp_call_t call_i,
    // verilator lint_on UNUSEDSIGNAL

    output logic done_o,

    // A whole row of zeros.
    output logic       write_valid_o,
    input  logic       write_ready_i,
    output xdp_place_t write_place_o
);

  localparam int unsigned CountBits = $clog2(StackRows);

  logic busy_q;
  logic [CountBits-1:0] row_q;
  logic [31:0] address;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      busy_q <= 1'b0;
      done_o <= 1'b0;
    end else begin
      done_o <= write_valid_o && write_ready_i && row_q == '1;
      if (start_i) busy_q <= 1'b1;
      else if (write_ready_i && row_q == '1) busy_q <= 1'b0;
    end
    if (start_i) row_q <= '0;
    else if (write_valid_o && write_ready_i) row_q <= row_q + CountBits'(1);
  end

  assign address = StackAddress + {19'd0, call_i.depth + depth_t'(1), 10'd0};
  assign write_valid_o = busy_q;
  assign write_place_o = '{row: stack_row(call_i.base, address) + RowBits'(row_q), word: 3'd0};

endmodule
