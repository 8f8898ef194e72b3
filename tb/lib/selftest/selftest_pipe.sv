/// A one-word pipe that can be broken on purpose, to show that the bench library notices.
///
/// Fault 0: none. 1: every 13th word is lost. 2: valid falls before ready. 3: the payload
/// changes before ready. 4: an assertion of the RTL fails. 5: never ready.
/// Latency: 1 cycle. Throughput: one word per cycle.
module selftest_pipe #(
    parameter int unsigned Width = 8,
    parameter int unsigned Fault = 0
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic             valid_i,
    output logic             ready_o,
    input  logic [Width-1:0] data_i,

    output logic             valid_o,
    input  logic             ready_i,
    output logic [Width-1:0] data_o
);

  logic full_q, taken;
  logic [3:0] count_q;

  assign ready_o = (Fault != 5) && (!full_q || ready_i);
  assign valid_o = full_q;
  assign taken   = valid_i && ready_o;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      full_q  <= 1'b0;
      count_q <= '0;
    end else begin
      if (ready_o || Fault == 2) full_q <= taken && !(Fault == 1 && count_q == 4'd12);
      if (taken) count_q <= (count_q == 4'd12) ? '0 : count_q + 4'd1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (taken) data_o <= data_i;
    else if (Fault == 3) data_o <= ~data_o;
  end

  CountStaysLow_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) Fault != 4 || count_q < 4'd5);

endmodule
