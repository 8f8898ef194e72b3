/// Proof about two copies of sluice_counter_bank: a counter's live value and snapshot are the same in both, whatever the
/// other counters count and the host reads of them in each.
///
/// By k-induction, for runs of any length, with resets and changes of the epoch at any time. Increments and reads of one
/// counter, chosen at the start, are common to both copies and come in the same cycle, as do resets and epochs, which
/// no tenant makes; all else is free in each. What holds for any counter holds for all that are a module's.
module counters #(
    parameter int unsigned Entries = 2,
    parameter int unsigned Width = 3,
    parameter int unsigned IncWidth = 2,
    parameter int unsigned EpochWidth = 2,
    localparam int unsigned IndexWidth = $clog2(Entries)
) (
    input logic clk_i,
    input logic rst_ni,
    input logic [IndexWidth-1:0] choose_i,
    input logic [EpochWidth-1:0] epoch_i,
    // Of the chosen counter.
    input logic ours_i,
    input logic [IncWidth-1:0] amount_i,
    input logic read_i,
    input logic snapshot_i,
    // Of the others, in each copy.
    input logic [1:0] inc_valid_i,
    input logic [1:0][IndexWidth-1:0] inc_index_i,
    input logic [1:0][IncWidth-1:0] inc_amount_i,
    input logic [1:0] rd_valid_i,
    input logic [1:0] rd_snapshot_i,
    input logic [1:0][IndexWidth-1:0] rd_index_i
);

  logic init_q = 1'b1;
  logic [IndexWidth-1:0] chosen_q, chosen;
  logic [2:0] asked_q;
  logic [1:0] rd_valid;
  logic [1:0][Width-1:0] rd_data;
  logic [1:0][EpochWidth+Width-1:0] live, copy;
  logic [1:0][Width-1:0] shadow;

  assign chosen = init_q ? choose_i : chosen_q;
  always_ff @(posedge clk_i) begin
    init_q   <= 1'b0;
    chosen_q <= chosen;
    asked_q  <= rst_ni ? {asked_q[1:0], read_i} : '0;
  end

  for (genvar k = 0; k < 2; k++) begin : gen_copy
    sluice_counter_bank #(
        .Entries   (Entries),
        .Width     (Width),
        .IncWidth  (IncWidth),
        .EpochWidth(EpochWidth)
    ) u_dut (
        .clk_i,
        .rst_ni,
        .epoch_i,
        .inc_valid_i  (ours_i || inc_valid_i[k]),
        .inc_index_i  (ours_i ? chosen : inc_index_i[k]),
        .inc_amount_i (ours_i ? amount_i : inc_amount_i[k]),
        .rd_valid_i   (read_i || rd_valid_i[k]),
        .rd_snapshot_i(read_i ? snapshot_i : rd_snapshot_i[k]),
        .rd_index_i   (read_i ? chosen : rd_index_i[k]),
        .rd_valid_o   (rd_valid[k]),
        .rd_data_o    (rd_data[k])
    );
    assign live[k]   = u_dut.u_live.mem[chosen];
    assign copy[k]   = u_dut.u_live_copy.mem[chosen];
    assign shadow[k] = u_dut.u_shadow.mem[chosen];
    always_comb begin
      assume (ours_i || inc_index_i[k] != chosen);
    end
  end

  always_comb begin
    if (init_q) assume (!rst_ni);
  end

  ReadsAreAnsweredInBoth_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) init_q || !asked_q[2] || rd_valid == 2'b11);
  ReadsGiveTheSame_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) init_q || !asked_q[2] || rd_data[0] == rd_data[1]);

  // Strengthening for the induction.
  PlacesAreTheSame_A :
  assert property (@(posedge clk_i) live[0] == live[1] && copy[0] == copy[1] && shadow[0] == shadow[1] &&
                                    live[0] == copy[0]);
endmodule
