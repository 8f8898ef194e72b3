/// In place of sluice_fifo_ram (formal/common/fifo_ram.sv is about it): a queue whose first word may show at any time, and then holds.
module sluice_fifo_ram #(
    parameter  int unsigned Width      = 64,
    parameter  int unsigned Depth      = 512,
    localparam int unsigned LevelWidth = $clog2(Depth + 1)
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic             valid_i,
    output logic             ready_o,
    input  logic [Width-1:0] data_i,

    output logic             valid_o,
    input  logic             ready_i,
    output logic [Width-1:0] data_o,

    output logic [LevelWidth-1:0] level_o
);

  // Free.
  logic shows;
  logic shown_q, take;
  // The first one is the oldest.
  logic [Depth-1:0][Width-1:0] word_q;
  logic [LevelWidth-1:0] at;

  assign ready_o = level_o != LevelWidth'(Depth);
  assign valid_o = level_o != '0 && (shown_q || shows);
  assign data_o  = word_q[0];
  assign take    = valid_o && ready_i;
  assign at      = level_o - LevelWidth'(take);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      level_o <= '0;
      shown_q <= 1'b0;
    end else begin
      level_o <= at + LevelWidth'(valid_i && ready_o);
      shown_q <= valid_o && !take;
    end
    for (int unsigned i = 0; i < Depth; i++) begin
      if (take && i + 1 < Depth) word_q[i] <= word_q[(i+1)%Depth];
      if (valid_i && ready_o && at == LevelWidth'(i)) word_q[i] <= data_i;
    end
  end

endmodule
