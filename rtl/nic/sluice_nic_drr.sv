/// Chooses the module that a destination serves next: deficit round robin in bytes.
///
/// `queued_i[m]`: module m has packets. `valid_o` and `module_o` name the choice; `take_i`
/// takes one packet from it. The packet's length may come a few cycles later (`charge_*`, in
/// the order taken): the balance carries the overdraft into later turns, as
/// docs/design/nic.md says. The next turn is prepared while the present one is served, so that
/// a change of turn costs no cycle, however short the turns. A module that is alone gets its
/// quantum as soon as its balance is used up. A turn that a module in debt is passed over takes
/// a cycle, so quanta far below the packets' lengths cost cycles.
///
/// The balance is the difference of two running sums, credit and spent, so that preparing a
/// turn and charging a packet never wait for each other.
///
/// `quantum_index_o` asks for a module's quantum, `quantum_i` answers in the same cycle.
///
/// Latency: 2 cycles from `queued_i` to `valid_o` for an idle destination.
/// Throughput: one choice a cycle. Never stalls.
module sluice_nic_drr #(
    parameter  int unsigned Modules   = 64,
    localparam int unsigned IndexBits = $clog2(Modules)
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic [  Modules-1:0] queued_i,
    output logic                 valid_o,
    output logic [IndexBits-1:0] module_o,
    input  logic                 take_i,

    input logic                 charge_valid_i,
    input logic [IndexBits-1:0] charge_module_i,
    input logic [         13:0] charge_bytes_i,

    output logic [IndexBits-1:0] quantum_index_o,
    input  logic [         15:0] quantum_i
);

  // A turn begins with at most 65,535; after it may come 3 late packets of 9,216 bytes.
  localparam int unsigned BalanceBits = 18;
  typedef logic signed [BalanceBits-1:0] balance_t;

  logic [IndexBits-1:0] turn_q, next_q, after_q, candidate_q;
  logic turn_open_q, next_valid_q, candidate_valid_q;
  balance_t turn_quantum_q, next_quantum_q;
  logic serve_turn, serve_next;

  assign serve_turn = turn_open_q && queued_i[turn_q];
  assign serve_next = !serve_turn && next_valid_q && queued_i[next_q];
  assign valid_o = serve_turn || serve_next;
  assign module_o = serve_turn ? turn_q : next_q;

  // The module after next, in cyclic order. It is looked for all the time, for both cases: that
  // the candidate becomes the next turn in this cycle, and that it does not.
  logic [Modules-1:0] others, open_pool, taken_pool;
  logic others_valid, found_open, found_taken, prepare;
  logic [IndexBits-1:0] index_open, index_taken;

  always_comb begin
    others = queued_i;
    others[turn_q] = 1'b0;
    open_pool = queued_i;
    if (next_valid_q) open_pool[next_q] = 1'b0;
    taken_pool = queued_i;
    taken_pool[candidate_q] = 1'b0;
  end
  assign others_valid = |others;

  sluice_nic_next_module #(
      .Modules(Modules)
  ) u_open (
      .queued_i(open_pool),
      .after_i (after_q),
      .valid_o (found_open),
      .module_o(index_open)
  );
  sluice_nic_next_module #(
      .Modules(Modules)
  ) u_taken (
      .queued_i(taken_pool),
      .after_i (candidate_q),
      .valid_o (found_taken),
      .module_o(index_taken)
  );

  balance_t charge_spent, charge_credit, spent_d, balance_after;
  balance_t candidate_spent, candidate_credit, candidate_balance, candidate_after, quantum;
  logic used_up, renew, consume;

  assign quantum_index_o = candidate_q;
  assign quantum = (quantum_i == '0) ? balance_t'(1) : balance_t'({1'b0, quantum_i});

  assign spent_d = charge_spent + balance_t'({1'b0, charge_bytes_i});
  assign balance_after = charge_credit - spent_d;
  assign used_up = charge_valid_i && balance_after <= 0;
  assign renew = used_up && turn_open_q && charge_module_i == turn_q && !others_valid;

  assign candidate_balance = candidate_credit - candidate_spent;
  // A module that is alone is forgiven its debt: rounds without another module would only cost time.
  assign candidate_after = quantum +
      ((candidate_balance[BalanceBits-1] && found_taken) ? candidate_balance : balance_t'(0));
  assign consume = take_i && serve_next;
  // The module whose turn it is may only come next when its turn is over.
  assign prepare = candidate_valid_q && queued_i[candidate_q] && (!next_valid_q || consume) && !renew &&
      !(candidate_q == turn_q && serve_turn) && !(candidate_q == next_q && consume);

  sluice_ram_lut #(
      .Width    (BalanceBits),
      .Depth    (Modules),
      .ReadPorts(2)
  ) u_spent (
      .clk_i,
      .we_i   (charge_valid_i),
      .waddr_i(charge_module_i),
      .wdata_i(spent_d),
      .raddr_i({candidate_q, charge_module_i}),
      .rdata_o({candidate_spent, charge_spent})
  );
  sluice_ram_lut #(
      .Width    (BalanceBits),
      .Depth    (Modules),
      .ReadPorts(2)
  ) u_credit (
      .clk_i,
      .we_i   (prepare || renew),
      .waddr_i(renew ? charge_module_i : candidate_q),
      .wdata_i(renew ? spent_d + turn_quantum_q : candidate_spent + candidate_after),
      .raddr_i({candidate_q, charge_module_i}),
      .rdata_o({candidate_credit, charge_credit})
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      turn_q            <= '0;
      next_q            <= '0;
      after_q           <= '0;
      candidate_q       <= '0;
      turn_open_q       <= 1'b0;
      next_valid_q      <= 1'b0;
      candidate_valid_q <= 1'b0;
    end else begin
      candidate_valid_q <= prepare ? found_taken : found_open;
      candidate_q       <= prepare ? index_taken : index_open;
      if (prepare) begin
        after_q <= candidate_q;
        next_q  <= candidate_q;
      end
      // A module that is still in debt is passed over.
      if (prepare) next_valid_q <= candidate_after > 0;
      else if (consume || !queued_i[next_q] || (used_up && charge_module_i == next_q)) next_valid_q <= 1'b0;
      if (consume) begin
        turn_q      <= next_q;
        turn_open_q <= !(used_up && charge_module_i == next_q);
      end else if (used_up && charge_module_i == turn_q) begin
        turn_open_q <= renew;
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (prepare) next_quantum_q <= quantum;
    if (consume) turn_quantum_q <= next_quantum_q;
  end

`ifndef SYNTHESIS
  ChoiceHasPackets_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !valid_o || queued_i[module_o]);
  TakesOnlyAChoice_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !take_i || valid_o);
  // A property would copy the RAMs that it reads in every cycle.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      BalanceDoesNotWrap_A :
      assert (!charge_valid_i || balance_after < charge_credit - charge_spent || charge_bytes_i == '0);
    end
  end
`endif

endmodule
