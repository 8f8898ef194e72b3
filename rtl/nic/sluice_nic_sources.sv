/// Packets of `Sources` engines, with their verdicts, in one stream to the queues.
///
/// `verdict_i` is the same in every beat of a packet, its length is that of the packet. Whole packets by deficit round
/// robin charged in beats, as ports are merged (docs/decisions/port-merge.md). With one source it is wires.
///
/// Latency: 0 cycles. Throughput: one beat a cycle, no cycle between packets.
/// Stall behaviour: `ready_i` low stalls all sources. A beat that is offered stays until it is taken.
module sluice_nic_sources
  import sluice_pkg::*;
  import sluice_nic_pkg::*;
#(
    parameter int unsigned Sources = 1,
    parameter int unsigned Bytes   = NicCfgDefault.bus_bytes
) (
    // "Signal is not used": with one source there is nothing to remember.
    // verilator lint_off UNUSEDSIGNAL
    input logic clk_i,
    input logic rst_ni,
    // verilator lint_on UNUSEDSIGNAL

    input  logic     [Sources-1:0]              valid_i,
    output logic     [Sources-1:0]              ready_o,
    input  logic     [Sources-1:0][8*Bytes-1:0] data_i,
    input  logic     [Sources-1:0]              last_i,
    input  verdict_t [Sources-1:0]              verdict_i,

    output logic                   valid_o,
    input  logic                   ready_i,
    output logic     [8*Bytes-1:0] data_o,
    output logic                   last_o,
    output verdict_t               verdict_o
);

  if (Sources < 1) begin : gen_bad_sources
    $fatal(1, "nic_sources: Sources is %0d, expected at least 1 (%m)", Sources);
  end

  if (Sources == 1) begin : gen_wires
    assign valid_o   = valid_i[0];
    assign ready_o   = ready_i;
    assign data_o    = data_i[0];
    assign last_o    = last_i[0];
    assign verdict_o = verdict_i[0];
  end else begin : gen_arbiter
    localparam int unsigned IndexBits = $clog2(Sources);
    localparam int unsigned BeatBits = $clog2(MaxFrameBytes / Bytes + 1);
    localparam int unsigned OffsetBits = $clog2(Bytes);
    // The longest packet: with less, a cycle may pass in which every source is in debt.
    localparam int unsigned QuantumBeats = (MaxFrameBytes + Bytes - 1) / Bytes;

    if (2 ** OffsetBits != Bytes) begin : gen_bad_bytes
      $fatal(1, "nic_sources: Bytes is %0d, expected a power of two (%m)", Bytes);
    end

    logic [  Sources-1:0] unused_grant;
    logic [IndexBits-1:0] index;
    logic grant_valid, take;
    logic busy_q;

    sluice_arb_drr #(
        .Requests (Sources),
        .CostWidth(BeatBits),
        .Quantum  (QuantumBeats)
    ) u_arb (
        .clk_i,
        .rst_ni,
        .req_i   (valid_i),
        .hold_i  (busy_q),
        .charge_i(take && !busy_q),
        .cost_i  (BeatBits'((verdict_o.sideband.length + 14'(Bytes - 1)) >> OffsetBits)),
        .grant_o (unused_grant),
        .index_o (index),
        .valid_o (grant_valid)
    );

    assign valid_o = grant_valid && valid_i[index];
    assign data_o = data_i[index];
    assign last_o = last_i[index];
    assign verdict_o = verdict_i[index];
    assign take = valid_o && ready_i;

    always_comb begin
      ready_o = '0;
      ready_o[index] = grant_valid && ready_i;
    end

    always_ff @(posedge clk_i) begin
      if (!rst_ni) busy_q <= 1'b0;
      else if (take) busy_q <= !last_o;
    end
  end

endmodule
