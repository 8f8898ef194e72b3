/// Proof about sluice_xdp_core: a bundle whose page is not its module's, and a lane behind one that stops its bundle, access nothing, ask
/// nothing of anybody and write no register.
///
/// Rows, pages, packets, memories, units and what registers hold are free, and so is what the program did before. A lane stops its bundle
/// when it jumps, exits, or is a comparison of r10, which is the frame's address always, with a number.
/// A call asks for its frame only, and only where its packet's memory has it.
/// By k-induction, for runs of any length; 2 contexts, 2 lanes. A reset stands only at the start.
///
/// Not shown: comparisons of other registers and faults of an access in the first lane (the tests plant these).
module core
  import sluice_pkg::*;
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_pkg::*;
  import sluice_xdp_stages_pkg::*;
(
    input logic                                   clk_i,
    input logic                                   rst_ni,
    input logic                                   hold_i,
    input logic             [ClockBits-1:0]       now_i,
    input logic                                   start_valid_i,
    input xdp_start_t                             start_i,
    input logic             [          1:0]       flow_waits_i,
    input xdp_code_row_t                          code_i,
    input xdp_page_row_t                          page_i,
    input logic             [          1:0][63:0] read_data_i,
    input logic                                   return_valid_i,
    input xdp_return_t                            return_i,
    input logic                                   request_ready_i,
    input logic                                   done_valid_i,
    input logic                                   done_context_i,
    input logic                                   done_fault_i,
    input logic             [         63:0]       done_value_i,
    input logic                                   lock_valid_i,
    input logic                                   lock_context_i,
    input xdp_lock_answer_t                       lock_i,
    input logic                                   map_answer_valid_i,
    input logic                                   map_answer_context_i,
    input xdp_map_answer_t                        map_answer_i
);

  logic
      start_ready,
      fetch_valid,
      read_valid,
      write_valid,
      call_valid,
      request_valid,
      request_context,
      map_call_valid,
      map_context;
  logic map_answer_ready, end_valid, idle;
  logic [CodeBits-1:0] fetch_row;
  xdp_place_t read_place, write_place;
  logic [7:0][7:0] write_enable;
  logic [1:0][63:0] write_data;
  xdp_call_t call;
  xdp_request_t request;
  logic [63:0] late;
  xdp_map_call_t map_call;
  xdp_end_t finished;
  logic unused_pass_valid;
  logic unused_lock_ready, unused_free_valid, unused_free_context;
  xdp_spent_t unused_pass;
  logic unused_abandon_valid;
  xdp_event_t unused_abandon;

  logic unused_left_valid, unused_set_ready;
  logic [7:0] unused_left_slot;

  sluice_xdp_core #(
      .Contexts(2),
      .Slots   (2)
  ) u_dut (
      .clk_i,
      .rst_ni,
      .hold_i,
      .now_i,
      .start_valid_i,
      .start_ready_o     (start_ready),
      .start_i,
      .set_i             ('0),
      .set_ready_o       (unused_set_ready),
      .flow_waits_i,
      .left_valid_o      (unused_left_valid),
      .left_slot_o       (unused_left_slot),
      .fetch_valid_o     (fetch_valid),
      .fetch_row_o       (fetch_row),
      .code_i,
      .page_i,
      .read_valid_o      (read_valid),
      .read_place_o      (read_place),
      .read_data_i,
      .write_valid_o     (write_valid),
      .write_place_o     (write_place),
      .write_enable_o    (write_enable),
      .write_data_o      (write_data),
      .call_valid_o      (call_valid),
      .call_o            (call),
      .return_valid_i,
      .return_i,
      .request_valid_o   (request_valid),
      .request_ready_i,
      .request_o         (request),
      .request_context_o (request_context),
      .late_o            (late),
      .done_valid_i,
      .done_context_i,
      .done_fault_i,
      .done_value_i,
      .lock_valid_i,
      .lock_ready_o      (unused_lock_ready),
      .lock_context_i,
      .lock_i,
      .free_valid_o      (unused_free_valid),
      .free_context_o    (unused_free_context),
      .map_call_valid_o  (map_call_valid),
      .map_call_o        (map_call),
      .map_context_o     (map_context),
      .map_answer_valid_i,
      .map_answer_ready_o(map_answer_ready),
      .map_answer_context_i,
      .map_answer_i,
      .pass_valid_o      (unused_pass_valid),
      .pass_o            (unused_pass),
      .abandon_valid_o   (unused_abandon_valid),
      .abandon_o         (unused_abandon),
      .end_valid_o       (end_valid),
      .end_o             (finished),
      .idle_o            (idle)
  );

  logic init_q = 1'b1;
  always_ff @(posedge clk_i) init_q <= 1'b0;
  always_comb assume (rst_ni == !init_q);

  // The module of each context's packets, chosen at the start: a packet is of the module whose context is free.
  logic [1:0][ModuleBits-1:0] module_q;
  logic [1:0] started_q;
  always_ff @(posedge clk_i) begin
    if (init_q) module_q <= {start_i.ifindex[ModuleBits-1:0], start_i.module_id};
    if (!rst_ni) started_q <= '0;
    else if (start_valid_i && start_ready) started_q[u_dut.start_context_o] <= 1'b1;
  end
  always_comb assume (init_q || start_i.module_id == module_q[u_dut.start_context_o]);

  // What is known of a bundle by its row alone: whether it is foreign, and whether its first lane stops it.
  function automatic logic stops(xdp_lane_t lane, depth_t depth);
    logic [63:0] a, b;
    logic taken;
    // 64 bits, or the lower 32 of both.
    a = 64'(FrameAddress) + {51'd0, depth, 10'd0};
    b = {{32{lane.imm[31]}}, lane.imm};
    if (!lane.wide) b[63:32] = '0;
    case (lane.op & 8'h7f)
      XdpOpEq:  taken = a == b;
      XdpOpNe:  taken = a != b;
      XdpOpGt:  taken = a > b;
      XdpOpGe:  taken = a >= b;
      XdpOpLt:  taken = a < b;
      XdpOpLe:  taken = a <= b;
      XdpOpSet: taken = (a & b) != '0;
      // r10 is positive as a number of 64 bits and of 32.
      XdpOpSgt: taken = (lane.wide ? b[63] : b[31]) || a > b;
      XdpOpSge: taken = (lane.wide ? b[63] : b[31]) || a >= b;
      XdpOpSlt: taken = !(lane.wide ? b[63] : b[31]) && a < b;
      XdpOpSle: taken = !(lane.wide ? b[63] : b[31]) && a <= b;
      default:  taken = 1'b0;
    endcase
    return lane.op inside {XdpOpJump, XdpOpExit, XdpOpExitValue} || (lane.immediate && lane.a == 4'd10 && taken);
  endfunction

  // The register file's only promises that are used: r10, which rtl/xdp/sluice_xdp_registers.sv gives without looking at memory, and a port
  // of which nothing is wanted.
  logic [3:0] reads_none_q, reads_frame_q;
  logic [DepthBits-1:0] read_depth_q;
  always_ff @(posedge clk_i) begin
    read_depth_q <= u_dut.u_read.u_registers.read_depth_i;
    for (int unsigned p = 0; p < 4; p++) begin
      reads_none_q[p]  <= u_dut.u_read.u_registers.read_none_i[p];
      reads_frame_q[p] <= u_dut.u_read.u_registers.read_register_i[p] == 4'd10;
    end
  end
  always_comb begin
    for (int unsigned p = 0; p < 4; p++) begin
      if (reads_none_q[p])
        assume (u_dut.u_read.u_registers.read_o[p] == '0);
        else if (reads_frame_q[p])
          assume (u_dut.u_read.u_registers.read_o[p] == 64'(FrameAddress) + {51'd0, read_depth_q, 10'd0});
    end
  end

  // Bundles on their way from the row's arrival to the memory stage, 3 cycles later, and to the registers, 4 later.
  logic row_q, rows_q, context_q;
  logic [3:0] foreign_q, stopped_q, called_q, clears_q, bundle_q, known_q;
  // A pass that restores registers has no bundle.
  logic is_bundle;
  assign is_bundle = row_q && u_dut.fetched.turn.pass == 2'd0;
  always_ff @(posedge clk_i) begin
    // A context that never had a packet runs nothing (ready without having asked is not excluded here).
    row_q <= fetch_valid && rst_ni && started_q[u_dut.picked_context];
    context_q <= u_dut.picked_context;
    foreign_q <= rst_ni ? {foreign_q[2:0], is_bundle && (!page_i.valid || page_i.module_id != module_q[context_q])} : '0;
    stopped_q <= rst_ni ? {stopped_q[2:0], is_bundle && stops(code_i.lanes[0], u_dut.fetched.turn.depth)} : '0;
    called_q <= rst_ni ? {called_q[2:0], is_bundle && (code_i.lanes[0].op & 8'h7f) == XdpOpCall} : '0;
    // Behind a tail call in a function its frame is cleared.
    clears_q <= rst_ni ? {clears_q[2:0], row_q && u_dut.fetched.turn.pass == 2'd3} : '0;
    bundle_q <= rst_ni ? {bundle_q[2:0], rows_q} : '0;
    rows_q <= fetch_valid && rst_ni;
    known_q <= rst_ni ? {known_q[2:0], row_q} : '0;
  end

  logic silent;
  assign silent = !read_valid && !write_valid && !call_valid && !request_valid && !map_call_valid;

  AForeignBundleAsksNothing_A :
  assert property (@(posedge clk_i) !rst_ni || !foreign_q[2] || silent);
  AForeignBundleWritesNoRegister_A :
  assert property (@(posedge clk_i) !rst_ni || !foreign_q[3] || u_dut.u_read.u_registers.write_valid_i == '0);
  AForeignBundleEndsItsProgram_A :
  assert property (@(posedge clk_i) !rst_ni || !foreign_q[3] || (end_valid && finished.verdict == 3'(VerdictAborted)));
  WhatIsBehindAStopAsksNothing_A :
  assert property (@(posedge clk_i) !rst_ni || !stopped_q[2] || silent);
  WhatIsBehindAStopWritesNoRegister_A :
  // An exit with a value writes r0 in its own lane.
  assert property (@(posedge clk_i) !rst_ni || !(stopped_q[3] || called_q[3]) || !u_dut.u_read.u_registers.write_valid_i[1]);
  ACallAsksForItsFrame_A :
  assert property (@(posedge clk_i) !rst_ni || !called_q[2] || (!read_valid && !write_valid && !request_valid && !map_call_valid &&
      (!call_valid || call.enters)));
  OnlyCallsEnter_A :
  assert property (@(posedge clk_i) !rst_ni || !call_valid || !call.enters || !known_q[2] || called_q[2] || clears_q[2]);
  // One of its flow's section, while that is another packet's, does nothing.
  logic held_q, late_ends_q;
  always_ff @(posedge clk_i) begin
    held_q      <= rst_ni && u_dut.second.valid && u_dut.second.held;
    // Another packet ends with its late result.
    late_ends_q <= u_dut.late.valid && u_dut.late.ends;
  end
  AHeldBundleAsksNothing_A :
  assert property (@(posedge clk_i) !rst_ni || !u_dut.second.valid || !u_dut.second.held || silent);
  AHeldBundleWritesNoRegister_A :
  assert property (@(posedge clk_i) !rst_ni || !held_q || ((u_dut.write.valid == '0 || u_dut.write.late) && (!end_valid || late_ends_q)));
  ABundleIsHeld_C :
  cover property (@(posedge clk_i) rst_ni && held_q);
  // Whoever asks has a bundle: nothing is asked for a start or out of nothing.
  OnlyBundlesAsk_A :
  assert property (@(posedge clk_i) !rst_ni || bundle_q[2] || silent);
  PlacesAreOfTheMapEngine_A :
  assert property (@(posedge clk_i) !rst_ni || !request_valid || !(request.kind inside {RequestGet, RequestPut}));
  RequestsAreOfThePacketsModule_A :
  assert property (@(posedge clk_i) !rst_ni || ((!request_valid || !known_q[2] || request.module_id == module_q[request_context]) &&
      (!map_call_valid || !known_q[2] || map_call.module_id == module_q[map_context])));

  // Frames of functions that each context's packet has room for.
  logic [1:0][DepthBits-1:0] frames_q;
  always_ff @(posedge clk_i) if (start_valid_i && start_ready) frames_q[u_dut.start_context_o] <= start_i.frames;

  // A frame that a call clears is one that the packet's memory has. Nothing is claimed of the one that a tail call clears.
  // A context that has taken a packet just now has no bundle that old (the core's own assertion says so in the tests).
  logic [1:0][4:0] taken_q;
  always_ff @(posedge clk_i)
    for (int unsigned c = 0; c < 2; c++)
      taken_q[c] <= {taken_q[c][3:0], start_valid_i && start_ready && u_dut.start_context_o == 1'(c)};
  FramesAreThePackets_A :
  assert property (@(posedge clk_i) !rst_ni || !call_valid || !call.enters || !known_q[2] || clears_q[2] || taken_q[u_dut.second_context] != '0 ||
      call.depth != frames_q[u_dut.second_context]);

  AStoreIsMade_C :
  cover property (@(posedge clk_i) rst_ni && bundle_q[2] && write_valid && !foreign_q[2]);
  AForeignBundleComes_C :
  cover property (@(posedge clk_i) rst_ni && foreign_q[3] && end_valid);
  AComparisonStops_C :
  cover property (@(posedge clk_i) rst_ni && stopped_q[2] && !foreign_q[2]);

  // Strengthening for the induction.
  xdp_fixed_t [1:0] fixed;
  for (genvar c = 0; c < 2; c++) begin : gen_context
    assign fixed[c] = u_dut.u_contexts.u_fixed.mem[c];
    ContextsKeepTheirModule_A :
    assert property (@(posedge clk_i) !rst_ni || !started_q[c] ||
        ((u_dut.u_contexts.taken_valid_q && u_dut.u_contexts.taken_context_q == 1'(c)) ? u_dut.u_contexts.taken_q.module_id :
         fixed[c].module_id) == module_q[c]);
    ContextsKeepTheirFrames_A :
    assert property (@(posedge clk_i) !rst_ni || !started_q[c] ||
        ((u_dut.u_contexts.taken_valid_q && u_dut.u_contexts.taken_context_q == 1'(c)) ? u_dut.u_contexts.taken_q.frames :
         fixed[c].frames) == frames_q[c]);
  end
  ATakenPacketHasStarted_A :
  assert property (@(posedge clk_i) !rst_ni || !u_dut.u_contexts.taken_valid_q || (started_q[u_dut.u_contexts.taken_context_q] && u_dut.u_contexts.taken_q.module_id == module_q[u_dut.u_contexts.taken_context_q]));

endmodule
