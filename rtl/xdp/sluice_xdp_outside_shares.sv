/// Whose access has the port to outside memory, by bytes: each module has a quota of beats a round (docs/decisions/xdp-external-memory.md, "Shares").
///
/// `ask_valid_i` is an access that needs the port for a read or a write. `allows_o` says in the same cycle whether it may have it: it may while its module has something
/// left in this round for this channel, or while nobody who has waits for that channel. What the port takes (`takes_i`) is charged. Who may have it and does not get it (`waits_i`: for the port, and not
/// for something else) asks again; who may not asks when it is told to (`release_o`). Where nobody with something left waits for either channel, one without begins a new round.
///
/// A quota is 4 beats, a line, for each of the module's weight (table `xdp_share`, which is answered by the queues; 0 is as 16). What the last access takes beyond it is not charged.
///
/// Latency: none. Never stalls.
module sluice_xdp_outside_shares
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_xdp_rows_pkg::*;
#(
    parameter int unsigned Askers = 22,
    parameter int unsigned BeatBits = 7,
    localparam int unsigned AskerBits = $clog2(Askers)
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic                  ask_valid_i,
    input  logic                  ask_write_i,
    input  logic [ AskerBits-1:0] ask_asker_i,
    input  logic [ModuleBits-1:0] ask_module_i,
    input  logic [  BeatBits-1:0] ask_beats_i,
    input  logic                  waits_i,
    input  logic                  takes_i,
    output logic                  allows_o,
    // Who may not have it asks again behind `release_o`: when nobody with something left waits for the channel, or when its access is late.
    input  logic [    Askers-1:0] late_i,
    output logic [    Askers-1:0] release_o,
    input  logic                  leave_valid_i,
    input  logic [ AskerBits-1:0] leave_asker_i,

    // A module's weight is written.
    input logic                  weight_valid_i,
    input logic [ModuleBits-1:0] weight_module_i,
    input logic [          15:0] weight_i
);

  localparam int unsigned Modules = 2 ** ModuleBits;
  localparam int unsigned UsedBits = 18;
  localparam int unsigned RoundBits = 12;
  localparam logic [15:0] Usual = 16'd16;

  typedef logic [Askers-1:0] set_t;

  // What a module has had in its last round, by channel.
  typedef struct packed {
    logic [RoundBits-1:0] round;
    logic [UsedBits-1:0]  beats;
  } used_t;

  logic [RoundBits-1:0] round_q, round;
  used_t used, charged;
  logic [15:0] weight;
  logic [UsedBits-1:0] had, quota;
  logic [UsedBits:0] sum;
  logic has_left, begins;
  set_t [1:0] waits_q;  // who has something left and waits: for reads, for writes
  set_t [1:0] parked_q;
  set_t self;

  sluice_ram_lut #(
      .Width(16),
      .Depth(Modules)
  ) u_weights (
      .clk_i,
      .we_i   (weight_valid_i),
      .waddr_i(weight_module_i),
      .wdata_i(weight_i),
      .raddr_i(ask_module_i),
      .rdata_o(weight)
  );
  sluice_ram_lut #(
      .Width($bits(used_t)),
      .Depth(2 * Modules)
  ) u_used (
      .clk_i,
      .we_i   (ask_valid_i && takes_i),
      .waddr_i({ask_write_i, ask_module_i}),
      .wdata_i(charged),
      .raddr_i({ask_write_i, ask_module_i}),
      .rdata_o(used)
  );

  assign self = set_t'(1) << ask_asker_i;
  always_comb begin
    release_o = '0;
    for (int unsigned w = 0; w < 2; w++) if (waits_q[w] == '0) release_o |= parked_q[w];
    release_o |= (parked_q[0] | parked_q[1]) & late_i;
  end
  assign quota = {(weight == '0) ? Usual : weight, 2'd0};
  assign had = (used.round == round_q) ? used.beats : '0;
  assign has_left = had < quota;
  assign begins = ask_valid_i && !has_left && ((waits_q[0] | waits_q[1]) & ~self) == '0;
  assign allows_o = has_left || (waits_q[ask_write_i] & ~self) == '0;
  assign round = round_q + RoundBits'(begins);
  assign sum = (UsedBits + 1)'(begins ? '0 : had) + (UsedBits + 1)'(ask_beats_i);
  assign charged = '{round: round, beats: (sum > (UsedBits + 1)'(quota)) ? quota : sum[UsedBits-1:0]};

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      round_q  <= '0;
      waits_q  <= '0;
      parked_q <= '0;
    end else begin
      round_q <= round;
      for (int unsigned w = 0; w < 2; w++) parked_q[w] <= parked_q[w] & ~release_o;
      if (ask_valid_i && !allows_o) parked_q[ask_write_i] <= (parked_q[ask_write_i] & ~release_o) | self;
      if (ask_valid_i) begin
        for (int unsigned w = 0; w < 2; w++) waits_q[w] <= waits_q[w] & ~self;
        if (waits_i && !takes_i && (has_left || begins)) waits_q[ask_write_i] <= waits_q[ask_write_i] | self;
      end
      if (leave_valid_i) begin
        for (int unsigned w = 0; w < 2; w++) waits_q[w][leave_asker_i] <= 1'b0;
      end
    end
  end

endmodule
