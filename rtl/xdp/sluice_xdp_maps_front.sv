/// First half of the map engine: takes an operation, looks up its map, reads its key and hashes it (docs/design/hxdp-core.md, "Maps").
///
/// `call_valid_i` with `call_ready_o` takes an operation of a context or of the host. What is asked, `call_i`, is there from the next cycle on until
/// the operation goes on; its map's number, `call_map_i`, when it is taken. `found_valid_o` offers it with its key and the number of its
/// chain, until `found_ready_i`. What may not be done, or has no readable key, comes with `fault`.
///
/// `busy_i` says that another operation is still under way: a key in a map's value waits for it (`wants_o`). `reads_o` is high from then on until the
/// operation is taken.
///
/// Latency: 3 cycles to the request for the key's first word, and behind its last word to what was found 4, with one word 3, without a hash 1. Throughput: one operation at a time; the
/// next is taken in the cycle in which this one is. Stall behaviour: holds what it found until taken.
module sluice_xdp_maps_front
  import sluice_pkg::*;
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_pkg::*;
#(
    parameter int unsigned Maps = 256,
    parameter int unsigned Processors = 8,
    localparam int unsigned MapBits = $clog2(Maps),
    localparam int unsigned ProcessorBits = $clog2(Processors)
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic                              call_valid_i,
    output logic                              call_ready_o,
    input  logic          [      MapBits-1:0] call_map_i,
    input  xdp_map_call_t                     call_i,
    input  logic          [ProcessorBits-1:0] context_i,
    input  logic                              host_i,
    input  logic                              busy_i,
    output logic                              wants_o,
    output logic                              reads_o,

    // The map's row comes in the cycle behind its number, and stays until the next one's.
    output logic                       map_valid_o,
    output logic         [MapBits-1:0] map_index_o,
    input  xdp_map_row_t               map_i,

    output logic                   read_valid_o,
    input  logic                   read_ready_i,
    output xdp_place_t             read_place_o,
    input  logic       [1:0][63:0] read_data_i,

    output logic                request_valid_o,
    input  logic                request_ready_i,
    output xdp_request_t        request_o,
    input  logic                done_valid_i,
    input  logic                done_fault_i,
    input  logic         [63:0] done_value_i,

    output logic        host_valid_o,
    output logic [ 6:0] host_word_o,
    input  logic [63:0] host_data_i,

    output logic                                     found_valid_o,
    input  logic                                     found_ready_i,
    output xdp_map_call_t                            found_o,
    output logic          [ ProcessorBits-1:0]       found_context_o,
    output logic                                     found_host_o,
    output logic                                     found_fault_o,
    output xdp_map_row_t                             found_map_o,
    output logic          [      KeyWords-1:0][63:0] found_key_o,
    output logic          [     ChainBits-1:0]       found_chain_o,
    // Slots of the copies before the processor's.
    output logic          [SlotNumberBits-1:0]       found_copy_o
);

  typedef enum logic [2:0] {
    Idle,
    Begin,
    Key,
    Hash,
    Found
  } state_e;

  state_e state_q;
  logic [ProcessorBits-1:0] context_q, copy_of;
  logic host_q, fault_q, indexed, allowed, reads, keyed;
  xdp_map_row_t map_q;
  logic [KeyWords-1:0][63:0] key_q;
  logic [2:0] word_q, hash_left_q;
  logic [SlotNumberBits-1:0] copy_q, copy;
  logic [ChainBits-1:0] hash;

  logic reader_start, reader_idle, reader_fault, word_valid, word_last;
  logic [63:0] word;
  xdp_block_t block;

  // The next one is taken in the cycle in which this one is.
  assign call_ready_o = state_q == Idle || (state_q == Found && found_ready_i);
  assign map_valid_o = call_ready_o && call_valid_i;
  assign map_index_o = call_map_i;

  // What its kind allows. The row is there from the cycle behind its number on, until the next one's.
  assign indexed = is_indexed(map_i.kind);
  assign keyed = is_keyed(map_i.kind);
  always_comb begin
    allowed = map_i.valid && 32'(call_i.map) < Maps && (host_q || map_i.module_id == call_i.module_id[5:0]) &&
        (map_i.key_bytes != '0) != is_queue(map_i.kind) && 32'(map_i.key_bytes) <= 8 * KeyWords &&
        32'(map_i.value_bytes) <= 512 && map_i.value_bytes != '0 && (!indexed || map_i.key_bytes == 7'd4);
    case (call_i.op)
      XdpMapOpLookup: allowed = allowed && map_i.kind <= XdpMapKeyedMaps;
      XdpMapOpUpdate, XdpMapOpDelete:
      allowed = allowed && map_i.kind != XdpMapTrie && !is_queue(map_i.kind) && (host_q || map_i.kind <= XdpMapHash);
      XdpMapOpReference:
      allowed = allowed && map_i.kind inside {XdpMapDevices, XdpMapReferences, XdpMapKeyedReferences};
      XdpMapOpProgram: allowed = allowed && map_i.kind == XdpMapPrograms;
      XdpMapOpLookupPercpu: allowed = allowed && map_i.per_cpu;
      XdpMapOpNext: allowed = allowed && host_q && keyed;
      XdpMapOpPut: allowed = allowed && host_q;
      XdpMapOpPush, XdpMapOpPop, XdpMapOpPeek: allowed = allowed && is_queue(map_i.kind);
      default: allowed = 1'b0;
    endcase
  end
  // A reference's index is in the call, elements have no key, and a walk of the host may begin without key.
  assign reads = !(call_i.op inside {XdpMapOpReference, XdpMapOpProgram, XdpMapOpPut, XdpMapOpPush, XdpMapOpPop, XdpMapOpPeek}) && !(call_i.op == XdpMapOpNext && !call_i.flags[0]);

  // Whether it may is known too late for those who wait, and it does not stay.
  assign wants_o = state_q == Begin && reads && block.address[31:28] inside {[4'd4 : 4'd8]};
  assign reader_start = state_q == Begin && reads && reader_idle && allowed && !(wants_o && busy_i);
  always_ff @(posedge clk_i) begin
    if (!rst_ni || (found_valid_o && found_ready_i)) reads_o <= 1'b0;
    else if (reader_start && wants_o) reads_o <= 1'b1;
  end
  assign block = '{
          address: host_q ? '0 : call_i.key,
          bytes: 10'(map_i.key_bytes),
          host: host_q,
          module_id: call_i.module_id,
          regions: call_i.regions,
          bounds: call_i.bounds,
          base: call_i.base,
          written: call_i.written,
          depth: call_i.depth
      };

  // A copy of another processor: its number, as the kernel takes it, has 32 bits.
  assign copy_of = (call_i.op == XdpMapOpLookupPercpu || host_q) ? call_i.value[ProcessorBits-1:0] : context_q;
  always_comb begin
    copy = '0;
    for (int unsigned i = 0; i < ProcessorBits; i++) begin
      if (copy_of[i]) copy = copy + SlotNumberBits'(map_i.slots << i);
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= Idle;
    end else begin
      case (state_q)
        Idle: if (call_valid_i) state_q <= Begin;
        Begin: begin
          if (!allowed || !reads) state_q <= (allowed && call_i.op == XdpMapOpReference && keyed) ? Hash : Found;
          else if (reader_start) state_q <= Key;
        end
        Key: begin
          if (reader_fault) state_q <= Found;
          else if (word_valid && word_last) state_q <= keyed ? Hash : Found;
        end
        Hash: if (hash_left_q == '0) state_q <= Found;
        default: if (found_ready_i) state_q <= call_valid_i ? Begin : Idle;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (call_ready_o) begin
      context_q <= context_i;
      host_q    <= host_i;
    end
    if (state_q == Begin) begin
      map_q       <= map_i;
      fault_q     <= !allowed;
      copy_q      <= map_i.per_cpu ? copy : '0;
      word_q      <= '0;
      key_q       <= '0;
      hash_left_q <= reads ? 3'd2 : 3'd1;
      // The index is the key.
      if (!reads) key_q[0] <= 64'(call_i.key[31:0]);
    end
    if (state_q == Key) begin
      if (reader_fault) fault_q <= 1'b1;
      if (word_valid) begin
        key_q[word_q] <= word;
        word_q        <= word_q + 3'd1;
        if (word_last && word_q == '0) hash_left_q <= 3'd1;
      end
    end
    if (state_q == Hash) hash_left_q <= hash_left_q - 3'd1;
  end

  sluice_xdp_reader u_reader (
      .clk_i,
      .rst_ni,
      .start_i     (reader_start),
      .idle_o      (reader_idle),
      .block_i     (block),
      .fault_o     (reader_fault),
      .word_valid_o(word_valid),
      .word_ready_i(state_q == Key),
      .word_o      (word),
      .last_o      (word_last),
      .read_valid_o,
      .read_ready_i,
      .read_place_o,
      .read_data_i,
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

  logic hash_valid, hash_index_key;
  assign hash_index_key = state_q == Begin && allowed && !reads;
  assign hash_valid = (state_q == Key && word_valid) || hash_index_key;
  sluice_xdp_hash u_hash (
      .clk_i,
      .valid_i(hash_valid),
      .first_i(word_q == '0 || hash_index_key),
      .index_i(hash_index_key ? '0 : word_q),
      .seed_i (map_i.seed),
      .word_i (hash_index_key ? 64'(call_i.key[31:0]) : word),
      .hash_o (hash)
  );

  assign found_valid_o = state_q == Found;
  assign found_o = call_i;
  assign found_context_o = context_q;
  assign found_host_o = host_q;
  assign found_fault_o = fault_q;
  assign found_map_o = map_q;
  assign found_key_o = key_q;
  assign found_chain_o = hash & ChainBits'((32'd1 << map_q.bucket_bits) - 32'd1);
  assign found_copy_o = copy_q;

endmodule
