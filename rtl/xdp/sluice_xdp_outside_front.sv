/// Values in external memory as values, map engine and helpers know them, and rows of search memory: numbers of askers, the host's table, a cycle for an
/// answer that waits.
///
/// `valid_i` brings an access that sluice_xdp_values has allowed. `engine_free_o` is low while the map engine asks for what it has under way here: a store
/// from the cycle in which it is taken (`engine_takes_i`), 3 cycles before it comes. An
/// answer that has waited for `Patience` cycles holds off whoever asks for values, for a cycle. Rows of search memory are asked for in cycles without
/// an access to values; who has waited for `Patience` cycles holds these off until there is one.
///
/// Configuration: table `xdp_outside`; a write is answered when its units are zero.
///
/// Latency, throughput and stall behaviour: as sluice_xdp_outside.
module sluice_xdp_outside_front
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_outside_pkg::*;
#(
    parameter int unsigned PlaceBits = 31,
    parameter int unsigned Lines = 4096,
    parameter int unsigned Processors = 16,
    parameter int unsigned Cores = 2,
    parameter int unsigned Patience = 7,
    parameter int unsigned LateCycles = 1 << 14,
    localparam int unsigned ProcessorBits = $clog2(Processors)
) (
    input logic clk_i,
    input logic rst_ni,

    // An asker's upper bits say what it is: 0 a context, 2 the map engine, 3 a helper, of the core that its lower bits are.
    input  logic                                 valid_i,
    input  logic             [ProcessorBits+1:0] asker_i,
    input  logic                                 puts_i,
    input  outside_request_t                     request_i,
    // What the map engine asks for next: a place outside, a store.
    input  logic                                 engine_outside_i,
    input  logic                                 engine_puts_i,
    input  logic                                 engine_takes_i,
    output logic                                 engine_free_o,

    output logic                     done_valid_o,
    input  logic                     done_ready_i,
    output logic [ProcessorBits+1:0] done_asker_o,
    output logic                     done_fault_o,
    output logic [             63:0] done_value_o,
    output logic                     hold_o,

    // Rows of search memory: a load of 16 bytes, a store without answer. Stores go first. A lookup's load is the context's, which has no other access then.
    // One that touches sets a bit of the row's upper word.
    input  logic                    load_valid_i,
    output logic                    load_ready_o,
    input  logic                    load_lookup_i,
    input  logic             [ 3:0] load_number_i,
    input  logic             [ 5:0] load_module_i,
    input  logic                    load_touch_i,
    input  logic             [ 5:0] load_bit_i,
    input  logic             [31:0] load_place_i,
    output outside_row_t            row_o,
    input  logic                    store_valid_i,
    output logic                    store_ready_o,
    input  outside_request_t        store_i,

    input  logic     cfg_valid_i,
    input  cfg_req_t cfg_req_i,
    output logic     cfg_valid_o,
    output cfg_rsp_t cfg_rsp_o,

    output outside_master_t master_o,
    input  outside_slave_t  slave_i
);

  // Contexts, the map engine's loads, its stores, helpers, loads and stores of search memory.
  localparam int unsigned Loader = Processors;
  localparam int unsigned Putter = Processors + 1;
  localparam int unsigned Helpers = Processors + 2;
  localparam int unsigned Searcher = Helpers + Cores;
  localparam int unsigned Storer = Searcher + 1;
  localparam int unsigned Askers = Storer + 1;
  localparam int unsigned AskerBits = $clog2(Askers);
  localparam int unsigned UnitBits = PlaceBits - OutsideUnitBits;
  localparam int unsigned CoreShift = $clog2(Processors / Cores);
  localparam int unsigned WaitBits = $clog2(Patience + 1);

  typedef logic [AskerBits-1:0] asker_t;

  asker_t asker, done_asker, enters_asker, searcher;
  // Of contexts: it is a row that is asked for.
  logic [Processors-1:0] rows_q;
  logic done_lookup;
  logic enters, any_done, row_done, searches, done_fault;
  logic [63:0] done_value, done_upper;
  outside_request_t enters_request;
  logic [Askers-1:0] busy;
  logic clear_valid, clear_done, read_failed, write_failed, late, write_late, accessed, fetched;
  outside_id_t lost;
  logic [ProcessorBits-1:0] number;

  assign number = asker_i[ProcessorBits-1:0];
  always_comb begin
    case (asker_i[ProcessorBits+1-:2])
      2'b10:   asker = asker_t'(puts_i ? Putter : Loader);
      2'b11:   asker = asker_t'(Helpers) + asker_t'(asker_t'(number) >> CoreShift);
      default: asker = asker_t'(number);
    endcase
    done_asker_o = (ProcessorBits + 2)'(done_asker);
    if (done_asker >= asker_t'(Helpers)) begin
      done_asker_o = {2'b11, ProcessorBits'(done_asker - asker_t'(Helpers)) << CoreShift};
    end else if (done_asker >= asker_t'(Loader)) begin
      done_asker_o = {2'b10, ProcessorBits'(0)};
    end
  end

  // Search memory, where values leave a cycle.
  assign store_ready_o = !valid_i && !busy[Storer];
  assign searcher      = load_lookup_i ? asker_t'(load_number_i) : asker_t'(Searcher);
  assign load_ready_o  = !valid_i && !busy[searcher] && !(store_valid_i && store_ready_o);
  assign searches      = (store_valid_i && store_ready_o) || (load_valid_i && load_ready_o);
  assign enters        = valid_i || searches;
  always_comb begin
    enters_asker   = asker;
    enters_request = request_i;
    if (!valid_i) begin
      enters_asker = searcher;
      enters_request = '0;
      enters_request.op = OutsideLoad;
      enters_request.module_id = load_module_i;
      enters_request.place = load_place_i;
      enters_request.bytes = 4'd8;
      if (load_touch_i) begin
        enters_request.op       = OutsideAtomic;
        enters_request.code     = 3'd1;  // or
        enters_request.place[3] = 1'b1;
        enters_request.data     = 64'd1 << load_bit_i;
      end
      if (store_valid_i && store_ready_o) begin
        enters_asker   = asker_t'(Storer);
        enters_request = store_i;
      end
    end
  end
  assign done_lookup = done_asker < asker_t'(Processors) && rows_q[done_asker[ProcessorBits-1:0]];
  assign row_done = any_done && (done_asker == asker_t'(Searcher) || done_lookup);
  assign row_o = '{
          valid: row_done,
          lookup: done_lookup,
          number: 4'(done_asker),
          fault: done_fault,
          data: {done_upper, done_value}
      };
  always_ff @(posedge clk_i) begin
    for (int unsigned p = 0; p < Processors; p++) if (enters && enters_asker == asker_t'(p)) rows_q[p] <= !valid_i;
  end
  assign done_valid_o = any_done && !row_done;
  assign done_fault_o = done_fault;
  assign done_value_o = done_value;

  logic [2:0] puts_q;
  always_ff @(posedge clk_i) puts_q <= rst_ni ? {puts_q[1:0], engine_takes_i && engine_outside_i && engine_puts_i} : '0;
  assign engine_free_o = !(engine_outside_i && (engine_puts_i ? busy[Putter] || puts_q != '0 : busy[Loader]));

  // "Bits of signal are not used": errors are told, not written.
  // verilator lint_off UNUSEDSIGNAL
  xdp_outside_row_t row;
  // verilator lint_on UNUSEDSIGNAL
  assign row = cfg_req_i.data[XdpOutsideRowBits-1:0];

  // A module's weight is that of its queue.
  // "Bits of signal are not used": the rest is the queues'.
  // verilator lint_off UNUSEDSIGNAL
  xdp_share_row_t share;
  // verilator lint_on UNUSEDSIGNAL
  logic weight_valid;
  assign share = cfg_req_i.data[XdpShareRowBits-1:0];
  assign weight_valid = cfg_valid_i && cfg_req_i.tab == TableXdpShare && cfg_req_i.write && cfg_check(
      cfg_req_i, 1'b1, 1'b1, 24'(2 ** ModuleBits), 4'(XdpShareRowWords)
  ) == StatusOk;

  sluice_xdp_outside #(
      .PlaceBits (PlaceBits),
      .Lines     (Lines),
      .Askers    (Askers),
      .Putter    (Putter),
      .Storer    (Storer),
      .LateCycles(LateCycles)
  ) u_outside (
      .clk_i,
      .rst_ni,
      .valid_i        (enters),
      .asker_i        (enters_asker),
      .request_i      (enters_request),
      .busy_o         (busy),
      .done_valid_o   (any_done),
      .done_ready_i   (done_ready_i || row_done),
      .done_asker_o   (done_asker),
      .done_fault_o   (done_fault),
      .done_value_o   (done_value),
      .done_upper_o   (done_upper),
      .clear_valid_i  (clear_valid),
      .clear_first_i  (cfg_req_i.index[UnitBits-1:0]),
      .clear_units_i  ((UnitBits + 1)'(row.count)),
      .clear_done_o   (clear_done),
      .read_failed_o  (read_failed),
      .write_failed_o (write_failed),
      .late_o         (late),
      .write_late_o   (write_late),
      .accessed_o     (accessed),
      .fetched_o      (fetched),
      .lost_o         (lost),
      .weight_valid_i (weight_valid || cfg_req_i.clear),
      .weight_module_i(cfg_req_i.index[5:0]),
      .weight_i       (cfg_req_i.clear ? '0 : share.weight),
      .master_o,
      .slave_i
  );

  logic [WaitBits-1:0] wait_q, search_wait_q;
  logic answer_waits, search_waits;
  assign answer_waits = wait_q == WaitBits'(Patience);
  assign search_waits = search_wait_q == WaitBits'(Patience);
  assign hold_o = answer_waits || search_waits;
  always_ff @(posedge clk_i) begin
    if (!rst_ni || !done_valid_o || done_ready_i || answer_waits) wait_q <= '0;
    else wait_q <= wait_q + WaitBits'(1);
    if (!rst_ni || !valid_i) search_wait_q <= '0;
    else if (!search_waits && (load_valid_i || store_valid_i)) search_wait_q <= search_wait_q + WaitBits'(1);
  end

  // ---------------------------------------------------------------------------------------------------------------
  // The host's table.

  xdp_outside_row_t said;
  logic asked, waits_q, fits;
  logic [1:0] answer_q;
  logic [15:0] read_errors_q, write_errors_q, late_q, late_writes_q;
  logic [31:0] accesses_q, lines_q;
  cfg_status_e status;

  assign asked = cfg_valid_i && cfg_req_i.tab == TableXdpOutside;
  assign fits  = 25'(cfg_req_i.index) + 25'(row.count) <= 25'(2 ** UnitBits);
  always_comb begin
    status = cfg_check(cfg_req_i, 1'b1, 1'b1, 24'(2 ** UnitBits), 4'(XdpOutsideRowWords));
    if (status == StatusOk && cfg_req_i.write && !fits) status = StatusBadAddress;
  end
  assign clear_valid = asked && cfg_req_i.write && status == StatusOk;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      waits_q        <= 1'b0;
      answer_q       <= '0;
      read_errors_q  <= '0;
      write_errors_q <= '0;
      late_q         <= '0;
      late_writes_q  <= '0;
      accesses_q     <= '0;
      lines_q        <= '0;
    end else begin
      if (clear_valid) waits_q <= 1'b1;
      else if (clear_done) waits_q <= 1'b0;
      answer_q <= {answer_q[0], (asked && !clear_valid) || (waits_q && clear_done)};
      if (read_failed && read_errors_q != '1) read_errors_q <= read_errors_q + 16'd1;
      if (write_failed && write_errors_q != '1) write_errors_q <= write_errors_q + 16'd1;
      if (late && late_q != '1) late_q <= late_q + 16'd1;
      if (write_late && late_writes_q != '1) late_writes_q <= late_writes_q + 16'd1;
      accesses_q <= accesses_q + 32'(accessed);
      lines_q <= lines_q + 32'(fetched);
    end
  end

  assign said = '{
          count: '0,
          read_errors: read_errors_q,
          write_errors: write_errors_q,
          late: late_q,
          late_writes: late_writes_q,
          lost: lost,
          accesses: accesses_q,
          lines: lines_q
      };
  assign cfg_valid_o = answer_q[1];
  assign cfg_rsp_o = '{status: status, words: 4'(XdpOutsideRowWords), data: 256'(said)};

endmodule
