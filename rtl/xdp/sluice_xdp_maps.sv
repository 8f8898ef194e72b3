/// The map engine: lookups, changes and walks of maps, for contexts and the host (docs/design/hxdp-core.md, "Maps").
///
/// `call_valid_i` takes an operation of a context of each core; a context has one at a time, so there is always room. `answer_valid_o` offers what
/// came of it until `answer_ready_i`. A core's operations are answered in the order in which they were taken. What each does, and its errors:
/// docs/design/xdp-maps.md. A map of another module, an operation that its kind has not, or a key or value that is not in one piece
/// of the program's memory, faults.
///
/// Two operations are under way in search memory: one of any kind, and beside it a program's lookup that changes nothing (sluice_xdp_maps_seek), but never with changes of
/// the same map. Where rows may lie outside there is a lookup of each context beside it, in LRU maps too (sluice_xdp_maps_far), and the one of any kind begins when the one before
/// has written all of its rows. Meanwhile keys of the next ones are read and hashed, one for each core. A key in a map's value is read
/// while nothing else is under way.
///
/// Configuration: `xdp_map` rows are copied here and answered by sluice_xdp_values. `xdp_search` is read in a cycle in which no operation has the
/// memory, and written between two operations, where a row outside is read too; `xdp_host_data` 3 cycles after `cfg_valid_i`; `xdp_host` when its
/// operation is done, which waits for one of a context at most.
///
/// Latency: 16 cycles for a lookup of a key of 8 bytes in a hash map whose entry is the first of its chain. Throughput: an operation in about 8 cycles.
/// Stall behaviour: requests to memories and the answer hold until taken. A row of search memory outside holds up the lookup that waits for it; an operation of another kind
/// holds up all others of these kinds until it comes, and those behind them in their core.
module sluice_xdp_maps
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_pkg::*;
  import sluice_xdp_start_pkg::*;
  import sluice_xdp_walk_pkg::*;
  import sluice_xdp_outside_pkg::*;
