/// Room in the cores: to which core a packet goes, and where it lies there (docs/decisions/xdp-grows.md, "Shares").
///
/// Each core has `Slots` slots, `Contexts` contexts, and packet memory of `Units` units. A module owns some contexts of each core
/// (`xdp_share_row`), with each a slot and a *bay* of memory; bays lie in the last units, which `xdp_pool_row` takes from the others. What
/// nobody owns is the *pool*. A packet takes a bay of its module, if one is free and large enough, else a slot of the pool and a place for it, else it
/// waits. So a module with a free bay finds room whatever others do, and a slot of its own comes with a context of its own.
///
/// The packet in front asks (`ask_*`, held until `take_i`): `granted_o` with `room_o`. The pool's search is told what is needed of it (`need_i`), of this
/// packet or of another that waits; `pool_o` says that there is room for that. `own_o[m]`: module m has a free bay. Bays are given only while no packet of
/// the pool has more than is left of it (`xdp_pool` may have taken it away under traffic).
///
/// `back_i` gives back: the slot of a packet of the pool with its verdict, its memory or bay when its frame was read.
///
/// Configuration: `xdp_pool` is answered a cycle after `cfg_valid_i`; `xdp_share` is heard, others answer. A share changes while no packet of its
/// module is there. The host gives no bays that overlap, none outside what is reserved, and no more contexts than there are; the pool keeps a largest packet's place whatever it asks.
///
/// Latency: none, in front of a search of `sluice_xdp_places`. Throughput: a packet a cycle. Never stalls what comes back.
module sluice_xdp_room
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_pkg::*;
  import sluice_xdp_room_pkg::*;
