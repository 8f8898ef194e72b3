/// Ingress of one port: VLAN to tenant, policy, tag off, share, store and forward, counters.
///
/// docs/design/nic.md, "Ingress of port p", says what happens to a frame. The port is never
/// stalled; a frame without room in the FIFO, or beyond its tenant's share of it, is dropped whole. A frame's arrival is the cycle in which its last beat
/// is stored, the one before its trace.
///
/// Latency: last beat in to descriptor out 9 cycles; first data beat 2 later. Throughput: one
/// beat a cycle in and out.
/// Configuration: node NodePort0 + Port; answers 4 cycles after the access.
module sluice_nic_port
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_nic_pkg::*;
#(
    parameter nic_cfg_t Cfg = NicCfgDefault,
    parameter int unsigned Port = 0,
    localparam int unsigned Bytes = Cfg.bus_bytes
) (
    input logic clk_i,
    input logic rst_ni,

    input logic [TickBits-1:0] ticks_i,

    input logic               s_axis_tvalid,
    input logic [8*Bytes-1:0] s_axis_tdata,
    input logic [  Bytes-1:0] s_axis_tkeep,
    input logic               s_axis_tlast,
    input logic               s_axis_tuser,

    output logic                     desc_valid_o,
    input  logic                     desc_ready_i,
    output port_desc_t               desc_o,
    output logic                     valid_o,
    input  logic                     ready_i,
    output logic       [8*Bytes-1:0] data_o,
    output logic                     last_o,

    // Whose frames are that leave here, with a VLAN one cycle after it is asked for, and without.
    input  logic               owner_read_i,
    input  logic        [11:0] owner_vlan_i,
    output vlan_owner_t        owner_o,
    output vlan_owner_t        untagged_o,

    input  logic     [31:0] epoch_i,
    input  logic            cfg_valid_i,
    input  cfg_req_t        cfg_req_i,
    output logic            cfg_valid_o,
    output cfg_rsp_t        cfg_rsp_o,

    output logic        trace_valid_o,
    output port_trace_t trace_o
);

  localparam int unsigned CountWidth = $clog2(Bytes + 1);

  if (Cfg.port_beats * Bytes < MaxFrameBytes) begin : gen_bad_port_beats
    $fatal(1, "nic_port: port_beats is %0d, expected room for %0d bytes (%m)", Cfg.port_beats, MaxFrameBytes);
  end

  // Beat as it came.
  logic in_valid_q, in_last_q, in_bad_q, in_first_q;
  logic [8*Bytes-1:0] in_data_q;
  logic [Bytes-1:0] in_keep_q;
  logic [CountWidth-1:0] in_bytes;
  logic in_hole, in_has_tag, in_double;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      in_valid_q <= 1'b0;
      in_first_q <= 1'b1;
    end else begin
      in_valid_q <= s_axis_tvalid;
      if (in_valid_q) in_first_q <= in_last_q;
    end
  end

  always_ff @(posedge clk_i) begin
    in_data_q <= s_axis_tdata;
    in_keep_q <= s_axis_tkeep;
    in_last_q <= s_axis_tlast;
    in_bad_q  <= s_axis_tuser && s_axis_tlast;
  end

  function automatic logic [15:0] be16(logic [8*Bytes-1:0] data, int unsigned at);
    return {data[8*at+:8], data[8*(at+1)+:8]};
  endfunction

  always_comb begin
    in_bytes = '0;
    for (int unsigned i = 0; i < Bytes; i++) in_bytes += CountWidth'(in_keep_q[i]);
  end
  assign in_hole = !in_keep_q[0] || (in_keep_q & (in_keep_q + 1'b1)) != '0 || (!in_last_q && !(&in_keep_q));
  assign in_has_tag = &in_keep_q[15:0] && be16(in_data_q, 12) == VlanEthertype;
  assign in_double = &in_keep_q[17:0] && (be16(in_data_q, 16) == VlanEthertype || be16(in_data_q, 16) == 16'h88a8);

  // Beat with its VLAN row.
  logic row_valid_q, row_first_q, row_last_q;
  logic row_bad_q, row_bad, bad_q;
  logic [8*Bytes-1:0] row_data_q;
  logic [CountWidth-1:0] row_bytes_q;
  logic row_has_tag_q, has_tag_q, has_tag;
  logic row_double_q, double_q, double;
  logic [15:0] row_tci_q, tci_q, tci;
  logic [15:0] length_q, length;
  vlan_row_t vlan_row, row;
  port_policy_row_t policy_row, policy_q, policy;
  logic off;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) row_valid_q <= 1'b0;
    else row_valid_q <= in_valid_q;
  end

  always_ff @(posedge clk_i) begin
    row_data_q   <= in_data_q;
    row_bytes_q  <= in_bytes;
    row_first_q  <= in_first_q;
    row_last_q   <= in_last_q;
    row_bad_q    <= in_bad_q || in_hole;
    row_has_tag_q <= in_has_tag;
    row_double_q <= in_double;
    row_tci_q    <= be16(in_data_q, 14);
    if (row_valid_q) begin
      length_q <= length;
      bad_q    <= row_bad;
      if (row_first_q) begin
        has_tag_q <= row_has_tag_q;
        double_q <= row_double_q;
        tci_q <= row_tci_q;
        policy_q <= policy_row;
      end
    end
  end

  // The row stays on the RAM's output until the next frame's first beat has read its own.
  assign has_tag = row_first_q ? row_has_tag_q : has_tag_q;
  assign double = row_first_q ? row_double_q : double_q;
  assign tci = row_first_q ? row_tci_q : tci_q;
  // One policy for a frame, that of its first beat: what a reset leaves of a frame stays shut out.
  assign policy = row_first_q ? policy_row : policy_q;
  assign row_bad = row_bad_q || (!row_first_q && bad_q);

  logic [15:0] length_before;
  logic [16:0] length_sum;
  assign length_before = row_first_q ? 16'd0 : length_q;
  assign length_sum = {1'b0, length_before} + 17'(row_bytes_q);
  assign length = length_sum[16] ? 16'hffff : length_sum[15:0];

  always_comb begin
    row = vlan_row;
    if (!has_tag) begin
      row = '{
          valid: policy.untagged_valid,
          keep_tag: 1'b0,
          module_id: policy.untagged_module,
          tenant: policy.untagged_tenant
      };
    end
    // A module that this target does not have owns nothing; its number is never cut.
    row.valid = row.valid && 32'(row.module_id) < Cfg.modules;
  end
  assign off = has_tag && !row.keep_tag;

  frame_end_t frame_end, out_end;
  logic [15:0] min_frame, max_frame;
  assign min_frame = (policy.min_frame < 14'(MinFrameBytes)) ? 16'(MinFrameBytes) : 16'(policy.min_frame);
  assign max_frame = (policy.max_frame > 14'(MaxFrameBytes)) ? 16'(MaxFrameBytes) : 16'(policy.max_frame);

  always_comb begin
    frame_end = '{
        drop: 1'b1,
        reason: ReasonBadFrame,
        received: length,
        module_id: row.valid ? row.module_id : ModuleBits'(SystemModule),
        tenant: row.tenant,
        tci: has_tag ? tci : 16'd0,
        tag_off: off,
        length: off ? length[13:0] - 14'(TagBytes) : length[13:0]
    };
    if (row_bad) frame_end.reason = ReasonBadFrame;
    else if (length < min_frame) frame_end.reason = ReasonRunt;
    else if (length > max_frame) frame_end.reason = ReasonGiant;
    else if (!row.valid) frame_end.reason = ReasonUnmapped;
    else if (policy.drop_double_tag && has_tag && double) frame_end.reason = ReasonDoubleTag;
    else frame_end.drop = 1'b0;
  end

  // Frame without its tag, and then with what its tenant's share says.
  logic bare_valid, bare_last, out_valid, out_last, out_beyond, stored;
  logic [8*Bytes-1:0] bare_data, out_data;
  frame_end_t bare_end;
  logic [CostBits-1:0] out_cost;
  logic share_en, share_we, excess_we;
  share_row_t share_row, share_readback;
  excess_row_t excess_row, excess_readback;

  sluice_nic_tag_strip #(
      .Bytes    (Bytes),
      .MetaWidth($bits(frame_end_t))
  ) u_tag_strip (
      .clk_i,
      .rst_ni,
      .valid_i(row_valid_q),
      .data_i (row_data_q),
      .bytes_i(row_bytes_q),
      .first_i(row_first_q),
      .last_i (row_last_q),
      .off_i  (off),
      .meta_i (frame_end),
      .valid_o(bare_valid),
      .data_o (bare_data),
      .last_o (bare_last),
      .meta_o (bare_end)
  );

  sluice_nic_share #(
      .Cfg(Cfg)
  ) u_share (
      .clk_i,
      .rst_ni,
      .ticks_i      (ticks_i[31:0]),
      .valid_i      (bare_valid),
      .data_i       (bare_data),
      .last_i       (bare_last),
      .end_i        (bare_end),
      .valid_o      (out_valid),
      .data_o       (out_data),
      .last_o       (out_last),
      .end_o        (out_end),
      .cost_o       (out_cost),
      .beyond_o     (out_beyond),
      .stored_i     (stored),
      .taken_i      (desc_valid_o && desc_ready_i),
      .taken_cost_i (desc_o.cost),
      .share_en_i   (share_en),
      .share_we_i   (share_we),
      .share_index_i(cfg_req_i.index[$clog2(Cfg.modules)-1:0]),
      .share_i      (share_row),
      .share_o      (share_readback),
      .excess_we_i  (excess_we),
      .excess_i     (excess_row),
      .excess_o     (excess_readback)
  );

  logic [27:0] sequence_q;
  logic [31:0] id;
  port_desc_t desc;
  logic done, overflow, unused_dropped;
  logic [$clog2(Cfg.port_beats+1)-1:0] unused_level;

  assign id = {4'(Port), sequence_q};
  assign desc = '{
          cost: out_cost,
          arrival: ticks_i,
          id: id,
          module_id: out_end.module_id,
          tenant: out_end.tenant,
          tci: out_end.tci,
          tag_off: out_end.tag_off,
          length: out_end.length
      };

  always_ff @(posedge clk_i) begin
    if (!rst_ni) sequence_q <= '0;
    else if (out_valid && out_last) sequence_q <= sequence_q + 28'd1;
  end

  sluice_packet_fifo #(
      .DataWidth(8 * Bytes),
      .Depth    (Cfg.port_beats),
      .DescWidth($bits(port_desc_t)),
      .DescDepth(Cfg.port_packets)
  ) u_fifo (
      .clk_i,
      .rst_ni,
      .valid_i        (out_valid),
      .data_i         (out_data),
      .last_i         (out_last),
      .drop_i         (out_end.drop),
      .desc_i         (desc),
      .done_o         (done),
      .done_accepted_o(stored),
      .done_overflow_o(overflow),
      .done_dropped_o (unused_dropped),
      .desc_valid_o,
      .desc_ready_i,
      .desc_o,
      .valid_o,
      .ready_i,
      .data_o,
      .last_o,
      .level_o        (unused_level)
  );

  // One frame has ended: count it.
  // "Bits of signal are not used": the structure travels whole, this module takes the fields that concern it.
  // verilator lint_off UNUSEDSIGNAL
  frame_end_t done_end_q;
  // verilator lint_on UNUSEDSIGNAL
  logic [31:0] done_id_q;
  logic done_beyond_q;
  logic [TickBits-1:0] done_ticks_q;
  always_ff @(posedge clk_i) begin
    done_end_q <= out_end;
    done_beyond_q <= out_beyond;
    done_ticks_q <= ticks_i;
    done_id_q <= id;
  end
  assign trace_valid_o = done;
  assign trace_o = '{
          id: done_id_q,
          module_id: done_end_q.module_id,
          dropped: done_end_q.drop || overflow,
          reason: done_end_q.drop ? done_end_q.reason : ReasonOverload,
          length: done_end_q.received,
          beyond: done_beyond_q,
          arrival: done_ticks_q
      };

  sluice_nic_port_tables #(
      .Cfg(Cfg)
  ) u_tables (
      .clk_i,
      .rst_ni,
      .vlan_read_i (in_valid_q && in_first_q),
      .vlan_index_i(be16(in_data_q, 14)),
      .vlan_row_o  (vlan_row),
      .policy_o    (policy_row),
      .owner_read_i,
      .owner_vlan_i,
      .owner_o,
      .share_en_o  (share_en),
      .share_we_o  (share_we),
      .share_o     (share_row),
      .share_i     (share_readback),
      .excess_we_o (excess_we),
      .excess_o    (excess_row),
      .excess_i    (excess_readback),
      .epoch_i,
      .ended_i     (done),
      .trace_i     (trace_o),
      .cfg_valid_i,
      .cfg_req_i,
      .cfg_valid_o,
      .cfg_rsp_o
  );

  assign untagged_o = '{
          valid: policy_row.untagged_valid && 32'(policy_row.untagged_module) < Cfg.modules,
          module_id: policy_row.untagged_module
      };

endmodule
