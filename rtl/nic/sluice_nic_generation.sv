/// Current generation of each module and how many packets of each generation are in flight.
///
/// `enter_*` stamps a packet: `generation_o` is the module's current generation in the same
/// cycle, and the packet counts until `leave_*` gives it back behind the last table that reads
/// its generation. A commit (`commit_valid_i`) to the current generation changes nothing; to
/// the other one it takes effect for the next cycle's packets, unless packets of that
/// generation are still in flight: then `commit_busy_o` is set in the same cycle and nothing
/// changes. At most `MaxInFlight` packets may be in flight.
///
/// With `System` each packet also gets the present generation of module 0, the system module, and module 0's
/// counts are those of all packets by that generation.
///
/// Latency: 0 cycles for the stamp, 1 for counts and commits. Never stalls.
module sluice_nic_generation #(
    parameter int unsigned Modules = 64,
    parameter int unsigned MaxInFlight = 32,
    parameter bit System = 1'b0,
    localparam int unsigned IndexWidth = (Modules > 1) ? $clog2(Modules) : 1,
    localparam int unsigned CountWidth = $clog2(MaxInFlight + 1)
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic                  enter_valid_i,
    input  logic [IndexWidth-1:0] enter_module_i,
    output logic                  generation_o,
    output logic                  system_generation_o,

    input logic                  leave_valid_i,
    input logic [IndexWidth-1:0] leave_module_i,
    input logic                  leave_generation_i,
    input logic                  leave_system_generation_i, // with System

    input  logic                  commit_valid_i,
    input  logic [IndexWidth-1:0] commit_module_i,
    input  logic                  commit_generation_i,
    output logic                  commit_busy_o,
    // State of the module `commit_module_i`.
    output logic                  current_o,
    output logic [CountWidth-1:0] in_flight_0_o,
    output logic [CountWidth-1:0] in_flight_1_o
);

  logic [Modules-1:0] current_q;
  logic [Modules-1:0][1:0][CountWidth-1:0] in_flight_q;

  assign generation_o = current_q[enter_module_i];
  assign system_generation_o = current_q[0];
  assign current_o = current_q[commit_module_i];
  assign in_flight_0_o = in_flight_q[commit_module_i][0];
  assign in_flight_1_o = in_flight_q[commit_module_i][1];
  assign commit_busy_o = commit_generation_i != current_o && in_flight_q[commit_module_i][commit_generation_i] != '0;

  // Module 0 stands for all packets with System.
  logic [Modules-1:0][1:0] enters, leaves;
  always_comb begin
    for (int unsigned m = 0; m < Modules; m++) begin
      for (int unsigned g = 0; g < 2; g++) begin
        enters[m][g] = enter_valid_i && 32'(enter_module_i) == m && generation_o == g[0];
        leaves[m][g] = leave_valid_i && 32'(leave_module_i) == m && leave_generation_i == g[0];
        if (System && m == 0) begin
          enters[m][g] = enter_valid_i && system_generation_o == g[0];
          leaves[m][g] = leave_valid_i && leave_system_generation_i == g[0];
        end
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      current_q   <= '0;
      in_flight_q <= '0;
    end else begin
      if (commit_valid_i && !commit_busy_o) current_q[commit_module_i] <= commit_generation_i;
      for (int unsigned m = 0; m < Modules; m++) begin
        for (int unsigned g = 0; g < 2; g++) begin
          in_flight_q[m][g] <= in_flight_q[m][g] + CountWidth'(enters[m][g]) - CountWidth'(leaves[m][g]);
        end
      end
    end
  end

`ifndef SYNTHESIS
  logic below, above;
  always_comb begin
    below = 1'b0;
    above = 1'b0;
    for (int unsigned m = 0; m < Modules; m++) begin
      for (int unsigned g = 0; g < 2; g++) begin
        below |= leaves[m][g] && in_flight_q[m][g] == '0;
        above |= enters[m][g] && !leaves[m][g] && in_flight_q[m][g] == CountWidth'(MaxInFlight);
      end
    end
  end
  OnlyWhatEnteredLeaves_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !below);
  CountDoesNotOverflow_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !above);
`endif

endmodule