#(
    parameter int unsigned Cores = 2,
    parameter int unsigned Contexts = 8,
    parameter int unsigned Slots = 16,
    parameter int unsigned Rows = 1024,
    parameter int unsigned Modules = 64,
    localparam int unsigned CoreBits = (Cores > 1) ? $clog2(Cores) : 1,
    localparam int unsigned IndexBits = $clog2(Modules),
    localparam int unsigned ContextCountBits = $clog2(Contexts + 1)
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic                      ask_valid_i,
    input  logic      [IndexBits-1:0] ask_module_i,
    input  logic      [ UnitBits-1:0] ask_units_i,
    // It may take room of the pool.
    input  logic                      ask_pool_i,
    output logic                      granted_o,
    output logic      [ CoreBits-1:0] core_o,
    output xdp_room_t                 room_o,
    input  logic                      take_i,

    input  logic                need_valid_i,
    input  logic [UnitBits-1:0] need_i,
    output logic                pool_o,

    output logic [         Modules-1:0] own_o,
    // Contexts of each core that nobody owns.
    output logic [ContextCountBits-1:0] shared_contexts_o,

    // "Bits of signal are not used": modules, maps and rows are numbered as for the largest target.
    // verilator lint_off UNUSEDSIGNAL
    input xdp_back_t [Cores-1:0] back_i,

    input  logic     cfg_valid_i,
    input  cfg_req_t cfg_req_i,
    // verilator lint_on UNUSEDSIGNAL
    output logic     cfg_valid_o,
    output cfg_rsp_t cfg_rsp_o
);

  localparam int unsigned Units = Rows / UnitRows;
  localparam int unsigned PlaceBits = $clog2(Units);
  localparam int unsigned PlaceCountBits = $clog2(Units + 1);
  localparam int unsigned Most = (MostPacketRows + UnitRows - 1) / UnitRows;
  localparam int unsigned SlotCountBits = $clog2(Slots + 1);
  localparam int unsigned Bays = (Contexts < 2 ** BayBits) ? Contexts : 2 ** BayBits;
  typedef logic [CoreBits-1:0] core_t;
  typedef logic [IndexBits-1:0] index_t;
  typedef logic [SlotCountBits-1:0] slots_t;
  typedef logic [ContextCountBits-1:0] contexts_t;
  typedef logic [Bays-1:0] bays_t;

  if (Rows < MostPacketRows || 2 ** $clog2(Rows) != Rows) begin : gen_bad_rows
    $fatal(1, "xdp_room: Rows is %0d, expected a power of two from %0d on (%m)", Rows, MostPacketRows);
  end
  if (Cores != 1 && Cores != 2) begin : gen_bad_cores
    $fatal(1, "xdp_room: Cores is %0d, expected 1 or 2 (%m)", Cores);
  end
  if (Slots < Contexts) begin : gen_bad_slots
    $fatal(1, "xdp_room: Slots is %0d, expected at least one for each of %0d contexts (%m)", Slots, Contexts);
  end

  // ---------------------------------------------------------------------------------------------------------------
  // Shares.

  logic is_share, is_pool, share_written, share_clear, pool_written;
  cfg_status_e share_status, pool_status;
  // "Bits of signal are not used": a row has some of a message's, and queues take the other fields.
  // verilator lint_off UNUSEDSIGNAL
  xdp_share_row_t share_row;
  // verilator lint_on UNUSEDSIGNAL
  xdp_pool_row_t pool_row, pool_q;
  index_t index;
  logic [3:0] contexts_before, contexts;
  logic [11:0] first;
  logic [4:0] bay_units;
  logic borrows;
  logic [7:0] owned_q;
  contexts_t owned;
  slots_t pool_slots_q;
  logic [PlaceCountBits-1:0] reserved, reserved_q;

  assign is_share = cfg_valid_i && cfg_req_i.tab == TableXdpShare;
  assign is_pool = cfg_valid_i && cfg_req_i.tab == TableXdpPool;
  assign index = cfg_req_i.index[IndexBits-1:0];
  assign share_status = cfg_check(cfg_req_i, 1'b1, 1'b1, 24'(Modules), 4'(XdpShareRowWords));
  assign pool_status = cfg_check(cfg_req_i, 1'b1, 1'b1, 24'd1, 4'(XdpPoolRowWords));
  assign share_written = is_share && cfg_req_i.write && share_status == StatusOk;
  assign pool_written = is_pool && cfg_req_i.write && pool_status == StatusOk;
  assign share_clear = cfg_req_i.clear;
  assign share_row = share_clear ? '0 : cfg_req_i.data[XdpShareRowBits-1:0];

  sluice_ram_lut #(
      .Width(22),
      .Depth(Modules)
  ) u_share (
      .clk_i,
      .we_i   (share_written || share_clear),
      .waddr_i(index),
      .wdata_i({share_row.contexts, share_row.first, share_row.units, share_row.borrows}),
      .raddr_i(ask_module_i),
      .rdata_o({contexts, first, bay_units, borrows})
  );
  sluice_ram_lut #(
      .Width(4),
      .Depth(Modules)
  ) u_contexts (
      .clk_i,
      .we_i   (share_written || share_clear),
      .waddr_i(index),
      .wdata_i(share_row.contexts),
      .raddr_i(index),
      .rdata_o(contexts_before)
  );

  // One is left to all, and a largest packet's place.
  assign owned = (owned_q > 8'(Contexts - 1)) ? contexts_t'(Contexts - 1) : contexts_t'(owned_q);
  assign reserved = (pool_q.reserved > 13'(Units - Most)) ? PlaceCountBits'(Units - Most) : PlaceCountBits'(pool_q.reserved);
  assign pool_row = cfg_req_i.data[XdpPoolRowBits-1:0];
  always_ff @(posedge clk_i) begin
    if (!rst_ni || share_clear) begin
      owned_q <= '0;
      pool_q  <= '0;
    end else begin
      if (share_written) owned_q <= owned_q - 8'(contexts_before) + 8'(share_row.contexts);
      if (pool_written) pool_q <= pool_row;
    end
    // A grant holds until it is taken.
    if (!ask_valid_i || take_i) begin
      shared_contexts_o <= contexts_t'(Contexts) - owned;
      pool_slots_q      <= slots_t'(Slots) - slots_t'(owned);
      reserved_q        <= reserved;
    end
    cfg_valid_o <= is_pool && rst_ni;
    cfg_rsp_o   <= '{status: pool_status, words: 4'(XdpPoolRowWords), data: 256'(pool_q)};
    if (!is_pool) cfg_rsp_o <= '0;
  end

  // ---------------------------------------------------------------------------------------------------------------
  // The pool, a core each.

  slots_t [Cores-1:0] taken_q, pooled_q;
  logic [Cores-1:0] found, fits, clean, has_slot, pool_fits, takes_pool, takes_own;
  logic [Cores-1:0][PlaceBits-1:0] place;

  for (genvar c = 0; c < int'(Cores); c++) begin : gen_core
    sluice_xdp_places #(
        .Units(Units),
        .Most (Most)
    ) u_places (
        .clk_i,
        .rst_ni,
        .reserved_i  (reserved_q),
        .clean_o     (clean[c]),
        .want_i      (need_valid_i),
        .need_i      (PlaceCountBits'(need_i)),
        .found_o     (found[c]),
        .first_o     (place[c]),
        .take_i      (takes_pool[c]),
        .free_valid_i(back_i[c].free_valid && !back_i[c].own),
        .free_first_i(PlaceBits'(back_i[c].place / RowBits'(UnitRows))),
        .free_units_i(PlaceCountBits'(units_of(back_i[c].rows)))
    );
    assign has_slot[c] = pooled_q[c] < pool_slots_q;
    assign fits[c] = pooled_q[c] <= pool_slots_q;
    assign pool_fits[c] = found[c] && has_slot[c];

    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        taken_q[c]  <= '0;
        pooled_q[c] <= '0;
      end else begin
        taken_q[c]  <= taken_q[c] + slots_t'(takes_pool[c] || takes_own[c]) - slots_t'(back_i[c].left_valid);
        pooled_q[c] <= pooled_q[c] + slots_t'(takes_pool[c]) - slots_t'(back_i[c].left_valid && !back_i[c].left_own);
      end
    end
  end
  assign pool_o = pool_fits != '0;

  // ---------------------------------------------------------------------------------------------------------------
  // What is granted.
  typedef struct packed {
    logic               own;
    core_t              core;
    logic [BayBits-1:0] bay;
  } choice_t;
  choice_t found_choice, choice_q, choice;
  logic own;
  core_t core;
  logic [BayBits-1:0] bay;

  // Bays: whoever takes one turns its bit, whoever gives it back does so in another memory; equal is free.

  bays_t [Cores-1:0] given, returned, returned_back, free_bays, bay_bit;
  logic [Cores-1:0] own_free, own_fits;
  logic [Cores-1:0][BayBits-1:0] lowest;
  logic open_q, oversize;

  for (genvar c = 0; c < int'(Cores); c++) begin : gen_bays
    index_t back_index;
    bays_t  back_bit;
    assign back_index = back_i[c].module_id[IndexBits-1:0];
    assign back_bit   = bays_t'(1) << back_i[c].bay;
    sluice_ram_lut #(
        .Width(Bays),
        .Depth(Modules)
    ) u_given (
        .clk_i,
        .we_i   (takes_own[c] || share_clear),
        .waddr_i(share_clear ? index : ask_module_i),
        .wdata_i(share_clear ? '0 : given[c] ^ bay_bit[c]),
        .raddr_i(ask_module_i),
        .rdata_o(given[c])
    );
    sluice_ram_lut #(
        .Width    (Bays),
        .Depth    (Modules),
        .ReadPorts(2)
    ) u_returned (
        .clk_i,
        .we_i   ((back_i[c].free_valid && back_i[c].own) || share_clear),
        .waddr_i(share_clear ? index : back_index),
        .wdata_i(share_clear ? '0 : returned_back[c] ^ back_bit),
        .raddr_i({back_index, ask_module_i}),
        .rdata_o({returned_back[c], returned[c]})
    );
    always_comb begin
      lowest[c] = '0;
      for (int unsigned b = 0; b < Bays; b++) free_bays[c][b] = given[c][b] == returned[c][b] && 4'(b) < contexts;
      for (int unsigned b = Bays; b > 0; b--) if (free_bays[c][b-1]) lowest[c] = BayBits'(b - 1);
    end
    assign bay_bit[c]  = bays_t'(1) << bay;
    assign own_free[c] = free_bays[c] != '0;
  end

  assign oversize = ask_units_i > UnitBits'(bay_units);
  assign own_fits = (oversize || !open_q) ? '0 : own_free;

  // Which core: one where there is a bay, else one with room of the pool; of both that with fewer packets, of equal ones the other one than
  // before: packets of one flow leave in turns, and two of one core take twice as long. Who comes alone goes to the first. What was granted holds.
  core_t last_q;
  logic held_q, empty;
  logic [Cores-1:0] may, chosen;
  assign found_choice.own = own_fits != '0;
  assign empty = taken_q == '0;
  assign may = found_choice.own ? own_fits : (ask_pool_i ? pool_fits : '0);
  always_comb begin
    found_choice.core = '0;
    if (Cores > 1) begin
      found_choice.core = core_t'(!last_q);
      if (may[last_q] && (!may[!last_q] || taken_q[!last_q] > taken_q[last_q])) found_choice.core = last_q;
      if (empty && may[0]) found_choice.core = '0;
    end
    found_choice.bay = lowest[found_choice.core];
  end
  assign granted_o = ask_valid_i && (held_q || may != '0);
  always_ff @(posedge clk_i) begin
    held_q <= granted_o && !take_i && rst_ni;
    if (!held_q) choice_q <= found_choice;
    if (!rst_ni) last_q <= '0;
    else if (take_i) last_q <= core;
  end
  assign choice = held_q ? choice_q : found_choice;
  assign own = choice.own;
  assign core = choice.core;
  assign bay = choice.bay;
  always_comb begin
    chosen = '0;
    chosen[core] = 1'b1;
  end
  assign core_o = core;
  assign takes_own = (take_i && own) ? chosen : '0;
  assign takes_pool = (take_i && !own) ? chosen : '0;

  logic [PlaceBits-1:0] unit;
  assign unit = own ? PlaceBits'(32'(first) + 32'(bay) * 32'(bay_units)) : place[core];
  assign room_o = '{
          own: own,
          borrows: borrows,
          contexts: contexts,
          bay: bay,
          place: RowBits'(unit) * RowBits'(UnitRows)
      };

  // Who has a free bay: what is left behind one that is taken, what comes back.
  logic [Modules-1:0] own_q;
  logic left_over;
  always_comb begin
    left_over = 1'b0;
    for (int unsigned c = 0; c < Cores; c++) left_over |= (free_bays[c] & ~(takes_own[c] ? bay_bit[c] : '0)) != '0;
  end
  always_ff @(posedge clk_i) begin
    open_q <= clean == '1 && fits == '1 && rst_ni;
    if (!rst_ni) begin
      own_q <= '0;
    end else begin
      if (takes_own != '0) own_q[ask_module_i] <= left_over;
      for (int unsigned c = 0; c < Cores; c++) begin
        if (back_i[c].free_valid && back_i[c].own) own_q[back_i[c].module_id[IndexBits-1:0]] <= 1'b1;
      end
      if (share_written || share_clear) own_q[index] <= share_row.contexts != '0;
    end
  end
  assign own_o = open_q ? own_q : '0;

`ifndef SYNTHESIS
  TakesOnlyWhatIsGranted_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !take_i || (ask_valid_i && granted_o));
  for (genvar c = 0; c < int'(Cores); c++) begin : gen_claims
    SlotsAreThere_A :
    assert property (@(posedge clk_i) disable iff (!rst_ni) taken_q[c] <= slots_t'(Slots) && pooled_q[c] <= taken_q[c]);
  end
`endif

endmodule
