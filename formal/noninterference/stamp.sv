/// Proof about two copies of sluice_shell_stamp: the generation that a module's packet gets, what its rate limit is asked, and
/// what becomes of accesses to the module's two rows, are the same in both, whatever other modules' packets and rows there
/// are in each.
///
/// By k-induction, for runs of any length, at four modules. A module other than the system's is chosen at the start. Its
/// packets enter and leave, and its rows are accessed, in the same cycle and at the same tick in both copies; all else is
/// free in each. An access to another module's row names another index. It may name one that is no module's, whose low bits
/// are the chosen module's. The host makes one access at a time and holds it until its answer. The buckets are stood for:
/// that they answer the same where they are asked the same, and by nobody else, noninterference/bucket shows. A reset
/// stands only at the start, and clearing is over.
module stamp
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
#(
    parameter  int unsigned Modules   = 4,
    localparam int unsigned IndexBits = $clog2(Modules)
) (
    input logic clk_i,
    input logic rst_ni,
    input logic [ModuleBits-1:0] choose_i,
    input logic [TickBits-1:0] ticks_i,

    // Packets and accesses: [2] is of the chosen module, in both copies.
    input logic           enters_i,
    input logic     [1:0] enter_valid_i,
    input enter_t   [2:0] enter_i,
    input logic           leaves_i,
    input logic     [1:0] leave_valid_i,
    input token_t   [2:0] leave_i,
    input logic           looks_i,
    input logic     [1:0] cfg_valid_i,
    input cfg_req_t [2:0] cfg_req_i
);

  localparam int unsigned CountWidth = 8;

  typedef struct packed {
    logic valid;
    logic [IndexBits-1:0] index;
    logic [TickBits-1:0] now;
    logic [13:0] length;
  } asked_t;
  typedef struct packed {
    logic write;
    logic [IndexBits-1:0] index;
    logic [23:0] cost;
    logic [31:0] burst;
  } set_t;

  logic init_q = 1'b1;
  logic [ModuleBits-1:0] chosen, chosen_q;
  logic [3:0] looks_q;  // the module's access was so many cycles ago
  logic [1:0] busy_q;  // an access waits for its answer
  cfg_req_t [1:0] req_q;
  logic [1:0] generation, conform, answers, sets, commits;
  asked_t [1:0] asked;
  set_t [1:0] set;
  cfg_rsp_t [1:0] rsp;
  merge_trace_t [1:0] trace;
  logic [1:0] of_chosen, sets_chosen;
  logic [1:0][1:0] some;
  logic [1:0][1:0][CountWidth-1:0] count, entered, leaving;

  logic reads_limit;
  assign chosen = init_q ? choose_i : chosen_q;
  assign reads_limit = rsp[0].status == StatusOk && req_q[0].tab == TableRate && !req_q[0].write;

  always_ff @(posedge clk_i) begin
    init_q   <= 1'b0;
    chosen_q <= chosen;
    looks_q  <= init_q ? '0 : {looks_q[2:0], looks_i};
  end

  for (genvar k = 0; k < 2; k++) begin : gen_copy
    logic unused_system, unused_trace, valid;
    cfg_req_t req;
    assign valid = looks_i || cfg_valid_i[k];
    assign req   = busy_q[k] ? req_q[k] : cfg_req_i[looks_i?2 : k];
    sluice_shell_stamp #(
        .Modules(Modules)
    ) u_dut (
        .clk_i,
        .rst_ni,
        .ticks_i,
        .enter_valid_i       (enters_i || enter_valid_i[k]),
        .enter_i             (enter_i[enters_i?2 : k]),
        .generation_o        (generation[k]),
        .system_generation_o (unused_system),
        .conform_o           (conform[k]),
        .leave_valid_i       (leaves_i || leave_valid_i[k]),
        .leave_i             (leave_i[leaves_i?2 : k]),
        .behind_enter_valid_i(1'b0),
        .behind_enter_i      ('0),
        .behind_leave_valid_i('0),
        .behind_leave_i      ('0),
        .cfg_valid_i         (valid),
        .cfg_req_i           (req),
        .cfg_valid_o         (answers[k]),
        .cfg_rsp_o           (rsp[k]),
        .trace_valid_o       (unused_trace),
        .trace_o             (trace[k])
    );
    assign asked[k] = '{
            valid: u_dut.u_rate.valid_i,
            index: u_dut.u_rate.index_i,
            now: u_dut.u_rate.now_i,
            length: u_dut.u_rate.length_i
        };
    assign sets[k] = u_dut.u_rate.cfg_en_i;
    assign set[k] = '{
            write: u_dut.u_rate.cfg_we_i,
            index: u_dut.u_rate.cfg_index_i,
            cost: u_dut.u_rate.cfg_cost_i,
            burst: u_dut.u_rate.cfg_burst_i
        };
    assign sets_chosen[k] = sets[k] && set[k].write && set[k].index == chosen[IndexBits-1:0];
    assign commits[k] = u_dut.u_generation.commit_valid_i && u_dut.u_generation.commit_module_i == chosen[IndexBits-1:0];
    assign of_chosen[k] = u_dut.u_generation.current_q[chosen[IndexBits-1:0]];
    assign count[k] = {u_dut.generation.in_flight_1, u_dut.generation.in_flight_0};
    for (genvar g = 0; g < 2; g++) begin : gen_generation
      assign some[k][g] = u_dut.u_generation.some_q[g][chosen[IndexBits-1:0]];
      assign entered[k][g] = u_dut.u_generation.gen_generation[g].u_entered.mem[chosen[IndexBits-1:0]];
      assign leaving[k][g] = u_dut.u_generation.gen_generation[g].u_leaving.mem[chosen[IndexBits-1:0]];
    end
    always_ff @(posedge clk_i) begin
      if (init_q) busy_q[k] <= 1'b0;
      else if (valid) begin
        busy_q[k] <= 1'b1;
        req_q[k]  <= req;
      end else if (answers[k]) busy_q[k] <= 1'b0;
    end
    always_comb begin
      assume (!enter_valid_i[k] || (enter_i[k].module_id != chosen && 32'(enter_i[k].module_id) < Modules));
      assume (!leave_valid_i[k] || (leave_i[k].module_id != chosen && 32'(leave_i[k].module_id) < Modules));
      assume (!cfg_valid_i[k] || cfg_req_i[k].index != 24'(chosen));
      assume (!req.clear);
      assume (!valid || !busy_q[k]);
    end
  end

  always_comb begin
    assume (rst_ni == !init_q);
    assume (chosen != '0 && 32'(chosen) < Modules);
    assume (enter_i[2].module_id == chosen && leave_i[2].module_id == chosen);
    assume (cfg_req_i[2].index == 24'(chosen));
    assume (!init_q || !(enters_i || leaves_i || looks_i || {enter_valid_i, leave_valid_i, cfg_valid_i} != '0));
    // Shown in noninterference/bucket: what a read of the limit gives. It stays until the next read.
    assume (init_q || !looks_q[3] || !reads_limit || gen_copy[0].u_dut.rate == gen_copy[1].u_dut.rate);
  end

  PacketsGetTheSameGeneration_A :
  assert property (@(posedge clk_i) init_q || !enters_i || generation[0] == generation[1]);
  TheRateLimitIsAskedTheSame_A :
  assert property (@(posedge clk_i) init_q || !enters_i || asked[0] == asked[1]);
  TheRateLimitIsSetInBothOrNeither_A :
  assert property (@(posedge clk_i) init_q || (sets_chosen[0] == sets_chosen[1] && (!sets_chosen[0] || set[0] == set[1])));
  OnlyItsOwnAccessSetsTheRateLimit_A :
  assert property (@(posedge clk_i) init_q || looks_i || sets_chosen == '0);
  TheAccessIsAnsweredTheSame_A :
  assert property (@(posedge clk_i) init_q || !looks_q[3] || (answers == 2'b11 && rsp[0].status == rsp[1].status &&
                                                              rsp[0].words == rsp[1].words));
  TheRowReadIsTheSame_A :
  assert property (@(posedge clk_i)
      init_q || !looks_q[3] || rsp[0].status != StatusOk || req_q[0].write || rsp[0].data == rsp[1].data);
  for (genvar k = 0; k < 2; k++) begin : gen_asks
    APacketAsksTheLimitOfItsModule_A :
    assert property (@(posedge clk_i) init_q || !asked[k].valid || (asked[k].index == chosen[IndexBits-1:0]) == enters_i);
  end
  TheTraceSaysTheSame_A :
  assert property (@(posedge clk_i)
      init_q || !enters_i || (trace[0].generation == trace[1].generation && trace[0].stamp == trace[1].stamp));

  // Strengthening for the induction.
  for (genvar g = 0; g < 2; g++) begin : gen_generation
    // The numbers of packets begin anywhere; only how far they are apart counts.
    DistancesAreTheSame_A :
    assert property (@(posedge clk_i) init_q || !some[0][g] ||
                     CountWidth'(entered[0][g] - leaving[0][g]) == CountWidth'(entered[1][g] - leaving[1][g]));
  end
  RegistersAreTheSame_A :
  assert property (@(posedge clk_i) init_q || (some[0] == some[1] && of_chosen[0] == of_chosen[1]));
  OnlyItsOwnAccessCommits_A :
  assert property (@(posedge clk_i) init_q || looks_i || commits == '0);
  for (genvar k = 0; k < 2; k++) begin : gen_access
    OneAccessIsUnderWay_A :
    assert property (@(posedge clk_i) init_q || ($onehot0(
        gen_copy[k].u_dut.answer_q
    ) && busy_q[k] == |gen_copy[k].u_dut.answer_q));
    TheAccessGoesOn_A :
    assert property (@(posedge clk_i) init_q || (looks_q & ~gen_copy[k].u_dut.answer_q) == '0);
  end
  TheAccessIsTheSame_A :
  assert property (@(posedge clk_i) init_q || looks_q == '0 || (req_q[0] == req_q[1] && req_q[0].index == 24'(chosen)));
endmodule