#(
    parameter int unsigned Maps = 256,
    parameter int unsigned Rows = 1 << 15,
    parameter int unsigned Processors = 16,
    parameter int unsigned Cores = 2,
    parameter bit Outside = 1'b0,
    // Of who asks: a processor, or a packet that no context has yet. Then the highest bit is set; with no bit more than processors have nobody asks so.
    parameter int unsigned IdBits = $clog2(Processors),
    localparam int unsigned ProcessorBits = $clog2(Processors)
) (
    input logic clk_i,
    input logic rst_ni,

    // Of each core.
    input  logic            [ Cores-1:0]                    call_valid_i,
    input  logic            [ Cores-1:0][ProcessorBits-1:0] call_context_i,
    input  xdp_map_call_t   [ Cores-1:0]                    call_i,
    output logic            [ Cores-1:0]                    answer_valid_o,
    input  logic            [ Cores-1:0]                    answer_ready_i,
    output logic            [IdBits-1:0]                    answer_context_o,
    output xdp_map_answer_t                                 answer_o,

    // Lookups of packets that no context has: the one that is taken asks `early_i` from the next cycle on. Words of its key come in the cycle behind their number. Its answer
    // is there for one cycle.
    // "Bits of signal are not used": numbers have room for the largest target.
    // verilator lint_off UNUSEDSIGNAL
    input  xdp_early_ask_t  early_i,
    // verilator lint_on UNUSEDSIGNAL
    output xdp_early_take_t early_o,

    // Packet memory of each core.
    output logic       [Cores-1:0]            read_valid_o,
    input  logic       [Cores-1:0]            read_ready_i,
    output xdp_place_t [Cores-1:0]            read_place_o,
    input  logic       [Cores-1:0][1:0][63:0] read_data_i,

    // The order of operations on maps: one has ended, of a context or of the host.
    output logic                  done_o,
    output logic                  done_host_o,
    output logic [    IdBits-1:0] done_context_o,
    // Nobody else reaches values.
    output logic                  locks_o,
    output logic [ModuleBits-1:0] locks_module_o,

    output logic                request_valid_o,
    input  logic                request_ready_i,
    output xdp_request_t        request_o,
    input  logic                done_valid_i,
    input  logic                done_fault_i,
    input  logic         [63:0] done_value_i,

    // Rows of search memory outside: a load gives 16 bytes, a store has no answer.
    output logic                    load_valid_o,
    input  logic                    load_ready_i,
    output logic             [31:0] load_place_o,
    output logic                    load_lookup_o,
    output logic             [ 3:0] load_number_o,
    output logic             [ 5:0] load_module_o,
    output logic                    load_touch_o,
    output logic             [ 5:0] load_bit_o,
    input  outside_row_t            row_i,
    output logic                    store_valid_o,
    input  logic                    store_ready_i,
    output outside_request_t        store_o,

    input  logic     cfg_valid_i,
    input  cfg_req_t cfg_req_i,
    output logic     cfg_valid_o,
    output cfg_rsp_t cfg_rsp_o
);

  localparam int unsigned MapBits = $clog2(Maps);
  localparam int unsigned RowIndexBits = $clog2(Rows);

  if (2 ** MapBits != Maps || Maps > 65536) begin : gen_bad_maps
    $fatal(1, "xdp_maps: Maps is %0d, expected a power of two up to 65536 (%m)", Maps);
  end
  if (2 ** RowIndexBits != Rows || RowIndexBits > (Outside ? 15 : 16)) begin : gen_bad_rows
    $fatal(1, "xdp_maps: Rows is %0d, expected a power of two up to %0d (%m)", Rows, Outside ? 32768 : 65536);
  end
  if (2 ** ProcessorBits != Processors || Processors < 2 || Processors > 16) begin : gen_bad_processors
    $fatal(1, "xdp_maps: Processors is %0d, expected a power of two from 2 to 16 (%m)", Processors);
  end

  // ---------------------------------------------------------------------------------------------------------------
  // Operations, of cores and of the host in turns.

  localparam int unsigned CoreBits = (Cores > 1) ? $clog2(Cores) : 1;
  localparam int unsigned Contexts = Processors / Cores;
  localparam int unsigned ContextBits = (Contexts > 1) ? $clog2(Contexts) : 1;
  typedef logic [CoreBits-1:0] core_t;

  // "Bits of function variable are not used": of a packet that no context has it says nothing.
  // verilator lint_off UNUSEDSIGNAL
  function automatic core_t core_of(logic [IdBits-1:0] id);
    // verilator lint_on UNUSEDSIGNAL
    return core_t'(32'(id[ProcessorBits-1:0]) / Contexts);
  endfunction

  localparam bit Early = IdBits > ProcessorBits;
  function automatic logic is_early(logic [IdBits-1:0] id);
    return Early && id[IdBits-1];
  endfunction

  logic [Cores-1:0][ContextBits-1:0] call_context;
  xdp_map_call_t call;
  logic next_any, next_ready, next_host, host_taken, asks_host, map_looks, early_ready, early_answers;
  logic [IdBits-1:0] early_key;
  logic [2:0] early_word;
  logic [IdBits-1:0] next_context, asks_context;
  logic [MapBits-1:0] next_map, map_index;
  xdp_map_row_t map, unused_map;
  logic host_pending, host_waits, host_search;
  xdp_map_call_t host_call;

  logic [Cores-1:0] front_read;
  logic front_request, front_host_read;
  xdp_place_t front_place;
  xdp_request_t front_asked;
  logic [6:0] front_host_word;

  logic back_read, back_read_ready, back_request, back_idle, back_quiet, back_looks, back_changes;
  logic back_answers, seek_answers, seek_idle, among, same_map;
  logic [IdBits-1:0] back_context, seek_context;
  xdp_map_answer_t back_answer, seek_answer;
  logic [15:0] back_state;
  key_slot_t back_slot, seek_slot;
  logic [1:0] back_rest, seek_rest;
  logic [127:0] back_row, seek_row;
  logic settled;
  xdp_place_t back_place;
  xdp_request_t back_asked;
  logic found_valid, found_host, found_fault, found_looks, found_take, seeks, may_seek, back_may, may_back;
  core_t back_core, back_core_q;
  xdp_map_call_t found_call, found;
  logic [IdBits-1:0] found_context;
  xdp_map_row_t found_row, found_map;
  walk_key_t found_key;
  logic [KeyWords-1:0][63:0] found_whole;
  logic [ChainBits-1:0] front_chain, found_chain;
  logic [SlotNumberBits-1:0] front_copy, found_copy;
  logic back_host_read, host_write, host_done;
  logic [6:0] back_host_word, host_write_word;
  logic [63:0] host_word, host_written;
  logic [7:0] host_error;
  logic [23:0] host_slot, host_chain;
  logic is_map, map_ok, clears;
  logic search_read, search_looks, search_hold, search_bad, search_idle;
  logic [SearchBits-1:0] search_row, search_write_row;
  logic [3:0] search_write;
  logic [3:0][31:0] search_data, search_written;
  logic search_free, host_outside, host_looks;

  sluice_xdp_maps_asks #(
      .Cores   (Cores),
      .Contexts(Contexts),
      .MapBits (MapBits),
      .IdBits  (IdBits)
  ) u_asks (
      .clk_i,
      .rst_ni,
      .call_valid_i,
      .call_context_i(call_context),
      .call_i,
      .early_i,
      .early_ready_o (early_ready),
      .host_valid_i  (host_pending),
      .host_i        (host_call),
      .host_taken_o  (host_taken),
      .next_valid_o  (next_any),
      .next_ready_i  (next_ready),
      .next_host_o   (next_host),
      .next_id_o     (next_context),
      .next_map_o    (next_map),
      .asks_host_i   (asks_host),
      .asks_id_i     (asks_context),
      .asked_o       (call)
  );
  always_comb begin
    for (int unsigned c = 0; c < Cores; c++) begin
      call_context[c] = call_context_i[c][ContextBits-1:0];
      read_valid_o[c] = front_read[c] || (back_read && back_core == core_t'(c));
      read_place_o[c] = (back_read && back_core == core_t'(c)) ? back_place : front_place;
    end
  end
  assign early_o = '{ready: early_ready, key_id: MostIdBits'(early_key), word: early_word, answers: early_answers};

  sluice_xdp_maps_front #(
      .Maps      (Maps),
      .Processors(Processors),
      .Cores     (Cores),
      .Outside   (Outside),
      .IdBits    (IdBits)
  ) u_front (
      .clk_i,
      .rst_ni,
      .call_valid_i   (next_any),
      .call_ready_o   (next_ready),
      .call_map_i     (next_map),
      .call_context_i (next_context),
      .call_host_i    (next_host),
      .asks_context_o (asks_context),
      .asks_host_o    (asks_host),
      .call_i         (call),
      .busy_i         (!back_quiet || !seek_idle),
      .map_valid_o    (map_looks),
      .map_index_o    (map_index),
      .map_i          (map),
      .read_valid_o   (front_read),
      .read_ready_i   (read_ready_i & ~(Cores'(back_read) << back_core)),
      .read_place_o   (front_place),
      .read_data_i,
      .request_valid_o(front_request),
      .request_ready_i(request_ready_i && !back_request),
      .request_o      (front_asked),
      .done_valid_i,
      .done_fault_i,
      .done_value_i,
      .host_valid_o   (front_host_read),
      .host_word_o    (front_host_word),
      .host_data_i    (host_word),
      .early_id_o     (early_key),
      .early_word_o   (early_word),
      .early_data_i   (early_i.data),
      .found_valid_o  (found_valid),
      .found_ready_i  (found_take),
      .found_o        (found_call),
      .found_context_o(found_context),
      .found_host_o   (found_host),
      .found_fault_o  (found_fault),
      .found_looks_o  (found_looks),
      .found_map_o    (found_row),
      .found_key_o    (found_key),
      .found_whole_o  (found_whole),
      .found_chain_o  (front_chain),
      .found_copy_o   (front_copy),
      .used_i         ({seek_slot, back_slot}),
      .row_rest_i     ({seek_rest, back_rest}),
      .row_o          ({seek_row, back_row})
  );

  sluice_ram_dp #(
      .Width(XdpMapRowBits),
      .Depth(Maps)
  ) u_maps (
      .clk_i,
      .a_en_i   ((cfg_valid_i && is_map && cfg_req_i.write) || clears),
      .a_we_i   ((cfg_req_i.write && map_ok) || clears),
      .a_addr_i (cfg_req_i.index[MapBits-1:0]),
      .a_wdata_i(cfg_req_i.data[XdpMapRowBits-1:0]),
      .a_rdata_o(unused_map),
      .b_en_i   (map_looks),
      .b_addr_i (map_index),
      .b_rdata_o(map)
  );

  // A lookup that changes nothing goes beside the second half, if that changes another map; what may be a change waits for such lookups of its map.
  assign same_map = back_state == found_map.state;
  // While the second half reads it takes no operation: so that is not asked for before one is offered to it.
  assign seeks = found_looks && !host_waits && (Outside ? settled || !same_map : seek_idle && !(back_changes && same_map));
  assign may_seek = seeks && (Outside || !back_looks);
  assign back_may = Outside ? settled && !found_looks && !among : found_looks || !among;
  assign may_back = back_idle && back_may;

  // All that the second half wrote is there.
  assign settled = back_quiet && search_idle;

  assign found_take = found_valid && (may_seek || (may_back && !seeks));
  // What the first half has done with is not asked for any more.
  always_comb begin
    found          = found_call;
    found.key      = '0;
    found.map      = '0;
    found_map      = found_row;
    found_map.seed = '0;
  end
  assign found_chain = Outside ? front_chain : ChainBits'(front_chain[ChipChainBits-1:0]);
  assign found_copy  = Outside ? front_copy : SlotNumberBits'(front_copy[ChipSlotBits-1:0]);

  // ---------------------------------------------------------------------------------------------------------------
  // Second half.

  sluice_xdp_maps_back #(
      .Processors(Processors),
      .Outside   (Outside),
      .IdBits    (IdBits)
  ) u_back (
      .clk_i,
      .rst_ni,
      .found_valid_i     (found_valid && back_may && !seeks),
      .found_ready_o     (back_idle),
      .host_waits_i      (host_waits),
      .hold_i            (search_hold),
      .bad_i             (search_bad),
      .looks_o           (search_looks),
      .quiet_o           (back_quiet),
      .found_i           (found),
      .found_context_i   (found_context),
      .found_host_i      (found_host),
      .found_fault_i     (found_fault),
      .found_map_i       (found_map),
      .found_key_i       (found_key),
      .found_chain_i     (found_chain),
      .found_copy_i      (found_copy),
      .key_slot_o        (back_slot),
      .key_rest_o        (back_rest),
      .rest_key_i        (back_row),
      .answer_valid_o    (back_answers),
      .answer_ready_i    (answer_ready_i[back_core] || is_early(back_context)),
      .answer_context_o  (back_context),
      .answer_o          (back_answer),
      .changes_o         (back_changes),
      .state_o           (back_state),
      .locks_o,
      .locks_module_o,
      .host_done_o       (host_done),
      .host_error_o      (host_error),
      .host_slot_o       (host_slot),
      .host_chain_o      (host_chain),
      .reads_o           (back_looks),
      .search_read_o     (search_read),
      .search_row_o      (search_row),
      .search_i          (search_data),
      .search_write_o    (search_write),
      .search_write_row_o(search_write_row),
      .search_o          (search_written),
      .read_valid_o      (back_read),
      .read_ready_i      (back_read_ready),
      .read_place_o      (back_place),
      .read_data_i       (read_data_i[back_core_q]),
      .request_valid_o   (back_request),
      .request_ready_i,
      .request_o         (back_asked),
      .done_valid_i,
      .done_fault_i,
      .done_value_i,
      .host_valid_o      (back_host_read),
      .host_word_o       (back_host_word),
      .host_data_i       (host_word),
      .host_write_o      (host_write),
      .host_write_word_o (host_write_word),
      .host_o            (host_written)
  );

  sluice_xdp_maps_beside #(
      .Processors(Processors),
      .Rows      (Rows),
      .Outside   (Outside),
      .IdBits    (IdBits)
  ) u_beside (
      .clk_i,
      .rst_ni,
      .take_i(found_take && may_seek),
      .idle_o(seek_idle),
      .context_i(found_context),
      .map_i(found_map),
      .key_i(found_key),
      .whole_i(found_whole),
      .chain_i(found_chain),
      .copy_i(found_copy),
      .key_slot_o(seek_slot),
      .key_rest_o(seek_rest),
      .rest_key_i(seek_row),
      .whose_i(found_map.state),
      .among_o(among),
      .read_i(search_read || (host_search && !cfg_req_i.write)),
      .read_row_i(host_search ? cfg_req_i.index : search_row),
      .looks_i(search_looks || host_looks),
      .row_o(search_data),
      .bad_o(search_bad),
      .write_i(host_search ? {4{cfg_req_i.write}} : search_write),
      .write_row_i(host_search ? cfg_req_i.index : search_write_row),
      .write_row_data_i(host_search ? cfg_req_i.data[127:0] : search_written),
      .hold_o(search_hold),
      .written_o(search_idle),
      .clear_i(clears || (cfg_valid_i && cfg_req_i.tab == TableXdpOutside && cfg_req_i.write)),
      .load_valid_o,
      .load_ready_i,
      .load_place_o,
      .load_lookup_o,
      .load_number_o,
      .load_module_o,
      .load_touch_o,
      .load_bit_o,
      .own_module_i(locks_module_o),
      .loaded_i(row_i),
      .store_valid_o,
      .store_ready_i,
      .store_o,
      .answer_valid_o(seek_answers),
      .answer_ready_i((answer_ready_i[core_of(seek_context)] || is_early(seek_context)) && !back_answers && !host_done),
      .answer_context_o(seek_context),
      .answer_o(seek_answer)
  );

  // The second half answers first.
  always_comb begin
    for (int unsigned c = 0; c < Cores; c++) begin
      answer_valid_o[c] = (back_answers && back_core == core_t'(c) && !is_early(back_context)) ||
          (seek_answers && !back_answers && !host_done && core_of(seek_context) == core_t'(c) &&
           !is_early(seek_context));
    end
  end
  assign early_answers = back_answers ? is_early(back_context) : seek_answers && !host_done && is_early(seek_context);
  assign answer_context_o = back_answers ? back_context : seek_context;
  assign answer_o = back_answers ? back_answer : seek_answer;

  assign done_o = (answer_valid_o & answer_ready_i) != '0 || early_answers || host_done;
  assign done_host_o = host_done;
  assign done_context_o = answer_context_o;
  assign back_core = core_of(back_context);
  assign back_read_ready = read_ready_i[back_core];
  always_ff @(posedge clk_i) back_core_q <= back_core;
  assign request_valid_o = back_request || front_request;
  assign request_o = back_request ? back_asked : front_asked;

  // ---------------------------------------------------------------------------------------------------------------
  // Memories and the host.

  assign is_map = cfg_req_i.tab == TableXdpMap;
  assign clears = cfg_req_i.clear;
  assign map_ok = cfg_check(cfg_req_i, 1'b1, 1'b1, 24'(Maps), 4'(XdpMapRowWords)) == StatusOk;

  // Search memory: the host's row in a cycle without an operation's; a write, and a row outside, between two operations.
  assign search_free = !back_looks && seek_idle && search_write == '0 && ((back_quiet && search_idle) || !(cfg_req_i.write || host_outside));
  sluice_xdp_maps_host #(
      .Rows   (Rows),
      .Outside(Outside)
  ) u_host (
      .clk_i,
      .rst_ni,
      .outside_o    (host_outside),
      .looks_o      (host_looks),
      .search_hold_i(search_hold),
      .waits_o      (host_waits),
      .search_o     (host_search),
      .search_free_i(search_free),
      .search_i     (search_data),
      .call_valid_o (host_pending),
      .call_taken_i (host_taken),
      .call_o       (host_call),
      .done_i       (host_done),
      .error_i      (host_error),
      .slot_i       (host_slot),
      .chain_i      (host_chain),
      .front_valid_i(front_host_read),
      .front_word_i (front_host_word),
      .back_valid_i (back_host_read),
      .back_word_i  (back_host_word),
      .data_o       (host_word),
      .write_i      (host_write),
      .write_word_i (host_write_word),
      .data_i       (host_written),
      .cfg_valid_i,
      .cfg_req_i,
      .cfg_valid_o,
      .cfg_rsp_o
  );

endmodule
