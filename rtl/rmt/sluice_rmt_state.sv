/// State of a stage: index, page table, words, merge of the results (docs/design/rmt.md, "State").
///
///   c4  index chosen      c5  page table read: address      c6  word read      c7  update; results over the ALUs'
///
/// The page table alone says which words a module has: an index behind them is not done and counts in
/// `state_range` of the module that owns the rows.
///
/// The host's accesses to words (`host_valid_i` for one cycle, one at a time; the rest holds until `host_done_o`) go
/// through the same loop in a cycle in which no packet accesses a word: so they are in order with the packets.
/// Zeroing a page is 64 of them. `slot_request_o` is high while one waits. Page table and counters are read and
/// written beside the packets at any time.
///
/// Latency: 4 cycles. Throughput: one packet a cycle. Never stalls.
module sluice_rmt_state
  import sluice_pkg::*;
  import sluice_rmt_rows_pkg::*;
  import sluice_rmt_act_pkg::*;
#(
    parameter  rmt_cfg_t    Cfg       = RmtCfgDefault,
    localparam int unsigned AddrWidth = $clog2(Cfg.words),
    localparam int unsigned PageRows  = 2 * Cfg.modules * RmtModulePages,
    localparam int unsigned PageWidth = $clog2(PageRows)
) (
    input logic clk_i,
    input logic rst_ni,

    // c4
    input logic act_i,  // the packet carries out an action
    input logic [1:0] conditions_i,
    input logic [ModuleBits-1:0] module_i,  // owner of the rows
    input logic generation_i,
    // "Bits of signal are not used": the structure travels whole, this module takes the fields that concern it.
    // verilator lint_off UNUSEDSIGNAL
    input act_pick_t pick_i,
    // verilator lint_on UNUSEDSIGNAL
    input logic [11:0] p2_i,
    input logic [11:0] da_i,
    input logic [2:0][2:0][15:0] nearly_i,  // lanes of the cross value, before the last step of their choice
    input logic [TickBits-1:0] queueing_i,
    input logic [15:0] length_i,

    // c5
    // "Bits of signal are not used": the structure travels whole, this module takes the fields that concern it.
    // verilator lint_off UNUSEDSIGNAL
    input act_early_t early_i,
    // verilator lint_on UNUSEDSIGNAL

    // c6
    input logic      [ 1:0] c6_conditions_i,
    input act_atom_t        atom_i,
    input logic      [31:0] c6_x_i,
    input logic      [31:0] c6_db_i,
    input logic      [31:0] c6_p1_i,

    // c7: the 4-byte containers as the ALUs leave them, and with the results.
    input  logic [7:0][31:0] alus_i,
    output logic [7:0][31:0] merged_o,

    // Words.
    input  logic                 host_valid_i,
    input  logic                 host_write_i,
    input  logic                 host_zero_i,    // the page of `host_index_i` becomes zero
    input  logic [AddrWidth-1:0] host_index_i,
    input  logic [         31:0] host_value_i,
    output logic                 host_done_o,
    output logic [         31:0] host_value_o,   // with `host_done_o`
    output logic                 slot_request_o,

    // Page table; a row read comes one cycle later.
    input  logic                          page_valid_i,
    input  logic                          page_write_i,
    input  logic          [PageWidth-1:0] page_index_i,
    input  rmt_page_row_t                 page_row_i,
    output rmt_page_row_t                 page_row_o,

    // Counters, as sluice_counter_bank.
    input  logic [           31:0] epoch_i,
    input  logic                   range_valid_i,
    input  logic                   range_snapshot_i,
    input  logic [ ModuleBits-1:0] range_index_i,
    output logic                   range_valid_o,
    output logic [CounterBits-1:0] range_value_o
);

  localparam int unsigned ModuleIndexBits = $clog2(Cfg.modules);
  localparam int unsigned ModuleWidth = (ModuleIndexBits > 0) ? ModuleIndexBits : 1;
  localparam int unsigned OffsetBits = $clog2(RmtPageWords);
  localparam int unsigned RangeEntries = 512;
  localparam int unsigned RangeWidth = $clog2(RangeEntries);

  if (Cfg.words < 2 * RmtPageWords || Cfg.words > RmtModulePages * RmtPageWords) begin : gen_bad_words
    $fatal(
        1,
        "rmt_state: words is %0d, expected %0d to %0d (%m)",
        Cfg.words,
        2 * RmtPageWords,
        RmtModulePages * RmtPageWords
    );
  end
  if (2 ** ModuleIndexBits != Cfg.modules || ModuleIndexBits > ModuleBits) begin : gen_bad_modules
    $fatal(1, "rmt_state: modules is %0d, expected a power of two from 1 to 64 (%m)", Cfg.modules);
  end

  // c4: index.
  logic wanted, wanted5_q, meter5_q, beyond5_q;
  // Kept, so that each step maps as it is written.
  (* keep *) logic [11:0] near;
  (* keep *) logic [2:0][11:0] far;
  (* keep *) logic [2:0][2:0] taken;
  logic [12:0] index;
  logic [OffsetBits-1:0] offset5_q;
  logic [ModuleWidth-1:0] module5_q;

  assign wanted = act_i && (pick_i.kind == RmtStateKindAccess || pick_i.kind == RmtStateKindMeter) && act_when(
      pick_i.when, conditions_i
  );
  always_comb begin
    // The cross value comes late: its lanes and the last step of their choice are decoded beside its first steps.
    near = ({12{pick_i.source == RmtIndexSourceP2}} & p2_i) | ({12{pick_i.source == RmtIndexSourceDataA}} & da_i);
    for (int unsigned l = 0; l < 3; l++) begin
      for (int unsigned i = 0; i < 3; i++) begin
        // Lane l is there if so many words are cut off the top.
        taken[l][i] = pick_i.source == RmtIndexSourceX && pick_i.cross_shift == 2'(l) &&
            3'(pick_i.cross_cut) + 3'(l) < 3'd3 && pick_i.cross_source[5:4] == 2'(i);
      end
      far[l] = ({12{taken[l][0]}} & nearly_i[l][0][11:0]) | ({12{taken[l][1]}} & nearly_i[l][1][11:0]) |
          ({12{taken[l][2]}} & nearly_i[l][2][11:0]);
    end
  end
  assign index = {1'b0, pick_i.base} + {1'b0, pick_i.index_mask & (near | far[0] | far[1] | far[2])};

  always_ff @(posedge clk_i) begin
    if (!rst_ni) wanted5_q <= 1'b0;
    else wanted5_q <= wanted;
  end
  always_ff @(posedge clk_i) begin
    meter5_q  <= pick_i.kind == RmtStateKindMeter;
    beyond5_q <= index[12];
    offset5_q <= index[OffsetBits-1:0];
    module5_q <= module_i[ModuleWidth-1:0];
  end

  // c5: page, address; the host's access where no packet's is.
  rmt_page_row_t page;
  logic access5, out_of_range, host5, host_last;
  logic [AddrWidth-1:0] address5;
  logic host_pending_q, host_write_q, host_zero_q;
  logic [AddrWidth-1:0] host_address_q;

  sluice_ram_dp #(
      .Width   (RmtPageRowBits),
      .Depth   (PageRows),
      .InitZero(1'b0)
  ) u_pages (
      .clk_i,
      .a_en_i   (page_valid_i),
      .a_we_i   (page_write_i),
      .a_addr_i (page_index_i),
      .a_wdata_i(page_row_i),
      .a_rdata_o(page_row_o),
      .b_en_i   (1'b1),
      .b_addr_i ($clog2(PageRows)'({module_i, generation_i, index[11:OffsetBits]})),
      .b_rdata_o(page)
  );

  assign access5 = wanted5_q && page.valid && !beyond5_q;
  assign out_of_range = wanted5_q && !(page.valid && !beyond5_q);
  assign host5 = host_pending_q && !wanted5_q;
  assign address5 = wanted5_q ? {page.page[AddrWidth-OffsetBits-1:0], offset5_q} : host_address_q;
  assign host_last = !host_zero_q || (&host_address_q[OffsetBits-1:0]);

  logic access6_q, host6_q, last6_q, last7_q, meter6_q, range6_q;
  logic [ModuleWidth-1:0] module6_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      access6_q      <= 1'b0;
      host6_q        <= 1'b0;
      last6_q        <= 1'b0;
      last7_q        <= 1'b0;
      range6_q       <= 1'b0;
      host_done_o    <= 1'b0;
      host_pending_q <= 1'b0;
    end else begin
      access6_q   <= access5;
      host6_q     <= host5;
      last6_q     <= host5 && host_last;
      last7_q     <= last6_q;
      range6_q    <= out_of_range;
      host_done_o <= last7_q;
      if (host_valid_i) host_pending_q <= 1'b1;
      else if (host5 && host_last) host_pending_q <= 1'b0;
    end
  end
  always_ff @(posedge clk_i) begin
    meter6_q  <= meter5_q;
    module6_q <= module5_q;
    if (host_valid_i) begin
      host_write_q   <= host_write_i || host_zero_i;
      host_zero_q    <= host_zero_i;
      host_address_q <= host_index_i;
      if (host_zero_i) host_address_q[OffsetBits-1:0] <= '0;
    end else if (host5 && !host_last) begin
      host_address_q[OffsetBits-1:0] <= host_address_q[OffsetBits-1:0] + 1'b1;
    end
  end
  assign slot_request_o = host_pending_q;

  sluice_counter_bank #(
      // As many as a block RAM has: fewer become LUTs.
      .Entries (RangeEntries),
      .Width   (CounterBits),
      .IncWidth(1)
  ) u_range (
      .clk_i,
      .rst_ni,
      .epoch_i,
      .inc_valid_i  (range6_q),
      .inc_index_i  (RangeWidth'(module6_q)),
      .inc_amount_i (1'b1),
      .rd_valid_i   (range_valid_i),
      .rd_snapshot_i(range_snapshot_i),
      .rd_index_i   (RangeWidth'(range_index_i)),
      .rd_valid_o   (range_valid_o),
      .rd_data_o    (range_value_o)
  );

  // c6: operands.
  // "Declaration of signal hides declaration in upper scope": a name inside a function, found again when the
  // stages of a pipeline are copies with parameters of their own.
  // verilator lint_off VARHIDDEN
  function automatic logic [31:0] operand(logic [1:0] choice, logic [31:0] immediate, logic [31:0] x, logic [31:0] db,
                                          // verilator lint_on VARHIDDEN
                                          logic [31:0] p1);
    case (choice)
      RmtStateOperandImmediate: return immediate;
      RmtStateOperandX: return x;
      RmtStateOperandDataB: return db;
      default: return p1;
    endcase
  endfunction

  logic [31:0] o_immediate_q, t_immediate_q, f_immediate_q;
  logic [31:0] now, now_limit, now_top, inc, next, old, new_word;
  logic red, meter6;
  always_ff @(posedge clk_i) begin
    o_immediate_q <= early_i.o_immediate;
    t_immediate_q <= early_i.t_immediate;
    f_immediate_q <= early_i.f_immediate;
  end

  sluice_rmt_meter u_meter (
      .clk_i,
      .queueing_i,
      .shift_i     (pick_i.shift),
      .length_i,
      .limit_i     (early_i.o_immediate),
      .cost_i      (early_i.t_immediate),
      .top_i       (early_i.f_immediate),
      .per_packet_i(atom_i.per_packet),
      .now_o       (now),
      .now_limit_o (now_limit),
      .now_top_o   (now_top),
      .inc_o       (inc),
      .next_o      (next)
  );

  assign meter6 = meter6_q && !host6_q;

  sluice_rmt_atom #(
      .Words(Cfg.words)
  ) u_atom (
      .clk_i,
      .rst_ni,
      .address_i   (address5),
      .write_i     (access6_q || (host6_q && host_write_q)),
      .meter_i     (meter6),
      .set_i       (host6_q),
      .relation_i  (atom_i.relation),
      .compared_i  (atom_i.condition == RmtTakenOld),
      .taken_i     (act_when(atom_i.condition, c6_conditions_i)),
      .t_old_i     (atom_i.t_old),
      .t_negate_i  (atom_i.t_negate),
      .f_old_i     (atom_i.f_old),
      .f_negate_i  (atom_i.f_negate),
      .o_i         (operand(atom_i.o_source, o_immediate_q, c6_x_i, c6_db_i, c6_p1_i)),
      .t_i         (operand(atom_i.t_source & {2{!meter6_q}}, t_immediate_q, c6_x_i, c6_db_i, c6_p1_i)),
      .f_i         (operand(atom_i.f_source, f_immediate_q, c6_x_i, c6_db_i, c6_p1_i)),
      .value_i     (host_zero_q ? '0 : host_value_i),
      .now_i       (now),
      .now_limit_i (now_limit),
      .now_top_i   (now_top),
      .inc_i       (inc),
      .per_packet_i(atom_i.per_packet),
      .next_i      (next),
      .old_o       (old),
      .new_o       (new_word),
      .red_o       (red)
  );

  // c7: results over those of the ALUs; the new word over the old one.
  typedef enum logic [1:0] {
    MergeAlu,
    MergeOld,
    MergeNew,
    MergeColour
  } merge_e;

  merge_e merge_d[8], merge_q[8];
  always_comb begin
    for (int unsigned i = 0; i < 8; i++) begin
      merge_d[i] = MergeAlu;
      if (access6_q) begin
        if (atom_i.old_to == {1'b1, 3'(i)}) merge_d[i] = MergeOld;
        if (atom_i.new_to == {1'b1, 3'(i)}) merge_d[i] = meter6_q ? MergeColour : MergeNew;
      end
      case (merge_q[i])
        MergeAlu: merged_o[i] = alus_i[i];
        MergeOld: merged_o[i] = old;
        MergeNew: merged_o[i] = new_word;
        default:  merged_o[i] = {31'd0, red};
      endcase
    end
  end
  always_ff @(posedge clk_i) begin
    merge_q      <= merge_d;
    host_value_o <= old;
  end

`ifndef SYNTHESIS
  HostWaitsForItsAnswer_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !(host_valid_i && host_pending_q));
  PacketOrHostAccesses_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !(access6_q && host6_q));
`endif

endmodule
