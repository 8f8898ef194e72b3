/// The match-action table behind its configuration node, with its event counters.
///
/// Node NodeMatch. Writes take effect in the cycle of the access. Entries and overlays are read
/// in a maintenance slot, so they are ordered with the packets; counters are read at once.
module sluice_nic_forward
  import sluice_pkg::*;
  import sluice_nic_pkg::*;
#(
    parameter nic_cfg_t Cfg = NicCfgDefault
) (
    input logic clk_i,
    input logic rst_ni,

    input logic                           token_valid_i,
    input port_desc_t                     token_desc_i,
    input logic       [8*WindowBytes-1:0] token_window_i,
    input logic                           token_generation_i,
    input logic       [     TickBits-1:0] token_stamp_i,
    input logic                           conform_i,

    output logic slot_request_o,
    input  logic slot_grant_i,

    output logic     verdict_valid_o,
    output verdict_t verdict_o,

    input  logic     [31:0] epoch_i,
    input  logic            cfg_valid_i,
    input  cfg_req_t        cfg_req_i,
    output logic            cfg_valid_o,
    output cfg_rsp_t        cfg_rsp_o,

    output logic           trace_valid_o,
    output verdict_trace_t trace_o
);

  localparam int unsigned ModuleIndexBits = $clog2(Cfg.modules);

  typedef enum logic [1:0] {
    StAwaitAccess,
    StAwaitSlot,
    StAwaitRow,
    StAwaitCounter
  } state_e;

  state_e state_d, state_q;
  logic is_way, is_overlay, is_events, ok, slot_valid, events_valid;
  logic answer_d, answer_q;
  logic [255:0] slot_data, data_q;
  logic [CounterBits-1:0] events;
  cfg_req_t row_req;
  cfg_status_e status, status_q;
  reason_e reason;

  assign is_way = 32'(cfg_req_i.tab) < Ways;
  assign is_overlay = cfg_req_i.tab == TableOverlay;
  assign is_events = cfg_req_i.tab == TableForwardEvents;
  assign row_req = is_events ? cfg_counter(cfg_req_i) : cfg_req_i;

  always_comb begin
    status = cfg_check(row_req, is_events, 1'b0, 24'(8 * Cfg.modules), 4'd2);
    if (is_way) status = cfg_check(row_req, 1'b1, 1'b1, 24'(Cfg.sets), 4'(EntryRowWords));
    if (is_overlay) status = cfg_check(row_req, 1'b1, 1'b1, 24'(2 * Cfg.modules), 4'(OverlayRowWords));
  end
  assign ok = cfg_valid_i && status == StatusOk;

  sluice_nic_match #(
      .Cfg(Cfg)
  ) u_match (
      .clk_i,
      .rst_ni,
      .token_valid_i,
      .token_desc_i,
      .token_window_i,
      .token_generation_i,
      .token_stamp_i,
      .conform_i,
      .slot_i         (slot_grant_i),
      .slot_req_i     (cfg_req_i),
      .slot_valid_o   (slot_valid),
      .slot_data_o    (slot_data),
      .write_entry_i  (ok && cfg_req_i.write && is_way),
      .write_overlay_i(ok && cfg_req_i.write && is_overlay),
      .write_req_i    (cfg_req_i),
      .verdict_valid_o,
      .verdict_o,
      .reason_o       (reason)
  );

  assign trace_valid_o = verdict_valid_o;
  assign trace_o = '{
          id: verdict_o.sideband.id,
          module_id: verdict_o.sideband.module_id,
          dropped: verdict_o.dropped,
          reason: reason,
          destinations: verdict_o.sideband.destinations
      };

  // One event a packet: its drop, or the copies it makes.
  logic count;
  logic [3:0] copies;
  assign copies = count_ones(verdict_o.sideband.destinations) - 4'd1;
  assign count  = verdict_valid_o && (verdict_o.dropped || copies != '0);

  sluice_counter_bank #(
      .Entries (8 * Cfg.modules),
      .Width   (CounterBits),
      .IncWidth(4)
  ) u_events (
      .clk_i,
      .rst_ni,
      .epoch_i,
      .inc_valid_i(count),
      .inc_index_i({
        verdict_o.sideband.module_id[ModuleIndexBits-1:0], verdict_o.dropped ? reason[2:0] : 3'(CopiesKind)
      }),
      .inc_amount_i(verdict_o.dropped ? 4'd1 : copies),
      .rd_valid_i(ok && is_events),
      .rd_snapshot_i(cfg_req_i.index[SnapshotIndexBit]),
      .rd_index_i(cfg_req_i.index[ModuleIndexBits+2:0]),
      .rd_valid_o(events_valid),
      .rd_data_o(events)
  );

  always_comb begin
    state_d  = state_q;
    answer_d = 1'b0;
    unique case (state_q)
      StAwaitAccess: begin
        if (cfg_valid_i) begin
          if (!ok || cfg_req_i.write) answer_d = 1'b1;
          else state_d = is_events ? StAwaitCounter : StAwaitSlot;
        end
      end
      StAwaitSlot: if (slot_grant_i) state_d = StAwaitRow;
      StAwaitRow: begin
        if (slot_valid) begin
          answer_d = 1'b1;
          state_d  = StAwaitAccess;
        end
      end
      StAwaitCounter: begin
        if (events_valid) begin
          answer_d = 1'b1;
          state_d  = StAwaitAccess;
        end
      end
      default: state_d = StAwaitAccess;
    endcase
  end

  assign slot_request_o = state_q == StAwaitSlot;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q  <= StAwaitAccess;
      answer_q <= 1'b0;
    end else begin
      state_q  <= state_d;
      answer_q <= answer_d;
    end
  end
  always_ff @(posedge clk_i) begin
    if (cfg_valid_i) status_q <= status;
    if (slot_valid) data_q <= slot_data;
    if (events_valid) data_q <= 256'(events);
  end

  assign cfg_valid_o = answer_q;
  always_comb begin
    cfg_rsp_o = '{status: status_q, words: 4'd2, data: data_q};
    if (is_way) cfg_rsp_o.words = 4'(EntryRowWords);
    if (is_overlay) cfg_rsp_o.words = 4'(OverlayRowWords);
  end

endmodule
