/// Strip and insert side by side, for the bench that feeds one with what leaves the other.
module tag_pair
  import sluice_pkg::*;
#(
    parameter int unsigned Bytes = 64,
    parameter bit Insert = 1'b1,
    localparam int unsigned ByteCountBits = $clog2(Bytes + 1)
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic                     strip_valid_i,
    input  logic [      8*Bytes-1:0] strip_data_i,
    input  logic [ByteCountBits-1:0] strip_bytes_i,
    input  logic                     strip_first_i,
    input  logic                     strip_last_i,
    input  logic                     strip_off_i,
    output logic                     strip_valid_o,
    output logic [      8*Bytes-1:0] strip_data_o,
    output logic                     strip_last_o,

    input  logic                          valid_i,
    output logic                          ready_o,
    input  logic      [      8*Bytes-1:0] data_i,
    input  logic      [ByteCountBits-1:0] bytes_i,
    input  logic                          first_i,
    input  logic                          last_i,
    input  sideband_t                     meta_i,

    output logic                    m_axis_tvalid,
    input  logic                    m_axis_tready,
    output logic      [8*Bytes-1:0] m_axis_tdata,
    output logic      [  Bytes-1:0] m_axis_tkeep,
    output logic                    m_axis_tlast,
    output sideband_t               m_axis_tuser
);

  logic unused_meta;

  sluice_nic_tag_strip #(
      .Bytes(Bytes)
  ) u_strip (
      .clk_i,
      .rst_ni,
      .valid_i(strip_valid_i),
      .data_i (strip_data_i),
      .bytes_i(strip_bytes_i),
      .first_i(strip_first_i),
      .last_i (strip_last_i),
      .off_i  (strip_off_i),
      .meta_i (1'b0),
      .valid_o(strip_valid_o),
      .data_o (strip_data_o),
      .last_o (strip_last_o),
      .meta_o (unused_meta)
  );

  sluice_nic_tag_insert #(
      .Bytes (Bytes),
      .Insert(Insert)
  ) u_insert (
      .clk_i,
      .rst_ni,
      .valid_i,
      .ready_o,
      .data_i,
      .bytes_i,
      .first_i,
      .last_i,
      .meta_i,
      .m_axis_tvalid,
      .m_axis_tready,
      .m_axis_tdata,
      .m_axis_tkeep,
      .m_axis_tlast,
      .m_axis_tuser
  );

endmodule
