/// What the programs of all cores share: values with their locks, and maps.
///
/// Values are asked by contexts, by the map engine and by the helper, in turns (sluice_xdp_value_turns), and answer whom they were asked by. No store comes
/// when the memory is an atomic operation's.
///
/// Values in external memory (`Cfg.outside`) answer at the same port when nobody else does; one that has waited gets a cycle in which nobody asks. While a
/// value is written, others of its module wait; without external memory all do.
///
/// Latency: none to values; with external memory they have a request a cycle later. Throughput: a request a cycle. Stall behaviour: requests hold until taken; with
/// external memory who is not taken asks again.
module sluice_xdp_shared
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_pkg::*;
  import sluice_xdp_start_pkg::*;
  import sluice_xdp_outside_pkg::*;
#(
    parameter xdp_cfg_t Cfg = XdpCfgDefault,
    localparam int unsigned Cores = Cfg.cores,
    localparam int unsigned ContextBits = $clog2(Cfg.contexts),
    localparam int unsigned ProcessorBits = $clog2(Cores * Cfg.contexts),
    localparam int unsigned CoreBits = (Cores > 1) ? $clog2(Cores) : 1,
    localparam int unsigned IdBits = xdp_id_bits(Cfg)
) (
    input logic clk_i,
    input logic rst_ni,

    input logic [ClockBits-1:0] now_i,

    // What contexts of each core and the helper ask of values.
    input  logic         [   Cores-1:0]                  request_valid_i,
    output logic         [   Cores-1:0]                  request_ready_o,
    input  xdp_request_t [   Cores-1:0]                  request_i,
    input  logic         [   Cores-1:0][ContextBits-1:0] request_context_i,
    // It counts, for a packet that no context has; that it is done.
    input  logic         [   Cores-1:0]                  request_count_i,
    output logic         [   Cores-1:0]                  count_done_o,
    input  logic         [   Cores-1:0][           63:0] late_i,
    input  logic                                         helper_valid_i,
    output logic                                         helper_ready_o,
    input  xdp_request_t                                 helper_i,
    // Whose request of a context is taken.
    output logic                                         taken_valid_o,
    output logic         [CoreBits-1:0]                  taken_core_o,

    // Whom values answer.
    output logic [      Cores-1:0] done_valid_o,
    output logic                   done_helper_o,
    output logic [ContextBits-1:0] done_context_o,
    output logic                   done_fault_o,
    output logic [           63:0] done_value_o,

    output logic             [Cores-1:0]                  lock_valid_o,
    input  logic             [Cores-1:0]                  lock_ready_i,
    output logic             [Cores-1:0][ContextBits-1:0] lock_context_o,
    output xdp_lock_answer_t [Cores-1:0]                  lock_o,
    input  logic             [Cores-1:0]                  lock_free_i,
    input  logic             [Cores-1:0][ContextBits-1:0] lock_free_context_i,

    input  logic            [      Cores-1:0]                        map_call_valid_i,
    input  xdp_map_call_t   [      Cores-1:0]                        map_call_i,
    input  logic            [      Cores-1:0][ContextBits-1:0]       map_context_i,
    output logic            [      Cores-1:0]                        map_answer_valid_o,
    input  logic            [      Cores-1:0]                        map_answer_ready_i,
    output logic            [ContextBits-1:0]                        map_answer_context_o,
    output xdp_map_answer_t                                          map_answer_o,
    output logic            [      Cores-1:0]                        map_read_valid_o,
    input  logic            [      Cores-1:0]                        map_read_ready_i,
    output xdp_place_t      [      Cores-1:0]                        map_read_place_o,
    input  logic            [      Cores-1:0][            1:0][63:0] map_read_data_i,
    // Early lookups, as sluice_xdp_maps takes them.
    input  xdp_early_ask_t                                           early_i,
    output xdp_early_take_t                                          early_o,
    // An operation is done: whose.
    output logic                                                     map_done_o,
    output logic                                                     map_done_host_o,
    output logic            [     IdBits-1:0]                        map_done_id_o,

    input  logic     cfg_valid_i,
    input  cfg_req_t cfg_req_i,
    output logic     values_cfg_valid_o,
    output cfg_rsp_t values_cfg_rsp_o,
    output logic     maps_cfg_valid_o,
    output cfg_rsp_t maps_cfg_rsp_o,

    output outside_master_t outside_o,
    input  outside_slave_t  outside_i
);

  // Cycles that the map engine and the helper wait for values before the cores leave one out.
  localparam int unsigned Patience = 7;

  typedef logic [CoreBits-1:0] core_t;
  typedef logic [ProcessorBits-1:0] processor_t;

  function automatic core_t core_of(processor_t processor);
    return core_t'(32'(processor) >> ContextBits);
  endfunction

  function automatic processor_t processor_of(core_t core, logic [ContextBits-1:0] number);
    return processor_t'((32'(core) << ContextBits) | 32'(number));
  endfunction

  // ---------------------------------------------------------------------------------------------------------------
  // Values.

  core_t asks_core, late_core_q;
  logic
      asks_any,
      asks_engine,
      asks_helper,
      engine_turn,
      helper_turn,
      engine_ready,
      values_valid,
      values_ready,
      map_locks,
      map_request_valid;
  xdp_request_t map_request;
  // What values have.
  logic asked;
  logic [1:0] atomic_q;
  // Whom they answer: a context of a core, the map engine, or the helper.
  logic [ProcessorBits+1:0] asker;
  // "Bits of signal are not used": of a context its core is known before.
  // verilator lint_off UNUSEDSIGNAL
  logic [ProcessorBits+1:0] done_asker;
  // verilator lint_on UNUSEDSIGNAL
  xdp_request_t asked_request;
  logic [63:0] late;
  logic done_valid, done_engine;
  // Who may not ask: all, or those of the module whose value is being written.
  localparam bit Outside = Cfg.outside != 0;
  localparam int unsigned PlaceBits = Outside ? $clog2(Cfg.outside) : 0;
  localparam int unsigned LockBits = (PlaceBits > $clog2(Cfg.values)) ? PlaceBits - 1 : $clog2(Cfg.values / 4);
  logic hold, engine_free;
  logic helper_waits;
  logic [Cores-1:0] request_waits;
  logic [ModuleBits-1:0] map_locks_module;
  always_comb begin
    for (int unsigned c = 0; c < Cores; c++) begin
      request_waits[c] = hold || (Outside && map_locks && request_i[c].module_id == map_locks_module);
    end
    helper_waits = hold || (Outside && map_locks && helper_i.module_id == map_locks_module);
  end
  logic [Cores-1:0] request_store, request_atomic;
  always_comb begin
    for (int unsigned c = 0; c < Cores; c++) begin
      request_store[c]  = request_i[c].kind == RequestStore;
      request_atomic[c] = request_i[c].kind == RequestAtomic;
    end
  end

  sluice_xdp_value_turns #(
      .Cores   (Cores),
      .Patience(Patience)
  ) u_value_turns (
      .clk_i,
      .rst_ni,
      .locks_i         (map_locks && !Outside),
      .stores_i        (atomic_q == '0),
      .context_valid_i (request_valid_i & ~request_waits),
      .context_store_i (request_store),
      .context_atomic_i(request_atomic),
      .context_ready_o (request_ready_o),
      .engine_valid_i  (map_request_valid && engine_free && !hold),
      .engine_ready_o  (engine_turn),
      .helper_valid_i  (helper_valid_i && !helper_waits),
      .helper_ready_o  (helper_turn),
      .valid_o         (values_valid),
      .is_context_o    (asks_any),
      .context_core_o  (asks_core),
      .is_engine_o     (asks_engine),
      .is_helper_o     (asks_helper)
  );
  assign engine_ready   = engine_turn && engine_free && !hold;
  assign helper_ready_o = helper_turn && !helper_waits;
  assign taken_valid_o  = asks_any;
  assign taken_core_o   = asks_core;

  // Atomic operations, and what names a map by its number, are asked by contexts alone.
  xdp_request_t values_request;
  always_comb begin
    values_request = asks_engine ? map_request : asks_helper ? helper_i : request_i[asks_core];
    values_request.code = request_i[asks_core].code;
    values_request.expected = request_i[asks_core].expected;
    values_request.map = request_i[asks_core].map;
  end

  logic [ProcessorBits+1:0] whose;
  assign whose = {
    asks_engine || asks_helper,
    asks_helper || (asks_any && request_count_i[asks_core]),
    (asks_engine || asks_helper) ? '0 : processor_of(asks_core, request_context_i[asks_core])
  };
  // No store comes when the memory is an atomic operation's.
  always_ff @(posedge clk_i) begin
    atomic_q <= rst_ni ? {atomic_q[0], asks_any && request_atomic[asks_core]} : '0;
    late_core_q <= asks_core;
  end
  logic [63:0] read_late;
  assign read_late = late_i[late_core_q];

  // With external memory a request comes from its core without a queue, and values have it, and what belongs to it, a cycle later.
  if (Outside) begin : gen_later
    logic asked_q;
    logic [ProcessorBits+1:0] asker_q;
    xdp_request_t asked_request_q;
    logic [63:0] late_q;
    always_ff @(posedge clk_i) begin
      asked_q <= values_valid && rst_ni;
      asked_request_q <= values_request;
      asker_q <= whose;
      late_q <= read_late;
    end
    assign asked = asked_q;
    assign asked_request = asked_request_q;
    assign asker = asker_q;
    assign late = late_q;
  end else begin : gen_at_once
    assign asked = values_valid;
    assign asked_request = values_request;
    assign asker = whose;
    assign late = read_late;
  end

  logic asked_valid, asked_unlocks, asked_fault;
  logic [ProcessorBits+1:0] asked_context;
  logic [LockBits-1:0] asked_place;
  logic chip_done_valid, chip_done_fault, leaves_valid, leaves_puts;
  logic [ProcessorBits+1:0] chip_done_asker, leaves_asker;
  logic [63:0] chip_done_value;
  // Whose context is answered in the next cycle; core by core what is answered.
  logic soon_valid;
  logic [ProcessorBits+1:0] soon_asker;
  logic [Cores-1:0] chip_done_q, done_core;
  function automatic logic [Cores-1:0] cores_of(logic valid, logic counts, logic [ProcessorBits+1:0] asks);
    return (valid && asks[ProcessorBits+1-:2] == {1'b0, counts}) ? Cores'(1) << core_of(asks[ProcessorBits-1:0]) : '0;
  endfunction
  always_ff @(posedge clk_i) begin
    chip_done_q  <= cores_of(soon_valid, 1'b0, soon_asker);
    count_done_o <= rst_ni ? cores_of(soon_valid, 1'b1, soon_asker) : '0;
  end
  outside_request_t leaves;
  logic chip_cfg_valid;
  cfg_rsp_t chip_cfg_rsp;

  sluice_xdp_values #(
      .Regions  (Cfg.regions),
      .Maps     (Cfg.maps),
      .Bytes    (Cfg.values),
      .Contexts (4 * 2 ** ProcessorBits),
      .PlaceBits(PlaceBits)
  ) u_values (
      .clk_i,
      .rst_ni,
      .valid_i          (asked),
      .ready_o          (values_ready),
      .request_i        (asked_request),
      .context_i        (asker),
      .late_i           (late),
      .done_valid_o     (chip_done_valid),
      .done_context_o   (chip_done_asker),
      .soon_valid_o     (soon_valid),
      .soon_context_o   (soon_asker),
      .done_fault_o     (chip_done_fault),
      .done_value_o     (chip_done_value),
      .outside_valid_o  (leaves_valid),
      .outside_context_o(leaves_asker),
      .outside_puts_o   (leaves_puts),
      .outside_o        (leaves),
      .lock_valid_o     (asked_valid),
      .lock_context_o   (asked_context),
      .lock_place_o     (asked_place),
      .lock_unlocks_o   (asked_unlocks),
      .lock_fault_o     (asked_fault),
      .cfg_valid_i,
      .cfg_req_i,
      .cfg_valid_o      (chip_cfg_valid),
      .cfg_rsp_o        (chip_cfg_rsp)
  );

  // Rows of search memory that lie there.
  logic load_valid, load_ready, load_lookup, load_touch, store_valid, store_ready;
  logic [3:0] load_number;
  logic [5:0] load_module, load_bit;
  logic [31:0] load_place;
  outside_row_t row;
  outside_request_t store;

  if (Outside) begin : gen_outside
    logic far_done_valid, far_done_fault, far_cfg_valid;
    cfg_rsp_t far_cfg_rsp;
    logic [ProcessorBits+1:0] far_done_asker;
    logic [63:0] far_done_value;
    sluice_xdp_outside_front #(
        .PlaceBits (PlaceBits),
        .Lines     (Cfg.lines),
        .Processors(2 ** ProcessorBits),
        .Cores     (Cores)
    ) u_outside (
        .clk_i,
        .rst_ni,
        .valid_i         (leaves_valid),
        .asker_i         (leaves_asker),
        .puts_i          (leaves_puts),
        .request_i       (leaves),
        .engine_outside_i(map_request.outside),
        .engine_puts_i   (map_request.kind == RequestPut),
        .engine_takes_i  (engine_ready),
        .engine_free_o   (engine_free),
        .done_valid_o    (far_done_valid),
        .done_ready_i    (!chip_done_valid),
        .done_asker_o    (far_done_asker),
        .done_fault_o    (far_done_fault),
        .done_value_o    (far_done_value),
        .hold_o          (hold),
        .load_valid_i    (load_valid),
        .load_ready_o    (load_ready),
        .load_lookup_i   (load_lookup),
        .load_number_i   (load_number),
        .load_module_i   (load_module),
        .load_touch_i    (load_touch),
        .load_bit_i      (load_bit),
        .load_place_i    (load_place),
        .row_o           (row),
        .store_valid_i   (store_valid),
        .store_ready_o   (store_ready),
        .store_i         (store),
        .cfg_valid_i,
        .cfg_req_i,
        .cfg_valid_o     (far_cfg_valid),
        .cfg_rsp_o       (far_cfg_rsp),
        .master_o        (outside_o),
        .slave_i         (outside_i)
    );
    assign done_core = chip_done_valid ? chip_done_q : cores_of(far_done_valid, 1'b0, far_done_asker);
    assign done_valid = chip_done_valid || far_done_valid;
    assign done_asker = chip_done_valid ? chip_done_asker : far_done_asker;
    assign done_fault_o = chip_done_valid ? chip_done_fault : far_done_fault;
    assign done_value_o = chip_done_valid ? chip_done_value : far_done_value;
    assign values_cfg_valid_o = chip_cfg_valid || far_cfg_valid;
    assign values_cfg_rsp_o = far_cfg_valid ? narrow_rsp(far_cfg_rsp, XdpOutsideRowWords) : chip_cfg_rsp;
  end else begin : gen_no_outside
    // It is known in front of the cores which of them takes the map engine's answer.
    assign done_core = chip_done_q;
    assign done_valid = chip_done_valid;
    assign done_asker = chip_done_asker;
    assign done_fault_o = chip_done_fault;
    assign done_value_o = chip_done_value;
    assign hold = 1'b0;
    assign engine_free = 1'b1;
    assign values_cfg_valid_o = chip_cfg_valid;
    assign values_cfg_rsp_o = chip_cfg_rsp;
    assign outside_o = '0;
    assign load_ready = 1'b0;
    assign row = '0;
    assign store_ready = 1'b0;
    // "Signal is not used": without external memory nothing leaves.
    // verilator lint_off UNUSEDSIGNAL
    outside_slave_t unused_outside;
    logic [2*$bits(outside_request_t)+ProcessorBits+55:0] unused_leaves;
    // verilator lint_on UNUSEDSIGNAL
    assign unused_outside = outside_i;
    assign unused_leaves = {
      leaves,
      leaves_asker,
      leaves_puts,
      leaves_valid,
      load_valid,
      load_lookup,
      load_number,
      load_module,
      load_touch,
      load_bit,
      load_place,
      store_valid,
      store
    };
  end

  // Of those that are no context's the second bit says that they are a helper's.
  assign done_engine = done_asker[ProcessorBits+1-:2] == 2'b10;
  assign done_helper_o = done_valid && done_asker[ProcessorBits+1-:2] == 2'b11;
  assign done_context_o = done_asker[ContextBits-1:0];
  assign done_valid_o = done_core;

  // "Bits of signal are not used": only contexts ask for locks.
  // verilator lint_off UNUSEDSIGNAL
  logic [1:0] unused_asked;
  // verilator lint_on UNUSEDSIGNAL
  assign unused_asked = asked_context[ProcessorBits+1-:2];
  sluice_xdp_locks #(
      .Cores    (Cores),
      .Contexts (Cfg.contexts),
      .PlaceBits(LockBits)
  ) u_locks (
      .clk_i,
      .rst_ni,
      .now_i,
      .ask_valid_i     (asked_valid),
      .ask_context_i   (asked_context[ProcessorBits-1:0]),
      .ask_place_i     (asked_place),
      .ask_unlocks_i   (asked_unlocks),
      .ask_fault_i     (asked_fault),
      .free_valid_i    (lock_free_i),
      .free_context_i  (lock_free_context_i),
      .answer_valid_o  (lock_valid_o),
      .answer_ready_i  (lock_ready_i),
      .answer_context_o(lock_context_o),
      .answer_o        (lock_o)
  );

  // ---------------------------------------------------------------------------------------------------------------
  // Maps.

  processor_t [Cores-1:0] map_processor;
  // "Bits of signal are not used": whose core it is is known before.
  // verilator lint_off UNUSEDSIGNAL
  logic [IdBits-1:0] answer_processor;
  // verilator lint_on UNUSEDSIGNAL
  always_comb for (int unsigned c = 0; c < Cores; c++) map_processor[c] = processor_of(core_t'(c), map_context_i[c]);
  assign map_answer_context_o = answer_processor[ContextBits-1:0];

  sluice_xdp_maps #(
      .Maps      (Cfg.maps),
      .Rows      (Cfg.search),
      .Processors(2 ** ProcessorBits),
      .Cores     (Cores),
      .Outside   (Outside),
      .IdBits    (IdBits)
  ) u_maps (
      .clk_i,
      .rst_ni,
      .call_valid_i    (map_call_valid_i),
      .call_context_i  (map_processor),
      .call_i          (map_call_i),
      .answer_valid_o  (map_answer_valid_o),
      .answer_ready_i  (map_answer_ready_i),
      .answer_context_o(answer_processor),
      .answer_o        (map_answer_o),
      .early_i,
      .early_o,
      .read_valid_o    (map_read_valid_o),
      .read_ready_i    (map_read_ready_i),
      .read_place_o    (map_read_place_o),
      .read_data_i     (map_read_data_i),
      .done_o          (map_done_o),
      .done_host_o     (map_done_host_o),
      .done_context_o  (map_done_id_o),
      .locks_o         (map_locks),
      .locks_module_o  (map_locks_module),
      .request_valid_o (map_request_valid),
      .request_ready_i (engine_ready),
      .request_o       (map_request),
      .done_valid_i    (done_valid && done_engine),
      .done_fault_i    (done_fault_o),
      .done_value_i    (done_value_o),
      .load_valid_o    (load_valid),
      .load_ready_i    (load_ready),
      .load_lookup_o   (load_lookup),
      .load_number_o   (load_number),
      .load_module_o   (load_module),
      .load_touch_o    (load_touch),
      .load_bit_o      (load_bit),
      .load_place_o    (load_place),
      .row_i           (row),
      .store_valid_o   (store_valid),
      .store_ready_i   (store_ready),
      .store_o         (store),
      .cfg_valid_i,
      .cfg_req_i,
      .cfg_valid_o     (maps_cfg_valid_o),
      .cfg_rsp_o       (maps_cfg_rsp_o)
  );

`ifndef SYNTHESIS
  ValuesTakeWhatIsOffered_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !asked || values_ready || !(asked_request.kind inside {RequestStore, RequestPut}));
`endif

endmodule
