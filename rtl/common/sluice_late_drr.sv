/// Chooses the module whose packet goes next where what a packet costs is known only afterwards: deficit round robin.
///
/// What a packet costs is known when it has ended (`charge_*`, once for each). Until then it counts as the power of two from its module's
/// last ones on (one less for each that was cheaper), so that a module of dear packets does not take all places before the first has ended. `queued_i[m]`: module m has
/// packets. `take_i` takes one of the module that `valid_o` and `module_o` name; the choice holds until then.
///
/// A module has its quantum, 2^QuantumLog for each of its weight (0 is as 16), when its turn begins, and its turn while its balance is
/// positive. A debt is kept, and what comes back because packets cost less than they counted: up to a quantum and 16 packets. A module
/// that is alone is forgiven its debt. `room_i` says that there is room behind for the packet of `module_o`. A choice waits for it; where
/// there is none, `queued_i` has to leave the module out, and the others go on. A turn ends two cycles behind the packet that used the balance up: one more may be taken until then,
/// and is paid for like the others.
///
/// With `Places` above 0, so many packets at most are taken and not charged. Whose turn it is waits for a place; `Spare` more are for
/// modules that have none (guests). A guest's packet does not end the turn of whom it goes past. It is paid for from the guest's balance, and where that
/// is used up, from the turn that it would have had in this round. So who asks for less than his share waits for nobody's long packets, and
/// shares are what they would be without guests.
///
/// Latency: 4 cycles from `queued_i` to `valid_o`, of a guest 5. Throughput: a packet a cycle, a guest's in 6; a module in debt is passed
/// over in 4. So weights far below what packets cost take cycles when all are in debt. Never stalls. `clear_i` empties the balance of
/// `clear_index_i`.
module sluice_late_drr #(
    parameter  int unsigned Modules    = 64,
    parameter  int unsigned CostBits   = 10,
    parameter  int unsigned QuantumLog = 4,
    parameter  int unsigned Places     = 0,
    parameter  int unsigned Spare      = 0,
    localparam int unsigned IndexBits  = $clog2(Modules)
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic [  Modules-1:0] queued_i,
    output logic                 valid_o,
    output logic [IndexBits-1:0] module_o,
    input  logic                 take_i,
    input  logic                 room_i,

    input logic                 charge_valid_i,
    input logic [IndexBits-1:0] charge_module_i,
    input logic [ CostBits-1:0] charge_i,

    // Answered in the same cycle.
    output logic [IndexBits-1:0] weight_index_o,
    input  logic [         15:0] weight_i,

    input logic                 clear_i,
    input logic [IndexBits-1:0] clear_index_i
);

  // Packets of a module that are taken and not charged are fewer than 2^PacketBits.
  localparam int unsigned PacketBits = 8;
  // Both sums count modulo 2^SumBits; what lies between them is at most these packets' cost, or two quanta.
  localparam int unsigned QuantumBits = 16 + QuantumLog;
  localparam int unsigned SumBits = 2 + ((CostBits + PacketBits > QuantumBits) ? CostBits + PacketBits : QuantumBits);
  localparam int unsigned LogBits = $clog2(CostBits + 1);
  localparam int unsigned PlaceBits = $clog2(Places + Spare + 2);
  localparam bit Guests = Places > 0;
  typedef logic signed [SumBits-1:0] sum_t;
  typedef logic [PacketBits-1:0] packets_t;
  typedef logic [IndexBits-1:0] index_t;

  if (Modules < 2 || Places + Spare >= 2 ** PacketBits || (Spare > 0 && Places == 0)) begin : gen_bad_parameters
    $fatal(
        1,
        "late_drr: Modules, Places, Spare are %0d, %0d, %0d, expected 2 modules, fewer than %0d places, no spare ones alone (%m)",
        Modules,
        Places,
        Spare,
        2 ** PacketBits
    );
  end

  typedef enum logic [2:0] {
    Search,       // the next module with packets
    Renew,        // its turn begins
    Weigh,        // its balance is registered
    Offer,
    GuestWeigh,
    GuestDecide,  // on its balance, or on its turn of this round
    GuestOffer
  } state_e;

  state_e state_q;
  // Whose turn it is, and whose sums are looked at.
  index_t turn_q, look_q;
  logic positive_q;
  // Modules behind that one, and all others that wait.
  logic [Modules-1:0] behind, others;
  // Those that had their turn of this round.
  logic [Modules-1:0] had_q;
  logic behind_valid, first_valid, guest_valid, place, guest_place, may, waits;
  index_t behind_index, first_index, next_index, guest_index;
  logic [Modules-1:0] unused_behind_onehot, unused_first_onehot;

  always_comb begin
    for (int unsigned m = 0; m < Modules; m++) begin
      behind[m] = m > 32'(turn_q);
      others[m] = queued_i[m] && m != 32'(turn_q);
    end
  end
  sluice_prio_enc #(
      .Width(Modules)
  ) u_behind (
      .req_i   (queued_i & behind & ~had_q),
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
  assign next_index = behind_valid ? behind_index : first_index;

  // By module: credit, what was charged, packets taken and charged, bits of the last one's cost.
  sum_t credit, spent, charged, ahead, balance, quantum, provisional, kept, fresh;
  // Of a turn that begins: what was charged, the balance, the most of it that stays, what comes to it; written in the cycle behind.
  sum_t owed_q, balance_q, most_q, quantum_q;
  logic renewed_q, alone_q;
  packets_t taken, ended, charged_ended, charged_taken;
  logic [LogBits-1:0] log, cost_log, charge_log, charged_log;
  logic renews;

  assign renews = state_q == Renew || (state_q == GuestDecide && !positive_q && !had_q[look_q]);

  sluice_ram_lut #(
      .Width(SumBits),
      .Depth(Modules)
  ) u_credit (
      .clk_i,
      .we_i   (renewed_q || clear_i),
      .waddr_i(clear_i ? clear_index_i : look_q),
      .wdata_i(clear_i ? '0 : owed_q + fresh),
      .raddr_i(look_q),
      .rdata_o(credit)
  );
  sluice_ram_lut #(
      .Width    (PacketBits),
      .Depth    (Modules),
      .ReadPorts(2)
  ) u_taken (
      .clk_i,
      .we_i   (take_i || clear_i),
      .waddr_i(clear_i ? clear_index_i : look_q),
      .wdata_i(clear_i ? '0 : taken + packets_t'(1)),
      .raddr_i({charge_module_i, look_q}),
      .rdata_o({charged_taken, taken})
  );
  sluice_ram_lut #(
      .Width    (SumBits + PacketBits + LogBits),
      .Depth    (Modules),
      .ReadPorts(2)
  ) u_charged (
      .clk_i,
      .we_i   (charge_valid_i || clear_i),
      .waddr_i(clear_i ? clear_index_i : charge_module_i),
      .wdata_i(clear_i ? '0 : {charged + sum_t'({1'b0, charge_i}), charged_ended + packets_t'(1), charge_log}),
      .raddr_i({charge_module_i, look_q}),
      .rdata_o({charged, charged_ended, charged_log, spent, ended, log})
  );

  // Of the cycle before. Whoever is cleared has no turn.
  always_ff @(posedge clk_i) begin
    renewed_q <= renews && !clear_i && rst_ni;
    // As the turn begins: whether anybody else waits.
    alone_q   <= others == '0 && state_q == Renew;
    owed_q    <= spent + provisional;
    balance_q <= balance;
    most_q    <= quantum + (sum_t'(16) << log);
    quantum_q <= quantum;
  end
  always_comb begin
    kept = balance_q;
    if (balance_q < 0 && alone_q) kept = '0;
    if (balance_q > most_q) kept = most_q;
  end
  assign fresh = kept + quantum_q;

  always_comb begin
    charge_log = (charged_log == '0) ? '0 : charged_log - LogBits'(1);
    cost_log   = '0;
    for (int unsigned b = 0; b < CostBits; b++) if (charge_i[b]) cost_log = LogBits'(b + 1);
    if (charge_log < cost_log) charge_log = cost_log;
  end

  assign weight_index_o = look_q;
  assign quantum = sum_t'({1'b0, (weight_i == '0) ? 16'd16 : weight_i}) << QuantumLog;
  assign provisional = sum_t'({1'b0, packets_t'(taken - ended)}) << log;
  assign ahead = credit - spent;
  assign balance = ahead - provisional;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= Search;
      turn_q  <= '0;
      look_q  <= '0;
    end else begin
      case (state_q)
        Search:
        if (first_valid && !clear_i) begin
          state_q <= Renew;
          turn_q  <= next_index;
          look_q  <= next_index;
        end
        Renew: state_q <= Weigh;
        Weigh: state_q <= Offer;
        GuestWeigh: state_q <= GuestDecide;
        // Again with the balance of its turn, once.
        GuestDecide: begin
          if (positive_q) state_q <= GuestOffer;
          else if (!had_q[look_q]) state_q <= GuestWeigh;
          else begin
            state_q <= Weigh;
            look_q  <= turn_q;
          end
        end
        GuestOffer:
        if (take_i || !(valid_o || waits)) begin
          state_q <= Weigh;
          look_q  <= turn_q;
        end
        default: begin
          if (guest_valid && guest_place && !valid_o && !waits) begin
            state_q <= GuestWeigh;
            look_q  <= guest_index;
          end else if (!positive_q || !queued_i[look_q]) begin
            state_q <= Search;
          end
        end
      endcase
    end
    // What is charged as a turn begins counts from the cycle behind.
    positive_q <= renewed_q ? fresh > 0 : ahead > provisional;
  end

  assign may      = positive_q && queued_i[look_q] && ((state_q == Offer && place) || (state_q == GuestOffer && guest_place));
  assign valid_o = may && room_i;
  // Until it is known whether there is room.
  assign waits = may && !room_i;
  assign module_o = look_q;

  if (Guests) begin : gen_guests
    logic [PlaceBits-1:0] places_q;
    // Those with packets that are not charged, and guests that have used up the turn of this round.
    logic [Modules-1:0] inside_q, owes_q, guests, unused_guest_onehot;
    logic last_inside;

    assign last_inside = charged_ended + packets_t'(1) == charged_taken;
    assign place       = places_q < PlaceBits'(Places);
    assign guest_place = places_q < PlaceBits'(Places + Spare);
    assign guests      = queued_i & ~inside_q & ~owes_q;

    sluice_prio_enc #(
        .Width(Modules)
    ) u_guest (
        .req_i   (guests),
        .valid_o (guest_valid),
        .index_o (guest_index),
        .onehot_o(unused_guest_onehot)
    );

    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        places_q <= '0;
        inside_q <= '0;
        had_q    <= '0;
        owes_q   <= '0;
      end else begin
        places_q <= places_q + PlaceBits'(take_i) - PlaceBits'(charge_valid_i);
        if (charge_valid_i && last_inside) inside_q[charge_module_i] <= 1'b0;
        if (take_i) inside_q[look_q] <= 1'b1;
        if (state_q == Search && !behind_valid) begin
          // A round is over.
          had_q  <= '0;
          owes_q <= '0;
        end
        if (renews) had_q[look_q] <= 1'b1;
        if (state_q == GuestDecide && !positive_q && had_q[look_q]) owes_q[look_q] <= 1'b1;
      end
    end

`ifndef SYNTHESIS
    PlacesAreTakenAndGivenBack_A :
    assert property (@(posedge clk_i) disable iff (!rst_ni) !charge_valid_i || places_q != '0);
    NoMoreThanThereAre_A :
    assert property (@(posedge clk_i) disable iff (!rst_ni) 32'(places_q) <= Places + Spare);
`endif
  end else begin : gen_no_guests
    assign place       = 1'b1;
    assign guest_place = 1'b0;
    assign guest_valid = 1'b0;
    assign guest_index = '0;
    assign had_q       = '0;
  end

`ifndef SYNTHESIS
  TakesOnlyAChoice_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !take_i || valid_o);
  ChoiceHolds_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) valid_o && !take_i && state_q == GuestOffer |=> !room_i ||
                   (valid_o && $stable(
      module_o
  )));
  // A property would copy the RAMs that it reads in every cycle.
  always_ff @(posedge clk_i) begin
    if (rst_ni && charge_valid_i) begin
      OnlyWhatWasTakenIsCharged_A : assert (charged_taken != charged_ended);
    end
  end
`endif

endmodule
