/// Chooses the module whose packet goes to the cores next: deficit round robin in what programs cost.
///
/// What a packet costs is known when it has ended (`charge_*`). Until then it counts as the power of two from its module's last
/// one on, so that a module of long programs does not take all contexts before the first has ended. `queued_i[m]`: module m has
/// packets. `take_i` takes one of the module that `valid_o` and `module_o` name; the choice holds until then.
///
/// A module has its quantum, 16 bundles for each of its weight, when its turn begins, and its turn while its balance is positive. A
/// debt is kept, and what comes back because packets cost less than they counted: up to a quantum and one packet. A module
/// that is alone is forgiven its debt.
///
/// A turn ends two cycles behind the packet that used the balance up: one more may be taken until then, and is paid for like the others.
///
/// Latency: 4 cycles from `queued_i` to `valid_o`. Throughput: a packet a cycle; a module in debt is passed over in 4. So weights
/// far below what packets cost take cycles when all are in debt. Never stalls. `clear_i` empties the balance of `clear_index_i`.
module sluice_xdp_scheduler
  import sluice_xdp_pkg::*;
#(
    parameter  int unsigned Modules   = 64,
    localparam int unsigned IndexBits = $clog2(Modules)
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic [  Modules-1:0] queued_i,
    output logic                 valid_o,
    output logic [IndexBits-1:0] module_o,
    input  logic                 take_i,

    input logic                  charge_valid_i,
    input logic  [IndexBits-1:0] charge_module_i,
    input cost_t                 charge_i,

    // Answered in the same cycle.
    output logic [IndexBits-1:0] weight_index_o,
    input  logic [         15:0] weight_i,

    input logic                 clear_i,
    input logic [IndexBits-1:0] clear_index_i
);

  // Both sums count modulo 2^32; what lies between them is at most 256 packets' cost.
  localparam int unsigned SumBits = 34;
  localparam int unsigned PacketBits = 8;
  typedef logic signed [SumBits-1:0] sum_t;
  typedef logic [PacketBits-1:0] packets_t;

  typedef enum logic [1:0] {
    Search,  // the next module with packets
    Renew,   // its turn begins
    Weigh,   // its balance is registered
    Offer
  } state_e;

  state_e state_q;
  logic [IndexBits-1:0] turn_q;
  logic lone_q, positive_q;
  logic [Modules-1:0] behind_q;
  logic behind_valid, first_valid;
  logic [IndexBits-1:0] behind_index, first_index;
  logic [Modules-1:0] unused_behind_onehot, unused_first_onehot;

  sluice_prio_enc #(
      .Width(Modules)
  ) u_behind (
      .req_i   (queued_i & behind_q),
      .valid_o (behind_valid),
      .index_o (behind_index),
      .onehot_o(unused_behind_onehot)
  );
  sluice_prio_enc #(
      .Width(Modules)
  ) u_first (
      .req_i   (queued_i),
      .valid_o (first_valid),
      .index_o (first_index),
      .onehot_o(unused_first_onehot)
  );

  // By module: credit, what was charged, packets taken and charged, bits of the last one's cost.
  sum_t credit, spent, charged, balance, quantum, provisional, most, kept;
  packets_t taken, ended, charged_ended;
  logic [4:0] log, charge_log, unused_log;

  sluice_ram_lut #(
      .Width(SumBits),
      .Depth(Modules)
  ) u_credit (
      .clk_i,
      .we_i   (state_q == Renew || clear_i),
      .waddr_i(clear_i ? clear_index_i : turn_q),
      .wdata_i(clear_i ? '0 : spent + provisional + quantum + kept),
      .raddr_i(turn_q),
      .rdata_o(credit)
  );
  sluice_ram_lut #(
      .Width(PacketBits),
      .Depth(Modules)
  ) u_taken (
      .clk_i,
      .we_i   (take_i || clear_i),
      .waddr_i(clear_i ? clear_index_i : turn_q),
      .wdata_i(clear_i ? '0 : taken + packets_t'(1)),
      .raddr_i(turn_q),
      .rdata_o(taken)
  );
  sluice_ram_lut #(
      .Width    (SumBits + PacketBits + 5),
      .Depth    (Modules),
      .ReadPorts(2)
  ) u_charged (
      .clk_i,
      .we_i   (charge_valid_i || clear_i),
      .waddr_i(clear_i ? clear_index_i : charge_module_i),
      .wdata_i(clear_i ? '0 : {charged + sum_t'({1'b0, charge_i}), charged_ended + packets_t'(1), charge_log}),
      .raddr_i({charge_module_i, turn_q}),
      .rdata_o({charged, charged_ended, unused_log, spent, ended, log})
  );

  assign most = quantum + (sum_t'(1) << log);
  always_comb begin
    kept = balance;
    if (balance < 0 && lone_q) kept = '0;
    if (balance > most) kept = most;
  end

  always_comb begin
    charge_log = '0;
    for (int unsigned b = 0; b < CostBits; b++) if (charge_i[b]) charge_log = 5'(b + 1);
  end

  assign weight_index_o = turn_q;
  assign quantum = sum_t'({1'b0, (weight_i == '0) ? 16'd16 : weight_i, 4'd0});
  assign provisional = sum_t'({1'b0, packets_t'(taken - ended)}) << log;
  assign balance = credit - spent - provisional;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q  <= Search;
      turn_q   <= '0;
      behind_q <= '0;
    end else begin
      case (state_q)
        Search:
        if (first_valid && !clear_i) begin
          state_q <= Renew;
          turn_q  <= behind_valid ? behind_index : first_index;
          for (int unsigned m = 0; m < Modules; m++) begin
            behind_q[m] <= m > 32'(behind_valid ? behind_index : first_index);
          end
        end
        Renew:   state_q <= Weigh;
        Weigh:   state_q <= Offer;
        default: if (!valid_o) state_q <= Search;
      endcase
    end
    // As the turn begins: whether anybody else waits.
    if (state_q == Search) lone_q <= (queued_i & (queued_i - Modules'(1))) == '0;
    positive_q <= balance > 0;
  end

  assign valid_o  = state_q == Offer && positive_q && queued_i[turn_q];
  assign module_o = turn_q;

`ifndef SYNTHESIS
  TakesOnlyAChoice_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !take_i || valid_o);
  // A property would copy the RAMs that it reads in every cycle.
  always_ff @(posedge clk_i) begin
    if (rst_ni && charge_valid_i && charge_module_i == turn_q) begin
      OnlyWhatWasTakenIsCharged_A : assert (taken != ended);
    end
  end
`endif

endmodule
