/// Stands for sluice_token_bucket in noninterference/stamp: its results are free. That it answers the same where it is asked
/// the same, noninterference/bucket shows.
module sluice_token_bucket #(
    parameter  int unsigned Buckets       = 32,
    parameter  int unsigned TimeWidth     = 48,
    parameter  int unsigned LengthWidth   = 14,
    parameter  int unsigned CostIntWidth  = 8,
    parameter  int unsigned FracWidth     = 16,
    parameter  int unsigned BurstWidth    = 32,
    parameter  bit          PacketInBurst = 1'b0,
    localparam int unsigned IndexWidth    = (Buckets > 1) ? $clog2(Buckets) : 1,
    localparam int unsigned CostWidth     = CostIntWidth + FracWidth
) (
    input  logic                   clk_i,
    input  logic                   rst_ni,
    input  logic                   valid_i,
    input  logic [ IndexWidth-1:0] index_i,
    input  logic [  TimeWidth-1:0] now_i,
    input  logic [LengthWidth-1:0] length_i,
    output logic                   valid_o,
    output logic                   conform_o,
    input  logic                   cfg_en_i,
    input  logic                   cfg_we_i,
    input  logic [ IndexWidth-1:0] cfg_index_i,
    input  logic [  CostWidth-1:0] cfg_cost_i,
    input  logic [ BurstWidth-1:0] cfg_burst_i,
    output logic [  CostWidth-1:0] cfg_cost_o,
    output logic [ BurstWidth-1:0] cfg_burst_o
);
endmodule
