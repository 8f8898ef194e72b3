/// The XDP engine's output: beats of packets that have a program and of those that pass beside (docs/decisions/isolation.md, "Growth of
/// XDP programs").
///
/// A packet with a program has paid at its port for the most beats that it may become. Here it brings them as *credit*: `earn_valid_i`
/// with `earn_i` beats when it comes in. While a packet without a program waits, one with a program begins only with credit left, and each
/// of its beats takes one. Nobody waits: it begins for nothing. `Floor` says how many beats of waiting give one beat all the same, so that
/// what is left in the queues ends although its credit was lost: of credit at most `MostCredit` is kept.
///
/// While a packet with a program is on the output, up to `Held` beats of the others are taken in and wait here, so that the
/// pipeline does not stand still. A longest packet and all credit that was kept are less than that: the input stalls only for what
/// was paid for since.
///
/// Latency: 0 cycles while nobody is held. Throughput: a beat a cycle. Stall behaviour: `pass_ready_o` is low while the output is stalled, or
/// a packet with a program is on it and `Held` beats wait. Output beats hold.
module sluice_xdp_out #(
    parameter int unsigned Width        = 512,  // of a beat with all that belongs to it
    parameter int unsigned LongestBeats = 144,
    parameter int unsigned EarnBits     = 10,
    parameter int unsigned Held         = 256,
    parameter int unsigned FloorLog     = 6
) (
    input logic clk_i,
    input logic rst_ni,

    input logic                earn_valid_i,
    input logic [EarnBits-1:0] earn_i,

    input  logic             pass_valid_i,
    output logic             pass_ready_o,
    input  logic             pass_last_i,
    input  logic [Width-1:0] pass_i,

    input  logic             back_valid_i,
    output logic             back_ready_o,
    input  logic             back_last_i,
    input  logic [Width-1:0] back_i,

    output logic             valid_o,
    input  logic             ready_i,
    output logic             last_o,
    output logic [Width-1:0] data_o,

    output logic waiting_o
);

  localparam int unsigned MostCredit = Held - LongestBeats - 4;
  localparam int unsigned CreditBits = EarnBits + 2;
  typedef logic signed [CreditBits-1:0] credit_t;
  // A credit that is kept, and one more packet's.
  typedef logic signed [CreditBits:0] sum_t;

  if (Held < LongestBeats + 16 || Held >= 2 ** EarnBits || LongestBeats >= 2 ** EarnBits) begin : gen_bad_held
    $fatal(
        1,
        "xdp_out: Held is %0d, expected %0d to %0d: a longest packet and 16 beats (%m)",
        Held,
        LongestBeats + 16,
        2 ** EarnBits - 1
    );
  end

  logic held, held_valid, held_ready, held_last, held_room, put;
  logic [Width-1:0] held_data;
  logic [$clog2(Held+1)-1:0] level;
  logic busy_q, back_q, back, take, waits, gives, credit_left;
  logic [FloorLog-1:0] floor_q;
  credit_t credit_q;
  sum_t sum;

  sluice_fifo_ram #(
      .Width(Width + 1),
      .Depth(Held)
  ) u_held (
      .clk_i,
      .rst_ni,
      .valid_i(put),
      .ready_o(held_room),
      .data_i ({pass_last_i, pass_i}),
      .valid_o(held_valid),
      .ready_i(held_ready),
      .data_o ({held_last, held_data}),
      .level_o(level)
  );

  assign held = level != '0;
  assign waits = held || pass_valid_i;
  assign credit_left = credit_q > 0;
  // Who has begun, or waits for the output, goes on.
  assign back = busy_q ? back_q : (back_valid_i && (!waits || credit_left));
  // What comes behind one that is held is held too.
  assign put = pass_valid_i && (held || back) && held_room;
  assign pass_ready_o = (held || back) ? held_room : ready_i;
  assign held_ready = held && !back && ready_i;
  assign back_ready_o = back && ready_i;

  always_comb begin
    valid_o = back_valid_i;
    last_o  = back_last_i;
    data_o  = back_i;
    if (!back) begin
      valid_o = held ? held_valid : pass_valid_i;
      last_o  = held ? held_last : pass_last_i;
      data_o  = held ? held_data : pass_i;
    end
  end
  assign take = valid_o && ready_i;
  assign gives = back_valid_i && waits && !back && floor_q == '1;
  assign sum   = sum_t'(credit_q) + (earn_valid_i ? sum_t'({2'b00, earn_i}) : '0) + sum_t'({1'b0, gives}) -
                 sum_t'({1'b0, take && back && waits});

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      busy_q   <= 1'b0;
      back_q   <= 1'b0;
      credit_q <= '0;
      floor_q  <= '0;
    end else begin
      if (valid_o) begin
        busy_q <= !(take && last_o);
        back_q <= back;
      end
      if (back_valid_i && waits && !back) floor_q <= floor_q + FloorLog'(1);
      // A packet that began for nothing leaves no longer debt than one packet's.
      if (sum > sum_t'(MostCredit)) credit_q <= credit_t'(MostCredit);
      else if (sum < -sum_t'(LongestBeats)) credit_q <= -credit_t'(LongestBeats);
      else credit_q <= credit_t'(sum);
    end
  end

  assign waiting_o = held;

`ifndef SYNTHESIS
  PacketsAreWhole_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !$past(
      rst_ni && valid_o && !(take && last_o)
  ) || back == $past(
      back
  ));
`endif

endmodule
