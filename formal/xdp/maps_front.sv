/// Proof about sluice_xdp_maps_front: what goes on without a fault is an operation that its map's kind has, on a map of the module that
/// asked, or of the host; each operation that is taken goes on exactly once, as it was asked, with its own map's row.
///
/// Nothing is read for any other operation: a block is begun only with the module, bounds and place that came with the call, and never
/// longer than a key. The reader and the hash are free (formal/xdp/reader.sv is about the former); that the reader answers each block
/// once is assumed. By k-induction, for runs of any length. A reset stands only at the start.
module maps_front
  import sluice_pkg::*;
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_pkg::*;
(
    input logic                       clk_i,
    input logic                       rst_ni,
    input logic                       call_valid_i,
    input xdp_map_call_t              call_i,
    input logic                       context_i,
    input logic                       host_i,
    input logic                       busy_i,
    input xdp_map_row_t               map_i,
    input logic                       found_ready_i,
    input logic                       read_ready_i,
    input logic          [ 1:0][63:0] read_data_i,
    input logic                       request_ready_i,
    input logic                       done_valid_i,
    input logic                       done_fault_i,
    input logic          [63:0]       done_value_i,
    input logic          [63:0]       host_data_i
);

  logic call_ready, map_valid, found_valid, found_context, found_host, found_fault;
  logic [1:0] map_index;
  logic read_valid, request_valid, host_valid;
  xdp_place_t read_place;
  xdp_request_t request;
  logic [6:0] host_word;
  xdp_map_call_t found;
  xdp_map_row_t found_map;
  logic [KeyWords-1:0][63:0] found_key;
  logic [ChainBits-1:0] found_chain;
  logic [SlotNumberBits-1:0] found_copy;
  logic unused_wants, unused_reads;
  // The call that is inside.
  xdp_map_call_t call_q;

  sluice_xdp_maps_front #(
      .Maps      (4),
      .Processors(2)
  ) u_dut (
      .clk_i,
      .rst_ni,
      .call_valid_i,
      .call_ready_o   (call_ready),
      .call_map_i     (call_i.map[1:0]),
      // It is there behind its take, until it goes on.
      .call_i         (call_q),
      .context_i,
      .host_i,
      .busy_i,
      .wants_o        (unused_wants),
      .reads_o        (unused_reads),
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
      .found_map_o    (found_map),
      .found_key_o    (found_key),
      .found_chain_o  (found_chain),
      .found_copy_o   (found_copy)
  );

  logic init_q = 1'b1;
  always_ff @(posedge clk_i) init_q <= 1'b0;
  always_comb assume (rst_ni == !init_q);

  // Whether there is one, and the row that its map's number gave.
  logic inside_q, looked_q, take;
  xdp_map_row_t row_q, row;
  logic context_q, host_q;
  assign take = call_valid_i && call_ready;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) inside_q <= 1'b0;
    else if (take) inside_q <= 1'b1;
    else if (found_valid && found_ready_i) inside_q <= 1'b0;
    looked_q <= take;
    if (take) {call_q, context_q, host_q} <= {call_i, context_i, host_i};
    if (looked_q) row_q <= map_i;
  end
  // The row stays until the next is asked for.
  assign row = looked_q ? map_i : row_q;
  always_comb assume (!inside_q || map_i == row);

  // A block that was begun is answered: by words, the last of which says so, or by a fault before any.
  logic begun_q, starts, idle, refused, word_valid, word_last, word_ready;
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
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begun_q <= 1'b0;
    else if (starts) begun_q <= 1'b1;
    else if (refused || (word_valid && word_ready && word_last)) begun_q <= 1'b0;
  end
  always_comb begin
    assume (idle == !begun_q);
    assume (begun_q || !(refused || word_valid));
    assume (!(refused && word_valid));
  end

  // The key: the block's words from its begin on and zeros behind them, or the index that came with the call.
  logic [KeyWords-1:0][63:0] read_q, key;
  logic [2:0] words_q;
  logic in_call;
  assign in_call = call_q.op inside {XdpMapOpReference, XdpMapOpProgram, XdpMapOpPut, XdpMapOpPush, XdpMapOpPop, XdpMapOpPeek} || (call_q.op == XdpMapOpNext && !call_q.flags[0]);
  assign key = in_call ? (KeyWords * 64)'(call_q.key[31:0]) : read_q;
  always_ff @(posedge clk_i) begin
    if (take) begin
      read_q  <= '0;
      words_q <= '0;
    end else if (begun_q && word_valid && word_ready) begin
      read_q[words_q] <= word;
      words_q         <= words_q + 3'd1;
    end
  end

  logic owned, fits, keyed, queue, has;
  assign owned = row.valid && 32'(call_q.map) < 4 && (host_q || row.module_id == call_q.module_id[5:0]);
  assign queue = row.kind inside {XdpMapQueue, XdpMapStack};
  assign fits  = (queue ? row.key_bytes == '0 : row.key_bytes inside {[7'd1 : 7'd64]}) && row.value_bytes inside {[10'd1 : 10'd512]};
  assign keyed = row.kind inside {XdpMapHash, XdpMapKeyedReferences, XdpMapKeyedMaps};
  always_comb begin
    case (call_q.op)
      XdpMapOpLookup: has = row.kind <= XdpMapKeyedMaps;
      XdpMapOpUpdate, XdpMapOpDelete:
      has = host_q ? row.kind != XdpMapTrie && !queue : row.kind inside {XdpMapArray, XdpMapHash};
      XdpMapOpReference: has = row.kind inside {XdpMapDevices, XdpMapReferences, XdpMapKeyedReferences};
      XdpMapOpProgram: has = row.kind == XdpMapPrograms;
      XdpMapOpLookupPercpu: has = row.per_cpu;
      XdpMapOpNext: has = host_q && keyed;
      XdpMapOpPut: has = host_q;
      XdpMapOpPush, XdpMapOpPop, XdpMapOpPeek: has = queue;
      default: has = 1'b0;
    endcase
  end

  OnlyOwnMapsGoOn_A :
  assert property (@(posedge clk_i) !rst_ni || !found_valid || found_fault || (owned && fits && has));
  WhatIsFoundWasAsked_A :
  assert property (@(posedge clk_i) !rst_ni || !found_valid || (inside_q && found == call_q && found_map == row && found_host == host_q &&
      found_context == context_q));
  OneAtATime_A :
  assert property (@(posedge clk_i) !rst_ni || call_ready == (!inside_q || (found_valid && found_ready_i)));
  BlocksAreOfTheCall_A :
  assert property (@(posedge clk_i) !rst_ni || !starts || (inside_q && owned && fits && has && block.host == host_q && block.bytes == 10'(row.key_bytes) &&
      (host_q ? block.address == '0 : block.address == call_q.key) && block.module_id == call_q.module_id && block.regions == call_q.regions && block.bounds == call_q.bounds &&
      block.base == call_q.base && block.written == call_q.written && block.depth == call_q.depth));
  AValueIsReadBehindTheOneBefore_A :
  assert property (@(posedge clk_i) !rst_ni || !starts || !busy_i || block.host || !(block.address[63:32] == '0 && block.address[31:28] inside {[4'd4 : 4'd8]}));
  TheKeyIsTheBlock_A :
  assert property (@(posedge clk_i) !rst_ni || !found_valid || found_fault || found_key == key);
  CopiesAreOfPerCpuMaps_A :
  assert property (@(posedge clk_i) !rst_ni || !found_valid || row.per_cpu || found_copy == '0);
  ChainsAreOfTheMap_A :
  assert property (@(posedge clk_i) !rst_ni || !found_valid || 32'(found_chain) < (32'd1 << row.bucket_bits));
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
      found_fault
  ) && $stable(
      found_copy
  )));
  // Once the reader has answered and nobody else is busy, it takes at most 8 cycles.
  logic [3:0] waited_q;
  always_ff @(posedge clk_i)
    waited_q <= (!rst_ni || !inside_q || found_valid || begun_q || busy_i) ? '0 : waited_q + 4'd1;
  ItGoesOn_A :
  assert property (@(posedge clk_i) !rst_ni || waited_q <= 4'd7);

  AKeyIsRead_C :
  cover property (@(posedge clk_i) rst_ni && found_valid && !found_fault && !found_host && found.op == XdpMapOpUpdate && row.key_bytes == 7'd20);
  AMapOfAnotherFaults_C :
  cover property (@(posedge clk_i) rst_ni && found_valid && found_fault && row.valid && row.module_id != call_q.module_id[5:0]);
  TheHostWalks_C :
  cover property (@(posedge clk_i) rst_ni && found_valid && !found_fault && found_host && found.op == XdpMapOpNext);

  // Strengthening for the induction.
  localparam logic [2:0] Idle = 3'd0, Begin = 3'd1, Key = 3'd2, Hash = 3'd3, Found = 3'd4;
  logic [2:0] state;
  assign state = u_dut.state_q;
  StateIsThatOfTheCall_A :
  assert property (@(posedge clk_i) !rst_ni || (state <= Found && (state == Idle) == !inside_q && (!(looked_q && inside_q) || state == Begin) &&
      (state == Idle || (u_dut.context_q == context_q && u_dut.host_q == host_q)) &&
      (state inside {Idle, Begin} || u_dut.map_q == row_q) && (begun_q == (state == Key)) &&
      (!(state inside {Key, Hash}) || (owned && fits && has && !u_dut.fault_q)) && (state != Hash || u_dut.hash_left_q <= 3'd2) && (state != Key || u_dut.hash_left_q == 3'd2) &&
      (state != Found || u_dut.fault_q || (owned && fits && has)) && (state inside {Idle, Begin} || row_q.per_cpu || u_dut.copy_q == '0)));
  KeyIsThatOfTheWords_A :
  assert property (@(posedge clk_i) !rst_ni || ((state != Begin || (read_q == '0 && words_q == '0)) && (state != Key || (!in_call && u_dut.word_q == words_q)) &&
      (!(state inside {Key, Hash, Found}) || (state == Found && u_dut.fault_q) || u_dut.key_q == key)));
  WaitedIsShort_A :
  assert property (@(posedge clk_i) !rst_ni || (state == Idle || state == Found || state == Key || waited_q <= ((state == Hash) ? 4'd6 - 4'(u_dut.hash_left_q) : 4'd2)) &&
      (state != Idle || waited_q <= 4'd7) && (state != Found || waited_q <= 4'd7) && (state != Key || waited_q <= 4'd4) && (state != Begin || waited_q <= 4'd1 || u_dut.busy_i));

endmodule
