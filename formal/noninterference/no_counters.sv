/// Stands for sluice_counter_bank in proofs that do not look at its answers: they are free.
///
/// noninterference/counters is about the bank itself.
module sluice_counter_bank #(
    parameter  int unsigned Entries    = 256,
    parameter  int unsigned Width      = 64,
    parameter  int unsigned IncWidth   = 16,
    parameter  int unsigned EpochWidth = 32,
    localparam int unsigned IndexWidth = (Entries > 1) ? $clog2(Entries) : 1
) (
    input  logic                  clk_i,
    input  logic                  rst_ni,
    input  logic [EpochWidth-1:0] epoch_i,
    input  logic                  inc_valid_i,
    input  logic [IndexWidth-1:0] inc_index_i,
    input  logic [  IncWidth-1:0] inc_amount_i,
    input  logic                  rd_valid_i,
    input  logic                  rd_snapshot_i,
    input  logic [IndexWidth-1:0] rd_index_i,
    output logic                  rd_valid_o,
    output logic [     Width-1:0] rd_data_o
);
endmodule
