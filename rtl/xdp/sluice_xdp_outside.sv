/// Values of maps in external memory, behind a cache (docs/decisions/xdp-external-memory.md).
///
/// `valid_i` brings an access that was allowed; each asker has one at a time. It is answered when it is done, in any order; stores of the askers `Putter` and
/// `Storer` have no answer. `done_upper_o` is the word behind an aligned one of 8 bytes. Accesses to one block of 512 bytes are done as they came. Loads and atomic operations need the line in the cache, and fetch it; stores
/// change the cache where it has the line. Each store is a posted write to memory. A page of 1 KiB that was not written since it was cleared reads
/// as zeros, without memory.
///
/// A line that memory answers with an error is not kept, and who asked for it is told a fault and has changed nothing. A write that memory answers with an
/// error is counted (`write_failed_o`).
///
/// Latency: 5 cycles where the line is there or the page was never written; else those of memory and 7 more, and behind writes of the line's page their
/// answers. Throughput: an access a cycle. Stall behaviour: who waits for memory holds up those of its key alone
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

    output logic read_failed_o,
    output logic write_failed_o,

    output outside_master_t master_o,
    input  outside_slave_t  slave_i
);

  localparam int unsigned IndexBits = $clog2(Lines);
  localparam int unsigned CacheBits = IndexBits + OutsideLineBits;
  localparam int unsigned TagBits = PlaceBits - CacheBits;
  localparam int unsigned LineBits = PlaceBits - OutsideLineBits;
  localparam int unsigned WordBits = CacheBits - 3;
  localparam int unsigned KeyBits = CacheBits - OutsideBlockBits;
  localparam int unsigned PagesInUnit = 2 ** (OutsideUnitBits - OutsidePageBits);
  localparam int unsigned PageBits = $clog2(PagesInUnit);
  localparam Style = (WordBits < 13) ? "block" : "ultra";

  if (2 ** IndexBits != Lines || Lines < 16 || CacheBits >= PlaceBits) begin : gen_bad_lines
    $fatal(1, "xdp_outside: Lines is %0d, expected a power of two from 16 on, less than memory has (%m)", Lines);
  end
  if (PlaceBits > 32 || PlaceBits <= OutsideUnitBits) begin : gen_bad_place
    $fatal(1, "xdp_outside: PlaceBits is %0d, expected 17 to 32 (%m)", PlaceBits);
  end
  if (Putter >= Askers || Askers > 2 ** OutsideIdBits) begin : gen_bad_askers
    $fatal(
        1, "xdp_outside: Askers is %0d, expected more than Putter, which is %0d, and at most 64 (%m)", Askers, Putter
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

  set_t starts, ready_q, again, filled, grant;
  logic clearing, turn_q, pick, unused_valid;
  logic leave;
  asker_t picked, leaver;
  outside_request_t picked_request;

  sluice_xdp_outside_order #(
      .Askers (Askers),
      .KeyBits(KeyBits)
  ) u_order (
      .clk_i,
      .rst_ni,
      .enter_valid_i(valid_i),
      .enter_asker_i(asker_i),
      .enter_key_i  (request_i.place[CacheBits-1:OutsideBlockBits]),
      .leave_valid_i(leave),
      .leave_asker_i(leaver),
      .start_o      (starts),
      .busy_o
  );

  sluice_ram_lut #(
      .Width($bits(outside_request_t)),
      .Depth(Askers)
  ) u_requests (
      .clk_i,
      .we_i   (valid_i),
      .waddr_i(asker_i),
      .wdata_i(request_i),
      .raddr_i(picked),
      .rdata_o(picked_request)
  );

  sluice_arb_rr #(
      .Requests(Askers)
  ) u_pick (
      .clk_i,
      .rst_ni,
      .req_i    (ready_q),
      .advance_i(pick),
      .grant_o  (grant),
      .index_o  (picked),
      .valid_o  (unused_valid)
  );
  // While pages are cleared every other cycle is theirs.
  assign pick = ready_q != '0 && !(clearing && turn_q);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      ready_q <= '0;
      turn_q  <= 1'b0;
    end else begin
      ready_q <= (ready_q & ~(pick ? grant : '0)) | starts | again | filled;
      turn_q  <= !turn_q;
    end
  end

  // ---------------------------------------------------------------------------------------------------------------
  // 1: tag, bits of pages and two words are read. An access that goes over a line's end looks at the second line first.

  logic one_valid_q, two_valid_q, one_crosses, one_second;
  asker_t one_asker_q, two_asker_q;
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

  logic [1:0][WordBits-2:0] write_row;
  logic [1:0][7:0] write_enable;
  logic [1:0][63:0] write_data, words;
  for (genvar b = 0; b < 2; b++) begin : gen_bank
    sluice_ram_1r1w #(
        .Width   (64),
        .Depth   (2 ** (WordBits - 1)),
        .Lanes   (8),
        .InitZero(1'b0),
        .Style   (Style)
    ) u_ram (
        .clk_i,
        .wr_en_i  (write_enable[b]),
        .wr_addr_i(write_row[b]),
        .wr_data_i(write_data[b]),
        .rd_en_i  (one_valid_q),
        .rd_addr_i(one_word[WordBits-1:1] + ((b == 0) ? (WordBits - 1)'(one_word[0]) : '0)),
        .rd_data_o(words[b])
    );
  end

  // ---------------------------------------------------------------------------------------------------------------
  // 2: is it there?

  line_t two_line_q;
  logic two_second_q, two_crosses_q;
  logic touched, hit, stale, misses, writes, room, pending, fetches, checks, completes, failed;
  set_t failed_q, second_hit_q;
  logic set_q, ar_valid_q;
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
  assign failed = failed_q[two_asker_q];
  assign writes = two_q.op != OutsideStore ? two_q.op == OutsideAtomic : 1'b1;
  assign misses = two_q.op != OutsideStore && touched && !hit && !failed;
  // An access that fails needs no room.
  assign completes = two_valid_q && !stale && (failed || (!misses && !two_second_q && (room || !writes)));
  assign checks = two_valid_q && !stale && !failed && !misses && two_second_q;
  assign fetches = two_valid_q && !stale && misses && !ar_valid_q && !pending;
  assign again = one_of(two_valid_q && !completes && !fetches, two_asker_q);
  assign page_sets = completes && writes && !failed && !touched;

  assign pair = two_q.place[3] ? {words[0], words[1]} : {words[1], words[0]};

  always_ff @(posedge clk_i) begin
    checked_q <= (checked_q & ~one_of(valid_i, asker_i)) | one_of(checks, two_asker_q);
    second_hit_q <= (second_hit_q & ~one_of(valid_i, asker_i)) | one_of(checks && hit, two_asker_q);
  end

  // ---------------------------------------------------------------------------------------------------------------
  // 3: what it gives, and what it writes.

  logic three_valid_q, three_fault_q, three_first_q, three_writes;
  logic [1:0] three_hit_q;
  asker_t three_asker_q;
  outside_request_t three_q;
  logic [63:0] three_found_q, three_upper_q, three_changed, three_new, three_second;
  logic three_pair;
  logic [15:0] put_enable;
  logic [127:0] put_data;

  always_ff @(posedge clk_i) begin
    three_valid_q <= completes && rst_ni;
    three_fault_q <= failed;
    three_asker_q <= two_asker_q;
    three_q       <= two_q;
    three_first_q <= !touched;
    three_hit_q   <= {two_crosses_q ? second_hit_q[two_asker_q] && touched : hit, hit};
    three_upper_q <= touched ? pair[127:64] : '0;
    three_found_q <= touched ? 64'(pair >> {two_q.place[2:0], 3'd0}) & bit_mask(two_q.bytes) : '0;
  end

  sluice_xdp_atomic u_atomic (
      .code_i    (three_q.code),
      .wide_i    (three_q.bytes[3]),
      .old_i     (three_found_q),
      .operand_i (three_q.data),
      .expected_i(three_q.expected),
      .new_o     (three_changed)
  );
  assign three_new    = (three_q.op == OutsideAtomic) ? three_changed : three_q.data;
  // A pair lies at a multiple of 16, in one line.
  assign three_pair   = three_q.op == OutsideAtomic && three_q.bytes[3] && three_q.code[2:1] == 2'b11;
  assign three_second = three_upper_q + three_q.expected;
  assign three_writes = three_valid_q && three_q.op != OutsideLoad && !three_fault_q;
  assign put_enable   = 16'({{8{three_pair}}, byte_mask(three_q.bytes)}) << three_q.place[2:0];
  assign put_data     = 128'({three_pair ? three_second : '0, three_new}) << {three_q.place[2:0], 3'd0};
  assign leave        = three_valid_q;
  assign leaver       = three_asker_q;

  outside_write_t put;
  assign put = '{
          place: 32'(three_q.place[PlaceBits-1:0]),
          bytes: three_q.bytes,
          data: three_new,
          pair: three_pair,
          second: three_second,
          first: three_first_q
      };

  sluice_xdp_outside_writes u_writes (
      .clk_i,
      .rst_ni,
      .put_valid_i(three_writes),
      .put_i      (put),
      .room_o     (room),
      .look_id_i  (two_line_q[OutsidePageBits-OutsideLineBits+:OutsideIdBits]),
      .pending_o  (pending),
      .failed_o   (write_failed_o),
      .aw_valid_o (master_o.aw_valid),
      .aw_id_o    (master_o.aw_id),
      .aw_addr_o  (master_o.aw_addr),
      .aw_len_o   (master_o.aw_len),
      .aw_ready_i (slave_i.aw_ready),
      .w_valid_o  (master_o.w_valid),
      .w_data_o   (master_o.w_data),
      .w_strb_o   (master_o.w_strb),
      .w_last_o   (master_o.w_last),
      .w_ready_i  (slave_i.w_ready),
      .b_valid_i  (slave_i.b_valid),
      .b_id_i     (slave_i.b_id),
      .b_resp_i   (slave_i.b_resp)
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

  line_t ar_line_q, fill_line;
  asker_t ar_asker_q, fill_asker;
  logic fill, fill_last, fill_bad;
  logic [Askers-1:0][1:0] beat_q;

  sluice_ram_lut #(
      .Width(LineBits),
      .Depth(Askers)
  ) u_lines (
      .clk_i,
      .we_i   (fetches),
      .waddr_i(two_asker_q),
      .wdata_i(two_line_q),
      .raddr_i(fill_asker),
      .rdata_o(fill_line)
  );

  assign master_o.ar_valid = ar_valid_q;
  assign master_o.ar_id = outside_id_t'(ar_asker_q);
  assign master_o.ar_addr = 32'({ar_line_q, OutsideLineBits'(0)});
  assign master_o.ar_len = 8'd3;
  // The banks are those of writes first, the tags those of pages that are cleared.
  assign master_o.r_ready = !three_writes && !tag_judges;
  assign fill = slave_i.r_valid && master_o.r_ready;
  assign fill_asker = asker_t'(slave_i.r_id);
  assign fill_last = fill && beat_q[fill_asker] == 2'd3;
  assign fill_bad = slave_i.r_resp[1] || failed_q[fill_asker];
  assign filled = one_of(fill_last, fill_asker);
  assign read_failed_o = fill_last && fill_bad;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) ar_valid_q <= 1'b0;
    else if (fetches) ar_valid_q <= 1'b1;
    else if (slave_i.ar_ready) ar_valid_q <= 1'b0;
    if (fetches) begin
      ar_line_q  <= two_line_q;
      ar_asker_q <= two_asker_q;
    end
    if (!rst_ni) beat_q <= '0;
    else if (fill) beat_q[fill_asker] <= beat_q[fill_asker] + 2'd1;
    failed_q <= (failed_q & ~one_of(valid_i, asker_i)) | one_of(fill && slave_i.r_resp[1], fill_asker);
  end

  assign tag_write = fill_last || tag_clears;
  assign tag_write_index = tag_clears ? tag_index : fill_line[IndexBits-1:0];
  assign tag_new = '{valid: !tag_clears && !fill_bad, tag: fill_line[LineBits-1:IndexBits]};

  always_comb begin
    write_row[0] = three_q.place[CacheBits-1:4] + (WordBits - 1)'(three_q.place[3]);
    write_row[1] = three_q.place[CacheBits-1:4];
    write_data   = three_q.place[3] ? {put_data[63:0], put_data[127:64]} : put_data;
    write_enable = '0;
    for (int unsigned w = 0; w < 2; w++) begin
      if (three_writes && three_hit_q[w]) write_enable[1'(w)^three_q.place[3]] = put_enable[8*w+:8];
    end
    if (fill) begin
      write_row = {2{fill_line[IndexBits-1:0], beat_q[fill_asker]}};
      write_data = slave_i.r_data;
      write_enable = '1;
    end
  end

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
