/// Values of maps in external memory, behind a cache (docs/decisions/xdp-external-memory.md).
///
/// `valid_i` brings an access that was allowed; each asker has one at a time. It is answered when it is done, in any order; stores of the askers `Putter` and
/// `Storer` have no answer. `done_upper_o` is the word behind an aligned one of 8 bytes. Accesses to one line are done as they came. Loads and atomic operations need the line in the cache, and fetch it; stores
/// change the cache where it has the line. Each store is a posted write to memory. A page of 1 KiB that was not written since it was cleared reads
/// as zeros, without memory.
///
/// A line that memory answers with an error is not kept, and who asked for it is told a fault and has changed nothing. A write that memory answers with an
/// error is counted (`write_failed_o`).
///
/// An access that has been here for `LateCycles`, at the most twice as many, is a fault as well (sluice_xdp_outside_late), whatever it waits for. So is, at
/// once, one that needs a line of a page of which writes are not answered in this time, or needs a memory that is gone (sluice_xdp_outside_reads, _writes). Each that ends like this
/// is told by `late_o`, each ID of writes without answers by `write_late_o`.
///
/// Latency: 5 cycles where the line is there or the page was never written; else those of memory and 7 more, and behind writes of the line's page their
/// answers. Throughput: an access a cycle. Stall behaviour: who waits for memory holds up those of its line alone
/// (sluice_xdp_outside_order); answers wait for `done_ready_i`.
module sluice_xdp_outside
  import sluice_xdp_pkg::*;
  import sluice_xdp_outside_pkg::*;
