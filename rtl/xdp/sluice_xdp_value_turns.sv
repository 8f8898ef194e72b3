/// Whose request goes to the values of maps: of contexts first, of cores in turns; then the map engine's, then those of helpers, of cores in turns.
///
/// A context's request is taken in its cycle or not at all: its core asks again. Engine and helpers hold theirs until they are taken. Once one of these
/// has waited for `Patience` cycles, contexts are kept off until it is taken. While `locks_i` is high, nobody but the engine is taken.
///
/// `taken_i` says that values take what is offered; it depends on no request.
///
/// Latency: 0 cycles. Throughput: a request a cycle. Stall behaviour: nobody is taken while `taken_i` is low.
module sluice_xdp_value_turns #(
    parameter int unsigned Cores = 2,
    parameter int unsigned Patience = 7,
    localparam int unsigned CoreBits = (Cores > 1) ? $clog2(Cores) : 1
) (
    input logic clk_i,
    input logic rst_ni,

    input logic locks_i,

    input  logic [Cores-1:0] context_valid_i,
    output logic [Cores-1:0] context_ready_o,
    input  logic             engine_valid_i,
    output logic             engine_ready_o,
    input  logic [Cores-1:0] helper_valid_i,
    output logic [Cores-1:0] helper_ready_o,

    // What is offered, whose it is.
    output logic                valid_o,
    input  logic                taken_i,
    output logic                is_context_o,
    output logic [CoreBits-1:0] context_core_o,
    output logic                is_engine_o,
    output logic [CoreBits-1:0] helper_core_o
);

  localparam int unsigned WaitBits = $clog2(Patience + 1);

  logic [Cores-1:0] asks, asks_grant, helps, helps_grant;
  logic helps_any, others_wait, yields;
  logic [WaitBits-1:0] waited_q;

  assign yields = waited_q == WaitBits'(Patience);
  assign asks   = (locks_i || yields) ? '0 : context_valid_i;
  assign helps  = locks_i ? '0 : helper_valid_i;

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
    else if (is_context_o && taken_i) behind_q <= ~(asks_grant | (asks_grant - 1'b1));
  end

  sluice_arb_rr #(
      .Requests(Cores)
  ) u_helps (
      .clk_i,
      .rst_ni,
      .req_i    (helps),
      .advance_i(helper_ready_o != '0),
      .grant_o  (helps_grant),
      .index_o  (helper_core_o),
      .valid_o  (helps_any)
  );

  assign is_engine_o     = engine_valid_i && !is_context_o;
  assign valid_o         = is_context_o || engine_valid_i || helps_any;
  assign context_ready_o = taken_i ? asks_grant : '0;
  assign engine_ready_o  = taken_i && !is_context_o;
  assign helper_ready_o  = (taken_i && !is_context_o && !engine_valid_i) ? helps_grant : '0;

  assign others_wait     = engine_valid_i || helper_valid_i != '0;
  always_ff @(posedge clk_i) begin
    if (!rst_ni || !others_wait || (taken_i && valid_o && !is_context_o)) waited_q <= '0;
    else if (!yields) waited_q <= waited_q + WaitBits'(1);
  end

endmodule
