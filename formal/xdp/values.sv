/// Proof about sluice_xdp_values: an access of a program reads and writes only bytes of one value in a page that its module owns, and
/// faults exactly when it would not; only the map engine's requests reach a place without a page. A load reads the words in which its bytes lie, and a lock is
/// where its page's row says.
///
/// One row of the region table is chosen at the start, and a plain copy of it kept: what holds for accesses through any row holds for
/// all. The memory's banks are free; what is asked of them is claimed. By k-induction, for runs of any length; 4 rows, 4 maps, 32 KiB. A reset stands only at the start.
module values
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_pkg::*;
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

  localparam int unsigned Bytes = 1 << 15;
  localparam int unsigned WordBits = $clog2(Bytes / 8);

  logic ready, done_valid, done_fault, cfg_valid;
  logic [ 1:0] done_context;
  logic [63:0] done_value;
  logic lock_valid, lock_unlocks, lock_fault;
  logic [1:0] unused_lock_context;
  logic [$clog2(Bytes/4)-1:0] lock_place;
  cfg_rsp_t cfg_rsp;

  sluice_xdp_values #(
      .Regions (4),
      .Maps    (4),
      .Bytes   (Bytes),
      .Contexts(4)
  ) u_dut (
      .clk_i,
      .rst_ni,
      .valid_i,
      .ready_o       (ready),
      .request_i,
      .context_i,
      .late_i,
      .done_valid_o  (done_valid),
      .done_context_o(done_context),
      .done_fault_o  (done_fault),
      .done_value_o  (done_value),
      .lock_valid_o  (lock_valid),
      .lock_context_o(unused_lock_context),
      .lock_place_o  (lock_place),
      .lock_unlocks_o(lock_unlocks),
      .lock_fault_o  (lock_fault),
      .cfg_valid_i,
      .cfg_req_i,
      .cfg_valid_o   (cfg_valid),
      .cfg_rsp_o     (cfg_rsp)
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
    // A message of the ring stays until it is answered; a clear comes for all rows of all tables.
    assume (!cfg_valid_i || !cfg_busy_q);
    assume (!(cfg_valid_i && cfg_req_i.clear));
  end
  MessageStays_A :
  assume property (@(posedge clk_i) init_q || !cfg_busy_q || $stable(cfg_req_i));

  // The chosen row, as it was written last.
  xdp_region_row_t row_q;
  logic writes_row;
  assign writes_row = cfg_req_i.index[1:0] == chosen_q && (cfg_req_i.clear || (cfg_valid_i && cfg_req_i.tab == TableXdpRegion &&
      cfg_req_i.write && cfg_check(
      cfg_req_i, 1'b1, 1'b1, 24'd4, 4'(XdpRegionRowWords)
  ) == StatusOk));
  logic known_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) known_q <= 1'b0;
    else if (writes_row) known_q <= 1'b1;
    if (writes_row) row_q <= cfg_req_i.data[XdpRegionRowBits-1:0];
  end

  // What a request may, by the page that its address names: read-only pages stand behind the others in the table.
  typedef struct packed {
    logic        taken;    // and it is of a program, through the chosen row
    logic        allowed;
    logic        stores;
    logic        atomic;
    logic        locks;    // taken too, but it has an answer of its own
    logic        unlocks;
    logic        is_lock;
    logic [31:0] first;    // byte in value memory
    logic [31:0] past;
    logic [31:0] low;      // of its value
    logic [31:0] high;
  } judged_t;

  judged_t judged;
  // A sum of two words.
  logic pair;
  assign pair = request_i.kind == RequestAtomic && request_i.bytes[3] && request_i.code[2:1] == 2'b11;
  logic [31:0] page, index, in_page, in_value, limit;
  always_comb begin
    page = 32'(request_i.address[30:16]);
    index    = 32'(9'(32'(request_i.regions.base) + page + (request_i.address[31] ? 32'(request_i.regions.writable) : 32'd0)));
    in_page = 32'(request_i.address[15:0]);
    in_value = (row_q.shift >= 4'd10) ? 32'(in_page[9:0]) : 32'(in_page[9:0] & 10'((11'd1 << row_q.shift) - 11'd1));
    limit = (request_i.kind == RequestLoad) ? 32'(row_q.readable) : 32'(row_q.writable);
    judged.taken = valid_i && ready && known_q && index == 32'(chosen_q) && request_i.kind inside {RequestLoad, RequestStore, RequestAtomic};
    judged.allowed = (page & 32'h3fff) < 32'(request_i.address[31] ? request_i.regions.read_only : request_i.regions.writable) &&
        row_q.valid && row_q.module_id == request_i.module_id && in_page < 32'(row_q.bytes) && in_value + 32'(request_i.span) <= limit;
    judged.stores = request_i.kind == RequestStore;
    judged.atomic = request_i.kind == RequestAtomic;
    judged.locks = valid_i && ready && known_q && index == 32'(chosen_q) && request_i.kind inside {RequestLock, RequestUnlock};
    judged.unlocks = request_i.kind == RequestUnlock;
    // The row has the lock's word of 4 bytes, counted from 1 on.
    judged.is_lock = row_q.lock != '0 && in_value == 4 * (32'(row_q.lock) - 1);
    judged.first = 32'(row_q.base) * 4096 + in_page;
    judged.past = judged.first + (pair ? 32'd16 : 32'(request_i.bytes));
    judged.low = judged.first - in_value;
    judged.high = judged.low + limit;
  end
  always_comb begin
    // What cores and the reader of blocks ask: at least what is accessed lies in the value.
    assume (request_i.bytes inside {4'd1, 4'd2, 4'd3, 4'd4, 4'd5, 4'd6, 4'd7, 4'd8} && request_i.span >= 10'(request_i.bytes) && request_i.span <= 10'd512);
    assume (!pair || (request_i.span == 10'd16 && request_i.address[3:0] == '0));
    // Requests of programs are within the addresses of values.
    assume (request_i.kind inside {RequestGet, RequestPut} || request_i.address[31:28] inside {[4'd4 : 4'd8]} || request_i.kind inside {RequestLookup, RequestEcho});
  end

  judged_t one_q, two_q, three_q, four_q;
  always_ff @(posedge clk_i) begin
    one_q   <= rst_ni ? judged : '0;
    two_q   <= rst_ni ? one_q : '0;
    three_q <= rst_ni ? two_q : '0;
    four_q  <= rst_ni ? three_q : '0;
  end

  // Writes of the banks, as words of 8 bytes: even and odd ones.
  logic [1:0][7:0] enable;
  logic [1:0][WordBits-1:0] word;
  assign enable = u_dut.write_enable;
  assign word   = {{u_dut.write_row[1], 1'b1}, {u_dut.write_row[0], 1'b0}};

  function automatic logic is_within(judged_t of, logic [7:0] bytes, logic [WordBits-1:0] at);
    logic good;
    good = 1'b1;
    for (int unsigned b = 0; b < 8; b++) begin
      // Memory wraps at its end.
      if (bytes[b] && !((32'({at, 3'(b)}) - of.first & 32'(Bytes - 1)) < of.past - of.first)) good = 1'b0;
    end
    return good;
  endfunction

  AnAccessFaultsIfItMayNot_A :
  assert property (@(posedge clk_i) !rst_ni || !four_q.taken || (done_valid && done_fault == !four_q.allowed));
  AValueHasItsAccess_A :
  assert property (@(posedge clk_i) !rst_ni || !one_q.taken || !one_q.allowed || (one_q.first >= one_q.low && one_q.past <= one_q.high));
  AStoreWritesOnlyWhatItMay_A :
  assert property (@(posedge clk_i) !rst_ni || !(two_q.taken && two_q.stores) || (two_q.allowed ? is_within(
      two_q, enable[0], word[0]
  ) && is_within(
      two_q, enable[1], word[1]
  ) : (enable == '0 || u_dut.host_turn)));
  AnAtomicOperationWritesOnlyWhatItMay_A :
  assert property (@(posedge clk_i) !rst_ni || !(four_q.taken && four_q.atomic && four_q.allowed) || (is_within(
      four_q, enable[0], word[0]
  ) && is_within(
      four_q, enable[1], word[1]
  )));
  AFaultWritesNothingLater_A :
  assert property (@(posedge clk_i) !rst_ni || !(four_q.taken && four_q.atomic && !four_q.allowed) || !u_dut.four_writes_q);
  ALoadReadsOnlyWhatItMay_A :
  assert property (@(posedge clk_i) !rst_ni || !(two_q.taken && !two_q.stores && !two_q.allowed) || !u_dut.read_enable || u_dut.host_turn);

  function automatic logic is_read(logic [31:0] byte_at);
    logic [WordBits-1:0] at;
    at = WordBits'(byte_at >> 3);
    return u_dut.read_enable && u_dut.read_row[at[0]] == at[WordBits-1:1];
  endfunction

  ALoadReadsTheWordsOfItsBytes_A :
  assert property (@(posedge clk_i) !rst_ni || !(two_q.taken && !two_q.stores && two_q.allowed) || (is_read(
      two_q.first
  ) && is_read(
      two_q.past - 32'd1
  )));
  ALockIsWhereItsRowSays_A :
  assert property (@(posedge clk_i) !rst_ni || !four_q.locks || (lock_valid && lock_unlocks == four_q.unlocks && lock_fault == !(four_q.allowed && four_q.is_lock) &&
      (lock_fault || 32'(lock_place) == ((four_q.first & 32'(Bytes - 1)) >> 2))));

  AStoreIsAllowed_C :
  cover property (@(posedge clk_i) rst_ni && two_q.taken && two_q.stores && two_q.allowed && enable != '0);
  AStoreIsNotAllowed_C :
  cover property (@(posedge clk_i) rst_ni && four_q.taken && four_q.stores && !four_q.allowed && done_fault);
  ALockIsTaken_C :
  cover property (@(posedge clk_i) rst_ni && four_q.locks && !four_q.unlocks && !lock_fault && row_q.lock == 8'd5);
  AnAtomicOperationWrites_C :
  cover property (@(posedge clk_i) rst_ni && four_q.taken && four_q.atomic && four_q.allowed && enable != '0);

  // Strengthening for the induction.
  RowIsThatOfTheTable_A :
  assert property (@(posedge clk_i) !rst_ni || !known_q || u_dut.u_regions.mem[chosen_q] == row_q);

endmodule
