/// Proof about sluice_xdp_events: no word is written where one lies that the host has not read, nor into room that a record has set aside, so an event that
/// has found room is there whole; what is set aside is what records have.
///
/// Two modules, two cores with a record each, for which the helper asks. What it asks, when and for whom is free, within what helpers do: between a begin that has found room and its
/// end or undo only words, no more than were asked for; a record's room is given back, or begun with, once. The host frees only what is there.
/// By k-induction, for runs of any length; a reset stands only at the start, behind it every ring is empty.
module events
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_pkg::*;
(
    input logic             clk_i,
    input logic             rst_ni,
    input logic             event_valid_i,
    input logic             event_core_i,     // whose record it concerns
    input xdp_event_t       event_i,
    input logic       [1:0] abandon_valid_i,
    input logic             cfg_valid_i,
    input cfg_req_t         cfg_req_i
);

  typedef enum logic [1:0] {
    None,
    Held,
    Queued,  // its program has ended
    Flies    // it is given back in this cycle
  } where_e;

  where_e [1:0] where_q;
  xdp_words_t [1:0] words_q;
  logic [1:0] module_q;
  logic event_ready, event_room, cfg_valid;
  cfg_rsp_t cfg_rsp;
  xdp_event_t [1:0] abandon;

  always_comb begin
    for (int unsigned c = 0; c < 2; c++) begin
      abandon[c] = '{
          op: EventReturn,
          module_id: ModuleBits'(module_q[c]),
          reserved: 1'b0,
          words: words_q[c],
          data: '0
      };
    end
  end

  sluice_xdp_events #(
      .Modules (2),
      .Cores   (2),
      .Contexts(2)
  ) u_dut (
      .clk_i,
      .rst_ni,
      .event_valid_i,
      .event_ready_o(event_ready),
      .event_i,
      .event_room_o (event_room),
      .abandon_valid_i,
      .abandon_i    (abandon),
      .cfg_valid_i,
      .cfg_req_i,
      .cfg_valid_o  (cfg_valid),
      .cfg_rsp_o    (cfg_rsp)
  );

  logic init_q = 1'b1;
  logic asked_q, core_q;
  xdp_event_t event_q;

  // The event that is being written.
  logic open_q, of_q;
  xdp_words_t granted_q, left_q;

  logic [1:0] popped;
  logic begins, done;
  assign popped = u_dut.abandoned_valid & u_dut.abandoned_ready;
  assign done   = event_valid_i && event_ready;
  assign begins = done && event_i.op == EventBegin && event_room;

  always_ff @(posedge clk_i) begin
    init_q  <= 1'b0;
    asked_q <= event_valid_i && !event_ready;
    core_q  <= event_core_i;
    event_q <= event_i;
    if (!rst_ni) begin
      where_q <= '0;
      open_q  <= 1'b0;
      asked_q <= 1'b0;
    end else begin
      for (int unsigned c = 0; c < 2; c++) begin
        if (where_q[c] == Flies) where_q[c] <= None;
        if (popped[c]) where_q[c] <= Flies;
        if (abandon_valid_i[c]) where_q[c] <= Queued;
      end
      if (done) begin
        case (event_i.op)
          EventReserve: begin
            if (event_room) begin
              where_q[event_core_i]  <= Held;
              words_q[event_core_i]  <= event_i.words;
              module_q[event_core_i] <= event_i.module_id[0];
            end
          end
          EventReturn: where_q[event_core_i] <= None;
          EventBegin: if (event_i.reserved) where_q[event_core_i] <= None;
          EventWord: left_q <= left_q - xdp_words_t'(1);
          default: open_q <= 1'b0;
        endcase
      end
      if (begins) begin
        open_q    <= 1'b1;
        of_q      <= event_i.module_id[0];
        granted_q <= event_i.words;
        left_q    <= event_i.words - xdp_words_t'(1);
      end
    end
  end

  always_comb begin
    assume (rst_ni == !init_q);
    // What is under way at a reset is cleared behind it.
    assume (!init_q || (!u_dut.busy_q && !u_dut.taken_written));
    assume (!cfg_req_i.clear);
    assume (!asked_q || (event_valid_i && event_i == event_q && event_core_i == core_q));
    assume (event_i.module_id <= ModuleBits'(1));
    assume (event_i.op <= EventUndo && event_i.words != '0);
    if (open_q) begin
      assume (event_i.op inside {EventWord, EventEnd, EventUndo} && event_i.module_id == ModuleBits'(of_q));
      assume (event_i.op != EventWord || left_q != '0);
    end else begin
      assume (event_i.op inside {EventReserve, EventReturn, EventBegin});
    end
    assume (event_i.op != EventReserve || (where_q[event_core_i] != Held && !event_i.reserved));
    if (event_i.op == EventReturn || (event_i.op == EventBegin && event_i.reserved)) begin
      // Of the record that there is.
      assume (where_q[event_core_i] == Held || !event_valid_i);
      assume (event_i.words == words_q[event_core_i] && event_i.module_id == ModuleBits'(module_q[event_core_i]));
    end
    for (int unsigned c = 0; c < 2; c++) begin
      assume (!abandon_valid_i[c] || where_q[c] == Held);
      // No program ends while the helper asks for it.
      assume (!abandon_valid_i[c] || !(event_valid_i && event_core_i == c[0]));
    end
  end

  // What each module has: words there, set aside, of the event that is written.
  xdp_words_t [1:0] there, aside, writes;
  logic [1:0][10:0] sum;
  always_comb begin
    for (int unsigned m = 0; m < 2; m++) begin
      there[m]  = u_dut.u_state.mem[m][8:0] - u_dut.u_taken.mem[m][8:0];
      aside[m]  = u_dut.u_state.mem[m][17:9];
      writes[m] = (open_q && of_q == m[0]) ? granted_q : '0;
      sum[m]    = 11'(there[m]) + 11'(aside[m]) + 11'(writes[m]);
    end
  end

  // The host frees what is there.
  xdp_words_t freed;
  assign freed = cfg_req_i.data[8:0] - u_dut.u_taken.mem[cfg_req_i.index[0]][8:0];
  always_comb assume (!u_dut.taken_written || (freed <= there[cfg_req_i.index[0]] && cfg_req_i.index < 24'd2));

  for (genvar m = 0; m < 2; m++) begin : gen_module
    NoMoreThanAll_A :
    assert property (@(posedge clk_i) init_q || !rst_ni || sum[m] <= 11'(XdpEventWords));
    logic [10:0] held;
    always_comb begin
      held = '0;
      for (int unsigned c = 0; c < 2; c++) if (where_q[c] != None && module_q[c] == m[0]) held += 11'(words_q[c]);
    end
    WhatIsAsideIsRecords_A :
    assert property (@(posedge clk_i) init_q || !rst_ni || 11'(aside[m]) == held);
  end

  // A word is written behind all that is there, and in front of what the host has not read.
  logic [7:0] distance;
  assign distance = u_dut.u_words.wr_addr_i[7:0] - u_dut.taken.taken[7:0];
  WordsTakeFreeRoom_A :
  assert property (@(posedge clk_i) init_q || !rst_ni || !u_dut.writes_word || 9'(distance) >= there[u_dut.index]);
  // Events follow each other, as do their words.
  xdp_words_t behind;
  assign behind = there[u_dut.index] + ((u_dut.event_q.op == EventBegin) ? '0 : granted_q - left_q);
  NothingIsLeftOut_A :
  assert property (@(posedge clk_i) init_q || !rst_ni || !u_dut.writes_word || distance == behind[7:0]);
  WordsAreOfTheirModule_A :
  assert property (@(posedge clk_i) init_q || !rst_ni || !u_dut.writes_word || u_dut.u_words.wr_addr_i[8] == u_dut.event_q.module_id[0]);

  AnEventIsThere_C :
  cover property (@(posedge clk_i) rst_ni && done && event_i.op == EventEnd && granted_q == xdp_words_t'(3) && left_q == '0);
  // Whether there is room is told as it is, and what finds none is counted.
  logic finds;
  logic [1:0][31:0] lost_q;
  xdp_events_row_t [1:0] state;
  assign finds = event_i.reserved || 11'(event_i.words) + sum[event_i.module_id[0]] <= 11'(XdpEventWords);
  RoomIsToldAsItIs_A :
  assert property (@(posedge clk_i) init_q || !rst_ni || !(done && event_i.op inside {EventBegin, EventReserve}) || event_room == finds);
  for (genvar m = 0; m < 2; m++) begin : gen_lost
    assign state[m] = u_dut.u_state.mem[m];
    logic loses;
    assign loses = done && event_i.op inside {EventBegin, EventReserve} && !finds && event_i.module_id[0] == m[0];
    always_ff @(posedge clk_i) begin
      if (init_q) lost_q[m] <= '0;
      else lost_q[m] <= lost_q[m] + 32'(loses);
    end
    WhatFindsNoRoomIsCounted_A :
    assert property (@(posedge clk_i) init_q || !rst_ni || state[m].lost == lost_q[m]);
  end

  // Nobody asks for a record while one of his is on its way back.
  for (genvar c = 0; c < 2; c++) begin : gen_first
    WhatWasAbandonedGoesFirst_A :
    assert property (@(posedge clk_i) init_q || !rst_ni || !(done && event_core_i == c[0] && where_q[c] inside {Queued, Flies}));
  end

  ARingIsFull_C :
  cover property (@(posedge clk_i) rst_ni && done && event_i.op == EventBegin && !event_room);
  ARecordIsAbandoned_C :
  cover property (@(posedge clk_i) rst_ni && where_q[1] == Flies);

  // Strengthening for the induction.
  TheOpenEventIsTheSame_A :
  assert property (@(posedge clk_i) init_q || !rst_ni || !open_q || (u_dut.cursor_q - u_dut.u_state.mem[of_q][8:0] == granted_q - left_q &&
      left_q < granted_q && granted_q <= xdp_words_t'(XdpEventWords)));
  WhatIsDecidedIsAsked_A :
  assert property (@(posedge clk_i) init_q || !rst_ni || !u_dut.busy_q || !u_dut.is_event_q ||
                   (asked_q && u_dut.event_q == event_q));
  for (genvar c = 0; c < 2; c++) begin : gen_core
    AbandonedIsOne_A :
    assert property (@(posedge clk_i) init_q || !rst_ni || (u_dut.abandoned_valid[c] == (where_q[c] == Queued) &&
        (where_q[c] != Queued || u_dut.abandoned[c] == abandon[c])));
    ItFliesAlone_A :
    assert property (@(posedge clk_i) init_q || !rst_ni || where_q[c] != Flies || (u_dut.busy_q && !u_dut.is_event_q && u_dut.event_q == abandon[c]));
    logic [1:0] level;
    assign level = 2'(u_dut.gen_abandoned[c].u_abandoned.level_q);
    TheQueueHasOne_A :
    assert property (@(posedge clk_i) init_q || !rst_ni || (level == 2'(u_dut.abandoned_valid[c]) && level < 2'd2 &&
        (u_dut.gen_abandoned[c].u_abandoned.wr_ptr_q ^ u_dut.gen_abandoned[c].u_abandoned.rd_ptr_q) == level[0]));
  end
  NobodyElseFlies_A :
  assert property (@(posedge clk_i) init_q || !rst_ni || !u_dut.busy_q || u_dut.is_event_q || where_q[0] == Flies || where_q[1] == Flies);
  OneFlies_A :
  assert property (@(posedge clk_i) init_q || !rst_ni || where_q[0] != Flies || where_q[1] != Flies);

endmodule
