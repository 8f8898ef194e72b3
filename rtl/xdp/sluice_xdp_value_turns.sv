/// Whose request goes to the values of maps: of contexts first, of cores in turns; then the map engine's, then the helper's.
///
/// A context's request is taken in its cycle or not at all: its core asks again. Engine and helper hold theirs until they are taken. They are given
/// a cycle in the one before it, in which no context asks, so that whose turn it is stands in a register. Once one of these
/// has waited for `Patience` cycles, it gets a cycle all the same. While `locks_i` is high, nobody but the engine is taken.
///
/// Values take whatever is offered, but stores only while `stores_i` is high, which it is not behind an atomic operation. A context's store that was
/// sent back for that keeps atomic operations off for `Pause` cycles, in which it comes again.
///
/// Latency: 0 cycles, of engine and helper 1. Throughput: a request a cycle, of the engine while it locks and of contexts; else one in 2 cycles. Stall
/// behaviour: stores, the engine and the helper wait for `stores_i`.
module sluice_xdp_value_turns #(
    parameter int unsigned Cores = 2,
    parameter int unsigned Patience = 7,
    parameter int unsigned Pause = 15,
    localparam int unsigned CoreBits = (Cores > 1) ? $clog2(Cores) : 1
) (
    input logic clk_i,
    input logic rst_ni,

    input logic locks_i,
    input logic stores_i,

    // Who asks, and whether for a store or an atomic operation.
    input  logic [Cores-1:0] context_valid_i,
    input  logic [Cores-1:0] context_store_i,
    input  logic [Cores-1:0] context_atomic_i,
    output logic [Cores-1:0] context_ready_o,
    input  logic             engine_valid_i,
    output logic             engine_ready_o,
    input  logic             helper_valid_i,
    output logic             helper_ready_o,

    // What is offered, whose it is.
    output logic                valid_o,
    output logic                is_context_o,
    output logic [CoreBits-1:0] context_core_o,
    output logic                is_engine_o,
    output logic                is_helper_o
);

  localparam int unsigned WaitBits = $clog2(Patience + 1);
  localparam int unsigned PauseBits = $clog2(Pause + 1);

  logic [Cores-1:0] fits, asks, asks_grant;
  logic others_wait, yields, refused, gives, engine_turn_q, helper_turn_q;
  logic [ WaitBits-1:0] waited_q;
  logic [PauseBits-1:0] pause_q;

  assign yields = waited_q == WaitBits'(Patience);
  assign fits = context_valid_i & (stores_i ? '1 : ~context_store_i) & (pause_q == '0 && !yields ? '1 : ~context_atomic_i);
  assign asks = (locks_i || engine_turn_q || helper_turn_q) ? '0 : fits;

  // The next cycle is no context's, and no atomic operation is before it.
  assign gives = stores_i && (locks_i || fits == '0 || (yields && !engine_turn_q && !helper_turn_q));
  always_ff @(posedge clk_i) begin
    // Who is taken now may not ask again.
    engine_turn_q <= gives && engine_valid_i && (!engine_turn_q || locks_i) && rst_ni;
    helper_turn_q <= gives && helper_valid_i && !engine_valid_i && !locks_i && !helper_turn_q && rst_ni;
  end

  // Cores behind the one that was taken last. A grant that was not used changes nothing: its context may not ask again.
  logic [Cores-1:0] behind_q, asks_behind;
  assign asks_behind = asks & behind_q;
  sluice_prio_enc #(
      .Width(Cores)
  ) u_asks (
      .req_i   ((asks_behind != '0) ? asks_behind : asks),
      .valid_o (is_context_o),
      .index_o (context_core_o),
      .onehot_o(asks_grant)
  );
  always_ff @(posedge clk_i) begin
    if (!rst_ni) behind_q <= '0;
    else if (is_context_o) behind_q <= ~(asks_grant | (asks_grant - 1'b1));
  end

  assign is_engine_o     = engine_turn_q;
  assign is_helper_o     = helper_turn_q;
  assign engine_ready_o  = engine_turn_q;
  assign helper_ready_o  = helper_turn_q && !locks_i;
  assign context_ready_o = asks_grant;
  assign valid_o         = is_context_o || (engine_turn_q && engine_valid_i) || (helper_ready_o && helper_valid_i);

  assign others_wait     = engine_valid_i || helper_valid_i;
  always_ff @(posedge clk_i) begin
    if (!rst_ni || !others_wait || (valid_o && !is_context_o)) waited_q <= '0;
    else if (!yields) waited_q <= waited_q + WaitBits'(1);
  end

  assign refused = !stores_i && (context_valid_i & context_store_i) != '0;
  always_ff @(posedge clk_i) begin
    if (!rst_ni || (context_ready_o & context_store_i) != '0) pause_q <= '0;
    else if (refused && pause_q == '0) pause_q <= PauseBits'(Pause);
    else if (pause_q != '0) pause_q <= pause_q - PauseBits'(1);
  end

endmodule
