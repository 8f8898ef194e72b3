/// The match-action table: overlay, masked exact match in 4 ways, action (docs/design/nic.md).
///
/// A token enters every cycle and never stalls; its verdict leaves 6 cycles later. A token is
/// either a packet's or, with `slot_i`, the maintenance access `slot_req_i`: it reads the
/// tables as a packet in its place would see them (`slot_valid_o`, `slot_data_o`).
/// `conform_i` is the rate limiter's answer, 4 cycles behind the token.
///
/// A write takes effect for tokens that reach the table after it, all bits in one cycle.
///
///   cycle 0  token: fields, overlay read          3  entries read
///         1  overlay: key chosen and masked       4  compare
///         2  hash: set indices                    5  action, verdict registered
module sluice_nic_match
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

    // Maintenance access: slot_i only without a token.
    input  logic                               slot_i,
    input  cfg_req_t                           slot_req_i,
    output logic                               slot_valid_o,
    output logic     [32*MessageDataWords-1:0] slot_data_o,

    // Writes, checked before.
    input logic     write_entry_i,
    input logic     write_overlay_i,
    input cfg_req_t write_req_i,

    output logic     verdict_valid_o,
    output verdict_t verdict_o,
    output reason_e  reason_o
);

  localparam int unsigned ModuleIndexBits = $clog2(Cfg.modules);
  localparam int unsigned SetBits = $clog2(Cfg.sets);

  if (2 ** SetBits != Cfg.sets || Cfg.sets < 2 || SetBits > 16) begin : gen_bad_sets
    $fatal(1, "nic_match: sets is %0d, expected a power of two from 2 to 65536 (%m)", Cfg.sets);
  end
  if (2 ** ModuleIndexBits != Cfg.modules || Cfg.modules < 2 || ModuleIndexBits > ModuleBits) begin : gen_bad_modules
    $fatal(1, "nic_match: modules is %0d, expected a power of two from 2 to 64 (%m)", Cfg.modules);
  end

  // What is known of a packet at every step.
  typedef struct packed {
    port_desc_t          desc;
    logic                generation;
    logic [TickBits-1:0] stamp;
    fields_t             fields;
  } packet_t;

  localparam int unsigned Steps = 5;
  logic [Steps:1] valid_q, slot_q;
  packet_t packet_q[1:Steps];
  overlay_row_t overlay_q[2:Steps];

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      valid_q <= '0;
      slot_q  <= '0;
    end else begin
      valid_q <= {valid_q[Steps-1:1], token_valid_i};
      slot_q  <= {slot_q[Steps-1:1], slot_i};
    end
  end

  // 0: fields and overlay.
  fields_t fields;
  overlay_row_t overlay;
  logic [ModuleIndexBits:0] overlay_index;

  sluice_nic_extract u_extract (
      .window_i(token_window_i),
      .length_i(token_desc_i.length),
      .fields_o(fields)
  );

  assign overlay_index = slot_i ? slot_req_i.index[ModuleIndexBits:0] :
      {token_desc_i.module_id[ModuleIndexBits-1:0], token_generation_i};

  sluice_ram_1r1w #(
      .Width(OverlayRowBits),
      .Depth(2 * Cfg.modules)
  ) u_overlay (
      .clk_i,
      .wr_en_i  (write_overlay_i),
      .wr_addr_i(write_req_i.index[ModuleIndexBits:0]),
      .wr_data_i(write_req_i.data[OverlayRowBits-1:0]),
      .rd_en_i  (token_valid_i || slot_i),
      .rd_addr_i(overlay_index),
      .rd_data_o(overlay)
  );

  always_ff @(posedge clk_i) begin
    packet_q[1] <= '{desc: token_desc_i, generation: token_generation_i, stamp: token_stamp_i, fields: fields};
    for (int unsigned i = 2; i <= Steps; i++) packet_q[i] <= packet_q[i-1];
    overlay_q[2] <= overlay;
    for (int unsigned i = 3; i <= Steps; i++) overlay_q[i] <= overlay_q[i-1];
  end

  // 1: key.
  logic [8*KeyBytes-1:0] key, key_q[2:4];
  logic lookup, lookup_q[2:4];
  always_comb begin
    key = '0;
    lookup = 1'b0;
    if (overlay.key_kind == KeyDmac) begin
      key[47:0] = packet_q[1].fields.dmac;
      lookup = 1'b1;
    end else if (overlay.key_kind == KeyFiveTuple) begin
      key = packet_q[1].fields.tuple;
      lookup = packet_q[1].fields.ipv4;
    end
    for (int unsigned i = 0; i < KeyBytes; i++) if (!overlay.key_mask[i]) key[8*i+:8] = '0;
  end
  always_ff @(posedge clk_i) begin
    key_q[2] <= key;
    lookup_q[2] <= lookup;
    for (int unsigned i = 3; i <= 4; i++) begin
      key_q[i] <= key_q[i-1];
      lookup_q[i] <= lookup_q[i-1];
    end
  end

  // 2: hash.
  logic [31:0] key_crc, key_hash, flow_crc;
  logic [31:0] flow_hash_q[3:Steps];
  logic [15:0] set_mask;
  logic [1:0][SetBits-1:0] set_d, set_q;

  sluice_crc32c #(
      .Width(8 * KeyBytes)
  ) u_key_hash (
      .data_i(key_q[2]),
      .crc_o (key_crc)
  );
  sluice_crc32c #(
      .Width(8 * KeyBytes)
  ) u_flow_hash (
      .data_i(packet_q[2].fields.tuple),
      .crc_o (flow_crc)
  );

  // A CRC is linear: without this step keys in rows would fall onto few sets.
  function automatic logic [31:0] rotate(logic [31:0] word, int unsigned by);
    return (word << by) | (word >> (32 - by));
  endfunction
  assign key_hash = key_crc ^ (rotate(key_crc, 7) & rotate(key_crc, 18)) ^ (rotate(key_crc, 13) & rotate(key_crc, 29));

  assign set_mask = (16'd1 << overlay_q[2].set_bits) - 16'd1;
  assign set_d[0] = SetBits'(overlay_q[2].set_base | (key_hash[15:0] & set_mask));
  assign set_d[1] = SetBits'(overlay_q[2].set_base | (key_hash[31:16] & set_mask));

  always_ff @(posedge clk_i) begin
    set_q <= slot_q[2] ? {2{slot_req_i.index[SetBits-1:0]}} : set_d;
    flow_hash_q[3] <= packet_q[2].fields.ipv4 ? flow_crc : '0;
    for (int unsigned i = 4; i <= Steps; i++) flow_hash_q[i] <= flow_hash_q[i-1];
  end

  // 3: entries.
  entry_row_t [Ways-1:0] entry;
  for (genvar w = 0; w < Ways; w++) begin : gen_way
    sluice_ram_1r1w #(
        .Width(EntryRowBits),
        .Depth(Cfg.sets)
    ) u_entries (
        .clk_i,
        .wr_en_i  (write_entry_i && 32'(write_req_i.tab) == 32'(TableWay0) + w),
        .wr_addr_i(write_req_i.index[SetBits-1:0]),
        .wr_data_i(write_req_i.data[EntryRowBits-1:0]),
        .rd_en_i  (valid_q[3] || slot_q[3]),
        .rd_addr_i(set_q[w/2]),
        .rd_data_o(entry[w])
    );
  end

  // 4: compare; the lowest way wins.
  logic [Ways-1:0] match;
  logic hit, hit_q, conform_q;
  action_row_t action, action_q;

  always_comb begin
    for (int unsigned w = 0; w < Ways; w++) begin
      match[w] = lookup_q[4] && entry[w].generations[packet_q[4].generation] &&
          entry[w].module_id == packet_q[4].desc.module_id && entry[w].key == key_q[4];
    end
    hit = |match;
    action = '{
        destinations: overlay_q[4].destinations,
        except_ingress: overlay_q[4].except_ingress,
        set_dmac: overlay_q[4].set_dmac,
        dmac: overlay_q[4].dmac
    };
    for (int unsigned i = 0; i < Ways; i++) begin
      if (match[Ways-1-i]) begin
        action = '{
            destinations: entry[Ways-1-i].destinations,
            except_ingress: entry[Ways-1-i].except_ingress,
            set_dmac: entry[Ways-1-i].set_dmac,
            dmac: entry[Ways-1-i].dmac
        };
      end
    end
  end
  always_ff @(posedge clk_i) begin
    hit_q     <= hit;
    action_q  <= action;
    conform_q <= conform_i;
  end

  // 5: verdict.
  localparam logic [DestBits-1:0] Present = DestBits'((1 << (Cfg.ports + Cfg.hosts)) - 1);
  logic [DestBits-1:0] wanted, destinations;
  logic dropped;
  reason_e reason;

  always_comb begin
    wanted = action_q.destinations & Present;
    destinations = wanted;
    if (action_q.except_ingress) destinations[packet_q[5].desc.id[30:28]] = 1'b0;
    dropped = 1'b1;
    if (!conform_q) reason = ReasonRate;
    else if (packet_q[5].fields.reconfig) reason = ReasonReconfig;
    else if (!overlay_q[5].valid) reason = ReasonNoModule;
    else if (wanted == '0) reason = hit_q ? ReasonAction : ReasonMiss;
    else begin
      reason  = ReasonNoDestination;
      dropped = destinations == '0;
    end
    if (dropped) destinations = '0;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) verdict_valid_o <= 1'b0;
    else verdict_valid_o <= valid_q[5];
  end

  always_ff @(posedge clk_i) begin
    reason_o <= reason;
    verdict_o <= '{
        sideband: '{
            id: packet_q[5].desc.id,
            stamp: packet_q[5].stamp,
            tenant: packet_q[5].desc.tenant,
            module_id: packet_q[5].desc.module_id,
            generation: packet_q[5].generation,
            length: packet_q[5].desc.length,
            tci: packet_q[5].desc.tci,
            tag_off: packet_q[5].desc.tag_off,
            flow_hash: flow_hash_q[5],
            destinations: destinations
        },
        dropped: dropped,
        set_dmac: action_q.set_dmac,
        dmac: action_q.dmac
    };
  end

  // Maintenance reads.
  overlay_row_t slot_overlay_q;
  always_ff @(posedge clk_i) begin
    if (slot_q[1]) slot_overlay_q <= overlay;
  end
  assign slot_valid_o = slot_q[4];
  assign slot_data_o  = (slot_req_i.tab == TableOverlay) ? 256'(slot_overlay_q) : 256'(entry[slot_req_i.tab[1:0]]);

`ifndef SYNTHESIS
  SlotHasNoToken_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !(slot_i && token_valid_i));
  DroppedHasNoDestination_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni)
                   !verdict_valid_o || verdict_o.dropped == (verdict_o.sideband.destinations == '0));
`endif

endmodule
