/// First half of the map engine, for all cores: takes an operation, looks up its map, reads its key and hashes it (docs/design/hxdp-core.md, "Maps").
///
/// `call_valid_i` with `call_ready_o` takes an operation of a context or of the host: whose it is, and its map's number. What it asks, `call_i`, is that of `asks_*`, from the
/// next cycle on. `found_valid_o` offers it with its key and the number of its
/// chain, until `found_ready_i`: operations in the order in which they were taken. What may not be done, or has no readable key, comes with `fault`.
///
/// Three are under way: one whose map's row is there, one whose key is read, one that is hashed or offered. Of a key the part of an entry's first row goes with its operation;
/// the rows behind it are here (`row_*`), at its place, as long as that is none of `used_i`. Where rows may lie outside all of it goes on (`found_whole_o`).
///
/// A key in a map's value is read when nothing else is under way, also behind this (`busy_i`).
///
/// Latency: 3 cycles to the request for the key's first word, and behind its last word to what was found 4, with one word 3, without a hash 1; 3 without a key. Throughput: an
/// operation in 4 cycles with a key of one word, in one more for each further word. Stall behaviour: holds what it found until taken.
module sluice_xdp_maps_front
  import sluice_pkg::*;
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_pkg::*;
  import sluice_xdp_walk_pkg::*;
