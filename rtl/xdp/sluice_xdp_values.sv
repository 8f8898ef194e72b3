/// Values of maps: their memory, the addresses that programs see, and lookups in arrays (docs/design/hxdp-core.md, "Values").
///
/// `valid_i` with `ready_o` takes a request of a context; `late_i` belongs to the request of the cycle before, and is a lookup's key or
/// the value that an echo gives back. `done_valid_o` answers 4 cycles later, in the order of requests: what a load, atomic or echo
/// found, the address of a lookup's value or 0, what an entry of a devmap or of a map of destinations refers to or 0, and whether the access was one that its module's pages do not allow.
///
/// A request of the map engine for a place in value memory is not judged; a store of it has no answer.
/// With external memory (`PlaceBits` of its bytes; 0 is none), an access to values that lie there goes on at `outside_*` when it was judged, and has no answer here.
///
/// An access lies, with as many bytes behind it as its `span` says, in one value of a page that its module owns, or it faults. What is written is there for every later request.
/// The host's accesses to value memory wait for cycles without a request.
///
/// Configuration: tables `xdp_region` and `xdp_map` answered 4 cycles after `cfg_valid_i`, `xdp_value` 6 and as long as
/// requests come. A clear takes regions and maps.
///
/// Latency: 4 cycles. Throughput: a request a cycle. Stall behaviour: `ready_o` is low for the two cycles behind an atomic operation,
/// and concerns stores alone; what an atomic operation has not written yet is given to whoever reads it.
module sluice_xdp_values
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_pkg::*;
  import sluice_xdp_outside_pkg::*;
