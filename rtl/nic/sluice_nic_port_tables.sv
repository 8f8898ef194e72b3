/// Tables of one port: VLAN rows, policy, counters, and their configuration access.
///
/// VLAN row: `vlan_row_o` one cycle after `vlan_read_i`, until the next read. Only the low 12
/// bits of `vlan_index_i` count. `owner_o` likewise behind `owner_read_i`: whose frames are that leave with this VLAN. Policy: a register, all 0 after reset, so that every frame is a
/// giant until the port is configured. Rows of shares and the room for excess are kept by sluice_nic_share.
/// Counters count `trace_i` in the cycle of `ended_i`.
/// Configuration: answered 4 cycles after `cfg_valid_i`.
module sluice_nic_port_tables
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_nic_pkg::*;
#(
    parameter nic_cfg_t Cfg = NicCfgDefault
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic                    vlan_read_i,
    // "Bits of signal are not used": the word has the width of what it is computed from; some of it decides nothing.
    // verilator lint_off UNUSEDSIGNAL
    input  logic             [15:0] vlan_index_i,
    // verilator lint_on UNUSEDSIGNAL
    output vlan_row_t               vlan_row_o,
    output port_policy_row_t        policy_o,

    input  logic               owner_read_i,
    input  logic        [11:0] owner_vlan_i,
    output vlan_owner_t        owner_o,

    output logic        share_en_o,
    output logic        share_we_o,
    output share_row_t  share_o,
    input  share_row_t  share_i,
    output logic        excess_we_o,
    output excess_row_t excess_o,
    input  excess_row_t excess_i,

    input logic        [31:0] epoch_i,
    input logic               ended_i,
    // "Bits of signal are not used": the structure travels whole, this module takes the fields that concern it.
    // verilator lint_off UNUSEDSIGNAL
    input port_trace_t        trace_i,
    // verilator lint_on UNUSEDSIGNAL

    input  logic     cfg_valid_i,
    input  cfg_req_t cfg_req_i,
    output logic     cfg_valid_o,
    output cfg_rsp_t cfg_rsp_o
);

  localparam int unsigned ModuleIndexBits = $clog2(Cfg.modules);
  localparam int unsigned AnswerCycles = 4;

  logic is_vlan, is_policy, is_share, is_excess, is_packets, is_bytes, is_drops, is_counter, write;
  cfg_req_t row_req;
  cfg_status_e status;
  logic [AnswerCycles-1:0] answer_q;
  vlan_row_t vlan_readback;
  port_policy_row_t policy_q;
  logic packets_valid, bytes_valid, drops_valid;
  logic [CounterBits-1:0] packets, bytes, drops, counter_q;

  assign is_vlan    = cfg_req_i.tab == TableVlan;
  assign is_policy  = cfg_req_i.tab == TablePortPolicy;
  assign is_share   = cfg_req_i.tab == TableShare;
  assign is_excess  = cfg_req_i.tab == TableExcess;
  assign is_packets = cfg_req_i.tab == TablePortPackets;
  assign is_bytes   = cfg_req_i.tab == TablePortBytes;
  assign is_drops   = cfg_req_i.tab == TablePortDrops;
  assign is_counter = is_packets || is_bytes || is_drops;
  assign row_req    = is_counter ? cfg_counter(cfg_req_i) : cfg_req_i;

  always_comb begin
    status = cfg_check(row_req, is_counter, 1'b0, 24'(is_drops ? 8 * Cfg.modules : Cfg.modules), 4'd2);
    if (is_vlan) status = cfg_check(row_req, 1'b1, 1'b1, 24'(VlanRows), 4'(VlanRowWords));
    if (is_policy) status = cfg_check(row_req, 1'b1, 1'b1, 24'd1, 4'(PortPolicyRowWords));
    if (is_share) status = cfg_check(row_req, 1'b1, 1'b1, 24'(Cfg.modules), 4'(ShareRowWords));
    if (is_excess) status = cfg_check(row_req, 1'b1, 1'b1, 24'd1, 4'(ExcessRowWords));
  end
  assign write = cfg_valid_i && cfg_req_i.write && status == StatusOk;

  sluice_ram_dp #(
      .Width   (VlanRowBits),
      .Depth   (VlanRows),
      .InitZero(1'b0)
  ) u_vlan (
      .clk_i,
      .a_en_i   ((cfg_valid_i && is_vlan) || cfg_req_i.clear),
      .a_we_i   (write || cfg_req_i.clear),
      .a_addr_i (cfg_req_i.index[11:0]),
      .a_wdata_i(cfg_req_i.data[VlanRowBits-1:0]),
      .a_rdata_o(vlan_readback),
      .b_en_i   (vlan_read_i),
      .b_addr_i (vlan_index_i[11:0]),
      .b_rdata_o(vlan_row_o)
  );

  // What frames that leave are judged by: the owner beside each row, written with it.
  // "Bits of signal are not used": the row travels whole.
  // verilator lint_off UNUSEDSIGNAL
  vlan_row_t   written;
  // verilator lint_on UNUSEDSIGNAL
  vlan_owner_t owner;
  assign written = cfg_req_i.data[VlanRowBits-1:0];
  assign owner   = '{valid: written.valid && 32'(written.module_id) < Cfg.modules, module_id: written.module_id};
  sluice_ram_1r1w #(
      .Width   ($bits(vlan_owner_t)),
      .Depth   (VlanRows),
      .InitZero(1'b0)
  ) u_owner (
      .clk_i,
      .wr_en_i  ((write && is_vlan) || cfg_req_i.clear),
      .wr_addr_i(cfg_req_i.index[11:0]),
      .wr_data_i(owner),
      .rd_en_i  (owner_read_i),
      .rd_addr_i(owner_vlan_i),
      .rd_data_o(owner_o)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) policy_q <= '0;
    else if (write && is_policy) policy_q <= cfg_req_i.data[PortPolicyRowBits-1:0];
  end
  assign policy_o    = policy_q;

  assign share_en_o  = (cfg_valid_i && is_share && status == StatusOk) || cfg_req_i.clear;
  assign share_we_o  = cfg_req_i.write;
  assign share_o     = cfg_req_i.data[ShareRowBits-1:0];
  assign excess_we_o = write && is_excess;
  assign excess_o    = cfg_req_i.data[ExcessRowBits-1:0];

  sluice_counter_bank #(
      .Entries (Cfg.modules),
      .Width   (CounterBits),
      .IncWidth(1)
  ) u_packets (
      .clk_i,
      .rst_ni,
      .epoch_i,
      .inc_valid_i  (ended_i),
      .inc_index_i  (trace_i.module_id[ModuleIndexBits-1:0]),
      .inc_amount_i (1'b1),
      .rd_valid_i   (cfg_valid_i && is_packets),
      .rd_snapshot_i(cfg_req_i.index[SnapshotIndexBit]),
      .rd_index_i   (cfg_req_i.index[ModuleIndexBits-1:0]),
      .rd_valid_o   (packets_valid),
      .rd_data_o    (packets)
  );

  sluice_counter_bank #(
      .Entries (Cfg.modules),
      .Width   (CounterBits),
      .IncWidth(16)
  ) u_bytes (
      .clk_i,
      .rst_ni,
      .epoch_i,
      .inc_valid_i  (ended_i),
      .inc_index_i  (trace_i.module_id[ModuleIndexBits-1:0]),
      .inc_amount_i (trace_i.length),
      .rd_valid_i   (cfg_valid_i && is_bytes),
      .rd_snapshot_i(cfg_req_i.index[SnapshotIndexBit]),
      .rd_index_i   (cfg_req_i.index[ModuleIndexBits-1:0]),
      .rd_valid_o   (bytes_valid),
      .rd_data_o    (bytes)
  );

  sluice_counter_bank #(
      .Entries (8 * Cfg.modules),
      .Width   (CounterBits),
      .IncWidth(1)
  ) u_drops (
      .clk_i,
      .rst_ni,
      .epoch_i,
      .inc_valid_i  (ended_i && trace_i.dropped),
      .inc_index_i  ({trace_i.module_id[ModuleIndexBits-1:0], trace_i.reason[2:0]}),
      .inc_amount_i (1'b1),
      .rd_valid_i   (cfg_valid_i && is_drops),
      .rd_snapshot_i(cfg_req_i.index[SnapshotIndexBit]),
      .rd_index_i   (cfg_req_i.index[ModuleIndexBits+2:0]),
      .rd_valid_o   (drops_valid),
      .rd_data_o    (drops)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) answer_q <= '0;
    else answer_q <= {answer_q[AnswerCycles-2:0], cfg_valid_i};
  end

  always_ff @(posedge clk_i) begin
    if (packets_valid) counter_q <= packets;
    if (bytes_valid) counter_q <= bytes;
    if (drops_valid) counter_q <= drops;
  end

  assign cfg_valid_o = answer_q[AnswerCycles-1];
  always_comb begin
    cfg_rsp_o = '{status: status, words: 4'd2, data: 256'(counter_q)};
    if (is_vlan) begin
      cfg_rsp_o.words = 4'(VlanRowWords);
      cfg_rsp_o.data  = 256'(vlan_readback);
    end
    if (is_policy) begin
      cfg_rsp_o.words = 4'(PortPolicyRowWords);
      cfg_rsp_o.data  = 256'(policy_q);
    end
    if (is_share) begin
      cfg_rsp_o.words = 4'(ShareRowWords);
      cfg_rsp_o.data  = 256'(share_i);
    end
    if (is_excess) begin
      cfg_rsp_o.words = 4'(ExcessRowWords);
      cfg_rsp_o.data  = 256'(excess_i);
    end
  end

endmodule
