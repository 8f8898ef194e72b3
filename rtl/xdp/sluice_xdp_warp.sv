/// The Warp Engine in front of the cores, with its tables for the host (docs/design/warp-engine.md), and what it makes for packets (sluice_xdp_early).
///
/// A packet is plain, whatever its leaf says, if it is longer than its sideband said; and with external memory (`Cfg.outside`) if its leaf looks up or counts. Of who is plain neither words
/// nor a lookup come.
///
/// Configuration: tables `xdp_warp_*`, answered 4 cycles after `cfg_valid_i`; all but `xdp_warp_hits` are only written. A row is read by packets from the second cycle behind its write on.
///
/// Latency and throughput: the Warp Engine's. Stall behaviour: in_ready_o is low while its packets wait for the cores, and for 2 * modules cycles behind a reset.
module sluice_xdp_warp
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_pkg::*;
  import sluice_xdp_start_pkg::*;
  import sluice_xdp_streams_pkg::*;
  import sluice_warp_pkg::*;
#(
    parameter xdp_cfg_t Cfg = XdpCfgDefault,
    localparam int unsigned Cores = Cfg.cores,
    localparam int unsigned LookBits = $clog2(2 * Cfg.modules),
    localparam int unsigned AllSlotBits = $clog2(Cores * Cfg.packets),
    localparam int unsigned IdBits = xdp_id_bits(Cfg)
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic    in_valid_i,
    output logic    in_ready_o,
    input  xdp_in_t in_i,

    // Interfaces of its module: the row comes in the next cycle.
    output logic                               arrival_valid_o,
    output logic                [LookBits-1:0] arrival_index_o,
    input  xdp_interfaces_row_t                arrival_i,

    output logic                         out_valid_o,
    input  logic                         out_ready_i,
    output xdp_in_t                      out_o,
    output warp_leaf_t                   leaf_o,
    output logic       [           31:0] ifindex_o,
    // The slot of all cores that it gets with its first beat.
    input  logic       [AllSlotBits-1:0] slot_i,

    output logic      [Cores-1:0] word_valid_o,
    input  logic      [Cores-1:0] word_ready_i,
    output xdp_made_t             word_o,

    output xdp_early_ask_t  early_o,
    input  xdp_early_take_t early_i,

    input  logic     cfg_valid_i,
    // "Bits of signal are not used": rows have fewer words than a message may.
    // verilator lint_off UNUSEDSIGNAL
    input  cfg_req_t cfg_req_i,
    // verilator lint_on UNUSEDSIGNAL
    output logic     cfg_valid_o,
    output cfg_rsp_t cfg_rsp_o,

    output logic waiting_o
);

  localparam int unsigned AnswerCycles = 4;
  localparam int unsigned Looks = 2 * Cfg.modules;
  localparam bit Outside = Cfg.outside != 0;

  // ---------------------------------------------------------------------------------------------------------------
  // Tables.

  logic is_hits, is_warp, answers, hits_valid;
  cfg_status_e status;
  warp_table_e tab;
  logic [AnswerCycles-1:0] answer_q;
  xdp_warp_hits_row_t hits, hits_q;

  assign is_hits = cfg_req_i.tab == TableXdpWarpHits;
  always_comb begin
    is_warp = 1'b1;
    tab = WarpTableKey;
    case (cfg_req_i.tab)
      TableXdpWarpKey: status = cfg_check(cfg_req_i, 1'b1, 1'b1, 24'(Looks), 4'(XdpWarpKeyRowWords));
      TableXdpWarpPredicates: begin
        tab = WarpTablePredicates;
        status = cfg_check(cfg_req_i, 1'b1, 1'b1, 24'(2 * Looks), 4'(XdpWarpPredicatesRowWords));
      end
      TableXdpWarpChunk: begin
        tab = WarpTableChunk;
        status =
            cfg_check(cfg_req_i, 1'b1, 1'b1, 24'(WarpChunks * 2 ** WarpChunkBits * Looks), 4'(XdpWarpChunkRowWords));
      end
      TableXdpWarpLeaf: begin
        tab = WarpTableLeaf;
        status = cfg_check(cfg_req_i, 1'b1, 1'b1, 24'(2 ** WarpRuleBits * Looks), 4'(XdpWarpLeafRowWords));
      end
      TableXdpWarpStep: begin
        tab = WarpTableStep;
        status = cfg_check(cfg_req_i, 1'b1, 1'b1, 24'(2 ** WarpStepBits * Looks), 4'(XdpWarpStepRowWords));
      end
      TableXdpWarpHits: begin
        tab = WarpTableHits;
        status = cfg_check(cfg_req_i, 1'b1, 1'b1, 24'(2 ** WarpRuleBits * Looks), 4'(XdpWarpHitsRowWords));
      end
      default: begin
        is_warp = 1'b0;
        status  = StatusBadAddress;
      end
    endcase
    if (status == StatusOk && !cfg_req_i.write && !is_hits) status = StatusWriteOnly;
  end

  assign answers = cfg_valid_i && is_warp;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) answer_q <= '0;
    else answer_q <= {answer_q[AnswerCycles-2:0], answers};
    if (hits_valid) hits_q <= hits;
  end
  assign cfg_valid_o = answer_q[AnswerCycles-1];
  assign cfg_rsp_o = answer_if(
      cfg_valid_o,
      '{status: status, words: is_hits ? 4'(XdpWarpHitsRowWords) : 4'd0, data: is_hits ? 256'(hits_q) : 256'd0}
  );

  // ---------------------------------------------------------------------------------------------------------------
  // Packets.

  logic takes_in, first_in_q, enters, first_out_q, plain;
  logic [2:0] port_q;
  warp_leaf_t leaf;
  assign arrival_valid_o = in_valid_i;
  assign arrival_index_o = {in_i.side.module_id[LookBits-2:0], in_i.side.generation};
  assign takes_in = in_valid_i && in_ready_o;
  assign enters = out_valid_o && out_ready_i && first_out_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      first_in_q  <= 1'b1;
      first_out_q <= 1'b1;
    end else begin
      if (takes_in) first_in_q <= in_i.last;
      if (out_valid_o && out_ready_i) first_out_q <= out_o.last;
    end
    if (takes_in && first_in_q) port_q <= in_i.side.id[30:28];
  end

  logic set_valid, set_ready;
  warp_set_t set;
  sluice_warp #(
      .Modules(Cfg.modules),
      .Rules  (Cfg.warp_rules),
      .Steps  (Cfg.warp_steps)
  ) u_warp (
      .clk_i,
      .rst_ni,
      .write_valid_i    (answers && cfg_req_i.write && status == StatusOk),
      .write_table_i    (tab),
      .write_index_i    (cfg_req_i.index[WarpIndexBits-1:0]),
      .write_row_i      (cfg_req_i.data[WarpRowBits-1:0]),
      .hits_read_valid_i(answers && is_hits && !cfg_req_i.write),
      .hits_read_index_i(cfg_req_i.index[WarpIndexBits-1:0]),
      .hits_valid_o     (hits_valid),
      .hits_o           (hits.packets),
      .in_valid_i,
      .in_ready_o,
      .in_i,
      .in_length_i      (in_i.side.length),
      .in_ifindex_i     (arrival_i.ifindex[port_q]),
      .out_valid_o,
      .out_ready_i,
      .out_o,
      .out_plain_i      (plain),
      .leaf_o           (leaf),
      .out_ifindex_o    (ifindex_o),
      .set_valid_o      (set_valid),
      .set_ready_i      (set_ready),
      .set_o            (set)
  );

  assign plain = out_o.broken ||
      (Outside && (leaf.looks_up || (leaf.kind == XdpWarpVerdict && (leaf.counts[0].valid || leaf.counts[1].valid))));
  always_comb begin
    leaf_o = leaf;
    // A key without a step is no key.
    leaf_o.looks_up = leaf.looks_up && leaf.has_steps;
    if (plain) begin
      leaf_o.kind = XdpWarpPlain;
      leaf_o.has_steps = 1'b0;
      leaf_o.looks_up = 1'b0;
    end
  end

  xdp_early_t asks;
  assign asks = '{map: leaf.map, module_id: out_o.side.module_id};
  sluice_xdp_early #(
      .Cores (Cores),
      .Slots (Cfg.packets),
      .IdBits(IdBits)
  ) u_early (
      .clk_i,
      .rst_ni,
      .enter_valid_i(enters && leaf_o.has_steps),
      .enter_slot_i (slot_i),
      .enter_looks_i(leaf_o.looks_up),
      .enter_asks_i (asks),
      .set_valid_i  (set_valid),
      .set_ready_o  (set_ready),
      .set_i        (set),
      .word_valid_o,
      .word_ready_i,
      .word_o,
      .ask_o        (early_o),
      .take_i       (early_i)
  );

  // Beats that are here: a packet whose first one has left waits in the cores.
  localparam int unsigned BeatBits = 6;
  logic [BeatBits-1:0] beats_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) beats_q <= '0;
    else beats_q <= beats_q + BeatBits'(takes_in) - BeatBits'(out_valid_o && out_ready_i);
  end
  assign waiting_o = beats_q != '0;

endmodule
