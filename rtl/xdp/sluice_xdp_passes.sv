/// Says of each pass of a core whose it is, what it was, and what it cost (docs/design/hxdp-core.md, "Accounts").
///
/// The cycles of a pass are those since the context's pass before, and its kind says what for: for a unit that its bundle, or the late
/// part of the bundle before it, has waited for; because the pass before was sent back; for neither. Of a start they are those since the packet was whole in its queue
/// (`came_i`, where `taken_i` says that a packet is taken; its pass comes 5 cycles later). So the cycles of a packet's passes
/// but for the start are those that it had a context.
///
/// Latency: 1 cycle. Throughput: a pass a cycle. Never stalls.
module sluice_xdp_passes
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_pkg::*;
#(
    parameter int unsigned Contexts = 8,
    localparam int unsigned ContextBits = $clog2(Contexts)
) (
    input logic clk_i,
    input logic rst_ni,

    input logic [ClockBits-1:0] now_i,
    input logic                 taken_i,
    input logic [ClockBits-1:0] came_i,

    input logic                        valid_i,
    input logic      [ContextBits-1:0] context_i,
    input logic      [ ModuleBits-1:0] module_i,
    input logic                        start_i,
    input logic                        bundle_i,   // it completes a bundle, but for what that launched
    input logic                        retries_i,  // it is sent back
    input logic                        waited_i,   // its bundle had waited for a unit
    input logic                        late_i,     // its bundle is done, and has launched what comes late
    input xdp_pass_e                   unit_i,     // which unit that is

    output logic       valid_o,
    output xdp_spent_t spent_o
);

  // Stages from a packet that is taken to its pass, but for the last.
  localparam int unsigned Stages = 4;

  typedef struct packed {
    logic                sent_back;
    logic                late;
    xdp_pass_e           unit;
    logic [PassBits-1:0] at;
  } last_t;

  last_t last, now;
  xdp_pass_e kind;
  logic [ClockBits-1:0] queued_q;
  logic [Stages-1:0][ClockBits-1:0] queued_later_q;

  assign now = '{sent_back: retries_i, late: late_i, unit: unit_i, at: now_i[PassBits-1:0]};

  sluice_ram_lut #(
      .Width($bits(last_t)),
      .Depth(Contexts)
  ) u_last (
      .clk_i,
      .we_i   (valid_i),
      .waddr_i(context_i),
      .wdata_i(now),
      .raddr_i(context_i),
      .rdata_o(last)
  );

  always_comb begin
    kind = XdpPassBundle;
    if (!bundle_i) kind = XdpPassLaunch;
    if (last.late) kind = last.unit;
    if (waited_i) kind = unit_i;
    if (last.sent_back) kind = XdpPassBusy;
    if (start_i) kind = XdpPassStart;
  end

  always_ff @(posedge clk_i) begin
    if (taken_i) queued_q <= now_i - came_i;
    queued_later_q <= {queued_later_q[Stages-2:0], queued_q};
    valid_o <= valid_i && rst_ni;
    spent_o <= '{
        module_id: module_i,
        kind: kind,
        bundle: bundle_i,
        cycles: start_i ? queued_later_q[Stages-1] : ClockBits'(PassBits'(now_i[PassBits-1:0] - last.at))
    };
  end

endmodule