#(
    parameter int unsigned Maps = 256,
    parameter int unsigned Processors = 8,
    parameter int unsigned Cores = 2,
    parameter bit Outside = 1'b0,
    // Of who asks: a processor, or with the highest bit set a packet that no context has yet.
    parameter int unsigned IdBits = $clog2(Processors),
    localparam int unsigned MapBits = $clog2(Maps),
    localparam int unsigned ProcessorBits = $clog2(Processors)
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic                        call_valid_i,
    output logic                        call_ready_o,
    input  logic          [MapBits-1:0] call_map_i,
    input  logic          [ IdBits-1:0] call_context_i,
    input  logic                        call_host_i,
    output logic          [ IdBits-1:0] asks_context_o,
    output logic                        asks_host_o,
    input  xdp_map_call_t               call_i,
    input  logic                        busy_i,

    // The map's row comes in the cycle behind its number, and stays until the next one's.
    output logic                       map_valid_o,
    output logic         [MapBits-1:0] map_index_o,
    input  xdp_map_row_t               map_i,

    // Packet memory of each core.
    output logic       [Cores-1:0]            read_valid_o,
    input  logic       [Cores-1:0]            read_ready_i,
    output xdp_place_t                        read_place_o,
    input  logic       [Cores-1:0][1:0][63:0] read_data_i,

    output logic                request_valid_o,
    input  logic                request_ready_i,
    output xdp_request_t        request_o,
    input  logic                done_valid_i,
    input  logic                done_fault_i,
    input  logic         [63:0] done_value_i,

    output logic        host_valid_o,
    output logic [ 6:0] host_word_o,
    input  logic [63:0] host_data_i,

    // Words of the key of a packet that no context has: the one of this number comes in the next cycle.
    output logic [IdBits-1:0] early_id_o,
    output logic [       2:0] early_word_o,
    input  logic [      63:0] early_data_i,

    output logic found_valid_o,
    input logic found_ready_i,
    output xdp_map_call_t found_o,
    output logic [IdBits-1:0] found_context_o,
    output logic found_host_o,
    output logic found_fault_o,
    output logic found_looks_o,  // a program's lookup that may be beside another operation
    output xdp_map_row_t found_map_o,
    output walk_key_t found_key_o,
    output logic [KeyWords-1:0][63:0] found_whole_o,
    output logic [ChainBits-1:0] found_chain_o,
    // Slots of the copies before the processor's.
    output logic [SlotNumberBits-1:0] found_copy_o,

    // Places of keys behind this, and rows there.
    input  key_slot_t [1:0]        used_i,
    input  logic      [1:0][  1:0] row_rest_i,
    output logic      [1:0][127:0] row_o
);

  localparam int unsigned CoreBits = (Cores > 1) ? $clog2(Cores) : 1;
  localparam bit Early = IdBits > ProcessorBits;
  // Words of a key that go with it.
  localparam int unsigned Kept = Outside ? KeyWords : 2;
  typedef logic [CoreBits-1:0] core_t;
  typedef logic [Kept-1:0][63:0] kept_t;

  // ---------------------------------------------------------------------------------------------------------------
  // 1: the map's row is there. What its kind allows.

  logic one_valid_q, one_host_q, one_goes, indexed, allowed, reads, wants;
  logic [IdBits-1:0] one_context_q;
  logic two_valid_q, two_ends, two_goes, two_leaves, three_valid_q, three_free;
  logic reader_start, reader_idle, reader_fault, read_word_valid, read_word_last, word_valid, word_last, word_taken;
  logic one_early, two_early_q;
  logic [63:0] read_word, word;
  xdp_block_t block;

  assign call_ready_o = !one_valid_q || one_goes;
  assign map_valid_o = call_ready_o && call_valid_i;
  assign map_index_o = call_map_i;
  assign asks_context_o = one_context_q;
  assign asks_host_o = one_host_q;

  assign indexed = is_indexed(map_i.kind);
  always_comb begin
    allowed = map_i.valid && 32'(call_i.map) < Maps && (one_host_q || map_i.module_id == call_i.module_id[5:0]) &&
        (map_i.key_bytes != '0) != is_queue(map_i.kind) && 32'(map_i.key_bytes) <= 8 * KeyWords &&
        32'(map_i.value_bytes) <= 512 && map_i.value_bytes != '0 && (!indexed || map_i.key_bytes == 7'd4);
    case (call_i.op)
      XdpMapOpLookup: allowed = allowed && map_i.kind <= XdpMapKeyedMaps;
      XdpMapOpUpdate, XdpMapOpDelete:
      allowed = allowed && map_i.kind != XdpMapTrie && !is_queue(map_i.kind) &&
          (one_host_q || map_i.kind <= XdpMapHash);
      // The index is the key.
      XdpMapOpReference:
      allowed = allowed && map_i.key_bytes == 7'd4 && map_i.kind inside {XdpMapDevices, XdpMapReferences, XdpMapKeyedReferences};
      XdpMapOpProgram: allowed = allowed && map_i.kind == XdpMapPrograms;
      XdpMapOpLookupPercpu: allowed = allowed && map_i.per_cpu && !is_queue(map_i.kind);
      XdpMapOpNext: allowed = allowed && one_host_q && is_keyed(map_i.kind);
      XdpMapOpPut: allowed = allowed && one_host_q;
      XdpMapOpPush, XdpMapOpPop, XdpMapOpPeek: allowed = allowed && is_queue(map_i.kind);
      default: allowed = 1'b0;
    endcase
  end
  // A reference's index is in the call, elements have no key, and a walk of the host may begin without key.
  assign reads = !(call_i.op inside {XdpMapOpReference, XdpMapOpProgram, XdpMapOpPut, XdpMapOpPush, XdpMapOpPop, XdpMapOpPeek}) && !(call_i.op == XdpMapOpNext && !call_i.flags[0]);
  assign wants = block.address[31:28] inside {[4'd4 : 4'd8]};
  // What may not be done waits for the reader as if it were read. Of a packet that no context has the key is here.
  assign one_early = Early && one_context_q[IdBits-1] && !one_host_q;
  assign one_goes = one_valid_q && (!two_valid_q || two_leaves) &&
      (!reads || one_early || (reader_idle && !(wants && (busy_i || two_valid_q || three_valid_q))));
  assign reader_start = one_goes && reads && allowed && !one_early;
  assign block = '{
          address: one_host_q ? '0 : call_i.key,
          bytes: 10'(map_i.key_bytes),
          host: one_host_q,
          module_id: call_i.module_id,
          regions: call_i.regions,
          bounds: call_i.bounds,
          base: call_i.base,
          written: call_i.written,
          depth: call_i.depth
      };

  always_ff @(posedge clk_i) begin
    if (!rst_ni) one_valid_q <= 1'b0;
    else if (call_ready_o) one_valid_q <= call_valid_i;
    if (call_ready_o) begin
      one_context_q <= call_context_i;
      one_host_q    <= call_host_i;
    end
  end

  // ---------------------------------------------------------------------------------------------------------------
  // 2: the key is read.

  logic two_host_q, two_fault_q, two_reads_q, two_keyed;
  logic [IdBits-1:0] two_context_q;
  xdp_map_call_t two_call_q;
  xdp_map_row_t two_map_q, three_map_q;
  kept_t two_key_q, two_key;
  logic [3:0] two_bits_q, two_bits, word_q;
  logic [63:0] two_word;
  key_slot_t two_slot_q, three_slot_q, free_slot;

  // A place that is nobody's: of five one is.
  logic [KeySlots-1:0] used;
  assign used = (KeySlots'(1) << two_slot_q) | (KeySlots'(1) << three_slot_q) | (KeySlots'(1) << used_i[0]) | (KeySlots'(1) << used_i[1]);
  always_comb begin
    free_slot = '0;
    for (int unsigned s = 5; s > 0; s--) if (!used[s-1]) free_slot = key_slot_t'(s - 1);
  end

  assign two_keyed  = is_keyed(two_map_q.kind);
  // It goes into a free place, or into that of what is taken; only for the first one the next operation is ready in the same cycle.
  assign three_free = !three_valid_q || (found_valid_o && found_ready_i);
  assign word_taken = two_valid_q && two_reads_q && word_valid && (!word_last || three_free);
  assign two_ends   = two_valid_q && (two_fault_q || !two_reads_q || (word_valid && word_last));
  assign two_goes   = two_ends && three_free;
  assign two_leaves = two_ends && !three_valid_q;
  // The index is the key.
  assign two_word   = two_reads_q ? word : 64'(two_call_q.key[31:0]);
  always_comb begin
    two_key  = two_key_q;
    two_bits = two_bits_q;
    if (32'(word_q) < Kept) two_key[word_q[$clog2(Kept)-1:0]] = two_word;
    // As tries count the first one of a byte is the highest.
    if (word_q[0]) two_bits[word_q[2:1]] = two_word[39];
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) two_valid_q <= 1'b0;
    else if (one_goes || two_goes) two_valid_q <= one_goes;
    if (one_goes) begin
      two_context_q <= one_context_q;
      two_host_q    <= one_host_q;
      two_call_q    <= call_i;
      two_map_q     <= map_i;
      two_fault_q   <= !allowed;
      two_reads_q   <= reads && allowed;
      two_early_q   <= one_early;
      two_slot_q    <= free_slot;
      two_key_q     <= '0;
      two_bits_q    <= '0;
      word_q        <= '0;
    end else if (word_taken) begin
      two_key_q  <= two_key;
      two_bits_q <= two_bits;
      word_q     <= word_q + 4'd1;
    end
    if (two_valid_q && reader_fault) two_fault_q <= 1'b1;
  end

  // A word of it is read in the cycle before it is taken.
  logic ends_q;
  assign early_id_o = one_goes ? one_context_q : two_context_q;
  assign early_word_o = one_goes ? 3'd0 : word_q[2:0] + 3'(word_taken);
  assign word_valid = two_early_q ? !ends_q : read_word_valid;
  assign word_last = two_early_q ? 32'(two_map_q.key_bytes) <= 8 * (32'(word_q) + 32'd1) : read_word_last;
  assign word = two_early_q ? early_data_i & bit_mask(
      (word_last && two_map_q.key_bytes[2:0] != '0) ? 4'(two_map_q.key_bytes[2:0]) : 4'd8
  ) : read_word;

  core_t core, core_q;
  logic read_valid;
  assign core = core_t'(32'(two_context_q[ProcessorBits-1:0]) / (Processors / Cores));
  assign read_valid_o = Cores'(read_valid) << core;
  always_ff @(posedge clk_i) core_q <= core;
  sluice_xdp_reader u_reader (
      .clk_i,
      .rst_ni,
      .start_i     (reader_start),
      .idle_o      (reader_idle),
      .block_i     (block),
      .fault_o     (reader_fault),
      .word_valid_o(read_word_valid),
      .word_ready_i(word_taken),
      .word_o      (read_word),
      .last_o      (read_word_last),
      .read_valid_o(read_valid),
      .read_ready_i(read_ready_i[core]),
      .read_place_o,
      .read_data_i (read_data_i[core_q]),
      .request_valid_o,
      .request_ready_i,
      .request_o,
      .done_valid_i,
      .done_fault_i,
      .done_value_i,
      .host_valid_o,
      .host_word_o,
      .host_data_i
  );

  // Behind the last word stand zeros.
  logic [3:0] end_word_q;
  always_ff @(posedge clk_i) begin
    ends_q     <= word_taken && word_last && rst_ni;
    end_word_q <= word_q + 4'd1;
  end
  sluice_xdp_maps_keys u_keys (
      .clk_i,
      .we_i      (word_taken || ends_q),
      .slot_i    (ends_q ? three_slot_q : two_slot_q),
      .word_i    (ends_q ? end_word_q : word_q),
      .wide_i    (Outside && (ends_q ? three_map_q.kind : two_map_q.kind) != XdpMapTrie),
      .data_i    (ends_q ? '0 : word),
      .row_slot_i(used_i),
      .row_rest_i,
      .row_o
  );

  // A copy of another processor: its number, as the kernel takes it, has 32 bits.
  logic [ ProcessorBits-1:0] copy_of;
  logic [SlotNumberBits-1:0] copy;
  assign copy_of = (two_call_q.op == XdpMapOpLookupPercpu || two_host_q) ? two_call_q.value[ProcessorBits-1:0] :
      two_early_q ? '0 : two_context_q[ProcessorBits-1:0];
  always_comb begin
    copy = '0;
    for (int unsigned i = 0; i < ProcessorBits; i++) begin
      if (copy_of[i]) copy = copy + SlotNumberBits'(two_map_q.slots << i);
    end
  end

  logic [ChainBits-1:0] hash;
  sluice_xdp_hash u_hash (
      .clk_i,
      .valid_i(word_taken || (two_goes && !two_reads_q)),
      .first_i(word_q == '0),
      .index_i(word_q[2:0]),
      .seed_i (two_map_q.seed),
      .word_i (two_word),
      .hash_o (hash)
  );

  // ---------------------------------------------------------------------------------------------------------------
  // 3: it is hashed, and goes on.

  logic [1:0] three_left_q;
  logic [IdBits-1:0] three_context_q;
  logic three_host_q, three_fault_q, three_looks_q, kept_q;
  xdp_map_call_t three_call_q;
  kept_t three_key_q;
  logic [3:0] three_bits_q;
  logic [ChainBits-1:0] chain_q, mask_q;
  logic [SlotNumberBits-1:0] copy_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) three_valid_q <= 1'b0;
    else if (two_goes) three_valid_q <= 1'b1;
    else if (found_valid_o && found_ready_i) three_valid_q <= 1'b0;
    if (three_left_q != '0) three_left_q <= three_left_q - 2'd1;
    if (two_goes) begin
      three_left_q <= (!two_keyed || two_fault_q) ? 2'd0 : (word_q == '0) ? 2'd2 : 2'd3;
      three_context_q <= two_context_q;
      three_host_q <= two_host_q;
      three_call_q <= two_call_q;
      three_map_q <= two_map_q;
      three_fault_q <= two_fault_q;
      three_looks_q <= !two_fault_q && (only_looks(
          two_call_q.op, two_host_q, two_map_q
      ) || (Outside && touches_only(
          two_call_q.op, two_host_q, two_map_q
      )));
      three_slot_q <= two_slot_q;
      three_key_q <= two_key;
      three_bits_q <= two_bits;
      copy_q <= two_map_q.per_cpu ? copy : '0;
      mask_q <= ChainBits'((32'd1 << two_map_q.bucket_bits) - 32'd1);
    end
    // The hash of the next one comes meanwhile.
    kept_q  <= found_valid_o && !found_ready_i && rst_ni;
    chain_q <= found_chain_o;
  end

  assign found_valid_o = three_valid_q && three_left_q == '0;
  assign found_o = three_call_q;
  assign found_context_o = three_context_q;
  assign found_host_o = three_host_q;
  assign found_fault_o = three_fault_q;
  assign found_looks_o = three_looks_q;
  assign found_map_o = three_map_q;
  assign found_key_o = '{slot: three_slot_q, bits: three_bits_q, first: 96'(three_key_q[1:0])};
  assign found_whole_o = (KeyWords * 64)'(three_key_q);
  assign found_chain_o = kept_q ? chain_q : hash & mask_q;
  assign found_copy_o = copy_q;

`ifndef SYNTHESIS
  ZerosAreWrittenAlone_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !(ends_q && word_taken));
`endif

endmodule
