/// Proof about sluice_xdp_helpers: each call begins once, as it was called, stays until its answer, and is answered once, to its core alone; while it is under
/// way no other core's packet memory is touched; and a core that calls waits for one call of the other one.
///
/// Who calls what and when is free, but no core calls before its answer; when the helper is done and what it asks is free, but it asks nothing and is
/// not done between calls. By k-induction, for runs of any length, with resets at any time.
module helpers
  import sluice_xdp_pkg::*;
(
    input logic                       clk_i,
    input logic                       rst_ni,
    input logic      [1:0]            call_valid_i,
    input xdp_call_t [1:0]            call_i,
    input logic      [1:0]            read_ready_i,
    input logic      [1:0]            write_ready_i,
    input logic      [1:0][1:0][63:0] read_data_i
);

  logic [1:0] return_valid, number_valid, read_valid, write_valid;
  logic number_context;

  sluice_xdp_helpers #(
      .Cores   (2),
      .Contexts(2)
  ) u_dut (
      .clk_i,
      .rst_ni,
      .call_valid_i,
      .call_i,
      .return_valid_o  (return_valid),
      .number_valid_o  (number_valid),
      .number_context_o(number_context),
      .read_valid_o    (read_valid),
      .read_ready_i,
      .read_data_i,
      .write_valid_o   (write_valid),
      .write_ready_i,
      .request_ready_i (1'b0),
      .found_valid_i   (1'b0),
      .found_fault_i   (1'b0),
      .found_value_i   ('0),
      .event_ready_i   (1'b0),
      .event_room_i    (1'b0)
  );

  // What the helper is told.
  logic start, done, told, read, write, read_ready, write_ready;
  logic [1:0][63:0] read_data;
  xdp_call_t given;
  assign start = u_dut.u_helper.start_i;
  assign done = u_dut.u_helper.done_o;
  assign told = u_dut.u_helper.told_o;
  assign read = u_dut.u_helper.read_valid_o;
  assign write = u_dut.u_helper.write_valid_o;
  assign read_ready = u_dut.u_helper.read_ready_i;
  assign write_ready = u_dut.u_helper.write_ready_i;
  assign read_data = u_dut.u_helper.read_data_i;
  assign given = u_dut.u_helper.call_i;

  // A core's call that was not answered; whether it has begun.
  logic init_q = 1'b1;
  logic [1:0] called_q, begun_q;
  xdp_call_t [1:0] call_q;
  // Answers of the other one since it called.
  logic [1:0][1:0] passed_q;
  // Whose call the helper has.
  logic under_way;
  logic [1:0] has, starts;
  assign starts = start ? u_dut.whose : '0;
  assign has = begun_q | starts;
  assign under_way = has != '0;

  always_ff @(posedge clk_i) begin
    init_q <= 1'b0;
    for (int unsigned c = 0; c < 2; c++) begin
      if (call_valid_i[c]) begin
        called_q[c] <= 1'b1;
        call_q[c]   <= call_i[c];
        passed_q[c] <= '0;
      end else if (return_valid[1-c]) begin
        passed_q[c] <= passed_q[c] + 2'd1;
      end
      if (starts[c]) begun_q[c] <= 1'b1;
      if (return_valid[c]) {called_q[c], begun_q[c]} <= '0;
      if (!rst_ni) {called_q[c], begun_q[c]} <= '0;
    end
  end

  always_comb begin
    if (init_q) assume (!rst_ni);
    assume ((call_valid_i & called_q) == '0);
    assume (under_way || !(done || told || read || write));
    assume (!told || done);
  end

  OneCallAtATime_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !(start && begun_q != '0) && has != '1);
  for (genvar c = 0; c < 2; c++) begin : gen_core
    WhatBeginsWasCalled_A :
    assert property (@(posedge clk_i) disable iff (!rst_ni) !starts[c] || (called_q[c] && !begun_q[c]));
    ACallStaysAsItWas_A :
    assert property (@(posedge clk_i) disable iff (!rst_ni) !has[c] || given == call_q[c]);
    AnAnswerIsOfTheCall_A :
    assert property (@(posedge clk_i) disable iff (!rst_ni) return_valid[c] == (done && has[c]));
    ANumberIsOfTheCall_A :
    assert property (@(posedge clk_i) disable iff (!rst_ni) number_valid[c] == (told && has[c]) &&
        (!number_valid[c] || number_context == call_q[c].processor[0]));
    ItsOwnMemoryAlone_A :
    assert property (@(posedge clk_i) disable iff (!rst_ni) read_valid[c] == (read && has[c]) && write_valid[c] == (write && has[c]));
    OfItsOwnMemory_A :
    assert property (@(posedge clk_i) disable iff (!rst_ni) !has[c] || (read_ready == read_ready_i[c] && write_ready == write_ready_i[c] &&
        read_data == read_data_i[c]));
    // The one under way when it called, which may have begun in that cycle.
    ACoreWaitsForOneCall_A :
    assert property (@(posedge clk_i) disable iff (!rst_ni) !called_q[c] || passed_q[c] <= 2'd1);
    // The helper is never idle behind a call but for a cycle.
    ACallBegins_A :
    assert property (@(posedge clk_i) disable iff (!rst_ni) !called_q[c] || under_way);

    BothWait_C :
    cover property (@(posedge clk_i) rst_ni && return_valid[c] && called_q[1-c] && passed_q[c] == 2'd1);
  end

  // Strengthening for the induction.
  TheSame_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) init_q || (u_dut.waits_q == (called_q & ~has) && u_dut.busy_q == under_way &&
      (u_dut.busy_q || !start) && (has & ~(u_dut.whose & called_q)) == '0));
  for (genvar c = 0; c < 2; c++) begin : gen_kept
    CallsAreKept_A :
    assert property (@(posedge clk_i) disable iff (!rst_ni) init_q || !called_q[c] || u_dut.call_q[c] == call_q[c]);
    // Behind one's answer the search begins with the other one.
    WhoWasPassedIsNext_A :
    assert property (@(posedge clk_i) disable iff (!rst_ni) init_q || !called_q[c] || has[c] || (under_way && has[1-c] && passed_q[c] == '0 &&
        u_dut.u_turns.gen_few.start_q == 1'(c)));
  end

endmodule
