/// The node of an engine that is not there: it answers every access with StatusBadAddress.
///
/// Latency: the cycle after the request. Never stalls.
module sluice_nic_absent
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
(
    input  logic     clk_i,
    input  logic     rst_ni,
    input  logic     cfg_valid_i,
    output logic     cfg_valid_o,
    output cfg_rsp_t cfg_rsp_o
);

  logic asked_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) asked_q <= 1'b0;
    else asked_q <= cfg_valid_i;
  end

  assign cfg_valid_o = asked_q;
  assign cfg_rsp_o   = '{status: StatusBadAddress, words: '0, data: '0};

endmodule
