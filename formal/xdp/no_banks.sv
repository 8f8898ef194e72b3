/// Stands for the banks of value memory in xdp/values: what is read is free, what is asked of them is looked at.
module sluice_ram_1r1w #(
    parameter int unsigned Width = 32,
    parameter int unsigned Depth = 512,
    parameter int unsigned Lanes = 1,
    parameter bit InitZero = 1'b1,
    parameter Style = "auto",
    localparam int unsigned AddrWidth = $clog2(Depth)
) (
    input  logic                 clk_i,
    input  logic [    Lanes-1:0] wr_en_i,
    input  logic [AddrWidth-1:0] wr_addr_i,
    input  logic [    Width-1:0] wr_data_i,
    input  logic                 rd_en_i,
    input  logic [AddrWidth-1:0] rd_addr_i,
    output logic [    Width-1:0] rd_data_o
);
endmodule
