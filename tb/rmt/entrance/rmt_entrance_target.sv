/// sluice_rmt_entrance by the number of a target, for its bench.
module rmt_entrance_target
  import sluice_pkg::*;
  import sluice_shell_pkg::*;
  import sluice_rmt_rows_pkg::*;
  import sluice_rmt_pkg::*;
#(
    parameter int unsigned Target = 0,
    parameter int unsigned Credits = 128,
    localparam rmt_cfg_t Cfg = rmt_cfg(Target),
    localparam int unsigned Bytes = Cfg.bus_bytes
) (
    input logic clk_i,
    input logic rst_ni,

    input logic                hold_i,
    input logic [TickBits-1:0] ticks_i,

    input  logic                    s_axis_tvalid,
    output logic                    s_axis_tready,
    input  logic [     8*Bytes-1:0] s_axis_tdata,
    input  logic [       Bytes-1:0] s_axis_tkeep,
    input  logic                    s_axis_tlast,
    input  logic [SidebandBits-1:0] s_axis_tuser,

    output logic                    beat_valid_o,
    input  logic                    beat_ready_i,
    output logic [     8*Bytes-1:0] beat_data_o,
    output logic                    beat_last_o,
    output logic                    side_valid_o,
    input  logic                    side_ready_i,
    output logic [SidebandBits-1:0] side_o,

    output logic                         slot_valid_o,
    output logic                         slot_first_o,
    output logic                         slot_last_o,
    output logic [          8*Bytes-1:0] slot_data_o,
    output logic [$bits(rmt_desc_t)-1:0] desc_o,

    output logic                     token_valid_o,
    output logic [             31:0] token_id_o,
    output logic                     token_foreign_o,
    output logic [8*WindowBytes-1:0] token_window_o,
    input  logic                     generation_i,
    input  logic                     system_generation_i,

    input logic credit_i,
    input logic slot_request_i,

    output logic                  window_valid_o,
    output logic                  window_misfit_o,
    output logic                  late_valid_o,
    output logic [ModuleBits-1:0] late_module_o,

    output logic waiting_o
);

  sluice_rmt_entrance #(
      .Cfg    (Cfg),
      .Credits(Credits)
  ) u_entrance (
      .*
  );

endmodule
