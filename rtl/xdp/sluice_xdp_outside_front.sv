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

    // Rows of search memory: a load of 16 bytes, a store without answer. Stores go first.
    input  logic                    load_valid_i,
    output logic                    load_ready_o,
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

  asker_t asker, done_asker, enters_asker;
  logic enters, any_done, row_done, searches, done_fault;
  logic [63:0] done_value, done_upper;
  outside_request_t enters_request;
  logic [Askers-1:0] busy;
  logic clear_valid, clear_done, read_failed, write_failed;
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
  assign load_ready_o  = !valid_i && !busy[Searcher] && !(store_valid_i && store_ready_o);
  assign searches      = (store_valid_i && store_ready_o) || (load_valid_i && load_ready_o);
  assign enters        = valid_i || searches;
  always_comb begin
    enters_asker   = asker;
    enters_request = request_i;
    if (!valid_i) begin
      enters_asker = asker_t'(Searcher);
      enters_request = '0;
      enters_request.op = OutsideLoad;
      enters_request.place = load_place_i;
      enters_request.bytes = 4'd8;
      if (store_valid_i && store_ready_o) begin
        enters_asker   = asker_t'(Storer);
        enters_request = store_i;
      end
    end
  end
  assign row_done     = any_done && done_asker == asker_t'(Searcher);
  assign row_o        = '{valid: row_done, fault: done_fault, data: {done_upper, done_value}};
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

  sluice_xdp_outside #(
      .PlaceBits(PlaceBits),
      .Lines    (Lines),
      .Askers   (Askers),
      .Putter   (Putter),
      .Storer   (Storer)
  ) u_outside (
      .clk_i,
      .rst_ni,
      .valid_i       (enters),
      .asker_i       (enters_asker),
      .request_i     (enters_request),
      .busy_o        (busy),
      .done_valid_o  (any_done),
      .done_ready_i  (done_ready_i || row_done),
      .done_asker_o  (done_asker),
      .done_fault_o  (done_fault),
      .done_value_o  (done_value),
      .done_upper_o  (done_upper),
      .clear_valid_i (clear_valid),
      .clear_first_i (cfg_req_i.index[UnitBits-1:0]),
      .clear_units_i ((UnitBits + 1)'(row.count)),
      .clear_done_o  (clear_done),
      .read_failed_o (read_failed),
      .write_failed_o(write_failed),
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
  logic [15:0] read_errors_q, write_errors_q;
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
    end else begin
      if (clear_valid) waits_q <= 1'b1;
      else if (clear_done) waits_q <= 1'b0;
      answer_q <= {answer_q[0], (asked && !clear_valid) || (waits_q && clear_done)};
      if (read_failed && read_errors_q != '1) read_errors_q <= read_errors_q + 16'd1;
      if (write_failed && write_errors_q != '1) write_errors_q <= write_errors_q + 16'd1;
    end
  end

  assign said = '{count: '0, read_errors: read_errors_q, write_errors: write_errors_q};
  assign cfg_valid_o = answer_q[1];
  assign cfg_rsp_o = '{status: status, words: 4'(XdpOutsideRowWords), data: 256'(said)};

endmodule