#(
    parameter int unsigned Regions = 512,
    parameter int unsigned Maps = 256,
    parameter int unsigned Bytes = 1 << 20,
    parameter int unsigned Contexts = 8,
    parameter int unsigned PlaceBits = 0,
    localparam int unsigned LockBits = (PlaceBits > $clog2(Bytes)) ? PlaceBits - 1 : $clog2(Bytes / 4),
    localparam int unsigned ContextBits = $clog2(Contexts)
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic                           valid_i,
    output logic                           ready_o,
    input  xdp_request_t                   request_i,
    input  logic         [ContextBits-1:0] context_i,
    input  logic         [           63:0] late_i,

    output logic                   done_valid_o,
    output logic [ContextBits-1:0] done_context_o,
    output logic                   soon_valid_o,    // whom they answer in the next cycle
    output logic [ContextBits-1:0] soon_context_o,
    output logic                   done_fault_o,
    output logic [           63:0] done_value_o,
    // In place of an answer: whose lock it is, where it lies in words of 4 bytes (external memory has a bit above), whether it is given back, whether
    // there is none.
    output logic                   lock_valid_o,
    output logic [ContextBits-1:0] lock_context_o,
    output logic [   LockBits-1:0] lock_place_o,
    output logic                   lock_unlocks_o,
    output logic                   lock_fault_o,

    output logic                               outside_valid_o,
    output logic             [ContextBits-1:0] outside_context_o,
    output logic                               outside_puts_o,     // a store of the map engine
    output outside_request_t                   outside_o,

    input  logic     cfg_valid_i,
    input  cfg_req_t cfg_req_i,
    output logic     cfg_valid_o,
    output cfg_rsp_t cfg_rsp_o
);

  localparam int unsigned RegionBits = $clog2(Regions);
  localparam int unsigned MapBits = $clog2(Maps);
  // Words of 8 bytes, of which even and odd ones lie in a bank each.
  localparam int unsigned WordBits = $clog2(Bytes / 8);
  localparam int unsigned BankBits = WordBits - 1;
  localparam int unsigned AnswerCycles = 4;

  if (2 ** RegionBits != Regions || Regions > 512) begin : gen_bad_regions
    $fatal(1, "xdp_values: Regions is %0d, expected a power of two up to 512 (%m)", Regions);
  end
  if (2 ** MapBits != Maps || Maps > 65536) begin : gen_bad_maps
    $fatal(1, "xdp_values: Maps is %0d, expected a power of two up to 65536 (%m)", Maps);
  end
  if (2 ** WordBits != Bytes / 8 || Bytes < 4096 || Bytes > 2 ** 21) begin : gen_bad_bytes
    $fatal(1, "xdp_values: Bytes is %0d, expected a power of two from 4096 to 2097152 (%m)", Bytes);
  end

  // ---------------------------------------------------------------------------------------------------------------
  // Tables.

  logic is_region, is_map, is_value, clears, writes_row;
  cfg_status_e status;
  xdp_region_row_t region, region_read;
  xdp_map_row_t map_read;
  // "Bits of signal are not used": the map engine has the other fields.
  // verilator lint_off UNUSEDSIGNAL
  xdp_map_row_t map;
  // verilator lint_on UNUSEDSIGNAL
  logic [8:0] region_index;
  logic in_count;
  localparam bit Outside = PlaceBits != 0;

  assign is_region = cfg_req_i.tab == TableXdpRegion;
  assign is_map = cfg_req_i.tab == TableXdpMap;
  assign is_value = cfg_req_i.tab == TableXdpValue;
  assign clears = cfg_req_i.clear;
  assign writes_row = (cfg_req_i.write && status == StatusOk) || clears;

  always_comb begin
    case (cfg_req_i.tab)
      TableXdpRegion: status = cfg_check(cfg_req_i, 1'b1, 1'b1, 24'(Regions), 4'(XdpRegionRowWords));
      TableXdpMap: status = cfg_check(cfg_req_i, 1'b1, 1'b1, 24'(Maps), 4'(XdpMapRowWords));
      default: status = cfg_check(cfg_req_i, is_value, 1'b1, 24'(Bytes / 32), 4'(XdpValueRowWords));
    endcase
  end

  sluice_xdp_region #(
      .Outside(Outside)
  ) u_region (
      .regions_i(request_i.regions),
      .address_i(request_i.address),
      .index_o  (region_index),
      .known_o  (in_count)
  );

  sluice_ram_dp #(
      .Width(XdpRegionRowBits),
      .Depth(Regions)
  ) u_regions (
      .clk_i,
      .a_en_i   ((cfg_valid_i && is_region) || clears),
      .a_we_i   (writes_row),
      .a_addr_i (cfg_req_i.index[RegionBits-1:0]),
      .a_wdata_i(cfg_req_i.data[XdpRegionRowBits-1:0]),
      .a_rdata_o(region_read),
      .b_en_i   (valid_i),
      .b_addr_i (region_index[RegionBits-1:0]),
      .b_rdata_o(region)
  );

  sluice_ram_dp #(
      .Width(XdpMapRowBits),
      .Depth(Maps)
  ) u_maps (
      .clk_i,
      .a_en_i   ((cfg_valid_i && is_map) || clears),
      .a_we_i   (writes_row),
      .a_addr_i (cfg_req_i.index[MapBits-1:0]),
      .a_wdata_i(cfg_req_i.data[XdpMapRowBits-1:0]),
      .a_rdata_o(map_read),
      .b_en_i   (valid_i),
      .b_addr_i (request_i.map[MapBits-1:0]),
      .b_rdata_o(map)
  );

  // ---------------------------------------------------------------------------------------------------------------
  // 1: the rows are there. What the access may, and where it lies.

  logic one_valid_q, two_valid_q, three_valid_q, four_valid_q;
  logic [ContextBits-1:0] one_context_q, two_context_q, three_context_q, four_context_q;
  // "Bits of signal are not used": the request travels whole, each step takes the fields that concern it.
  // verilator lint_off UNUSEDSIGNAL
  xdp_request_t one_q, two_q, three_q;
  // verilator lint_on UNUSEDSIGNAL
  logic one_leaves, one_outside, one_large;
  logic [23:0] one_offset;
  logic one_known_q, one_is_lock, one_allowed, one_found, one_placed, one_devices, one_refers, taken;
  logic [9:0] one_within, one_limit;
  logic [63:0] one_value;
  // "Bits of signal are not used": entries lie in words of 8 bytes.
  // verilator lint_off UNUSEDSIGNAL
  logic [31:0] one_entry;
  // verilator lint_on UNUSEDSIGNAL
  logic [WordBits-1:0] one_word;

  assign taken   = valid_i && (ready_o || !(request_i.kind inside {RequestStore, RequestPut}));
  assign ready_o = !(one_valid_q && one_q.kind == RequestAtomic) && !(two_valid_q && two_q.kind == RequestAtomic);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      one_valid_q   <= 1'b0;
      two_valid_q   <= 1'b0;
      three_valid_q <= 1'b0;
      four_valid_q  <= 1'b0;
    end else begin
      one_valid_q   <= taken;
      two_valid_q   <= one_valid_q && !one_leaves;
      three_valid_q <= two_valid_q;
      four_valid_q  <= soon_valid_o;
    end
    one_context_q   <= context_i;
    two_context_q   <= one_context_q;
    three_context_q <= two_context_q;
    four_context_q  <= three_context_q;
    one_q           <= request_i;
    two_q           <= one_q;
    // An entry's reference has 4 bytes; where there is none, none are read.
    if (one_q.kind == RequestReference) begin
      two_q.address <= '0;
      two_q.bytes   <= one_refers ? 4'd4 : 4'd0;
      two_q.sign    <= 1'b0;
    end
    three_q     <= two_q;
    one_known_q <= in_count && 32'(region_index) < Regions;
  end

  assign one_within = one_q.address[9:0] & ~(10'h3ff << region.shift);
  assign one_limit = (one_q.kind == RequestLoad) ? region.readable : region.writable;
  assign one_large = Outside && one_q.address[29:24] != '0;
  assign one_offset = {one_large ? one_q.address[23:16] : 8'd0, one_q.address[15:0]};
  assign one_allowed = one_known_q && region.valid && region.module_id == one_q.module_id &&
      25'(one_offset) < region.bytes && 11'(one_within) + 11'(one_q.span) <= 11'(one_limit);
  assign one_is_lock = region.lock != '0 && one_within[1:0] == '0 && 9'(one_within[9:2]) + 9'd1 == 9'(region.lock);
  assign one_placed = one_q.kind inside {RequestGet, RequestPut};
  assign one_devices = map.valid && map.module_id == one_q.module_id && map.kind == (one_q.code[0] ? XdpMapReferences : XdpMapDevices) &&
      32'(one_q.map) < Maps;
  // Behind a devmap's last slot lies where all entries lead to.
  assign one_refers = one_q.address < map.entries || one_q.sign;
  assign one_entry = {4'd0, map.base, 12'd0} + ((one_q.sign ? 32'(map.slots) : one_q.address) << map.shift);
  assign one_word = (one_q.kind == RequestReference) ? WordBits'(one_entry[31:3]) :
      one_placed ? WordBits'(one_q.address[31:3]) : WordBits'({region.base, 9'd0}) + WordBits'(one_offset[23:3]);
  // Those to external memory leave here, but for locks: these are told apart by their place.
  assign one_outside = Outside && (one_placed ? one_q.outside : region.outside);
  assign one_leaves = one_outside &&
      (one_placed || (one_allowed && one_q.kind inside {RequestLoad, RequestStore, RequestAtomic}));
  assign one_found = map.valid && map.module_id == one_q.module_id && map.kind == XdpMapArray && !map.per_cpu && late_i[31:0] < map.entries &&
      32'(one_q.map) < Maps;

  always_comb begin
    one_value = late_i;
    if (one_q.kind == RequestLookup) one_value = one_found ? 64'(32'(map.first + (late_i[31:0] << map.shift))) : '0;
  end

  // ---------------------------------------------------------------------------------------------------------------
  // 2: memory is read, stores write.

  logic two_fault_q, three_fault_q, four_fault_q, two_memory;
  logic [63:0] two_value_q, three_value_q, four_value_q;
  logic [WordBits-1:0] two_word_q, three_word_q, four_word_q;
  logic four_writes_q, four_pair_q;
  logic [2:0] four_byte_q;
  logic [3:0] four_bytes_q;
  logic [1:0][63:0] four_new_q;

  always_ff @(posedge clk_i) begin
    two_fault_q   <= (one_q.kind inside {RequestLoad, RequestStore, RequestAtomic} && !one_allowed) ||
        (one_q.kind == RequestReference && !one_devices) || (one_q.kind inside {RequestLock, RequestUnlock} && !(one_allowed && one_is_lock));
    two_value_q <= one_value;
    two_word_q <= one_word;
    three_fault_q <= two_fault_q;
    three_value_q <= two_value_q;
    three_word_q <= two_word_q;
    four_word_q <= three_word_q;
    four_fault_q <= three_fault_q;
  end

  assign two_memory = two_valid_q && !two_fault_q && two_q.kind inside {RequestLoad, RequestStore, RequestAtomic, RequestGet, RequestPut, RequestReference};
  // The host, when nobody else has the memory: two rows of both banks, one after the other.
  typedef enum logic [2:0] {
    HostIdle,
    HostFirst,
    HostSecond,
    HostLate,    // the second row arrives
    HostDone
  } host_e;
  host_e host_q;
  logic host_turn, host_writes;
  logic [BankBits-1:0] host_row;

  assign host_turn = host_q inside {HostFirst, HostSecond} && !two_memory && !four_writes_q;
  assign host_writes = cfg_req_i.write && status == StatusOk;
  assign host_row = {cfg_req_i.index[BankBits-2:0], host_q == HostSecond};

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      host_q <= HostIdle;
    end else begin
      case (host_q)
        HostIdle: if (cfg_valid_i && is_value) host_q <= HostFirst;
        HostFirst: if (host_turn) host_q <= HostSecond;
        HostSecond: if (host_turn) host_q <= HostLate;
        HostLate: host_q <= HostDone;
        default: host_q <= HostIdle;
      endcase
    end
  end

  // Two words of 8 bytes from `word` on: even bank, odd bank.
  logic read_enable;
  logic [1:0][BankBits-1:0] read_row, write_row;
  logic [1:0][7:0] write_enable;
  logic [1:0][63:0] write_data, read_data;
  logic [63:0] put_data;
  logic [2:0] put_byte;
  logic [15:0] put_enable;
  logic [WordBits-1:0] put_word;
  logic put, two_writes;
  // An atomic operation writes in step 4: nobody else writes then.
  assign two_writes = two_q.kind inside {RequestStore, RequestPut};
  assign put = (two_memory && two_writes) || four_writes_q;
  assign put_word = four_writes_q ? four_word_q : two_word_q;
  assign put_byte = four_writes_q ? four_byte_q : two_q.address[2:0];
  // The same in both words, but for a pair: each byte is enabled in one of them.
  assign put_data = turned_up(four_writes_q ? four_new_q[0] : two_q.data, put_byte);
  assign put_enable = {{8{four_writes_q && four_pair_q}}, 8'd0} | 16'(byte_mask(
      four_writes_q ? four_bytes_q : two_q.bytes
  )) << put_byte;

  assign read_enable = (two_memory && !two_writes) || (host_turn && !cfg_req_i.write);
  always_comb begin
    read_row[0]  = two_word_q[WordBits-1:1] + BankBits'(two_word_q[0]);
    read_row[1]  = two_word_q[WordBits-1:1];
    write_row[0] = put_word[WordBits-1:1] + BankBits'(put_word[0]);
    write_row[1] = put_word[WordBits-1:1];
    write_enable = '0;
    if (put) write_enable = put_word[0] ? {put_enable[7:0], put_enable[15:8]} : put_enable;
    write_data = {(four_writes_q && four_pair_q) ? four_new_q[1] : put_data, put_data};
    if (host_turn) begin
      read_row  = {host_row, host_row};
      write_row = {host_row, host_row};
      if (host_writes) write_enable = '1;
      write_data = (host_q == HostSecond) ? cfg_req_i.data[255:128] : cfg_req_i.data[127:0];
    end
  end

  for (genvar b = 0; b < 2; b++) begin : gen_bank
    sluice_ram_banks #(
        .Width(64),
        .Depth(2 ** BankBits),
        .Lanes(8)
    ) u_ram (
        .clk_i,
        .wr_en_i  (write_enable[b]),
        .wr_addr_i(write_row[b]),
        .wr_data_i(write_data[b]),
        .rd_en_i  (read_enable),
        .rd_addr_i(read_row[b]),
        .rd_data_o(read_data[b])
    );
  end

  // ---------------------------------------------------------------------------------------------------------------
  // 3: what was read.

  logic [1:0][63:0] three_banks;
  logic three_pair;
  logic [63:0] three_word, three_found, three_old, three_new, three_result;
  // By the word that is read: which of the words that an atomic operation has written it is.
  logic [1:0][1:0] three_newer_q, three_new_q;
  logic [1:0][63:0] three_full, four_full_q, five_full_q;

  // A pair lies in one row of both banks.
  assign three_pair = three_q.bytes[3] && three_q.code[2:1] == 2'b11;
  always_ff @(posedge clk_i) begin
    for (int unsigned w = 0; w < 2; w++) begin
      three_newer_q[w][0] <= three_valid_q && three_q.kind == RequestAtomic && three_word_q == two_word_q + WordBits'(w);
      three_newer_q[w][1] <= three_valid_q && three_q.kind == RequestAtomic && three_pair &&
          {three_word_q[WordBits-1:1], 1'b1} == two_word_q + WordBits'(w);
      three_new_q[w][0] <= four_writes_q && four_word_q == two_word_q + WordBits'(w);
      three_new_q[w][1] <= four_writes_q && four_pair_q && {four_word_q[WordBits-1:1], 1'b1} == two_word_q + WordBits'(w);
    end
    four_full_q <= three_full;
    five_full_q <= four_full_q;
  end

  // An atomic operation is on a word, or on one half of it.
  always_comb begin
    three_old = three_word;
    if (three_q.address[2]) three_old[31:0] = three_word[63:32];
    three_full = {three_banks[1] + three_q.expected, three_new};
    if (!three_q.bytes[3]) begin
      three_full[0] = three_q.address[2] ? {three_new[31:0], three_word[31:0]} : {three_word[63:32], three_new[31:0]};
    end
    // One that faults changes nothing.
    if (three_fault_q) three_full = {three_banks[1], three_word};
  end

  // What atomic operations one and two cycles before have made of the words, which was not in memory yet.
  always_comb begin
    three_banks = read_data;
    for (int unsigned b = 0; b < 2; b++) begin
      logic w;
      w = b[0] ^ three_word_q[0];
      for (int unsigned k = 0; k < 2; k++) begin
        if (three_new_q[w][k] && three_newer_q[w] == '0) three_banks[b] = five_full_q[k];
        if (three_newer_q[w][k]) three_banks[b] = four_full_q[k];
      end
    end
  end
  assign three_word = three_banks[three_word_q[0]];
  always_comb begin
    three_found  = joined(three_word, three_banks[!three_word_q[0]], three_q.address[2:0]);
    three_found  = turned_down(three_found, three_q.address[2:0]) & bit_mask(three_q.bytes);
    three_result = extended(three_found, three_q.bytes, three_q.sign);
    if (three_q.kind inside {RequestLookup, RequestEcho}) three_result = three_value_q;
  end

  sluice_xdp_atomic u_atomic (
      .code_i    (three_q.code),
      .wide_i    (three_q.bytes[3]),
      .old_i     (three_old),
      .operand_i (three_q.data),
      .expected_i(three_q.expected),
      .new_o     (three_new)
  );

  always_ff @(posedge clk_i) begin
    four_value_q  <= three_result;
    four_new_q[0] <= three_new;
    four_new_q[1] <= three_full[1];
    four_pair_q   <= three_pair;
    four_byte_q   <= three_q.address[2:0];
    four_bytes_q  <= three_q.bytes;
    four_writes_q <= three_valid_q && three_q.kind == RequestAtomic && !three_fault_q && rst_ni;
  end

  // To external memory.
  if (Outside) begin : gen_outside
    logic [31:0] one_place, two_place_q;
    assign one_place = one_placed ? one_q.address : {region.base, 16'd0} + 32'(one_offset);
    logic [LockBits-1:0] two_lock_q, three_lock_q, four_lock_place_q;
    always_ff @(posedge clk_i) begin
      outside_valid_o <= one_valid_q && one_leaves && rst_ni;
      two_place_q <= one_place;
      two_lock_q <= one_outside ? {1'b1, one_place[PlaceBits-1:2]} : LockBits'({one_word, one_q.address[2]});
      three_lock_q <= two_lock_q;
      four_lock_place_q <= three_lock_q;
    end
    assign lock_place_o = four_lock_place_q;
    assign outside_context_o = two_context_q;
    assign outside_puts_o = two_q.kind == RequestPut;
    assign outside_o = '{
            op: (two_q.kind == RequestAtomic) ? OutsideAtomic : two_writes ? OutsideStore : OutsideLoad,
            module_id: two_q.module_id,
            place: two_place_q,
            bytes: two_q.bytes,
            sign: two_q.sign,
            code: two_q.code,
            data: two_q.data,
            expected: two_q.expected
        };
  end else begin : gen_no_outside
    assign outside_valid_o = 1'b0;
    assign outside_context_o = '0;
    assign outside_puts_o = 1'b0;
    assign outside_o = '0;
    logic four_upper_q;
    always_ff @(posedge clk_i) four_upper_q <= three_q.address[2];
    assign lock_place_o = {four_word_q, four_upper_q};
  end

  // Locks answer by themselves, in the same cycle.
  always_ff @(posedge clk_i) begin
    lock_valid_o   <= three_valid_q && three_q.kind inside {RequestLock, RequestUnlock} && rst_ni;
    lock_unlocks_o <= three_q.kind == RequestUnlock;
  end
  assign lock_context_o = four_context_q;
  assign lock_fault_o   = four_fault_q;

  assign soon_valid_o   = three_valid_q && !(three_q.kind inside {RequestPut, RequestLock, RequestUnlock});
  assign soon_context_o = three_context_q;
  assign done_valid_o   = four_valid_q;
  assign done_context_o = four_context_q;
  assign done_fault_o   = four_fault_q;
  assign done_value_o   = four_value_q;

  // ---------------------------------------------------------------------------------------------------------------
  // Answers.

  logic [AnswerCycles-1:0] answer_q;
  logic second_q, first_q;
  logic [127:0] first_read_q, second_read_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) answer_q <= '0;
    else answer_q <= {answer_q[AnswerCycles-2:0], cfg_valid_i && (is_region || is_map)};
    first_q  <= host_turn && host_q == HostFirst;
    second_q <= host_turn && host_q == HostSecond;
    if (first_q) first_read_q <= read_data;
    if (second_q) second_read_q <= read_data;
  end

  assign cfg_valid_o = answer_q[AnswerCycles-1] || host_q == HostDone;
  // Which table answers.
  logic value_answers_q, region_answers_q, map_answers_q;
  always_ff @(posedge clk_i) begin
    value_answers_q  <= host_q == HostLate && rst_ni;
    region_answers_q <= answer_q[AnswerCycles-2] && is_region && rst_ni;
    map_answers_q    <= answer_q[AnswerCycles-2] && is_map && rst_ni;
  end
  assign cfg_rsp_o = answer_if(
      value_answers_q, '{status: status, words: 4'(XdpValueRowWords), data: {second_read_q, first_read_q}}
  ) | answer_if(
      region_answers_q, '{status: status, words: 4'(XdpRegionRowWords), data: 256'(region_read)}
  ) | answer_if(
      map_answers_q, '{status: status, words: 4'(XdpMapRowWords), data: 256'(map_read)}
  );

`ifndef SYNTHESIS
  OneWriterAtATime_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !(four_writes_q && two_memory && two_writes));
`endif

endmodule
