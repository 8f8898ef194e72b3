/// Proof about two copies of sluice_shell_generation: the generation that a module's packets get, its commits and its counts are the
/// same in both, whatever packets and commits of other modules there are in each.
///
/// By k-induction, for runs of any length, with resets at any time. A module other than the system's is chosen at the
/// start. Its packets enter and leave, and it is looked at and committed to, in the same cycle in both copies; all else is free in
/// each. The system module's own generation is not claimed: it is that of all packets, and its commits wait for all.
module generation #(
    parameter int unsigned Modules = 4,
    parameter int unsigned MaxInFlight = 3,
    localparam int unsigned IndexWidth = $clog2(Modules),
    localparam int unsigned CountWidth = $clog2(MaxInFlight + 1)
) (
    input logic clk_i,
    input logic rst_ni,
    input logic [IndexWidth-1:0] choose_i,
    // [2] is of the chosen module.
    input logic enters_i,
    input logic [1:0] enter_valid_i,
    input logic [1:0][IndexWidth-1:0] enter_module_i,
    input logic leaves_i,
    input logic [1:0] leave_valid_i,
    input logic [1:0][IndexWidth-1:0] leave_module_i,
    input logic [2:0] leave_generation_i,
    input logic [1:0] leave_system_generation_i,
    input logic looks_i,
    input logic [2:0] commit_valid_i,
    input logic [1:0][IndexWidth-1:0] commit_module_i,
    input logic [2:0] commit_generation_i
);

  logic init_q = 1'b1;
  logic [IndexWidth-1:0] chosen_q, chosen;
  logic looked_q;
  logic [1:0] stamp, busy, current, of_chosen;
  logic [1:0][1:0] some;
  logic [1:0][1:0][CountWidth-1:0] count, entered, leaving;

  assign chosen = init_q ? choose_i : chosen_q;
  always_ff @(posedge clk_i) begin
    init_q   <= 1'b0;
    chosen_q <= chosen;
    looked_q <= rst_ni && looks_i;
  end

  for (genvar k = 0; k < 2; k++) begin : gen_copy
    logic unused_system;
    sluice_shell_generation #(
        .Modules    (Modules),
        .MaxInFlight(MaxInFlight),
        .System     (1'b1)
    ) u_dut (
        .clk_i,
        .rst_ni,
        .enter_valid_i            (enters_i || enter_valid_i[k]),
        .enter_module_i           (enters_i ? chosen : enter_module_i[k]),
        .generation_o             (stamp[k]),
        .system_generation_o      (unused_system),
        .leave_valid_i            (leaves_i || leave_valid_i[k]),
        .leave_module_i           (leaves_i ? chosen : leave_module_i[k]),
        .leave_generation_i       (leave_generation_i[leaves_i?2 : k]),
        .leave_system_generation_i(leave_system_generation_i[k]),
        .commit_valid_i           (commit_valid_i[looks_i?2 : k]),
        .commit_module_i          (looks_i ? chosen : commit_module_i[k]),
        .commit_generation_i      (commit_generation_i[looks_i?2 : k]),
        .commit_some_i            ('0),
        .commit_busy_o            (busy[k]),
        .current_o                (current[k]),
        .in_flight_0_o            (count[k][0]),
        .in_flight_1_o            (count[k][1])
    );
    assign of_chosen[k] = u_dut.current_q[chosen];
    for (genvar g = 0; g < 2; g++) begin : gen_generation
      assign some[k][g] = u_dut.some_q[g][chosen];
      assign entered[k][g] = u_dut.gen_generation[g].u_entered.mem[chosen];
      assign leaving[k][g] = u_dut.gen_generation[g].u_leaving.mem[chosen];
    end
    always_comb begin
      assume (enters_i || !enter_valid_i[k] || enter_module_i[k] != chosen);
      assume (leaves_i || !leave_valid_i[k] || leave_module_i[k] != chosen);
      assume (looks_i || !commit_valid_i[k] || commit_module_i[k] != chosen);
    end
  end

  always_comb begin
    if (init_q) assume (!rst_ni && choose_i != '0);
    // In reset the packets of the cycle before are forgotten; none come.
    assume (rst_ni || !(enters_i || leaves_i || enter_valid_i != '0 || leave_valid_i != '0 || commit_valid_i != '0));
  end

  PacketsGetTheSameGeneration_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) init_q || !enters_i || stamp[0] == stamp[1]);
  CommitsAreTakenInBothOrNeither_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) init_q || !looks_i || (busy[0] == busy[1] && current[0] == current[1]));
  CountsAreTheSame_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) init_q || !looked_q || count[0] == count[1]);

  // Strengthening for the induction.
  TheModuleIsNotTheSystems_A :
  assert property (@(posedge clk_i) chosen != '0);
  for (genvar g = 0; g < 2; g++) begin : gen_generation
    // The numbers of packets begin anywhere; only how far they are apart counts.
    DistancesAreTheSame_A :
    assert property (@(posedge clk_i) init_q || !some[0][g] ||
                     CountWidth'(entered[0][g] - leaving[0][g]) == CountWidth'(entered[1][g] - leaving[1][g]));
  end
  RegistersAreTheSame_A :
  assert property (@(posedge clk_i) init_q || (some[0] == some[1] && of_chosen[0] == of_chosen[1]));
endmodule
