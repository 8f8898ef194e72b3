/// Proof about sluice_xdp_maps_front: what goes on without a fault is an operation that its map's kind has, on a map of the module that
/// asked, or of the host; each operation that is taken goes on exactly once, in its turn, as it was asked, with its own map's row.
///
/// Nothing is read for any other operation: a block is begun only with the module, bounds and place that came with the call, and never
/// longer than a key. The key is the block: what goes with the operation, and any word of 4 bytes of its rows behind that, for as long as the second half or who looks beside it
/// has the operation, with zeros behind it. The reader and the hash are free (formal/xdp/reader.sv is about the former); that the reader answers each block
/// once, with its words, is assumed. By k-induction, for runs of any length. A reset stands only at the start.
module maps_front
  import sluice_pkg::*;
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_pkg::*;
  import sluice_xdp_walk_pkg::*;
(
    input logic                            clk_i,
    input logic                            rst_ni,
    input logic                            call_valid_i,
    input xdp_map_call_t                   call_i,
    input logic                            context_i,
    input logic                            host_i,
    input logic                            busy_i,
    input xdp_map_row_t                    map_i,
    input logic                            found_ready_i,
    input logic                            beside_i,         // who takes what is found
    input logic          [ 1:0]            read_ready_i,
    input logic          [ 1:0][1:0][63:0] read_data_i,
    input logic                            request_ready_i,
    input logic                            done_valid_i,
    input logic                            done_fault_i,
    input logic          [63:0]            done_value_i,
    input logic          [63:0]            host_data_i,
    // A row of a key, and a word of it.
    input logic          [ 2:0]            rest_i,
    input logic          [ 1:0]            lane_i
);

  logic
      call_ready, map_valid, found_valid, found_context, found_host, found_fault, found_looks, asks_context, asks_host;
  logic [1:0] map_index;
  logic [1:0] read_valid;
  logic request_valid, host_valid;
  xdp_place_t read_place;
  xdp_request_t request;
  logic [6:0] host_word;
  xdp_map_call_t found;
  xdp_map_row_t found_map;
  walk_key_t found_key;
  logic [KeyWords-1:0][63:0] unused_whole;
  logic [ChainBits-1:0] found_chain;
  logic [SlotNumberBits-1:0] found_copy;
  key_slot_t [1:0] used_q;
  logic [1:0][3:0][31:0] row;

  // What is inside: an operation whose map's row is there, one whose key is read, one that is offered.
  typedef struct packed {
    xdp_map_call_t call;
    logic context_of;
    logic host;
    xdp_map_row_t row;
  } inside_t;
  // Of a key, as it was read: how many words, its beginning, first bits of the rows behind, and the word that is looked at.
  typedef struct packed {
    logic [3:0]  words;
    logic [95:0] first;
    logic [3:0]  bits;
    logic [31:0] part;
  } key_t;
  inside_t one_q, two_q, three_q, one;
  key_t two_key_q, two_key, three_key_q;
  logic one_valid_q, two_valid_q, three_valid_q, looked_q;
  // Of whom has it: whether the word is looked at, and what it has to be.
  logic [1:0] counts_q;
  logic [1:0][31:0] part_q;
  logic [2:0] rest_q;
  logic [1:0] lane_q;

  sluice_xdp_maps_front #(
      .Maps      (4),
      .Processors(2),
      .Cores     (2)
  ) u_dut (
      .clk_i,
      .rst_ni,
      .call_valid_i,
      .call_ready_o   (call_ready),
      .call_map_i     (call_i.map[1:0]),
      .call_context_i (context_i),
      .call_host_i    (host_i),
      .asks_context_o (asks_context),
      .asks_host_o    (asks_host),
      .call_i         (one_q.call),
      .busy_i,
      .map_valid_o    (map_valid),
      .map_index_o    (map_index),
      .map_i,
      .read_valid_o   (read_valid),
      .read_ready_i,
      .read_place_o   (read_place),
      .read_data_i,
      .request_valid_o(request_valid),
      .request_ready_i,
      .request_o      (request),
      .done_valid_i,
      .done_fault_i,
      .done_value_i,
      .host_valid_o   (host_valid),
      .host_word_o    (host_word),
      .host_data_i,
      .found_valid_o  (found_valid),
      .found_ready_i,
      .found_o        (found),
      .found_context_o(found_context),
      .found_host_o   (found_host),
      .found_fault_o  (found_fault),
      .found_looks_o  (found_looks),
      .found_map_o    (found_map),
      .found_key_o    (found_key),
      .found_whole_o  (unused_whole),
      .found_chain_o  (found_chain),
      .found_copy_o   (found_copy),
      .used_i         (used_q),
      .row_rest_i     ({2{rest_q[1:0]}}),
      .row_o          (row)
  );

  logic init_q = 1'b1;
  always_ff @(posedge clk_i) init_q <= 1'b0;
  always_comb assume (rst_ni == !init_q);

  // They stay as they are chosen at first.
  always_ff @(posedge clk_i) begin
    if (init_q) {rest_q, lane_q} <= {rest_i, lane_i};
  end
  always_comb if (init_q) assume (rest_i inside {[3'd1 : 3'd4]});

  logic take, goes, ends, leaves;
  assign take   = call_valid_i && call_ready;
  assign goes   = u_dut.one_goes;
  assign ends   = u_dut.two_goes;
  assign leaves = found_valid && found_ready_i;
  // The map's row stays until the next is asked for.
  always_comb begin
    one = one_q;
    if (looked_q) one.row = map_i;
    assume (!one_valid_q || map_i == one.row);
  end

  // A block that was begun is answered: by its words, the last of which says so, or by a fault before any.
  logic begun_q, starts, idle, refused, word_valid, word_last, word_ready, taken;
  logic [63:0] word;
  xdp_block_t block;
  assign starts = u_dut.u_reader.start_i;
  assign idle = u_dut.u_reader.idle_o;
  assign block = u_dut.u_reader.block_i;
  assign refused = u_dut.u_reader.fault_o;
  assign word_valid = u_dut.u_reader.word_valid_o;
  assign word_last = u_dut.u_reader.last_o;
  assign word = u_dut.u_reader.word_o;
  assign word_ready = u_dut.u_reader.word_ready_i;
  assign taken = begun_q && word_valid && word_ready;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begun_q <= 1'b0;
    else if (starts) begun_q <= 1'b1;
    else if (refused || (taken && word_last)) begun_q <= 1'b0;
  end
  // The first word comes behind the read of its place.
  logic [1:0] begun_before_q;
  always_ff @(posedge clk_i) begun_before_q <= rst_ni ? {begun_before_q[0], starts} : '0;
  always_comb begin
    assume (idle == (!begun_q || (word_valid && word_last)));
    assume (begun_q || !(refused || word_valid));
    assume (!(refused && word_valid));
    assume (!(word_valid && (begun_before_q != '0)));
    assume (!refused || two_key_q.words == '0);
    assume (!word_valid || word_last == (7'(two_key_q.words) + 7'd1 == (two_q.row.key_bytes + 7'd7) >> 3));
  end

  // Of the key's words of 4 bytes the one with this number: entries have one in front of it.
  logic [4:0] part;
  assign part = {rest_q, lane_q} - 5'd1;
  logic in_call;
  always_comb begin
    in_call = is_in_call(two_q.call);
    two_key = two_key_q;
    if (taken) begin
      two_key.words = two_key_q.words + 4'd1;
      if (two_key_q.words == 4'd0) two_key.first[63:0] = word;
      if (two_key_q.words == 4'd1) two_key.first[95:64] = word[31:0];
      if (two_key_q.words[0]) two_key.bits[two_key_q.words[2:1]] = word[39];
      if ({1'b0, part[4:1]} == {1'b0, two_key_q.words}) two_key.part = part[0] ? word[63:32] : word[31:0];
    end
    // The index is the key.
    if (in_call) two_key = '{words: '0, first: 96'(two_q.call.key[31:0]), bits: '0, part: '0};
  end
  function automatic logic is_in_call(xdp_map_call_t call);
    return call.op inside {XdpMapOpReference, XdpMapOpProgram, XdpMapOpPut, XdpMapOpPush, XdpMapOpPop, XdpMapOpPeek} || (call.op == XdpMapOpNext && !call.flags[0]);
  endfunction

  always_ff @(posedge clk_i) begin
    looked_q <= take && rst_ni;
    if (!rst_ni) begin
      one_valid_q <= 1'b0;
      two_valid_q <= 1'b0;
      three_valid_q <= 1'b0;
      counts_q <= '0;
    end else begin
      one_valid_q   <= take || (one_valid_q && !goes);
      two_valid_q   <= goes || (two_valid_q && !ends);
      three_valid_q <= ends || (three_valid_q && !leaves);
      if (leaves)
        counts_q[beside_i] <= !found_fault && !is_in_call(three_q.call) && rest_q <= rests_of(three_q.row, 1'b0);
    end
    one_q.row <= one.row;
    if (take) {one_q.call, one_q.context_of, one_q.host} <= {call_i, context_i, host_i};
    if (goes) begin
      two_q     <= one;
      two_key_q <= '0;
    end else begin
      two_key_q <= two_key;
    end
    if (ends) begin
      three_q     <= two_q;
      three_key_q <= two_key;
    end
    if (leaves) begin
      used_q[beside_i] <= found_key.slot;
      part_q[beside_i] <= three_key_q.part;
    end
  end

  // What may be done.
  function automatic logic may(xdp_map_call_t call, xdp_map_row_t row, logic host);
    logic owned, fits, keyed, queue, has;
    owned = row.valid && 32'(call.map) < 4 && (host || row.module_id == call.module_id[5:0]);
    queue = row.kind inside {XdpMapQueue, XdpMapStack};
    fits  = (queue ? row.key_bytes == '0 : row.key_bytes inside {[7'd1 : 7'd64]}) && row.value_bytes inside {[10'd1 : 10'd512]};
    keyed = row.kind inside {XdpMapHash, XdpMapKeyedReferences, XdpMapKeyedMaps};
    case (call.op)
      XdpMapOpLookup: has = row.kind <= XdpMapKeyedMaps;
      XdpMapOpUpdate, XdpMapOpDelete:
      has = host ? row.kind != XdpMapTrie && !queue : row.kind inside {XdpMapArray, XdpMapHash};
      XdpMapOpReference:
      has = row.kind inside {XdpMapDevices, XdpMapReferences, XdpMapKeyedReferences} && row.key_bytes == 7'd4;
      XdpMapOpProgram: has = row.kind == XdpMapPrograms;
      XdpMapOpLookupPercpu: has = row.per_cpu && !queue;
      XdpMapOpNext: has = host && keyed;
      XdpMapOpPut: has = host;
      XdpMapOpPush, XdpMapOpPop, XdpMapOpPeek: has = queue;
      default: has = 1'b0;
    endcase
    return owned && fits && has;
  endfunction

  OnlyOwnMapsGoOn_A :
  assert property (@(posedge clk_i) !rst_ni || !found_valid || found_fault || may(
      three_q.call, three_q.row, three_q.host
  ));
  WhatIsFoundWasAsked_A :
  assert property (@(posedge clk_i) !rst_ni || !found_valid || (three_valid_q && found == three_q.call && found_map == three_q.row && found_host == three_q.host &&
      found_context == three_q.context_of));
  TheCallIsOfWhoIsNext_A :
  assert property (@(posedge clk_i) !rst_ni || !one_valid_q || (asks_context == one_q.context_of && asks_host == one_q.host));
  EachGoesOnOnce_A :
  assert property (@(posedge clk_i) !rst_ni || ((!take || !one_valid_q || goes) && (!goes || (one_valid_q && (!two_valid_q || ends))) && (!ends || (two_valid_q && (!three_valid_q || leaves)))));
  BlocksAreOfTheCall_A :
  assert property (@(posedge clk_i) !rst_ni || !starts || (one_valid_q && goes && idle && (!word_valid || taken) && may(
      one.call, one.row, one.host
  ) && block.host == one.host && block.bytes == 10'(one.row.key_bytes) &&
      (one.host ? block.address == '0 : block.address == one.call.key) && block.module_id == one.call.module_id &&
      block.regions == one.call.regions && block.bounds == one.call.bounds && block.base == one.call.base &&
      block.written == one.call.written && block.depth == one.call.depth));
  AValueIsReadBehindTheOnesBefore_A :
  assert property (@(posedge clk_i) !rst_ni || !starts || !(busy_i || two_valid_q || three_valid_q) || block.host || !(block.address[63:32] == '0 && block.address[31:28] inside {[4'd4 : 4'd8]}));
  ItsCoreIsRead_A :
  assert property (@(posedge clk_i) !rst_ni || (!read_valid[!two_q.context_of] && (u_dut.u_reader.read_ready_i == read_ready_i[two_q.context_of])) || !two_valid_q);
  TheKeyIsTheBlock_A :
  assert property (@(posedge clk_i) !rst_ni || !found_valid || found_fault || (found_key.first == three_key_q.first && found_key.bits == three_key_q.bits));
  for (genvar u = 0; u < 2; u++) begin : gen_used
    ItsRowsAreTheBlock_A :
    assert property (@(posedge clk_i) !rst_ni || !counts_q[u] || row[u][lane_q] == part_q[u]);
  end
  LookupsBesideChangeNothing_A :
  assert property (@(posedge clk_i) !rst_ni || !found_valid || !found_looks || (!found_fault && !found_host && found.op == XdpMapOpLookup && (found_map.kind == XdpMapTrie || (found_map.kind == XdpMapHash && !found_map.lru))));
  CopiesAreOfPerCpuMaps_A :
  assert property (@(posedge clk_i) !rst_ni || !found_valid || three_q.row.per_cpu || found_copy == '0);
  ChainsAreOfTheMap_A :
  assert property (@(posedge clk_i) !rst_ni || !found_valid || 32'(found_chain) < (32'd1 << three_q.row.bucket_bits));
  FoundHoldsUntilReady_A :
  assert property (@(posedge clk_i) !rst_ni || init_q || !$past(
      rst_ni
  ) || !$past(
      found_valid && !found_ready_i
  ) || (found_valid && $stable(
      found
  ) && $stable(
      found_map
  ) && $stable(
      found_key
  ) && $stable(
      found_chain
  ) && $stable(
      found_fault
  ) && $stable(
      found_copy
  )));
  // Where nobody behind is busy and each block is answered, what was taken is offered in its turn.
  logic [3:0] waited_q;
  always_ff @(posedge clk_i) begin
    waited_q <= (!rst_ni || !(one_valid_q || two_valid_q || three_valid_q) || found_valid || begun_q || busy_i) ? '0 : waited_q + 4'd1;
  end
  ItGoesOn_A :
  assert property (@(posedge clk_i) !rst_ni || waited_q <= 4'd7);

  AKeyIsRead_C :
  cover property (@(posedge clk_i) rst_ni && found_valid && !found_fault && !found_host && found.op == XdpMapOpUpdate && three_q.row.key_bytes == 7'd20);
  AMapOfAnotherFaults_C :
  cover property (@(posedge clk_i) rst_ni && found_valid && found_fault && three_q.row.valid && three_q.row.module_id != three_q.call.module_id[5:0]);
  TheHostWalks_C :
  cover property (@(posedge clk_i) rst_ni && found_valid && !found_fault && found_host && found.op == XdpMapOpNext);
  ThreeAreUnderWay_C :
  cover property (@(posedge clk_i) rst_ni && one_valid_q && two_valid_q && found_valid && !found_fault && counts_q == '1);

  // Strengthening for the induction.
  StagesAreThoseOfTheCalls_A :
  assert property (@(posedge clk_i) !rst_ni || (u_dut.one_valid_q == one_valid_q && u_dut.two_valid_q == two_valid_q && u_dut.three_valid_q == three_valid_q &&
      (!looked_q || one_valid_q) && rest_q inside {[3'd1 : 3'd4]} &&
      (!two_valid_q || (u_dut.two_call_q == two_q.call && u_dut.two_map_q == two_q.row && u_dut.two_context_q == two_q.context_of && u_dut.two_host_q == two_q.host &&
       (u_dut.two_fault_q || may(
      two_q.call, two_q.row, two_q.host
  )))) && (!three_valid_q || (u_dut.three_call_q == three_q.call && u_dut.three_map_q == three_q.row &&
                              u_dut.three_context_q == three_q.context_of && u_dut.three_host_q == three_q.host &&
                              u_dut.mask_q == ChainBits'((32'd1 << three_q.row.bucket_bits) - 32'd1) &&
                              (!u_dut.kept_q || (u_dut.three_left_q == '0 && (u_dut.chain_q & ~u_dut.mask_q) == '0)) &&
                              (u_dut.three_fault_q || may(
      three_q.call, three_q.row, three_q.host
  )) && (three_q.row.per_cpu || u_dut.copy_q == '0) && (!u_dut.three_looks_q || (!u_dut.three_fault_q && only_looks(
      three_q.call.op, three_q.host, three_q.row
  ))))) && (!u_dut.kept_q || three_valid_q)));
  TheReaderIsOfTheSecond_A :
  assert property (@(posedge clk_i) !rst_ni || ((!begun_q || (two_valid_q && u_dut.two_reads_q && !u_dut.two_fault_q)) &&
      (!(two_valid_q && u_dut.two_reads_q) || (begun_q || u_dut.two_fault_q)) && (!two_valid_q || u_dut.two_reads_q == (!is_in_call(
      two_q.call
  ) && !(u_dut.two_fault_q && !u_dut.two_reads_q))) && (!begun_before_q[0] || (begun_q && two_key_q.words == '0)) &&
      (!begun_before_q[1] || !begun_q || two_key_q.words == '0)));
  KeysAreThoseOfTheWords_A :
  assert property (@(posedge clk_i) !rst_ni || !two_valid_q || u_dut.two_fault_q || is_in_call(
      two_q.call
  ) || (96'(u_dut.two_key_q) == two_key_q.first && u_dut.two_bits_q == two_key_q.bits &&
        u_dut.word_q == two_key_q.words));
  WordsAreNotMore_A :
  assert property (@(posedge clk_i) !rst_ni || !two_valid_q || u_dut.two_fault_q || is_in_call(
      two_q.call
  ) || 7'(two_key_q.words) < (two_q.row.key_bytes + 7'd7) >> 3);
  NothingIsReadForAnIndex_A :
  assert property (@(posedge clk_i) !rst_ni || !two_valid_q || !is_in_call(
      two_q.call
  ) || (u_dut.two_key_q == '0 && u_dut.two_bits_q == '0 && u_dut.word_q == '0));
  TheKeyGoesOn_A :
  assert property (@(posedge clk_i) !rst_ni || !three_valid_q || u_dut.three_fault_q || (found_key.first == three_key_q.first && found_key.bits == three_key_q.bits));
  // Places are each one's own.
  PlacesAreTheirOwn_A :
  assert property (@(posedge clk_i) !rst_ni || ((!two_valid_q || !three_valid_q || u_dut.two_slot_q != u_dut.three_slot_q) && (!counts_q[0] || !counts_q[1] || used_q[0] != used_q[1]) &&
      (!two_valid_q || ((!counts_q[0] || u_dut.two_slot_q != used_q[0]) && (!counts_q[1] || u_dut.two_slot_q != used_q[1]))) &&
      (!three_valid_q || ((!counts_q[0] || u_dut.three_slot_q != used_q[0]) && (!counts_q[1] || u_dut.three_slot_q != used_q[1])))));
  // The word that is looked at, of who is read and of who is offered: it is written, or what is behind the key is about to be.
  logic [31:0] two_word, three_word;
  logic [4:0] two_index, three_index;
  assign two_index   = {u_dut.two_slot_q, rest_q[1:0]};
  assign three_index = {u_dut.three_slot_q, rest_q[1:0]};
  always_comb begin
    case (lane_q)
      2'd0:
      {two_word, three_word} = {
        u_dut.u_keys.gen_lane[0].u_words.mem[two_index], u_dut.u_keys.gen_lane[0].u_words.mem[three_index]
      };
      2'd1:
      {two_word, three_word} = {
        u_dut.u_keys.gen_lane[1].u_words.mem[two_index], u_dut.u_keys.gen_lane[1].u_words.mem[three_index]
      };
      2'd2:
      {two_word, three_word} = {
        u_dut.u_keys.gen_lane[2].u_words.mem[two_index], u_dut.u_keys.gen_lane[2].u_words.mem[three_index]
      };
      default:
      {two_word, three_word} = {
        u_dut.u_keys.gen_lane[3].u_words.mem[two_index], u_dut.u_keys.gen_lane[3].u_words.mem[three_index]
      };
    endcase
  end
  logic three_looked;
  assign three_looked = three_valid_q && !u_dut.three_fault_q && !is_in_call(
      three_q.call
  ) && rest_q <= rests_of(
      three_q.row, 1'b0
  );
  TheWordIsWritten_A :
  assert property (@(posedge clk_i) !rst_ni || (
      (!(begun_q && {1'b0, part[4:1]} < {1'b0, two_key_q.words}) || two_word == two_key_q.part) &&
      (!(begun_q && {1'b0, part[4:1]} >= {1'b0, two_key_q.words}) || two_key_q.part == '0) &&
      (!(begun_q && lane_q == 2'd3 && two_key_q.words[0] && {1'b0, part[4:1]} == {1'b0, two_key_q.words}) || two_word == '0) &&
      (!three_looked || three_word == three_key_q.part || (u_dut.ends_q && {1'b0, part[4:1]} >= {1'b0, three_key_q.words})) &&
      (!u_dut.ends_q || (three_valid_q && u_dut.end_word_q == three_key_q.words && !u_dut.kept_q))));
  WaitedIsShort_A :
  assert property (@(posedge clk_i) !rst_ni || waited_q <= (three_valid_q ? 4'd6 - 4'(u_dut.three_left_q) : two_valid_q ? 4'd2 : 4'd1) || (!one_valid_q && !two_valid_q && !three_valid_q));

endmodule
