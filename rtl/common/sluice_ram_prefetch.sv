/// Read side of a queue in block RAM: turns a RAM with registered read into a valid/ready output.
///
/// The owner keeps the array, the pointers and the RAM's read register: it says by `unread_i`
/// that a word waits at its read pointer; in every cycle with `read_o` it loads `ram_data_i` from
/// there and moves the pointer. `ram_data_i` must hold its value in all other cycles.
/// The register behind the RAM is written so that it can become the RAM's own output register.
///
/// Latency: a word first announced by `unread_i` in cycle t is offered from cycle t + 2 on.
/// Throughput: one word per cycle.
/// Stall behaviour: at most two words are held here. `read_o` depends on `ready_i`,
/// `valid_o` does not.
module sluice_ram_prefetch #(
    parameter int unsigned Width = 8
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic             unread_i,
    output logic             read_o,
    input  logic [Width-1:0] ram_data_i,

    output logic             valid_o,
    input  logic             ready_i,
    output logic [Width-1:0] data_o
);

  if (Width == 0) begin : gen_bad_width
    $fatal(1, "ram_prefetch: Width is %0d, expected at least 1 (%m)", Width);
  end

  // Whether the RAM's read register, and the register behind it, hold a word.
  logic ram_valid_q, out_valid_q;
  logic [Width-1:0] out_q;
  logic out_advance, ram_advance;
  // Kept, so that `ready_i`, which comes late, is one LUT away from `read_o`.
  (* keep *) logic read_anyway, read_if_taken;

  assign out_advance = !out_valid_q || ready_i;
  assign ram_advance = !ram_valid_q || out_advance;

  assign read_anyway = unread_i && !(ram_valid_q && out_valid_q);
  assign read_if_taken = unread_i;
  assign read_o = read_anyway || (read_if_taken && ready_i);
  assign valid_o = out_valid_q;
  assign data_o = out_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      ram_valid_q <= 1'b0;
      out_valid_q <= 1'b0;
    end else begin
      if (ram_advance) ram_valid_q <= unread_i;
      if (out_advance) out_valid_q <= ram_valid_q;
    end
  end

  always_ff @(posedge clk_i) begin
    if (out_advance) out_q <= ram_data_i;
  end

`ifndef SYNTHESIS
  logic stalled, ram_stalled;
  assign stalled = rst_ni && valid_o && !ready_i;
  assign ram_stalled = rst_ni && ram_valid_q && !ram_advance;

  // A property would copy what is wide in every cycle.
  logic stalled_q;
  logic [Width-1:0] held_q;
  always_ff @(posedge clk_i) begin
    stalled_q <= stalled;
    if (stalled) held_q <= data_o;
    if (rst_ni && stalled_q) begin
      OutputHoldsUntilReady_A : assert (valid_o && data_o == held_q);
    end
  end

  logic ram_stalled_q;
  logic [Width-1:0] ram_held_q;
  always_ff @(posedge clk_i) begin
    ram_stalled_q <= ram_stalled;
    if (ram_stalled) ram_held_q <= ram_data_i;
    if (rst_ni && ram_stalled_q) begin
      RamDataHoldsUntilItMoves_A : assert (ram_valid_q && ram_data_i == ram_held_q);
    end
  end
`endif

endmodule
