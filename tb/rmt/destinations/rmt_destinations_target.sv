/// sluice_rmt_destinations by the number of a target, with the fields of what it is told as pins, for its bench.
module rmt_destinations_target
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_rmt_rows_pkg::*;
  import sluice_rmt_pkg::*;
#(
    parameter int unsigned Target = 0,
    localparam rmt_cfg_t Cfg = rmt_cfg(Target)
) (
    input logic clk_i,
    input logic rst_ni,

    input logic                               ctl_valid_i,
    input logic [       $bits(rmt_ctl_t)-1:0] ctl_i,
    input logic [                       15:0] port_i,
    input logic [                       15:0] egress_i,
    input logic [                       15:0] group_i,
    input logic [                       15:0] status_i,
    input logic [                       15:0] scratch1_i,
    input logic [$bits(rmt_containers_t)-1:0] containers_i,

    output logic                               valid_o,
    output logic [       $bits(rmt_ctl_t)-1:0] ctl_o,
    output logic [         $bits(route_t)-1:0] route_o,
    output logic [$bits(rmt_containers_t)-1:0] containers_o,

    input logic [          31:0] epoch_i,
    input logic                  event_valid_i,
    input logic [ModuleBits-1:0] event_module_i,
    input logic [           3:0] event_kind_i,
    input logic [           3:0] event_amount_i,
    input logic                  misfit_valid_i,
    input logic [ModuleBits-1:0] misfit_module_i,

    input  logic                              cfg_valid_i,
    input  logic [  $bits(rmt_cfg_req_t)-1:0] cfg_req_i,
    input  logic [32*RmtPatternsRowWords-1:0] cfg_row_i,
    output logic                              cfg_valid_o,
    output logic [      $bits(cfg_rsp_t)-1:0] cfg_rsp_o
);

  rmt_phv_t phv_in, phv_out;

  always_comb begin
    phv_in = '0;
    phv_in.c = containers_i;
    phv_in.words[WordIngressPort] = port_i;
    phv_in.words[WordEgress] = egress_i;
    phv_in.words[WordGroup] = group_i;
    phv_in.words[WordStatus] = status_i;
    phv_in.words[WordScratch1] = scratch1_i;
  end
  assign containers_o = phv_out.c;

  sluice_rmt_destinations #(
      .Cfg(Cfg)
  ) u_destinations (
      .phv_i       (phv_in),
      .phv_o       (phv_out),
      .event_kind_i(rmt_event_e'(event_kind_i)),
      .*
  );

endmodule