#(
    parameter int unsigned PlaceBits = 31,  // of a place in outside memory, in bytes
    parameter int unsigned Lines = 4096,
    parameter int unsigned Askers = 20,
    parameter int unsigned Putter = 17,
    parameter int unsigned Storer = Putter,
    parameter int unsigned LateCycles = 1 << 14,
    localparam int unsigned AskerBits = $clog2(Askers),
    localparam int unsigned UnitBits = PlaceBits - OutsideUnitBits
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic                             valid_i,
    input  logic             [AskerBits-1:0] asker_i,
    input  outside_request_t                 request_i,
    output logic             [   Askers-1:0] busy_o,

    output logic                 done_valid_o,
    input  logic                 done_ready_i,
    output logic [AskerBits-1:0] done_asker_o,
    output logic                 done_fault_o,
    output logic [         63:0] done_value_o,
    output logic [         63:0] done_upper_o,

    // Units of 64 KiB that become zero.
    input  logic                clear_valid_i,
    input  logic [UnitBits-1:0] clear_first_i,
    input  logic [  UnitBits:0] clear_units_i,
    output logic                clear_done_o,

    output logic                     read_failed_o,
    output logic                     write_failed_o,
    output logic                     late_o,
    output logic                     write_late_o,
    output logic                     accessed_o,      // one ended
    output logic                     fetched_o,       // a line was asked for
    output logic [OutsideIdBits-1:0] lost_o,          // reads that were given up and have not come

    // A module's weight is written.
    input logic        weight_valid_i,
    input logic [ 5:0] weight_module_i,
    input logic [15:0] weight_i,

    output outside_master_t master_o,
    input  outside_slave_t  slave_i
);

  localparam int unsigned IndexBits = $clog2(Lines);
  localparam int unsigned CacheBits = IndexBits + OutsideLineBits;
  localparam int unsigned TagBits = PlaceBits - CacheBits;
  localparam int unsigned LineBits = PlaceBits - OutsideLineBits;
  localparam int unsigned WordBits = CacheBits - 3;
  localparam int unsigned PagesInUnit = 2 ** (OutsideUnitBits - OutsidePageBits);
  localparam int unsigned PageBits = $clog2(PagesInUnit);

  if (2 ** IndexBits != Lines || Lines < 16 || CacheBits >= PlaceBits) begin : gen_bad_lines
    $fatal(1, "xdp_outside: Lines is %0d, expected a power of two from 16 on, less than memory has (%m)", Lines);
  end
  if (PlaceBits > 32 || PlaceBits <= OutsideUnitBits) begin : gen_bad_place
    $fatal(1, "xdp_outside: PlaceBits is %0d, expected 17 to 32 (%m)", PlaceBits);
  end
  if (Putter >= Askers || Storer >= Askers) begin : gen_bad_askers
    $fatal(
        1, "xdp_outside: Askers is %0d, expected more than Putter and Storer, %0d and %0d (%m)", Askers, Putter, Storer
    );
  end

  typedef logic [AskerBits-1:0] asker_t;
  typedef logic [Askers-1:0] set_t;
  typedef logic [LineBits-1:0] line_t;
  typedef struct packed {
    logic               valid;
    logic [TagBits-1:0] tag;
  } tag_t;

  function automatic set_t one_of(logic valid, asker_t asker);
    return set_t'(valid) << asker;
  endfunction

  // ---------------------------------------------------------------------------------------------------------------
  // Who may begin, in its order; who begins again, because a line has come or it found no room.

  set_t again, filled;
  logic clearing, turn_q, pick, followed, found, three_left_q, leave;
  asker_t picked, leaver, two_asker_q;
  outside_request_t picked_request;

  sluice_xdp_outside_turns #(
      .Askers   (Askers),
      .CacheBits(CacheBits)
  ) u_turns (
      .clk_i,
      .rst_ni,
      .valid_i,
      .asker_i,
      .request_i,
      .busy_o,
      .found_valid_i(found),
      .found_asker_i(two_asker_q),
      .leave_valid_i(leave && !three_left_q),
      .leave_asker_i(leaver),
      .again_i      (again | filled),
      .followed_o   (followed),
      .hold_i       (clearing && turn_q),
      .pick_o       (pick),
      .picked_o     (picked),
      .request_o    (picked_request)
  );
  // While pages are cleared every other cycle is theirs.
  always_ff @(posedge clk_i) turn_q <= rst_ni && !turn_q;

  logic three_valid_q, three_fault_q, three_first_q, three_follow_q, three_writes;
  logic [1:0] three_hit_q;
  asker_t three_asker_q;
  outside_request_t three_q;
  logic [63:0] three_found_q, three_upper_q;
  logic [15:0] put_enable;
  logic [127:0] put_data;
  line_t fill_line;
  asker_t fill_asker;
  logic fill, fill_last, fill_bad;
  logic [1:0] fill_beat;
  logic forget, forgets;

  // ---------------------------------------------------------------------------------------------------------------
  // 1: tag, bits of pages and two words are read. An access that goes over a line's end looks at the second line first.

  logic one_valid_q, two_valid_q, one_crosses, one_second;
  asker_t one_asker_q;
  outside_request_t one_q, two_q;
  set_t checked_q;
  line_t one_line;
  logic [WordBits-1:0] one_word;

  always_ff @(posedge clk_i) begin
    one_valid_q <= pick && rst_ni;
    two_valid_q <= one_valid_q && rst_ni;
    one_asker_q <= picked;
    one_q       <= picked_request;
  end
  assign one_crosses = 7'(one_q.place[OutsideLineBits-1:0]) + 7'(one_q.bytes) > 7'd64;
  assign one_second = one_crosses && !checked_q[one_asker_q];
  assign one_line = one_q.place[PlaceBits-1:OutsideLineBits] + line_t'(one_second);
  assign one_word = one_q.place[CacheBits-1:3];

  tag_t tag, tag_new;
  logic tag_write, tag_look, tag_judges, tag_clears, page_clears, page_sets;
  logic [IndexBits-1:0] tag_index, tag_write_index;
  logic [UnitBits-1:0] page_clear_unit, page_unit;
  logic [PagesInUnit-1:0] written, page_bit;

  sluice_ram_1r1w #(
      .Width(1 + TagBits),
      .Depth(Lines),
      .Style("block")
  ) u_tags (
      .clk_i,
      .wr_en_i  (tag_write),
      .wr_addr_i(tag_write_index),
      .wr_data_i(tag_new),
      .rd_en_i  (one_valid_q || tag_look),
      .rd_addr_i(one_valid_q ? one_line[IndexBits-1:0] : tag_index),
      .rd_data_o(tag)
  );

  // Whether pages were written: those of a unit in a word.
  sluice_ram_1r1w #(
      .Width   (PagesInUnit),
      .Depth   (2 ** UnitBits),
      .InitZero(1'b0),
      .Style   ((UnitBits < 12) ? "block" : "ultra")
  ) u_pages (
      .clk_i,
      .wr_en_i  (page_clears || page_sets),
      .wr_addr_i(page_sets ? page_unit : page_clear_unit),
      .wr_data_i(page_sets ? written | page_bit : '0),
      .rd_en_i  (one_valid_q),
      .rd_addr_i(one_q.place[PlaceBits-1:OutsideUnitBits]),
      .rd_data_o(written)
  );

  logic [1:0][63:0] words;
  sluice_xdp_outside_banks #(
      .WordBits(WordBits)
  ) u_banks (
      .clk_i,
      .read_i      (one_valid_q),
      .read_word_i (one_word),
      .words_o     (words),
      .put_i       (three_writes),
      .hit_i       (three_hit_q),
      .put_word_i  (three_q.place[CacheBits-1:3]),
      .put_enable_i(put_enable),
      .put_data_i  (put_data),
      .fill_i      (fill),
      .fill_row_i  ({fill_line[IndexBits-1:0], fill_beat}),
      .fill_data_i (slave_i.r_data)
  );

  // ---------------------------------------------------------------------------------------------------------------
  // 2: is it there?

  line_t two_line_q;
  logic two_second_q, two_crosses_q, two_first;
  logic touched, hit, stale, misses, writes, room, pending, fetches, checks, completes, failed;
  logic read_ready, read_gone, write_gone, write_late, late_valid, gives_up, refused, waited, round, look_valid;
  logic room_any, room_first, allowed, puts, asks, refuses;
  set_t released;
  outside_id_t look_id;
  asker_t late_asker;
  set_t failed_q, late_q, second_hit_q;
  logic set_q;
  logic [UnitBits-1:0] set_unit_q;
  logic [127:0] pair;

  always_ff @(posedge clk_i) begin
    two_asker_q   <= one_asker_q;
    two_q         <= one_q;
    two_line_q    <= one_line;
    two_second_q  <= one_second;
    two_crosses_q <= one_crosses;
    // Bits that were set in the last cycle were not read.
    set_q         <= page_sets;
    set_unit_q    <= page_unit;
  end

  assign page_unit = two_q.place[PlaceBits-1:OutsideUnitBits];
  assign page_bit = PagesInUnit'(1) << two_q.place[OutsidePageBits+:PageBits];
  assign touched = (written & page_bit) != '0;
  assign hit = touched && tag.valid && tag.tag == two_line_q[LineBits-1:IndexBits];
  assign stale = set_q && set_unit_q == page_unit;
  // The first line is looked at next. Of a page that nobody wrote none is needed, and who looked again might find that somebody has since.
  assign two_first = two_second_q && touched;
  assign writes = two_q.op != OutsideLoad;
  // A load that has its line is behind it: what comes then writes later.
  assign found = two_valid_q && !stale && hit && !writes && !two_crosses_q;
  assign misses = two_q.op inside {OutsideLoad, OutsideAtomic} && touched && !hit;
  // What needs a memory that is gone, or the answer of a write that is late, does not wait.
  assign refused = (misses && (read_gone || (pending && write_late))) || (writes && !room_any && write_gone);
  // One that is late in this cycle asks for nothing any more: nobody would give that up.
  assign waited = late_q[two_asker_q] || (late_valid && late_asker == two_asker_q) || (refused && !failed_q[two_asker_q]);
  assign failed = failed_q[two_asker_q] || waited;
  // An access that fails needs no room.
  assign completes = two_valid_q && !stale && (failed || (!misses && !two_first && (!writes || (room && allowed))));
  assign asks = two_valid_q && !stale && !failed && (misses || puts);
  assign refuses = asks && !allowed;
  assign puts = !misses && writes && !two_first;
  assign room = touched ? room_any : room_first;

  sluice_xdp_outside_shares #(
      .Askers(Askers)
  ) u_shares (
      .clk_i,
      .rst_ni,
      .ask_valid_i  (asks),
      .ask_write_i  (puts),
      .ask_asker_i  (two_asker_q),
      .ask_module_i (two_q.module_id),
      .ask_beats_i  (misses ? 7'd4 : touched ? 7'd2 : 7'd64),
      .waits_i      (puts || !pending),
      .takes_i      (misses ? fetches : completes),
      .allows_o     (allowed),
      .late_i       (late_q),
      .release_o    (released),
      .leave_valid_i(leave),
      .leave_asker_i(leaver),
      .weight_valid_i,
      .weight_module_i,
      .weight_i
  );
  assign late_o = completes && waited;
  assign accessed_o = completes;
  assign fetched_o = fetches;
  assign checks = two_valid_q && !stale && !failed && !misses && two_first;
  assign fetches = two_valid_q && !stale && misses && !failed && allowed && read_ready && !pending;
  assign again = one_of(two_valid_q && !completes && !fetches && !refuses, two_asker_q) | released;
  assign page_sets = completes && writes && !failed && !touched;

  assign pair = two_q.place[3] ? {words[0], words[1]} : {words[1], words[0]};

  always_ff @(posedge clk_i) begin
    checked_q <= (checked_q & ~one_of(valid_i, asker_i)) | one_of(checks, two_asker_q);
    second_hit_q <= (second_hit_q & ~one_of(valid_i, asker_i)) | one_of(checks && hit, two_asker_q);
  end

  // ---------------------------------------------------------------------------------------------------------------
  // 3: what it gives, and what it writes.

  always_ff @(posedge clk_i) begin
    three_valid_q  <= completes && rst_ni;
    three_fault_q  <= failed;
    three_asker_q  <= two_asker_q;
    three_left_q   <= found;
    three_follow_q <= followed;
    three_q        <= two_q;
    three_first_q  <= !touched;
    three_hit_q    <= {two_crosses_q ? second_hit_q[two_asker_q] && touched : hit, hit};
    three_upper_q  <= touched ? pair[127:64] : '0;
    three_found_q  <= touched ? 64'(pair >> {two_q.place[2:0], 3'd0}) & bit_mask(two_q.bytes) : '0;
  end

  outside_write_t put;
  sluice_xdp_outside_change u_change (
      .request_i(three_q),
      .found_i  (three_found_q),
      .upper_i  (three_upper_q),
      .first_i  (three_first_q),
      .write_o  (put),
      .enable_o (put_enable),
      .data_o   (put_data)
  );
  assign three_writes    = three_valid_q && three_q.op != OutsideLoad && !three_fault_q;
  assign {leave, leaver} = {three_valid_q, three_asker_q};

  sluice_xdp_outside_writes #(
      .Askers(Askers)
  ) u_writes (
      .clk_i,
      .rst_ni,
      .enter_valid_i(valid_i),
      .enter_asker_i(asker_i),
      .soon_valid_i (one_valid_q),
      .soon_line_i  (outside_line_t'(one_line)),
      .look_valid_i (two_valid_q && !stale && misses),
      .look_asker_i (two_asker_q),
      .look_line_i  (outside_line_t'(two_line_q)),
      .look_whole_i (two_crosses_q),
      .put_valid_i  (three_writes),
      .put_i        (put),
      .room_o       (room_any),
      .room_first_o (room_first),
      .pending_o    (pending),
      .failed_o     (write_failed_o),
      .round_i      (round),
      .late_valid_i (look_valid),
      .look_late_i  (look_id),
      .late_o       (write_late),
      .late_told_o  (write_late_o),
      .gone_o       (write_gone),
      .aw_valid_o   (master_o.aw_valid),
      .aw_id_o      (master_o.aw_id),
      .aw_addr_o    (master_o.aw_addr),
      .aw_len_o     (master_o.aw_len),
      .aw_ready_i   (slave_i.aw_ready),
      .w_valid_o    (master_o.w_valid),
      .w_data_o     (master_o.w_data),
      .w_strb_o     (master_o.w_strb),
      .w_last_o     (master_o.w_last),
      .w_ready_i    (slave_i.w_ready),
      .b_valid_i    (slave_i.b_valid),
      .b_id_i       (slave_i.b_id),
      .b_resp_i     (slave_i.b_resp)
  );
  assign master_o.b_ready = 1'b1;

  // Each asker has one answer at most.
  logic unused_done_ready;
  logic [$clog2(Askers+1)-1:0] unused_done_level;
  sluice_fifo #(
      .Width(AskerBits + 129),
      .Depth(Askers)
  ) u_done (
      .clk_i,
      .rst_ni,
      .valid_i(three_valid_q && three_asker_q != asker_t'(Putter) && three_asker_q != asker_t'(Storer)),
      .ready_o(unused_done_ready),
      .data_i ({three_asker_q, three_fault_q, three_upper_q, extended(three_found_q, three_q.bytes, three_q.sign)}),
      .valid_o(done_valid_o),
      .ready_i(done_ready_i),
      .data_o ({done_asker_o, done_fault_o, done_upper_o, done_value_o}),
      .level_o(unused_done_level)
  );

  // ---------------------------------------------------------------------------------------------------------------
  // Lines are fetched: four beats of an asker, between those of others.

  // The banks are those of writes first, the tags those of pages that are cleared. A line that is given up is forgotten: what came of it has overwritten another.
  sluice_xdp_outside_reads #(
      .LineBits(LineBits),
      .Askers(Askers),
      .LateCycles(LateCycles)
  ) u_reads (
      .clk_i,
      .rst_ni,
      .ask_valid_i  (fetches),
      .ready_o      (read_ready),
      .ask_asker_i  (two_asker_q),
      .ask_line_i   (two_line_q),
      .enter_valid_i(valid_i),
      .enter_asker_i(asker_i),
      .busy_i       (busy_o),
      .late_free_i  (!tag_judges),
      .look_valid_o (look_valid),
      .look_o       (look_id),
      .round_o      (round),
      .late_valid_o (late_valid),
      .late_asker_o (late_asker),
      .gives_up_o   (gives_up),
      .gone_o       (read_gone),
      .lost_o,
      .free_i       (!three_writes && !tag_judges && !forgets),
      .fill_o       (fill),
      .fill_last_o  (fill_last),
      .fill_beat_o  (fill_beat),
      .fill_asker_o (fill_asker),
      .line_o       (fill_line),
      .ar_valid_o   (master_o.ar_valid),
      .ar_id_o      (master_o.ar_id),
      .ar_addr_o    (master_o.ar_addr),
      .ar_len_o     (master_o.ar_len),
      .ar_ready_i   (slave_i.ar_ready),
      .r_valid_i    (slave_i.r_valid),
      .r_ready_o    (master_o.r_ready),
      .r_id_i       (slave_i.r_id)
  );
  assign fill_bad = slave_i.r_resp[1] || failed_q[fill_asker];
  assign filled = one_of(fill_last, fill_asker) | one_of(gives_up, late_asker);
  assign read_failed_o = fill_last && fill_bad;

  sluice_xdp_outside_forget u_forget (
      .clk_i,
      .rst_ni,
      .forget_o(forget)
  );

  always_ff @(posedge clk_i) begin
    failed_q <= (failed_q & ~one_of(valid_i, asker_i)) | one_of(fill && slave_i.r_resp[1], fill_asker);
    late_q   <= (late_q & ~one_of(valid_i, asker_i)) | one_of(late_valid, late_asker);
  end

  assign tag_write = fill_last || tag_clears || gives_up || forgets;
  assign forgets = forget && three_valid_q && !(three_left_q ? three_follow_q : followed) && !tag_judges && !gives_up;
  assign tag_write_index = tag_clears ? tag_index : forgets ? three_q.place[OutsideLineBits+:IndexBits] : fill_line[IndexBits-1:0];
  assign tag_new = '{valid: !tag_clears && !gives_up && !forgets && !fill_bad, tag: fill_line[LineBits-1:IndexBits]};

  // ---------------------------------------------------------------------------------------------------------------
  // Pages that are cleared.

  // "Bits of signal are not used": of a line, in which unit it lies.
  // verilator lint_off UNUSEDSIGNAL
  line_t cleared_line;
  // verilator lint_on UNUSEDSIGNAL
  assign cleared_line = {tag.tag, tag_index};
  sluice_xdp_outside_clear #(
      .UnitBits (UnitBits),
      .IndexBits(IndexBits)
  ) u_clear (
      .clk_i,
      .rst_ni,
      .valid_i     (clear_valid_i),
      .first_i     (clear_first_i),
      .units_i     (clear_units_i),
      .busy_o      (clearing),
      .done_o      (clear_done_o),
      .pages_free_i(!page_sets),
      .page_valid_o(page_clears),
      .page_unit_o (page_clear_unit),
      .tags_free_i (!one_valid_q),
      .tag_read_o  (tag_look),
      .tag_index_o (tag_index),
      .tag_valid_i (tag.valid),
      .tag_unit_i  (cleared_line[LineBits-1:OutsideUnitBits-OutsideLineBits]),
      .tag_judges_o(tag_judges),
      .tag_clears_o(tag_clears)
  );

`ifndef SYNTHESIS
  AnswersHaveRoom_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) unused_done_ready);
  BlocksAreNotLeft_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni)
    !valid_i || 10'(request_i.place[OutsideBlockBits-1:0]) + 10'(request_i.bytes) <= 10'd512);
`endif

endmodule
