/// Proof about sluice_xdp_values with external memory: what leaves for it is an access to one value in a page that its module owns, or the map engine's; what
/// may not, or lies on the chip, does not leave, and what leaves has no answer here.
///
/// As in values.sv one row of the region table is chosen at the start, and a plain copy of it kept. By k-induction; 4 rows, 4 maps, 1 MiB outside.
module values_far
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_pkg::*;
  import sluice_xdp_outside_pkg::*;
(
    input logic                clk_i,
    input logic                rst_ni,
    input logic         [ 1:0] choose_i,
    input logic                valid_i,
    input xdp_request_t        request_i,
    input logic         [ 1:0] context_i,
    input logic         [63:0] late_i,
    input logic                cfg_valid_i,
    input cfg_req_t            cfg_req_i
);

  logic ready, done_valid, cfg_valid, leaves, puts;
  logic [1:0] done_context, leaves_context;
  outside_request_t left;

  sluice_xdp_values #(
      .Regions  (4),
      .Maps     (4),
      .Bytes    (1 << 15),
      .Contexts (4),
      .PlaceBits(20)
  ) u_dut (
      .clk_i,
      .rst_ni,
      .valid_i,
      .ready_o          (ready),
      .request_i,
      .context_i,
      .late_i,
      .done_valid_o     (done_valid),
      .done_context_o   (done_context),
      .done_fault_o     (),
      .done_value_o     (),
      .lock_valid_o     (),
      .lock_context_o   (),
      .lock_place_o     (),
      .lock_unlocks_o   (),
      .lock_fault_o     (),
      .outside_valid_o  (leaves),
      .outside_context_o(leaves_context),
      .outside_puts_o   (puts),
      .outside_o        (left),
      .cfg_valid_i,
      .cfg_req_i,
      .cfg_valid_o      (cfg_valid),
      .cfg_rsp_o        ()
  );

  logic init_q = 1'b1;
  logic [1:0] chosen_q;
  logic cfg_busy_q;
  always_ff @(posedge clk_i) begin
    init_q <= 1'b0;
    if (init_q) chosen_q <= choose_i;
    if (!rst_ni || cfg_valid) cfg_busy_q <= 1'b0;
    else if (cfg_valid_i) cfg_busy_q <= 1'b1;
  end
  always_comb begin
    assume (rst_ni == !init_q);
    assume (!cfg_valid_i || !cfg_busy_q);
    assume (!(cfg_valid_i && cfg_req_i.clear));
    // Requests of programs are within the addresses of values, and their bytes within what has to lie in one value.
    assume (request_i.bytes inside {[4'd1 : 4'd8]} && request_i.span >= 10'(request_i.bytes) && request_i.span <= 10'd512);
    assume (request_i.address[31:28] inside {[4'd4 : 4'd8]} || !(request_i.kind inside {RequestLoad, RequestStore, RequestAtomic}));
  end
  MessageStays_A :
  assume property (@(posedge clk_i) init_q || !cfg_busy_q || $stable(cfg_req_i));

  // The chosen row, as it was written last.
  xdp_region_row_t row_q;
  logic writes_row, known_q;
  assign writes_row = cfg_req_i.index[1:0] == chosen_q && (cfg_req_i.clear || (cfg_valid_i && cfg_req_i.tab == TableXdpRegion &&
      cfg_req_i.write && cfg_check(
      cfg_req_i, 1'b1, 1'b1, 24'd4, 4'(XdpRegionRowWords)
  ) == StatusOk));
  always_ff @(posedge clk_i) begin
    if (!rst_ni) known_q <= 1'b0;
    else if (writes_row) known_q <= 1'b1;
    if (writes_row) row_q <= cfg_req_i.data[XdpRegionRowBits-1:0];
  end

  // What a request may. Rows: small pages that programs write, large ones, small ones that they only read, large ones.
  typedef struct packed {
    logic        taken;           // of a program, through the chosen row
    logic        engine;          // of the map engine
    logic        leaves;
    logic        stores;
    logic [1:0]  context_number;
    logic [31:0] first;
    logic [31:0] low;
    logic [31:0] high;
  } judged_t;

  judged_t judged, one_q, two_q, three_q, four_q;
  logic [31:0] small_pages, large_pages, index, page_at, at, in_value, limit;
  logic is_large, is_page;
  always_comb begin
    is_large = request_i.address[29:24] != '0;
    small_pages = request_i.address[31] ? 32'(request_i.regions.read_only) : 32'(request_i.regions.writable);
    large_pages = request_i.address[31] ? 32'(request_i.regions.large_read_only) : 32'(request_i.regions.large_writable);
    page_at = is_large ? small_pages + 32'(request_i.address[29:24]) - 32'd1 : 32'(request_i.address[23:16]);
    is_page = is_large ? 32'(request_i.address[29:24]) <= large_pages : 32'(request_i.address[23:16]) < small_pages;
    index = 32'(request_i.regions.base) + page_at;
    if (request_i.address[31]) index = index + 32'(request_i.regions.writable) + 32'(request_i.regions.large_writable);
    index = 32'(index[8:0]);
    at = is_large ? 32'(request_i.address[23:0]) : 32'(request_i.address[15:0]);
    in_value = (row_q.shift >= 4'd10) ? 32'(at[9:0]) : 32'(at[9:0] & 10'((11'd1 << row_q.shift) - 11'd1));
    limit = (request_i.kind == RequestLoad) ? 32'(row_q.readable) : 32'(row_q.writable);
    judged = '0;
    judged.taken = valid_i && ready && known_q && index == 32'(chosen_q) && request_i.kind inside {RequestLoad, RequestStore, RequestAtomic};
    judged.engine = valid_i && ready && request_i.kind inside {RequestGet, RequestPut};
    judged.leaves = judged.engine ? request_i.outside :
        row_q.outside && is_page && row_q.valid && row_q.module_id == request_i.module_id && at < 32'(row_q.bytes) &&
        in_value + 32'(request_i.span) <= limit;
    judged.stores = request_i.kind inside {RequestStore, RequestPut};
    judged.context_number = context_i;
    judged.first = judged.engine ? request_i.address : {row_q.base, 16'd0} + at;
    judged.low = judged.first - in_value;
    judged.high = judged.low + limit;
  end
  always_ff @(posedge clk_i) begin
    one_q   <= rst_ni ? judged : '0;
    two_q   <= rst_ni ? one_q : '0;
    three_q <= rst_ni ? two_q : '0;
    four_q  <= rst_ni ? three_q : '0;
  end

  LeavesIfItMay_A :
  assert property (@(posedge clk_i) !rst_ni || !(two_q.taken || two_q.engine) || leaves == two_q.leaves);
  LiesWhereItWasJudged_A :
  assert property (@(posedge clk_i) !rst_ni || !leaves || !(two_q.taken || two_q.engine) ||
    (left.place == two_q.first && leaves_context == two_q.context_number && (left.op == OutsideStore) == two_q.stores));
  LiesInOneValue_A :
  assert property (@(posedge clk_i) !rst_ni || !leaves || !two_q.taken ||
    (left.place - two_q.low < two_q.high - two_q.low && left.place + 32'(left.bytes) - two_q.low <= two_q.high - two_q.low));
  NoAnswerForWhatLeft_A :
  assert property (@(posedge clk_i) !rst_ni || !(four_q.taken && four_q.leaves) || !done_valid);
  AnswerForWhatStays_A :
  assert property (@(posedge clk_i) !rst_ni || !(four_q.taken && !four_q.leaves) || (done_valid && done_context == four_q.context_number));

  // The copy is the memory's row.
  assert property (@(posedge clk_i) !rst_ni || !known_q || u_dut.u_regions.mem[chosen_q] == row_q);

  cover property (@(posedge clk_i) rst_ni && leaves && two_q.taken && left.op == OutsideAtomic);
  cover property (@(posedge clk_i) rst_ni && leaves && two_q.engine && puts);
  cover property (@(posedge clk_i) rst_ni && two_q.taken && !leaves && row_q.outside);

endmodule
