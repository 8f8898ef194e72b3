/// Front of the deparser: a packet's pattern, its row, its verdict, and its slots in turn (docs/design/rmt.md,
/// "Deparser").
///
/// A packet has as many slots, one a cycle, as it has beats or would have, whichever is more; slot n takes the
/// packet's beat n, if there is one, and gives the outgoing beat n, if there is one. A packet that is dropped has the
/// slots of its beats; one dropped for the length that it would have, those of that length too.
///
///   S0  PHV and sideband wait; patterns row read
///   S1  patterns compared
///   S2  pattern, deparse row read
///   S3  row: slots, lengths, verdict; the slot's own beat waits (`here_i`)
///   S4  `slot_o`; the beats behind it wait (`here_i`, `behind_i`)
///
/// `load_o`: a slot moves from S3 to S4, with the row's lanes, containers and `delta_o` beside it, and takes its
/// beat if `load_beat_o`. `step_o`: the slot of S4 moves on and is gone. Behind S4 nothing stands still: it waits for
/// `room_i`.
///
/// `Least`: shorter packets are dropped whatever their row says.
///
/// `leave_valid_o`: the packet reads no row any more. Verdict and event are registered, and come when the packet's
/// first slot enters S4. Event: a drop, or with `Last` the number of copies beyond the first; none if that is 0.
///
/// Latency: 4 cycles to `slot_o`. Throughput: a slot a cycle, no cycle between packets. Stalls without loss.
module sluice_rmt_deparse_slots
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_rmt_rows_pkg::*;
  import sluice_rmt_pkg::*;
  import sluice_rmt_deparse_pkg::*;
#(
    parameter rmt_cfg_t Cfg = RmtCfgDefault,
    parameter bit Last = 1'b1,
    parameter int unsigned Least = 1
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic      phv_valid_i,
    output logic      phv_ready_o,
    // "Bits of signal are not used": the structure travels whole, this module takes the fields that concern it.
    // verilator lint_off UNUSEDSIGNAL
    input  rmt_phv_t  phv_i,
    // verilator lint_on UNUSEDSIGNAL
    input  rmt_ctl_t  ctl_i,
    input  route_t    route_i,
    input  logic      side_valid_i,
    output logic      side_ready_o,
    input  sideband_t side_i,

    // S3
    input  logic                  here_i,
    output logic                  load_o,
    output logic                  load_first_o,
    output logic                  load_beat_o,
    output logic                  load_window_o,
    output rmt_containers_t       containers_o,
    output deparse_lanes_t        lanes_o,
    output logic            [7:0] delta_o,

    // S4
    input  logic          behind_i,
    input  logic          room_i,
    output logic          step_o,
    output deparse_slot_t slot_o,
    output sideband_t     side_o,    // of the outgoing packet
    output route_t        route_o,

    output logic                        leave_valid_o,
    output rmt_ctl_t                    leave_ctl_o,
    output logic                        event_valid_o,
    output logic       [ModuleBits-1:0] event_module_o,
    output rmt_event_e                  event_kind_o,
    output logic       [           3:0] event_amount_o,
    output logic                        verdict_valid_o,
    output logic       [          31:0] verdict_id_o,
    output rmt_ctl_t                    verdict_ctl_o,
    output logic       [  DestBits-1:0] verdict_destinations_o,

    input  logic                                      cfg_valid_i,
    input  rmt_cfg_req_t                              cfg_req_i,
    input  logic         [32*RmtPatternsRowWords-1:0] cfg_row_i,
    output logic                                      cfg_valid_o,
    output cfg_rsp_t                                  cfg_rsp_o,
    output logic                                      slot_request_o
);

  localparam int unsigned ByteBits = $clog2(Cfg.bus_bytes);
  localparam int unsigned WindowBeats = RmtWindowBytes / Cfg.bus_bytes;
  localparam int unsigned BeatBits = $clog2(WindowBeats);
  localparam int unsigned ModuleRowBits = $clog2(2 * Cfg.modules);
  localparam int unsigned CountBits = 14 - ByteBits;
  localparam int unsigned ExtraBits = 9 - ByteBits;

  // Who wants the next stage, and who stays in its own. Some are kept, for they come late or lead to many.
  (* keep *) logic want1, want3, both12, stay3, more3, load;
  logic take, patterns_hold, row_hold, free2, valid3_q;

  // S0.
  assign want1 = phv_valid_i && side_valid_i && !patterns_hold;
  // As `stay3`, in one step.
  assign take = want1 && !(both12 && (row_hold || (valid3_q && (!load || more3))));
  assign phv_ready_o = take;
  assign side_ready_o = take;

  // S1: pattern.
  logic valid1_q;
  logic [19:0] key1_q;
  rmt_ctl_t ctl1_q;
  route_t route1_q;
  sideband_t side1_q;
  rmt_containers_t containers1_q;
  rmt_patterns_row_t patterns;

  always_ff @(posedge clk_i) begin
    if (take) begin
      key1_q        <= {phv_i.words[WordHeaders], phv_i.words[WordStatus][7:4]};
      ctl1_q        <= ctl_i;
      route1_q      <= route_i;
      side1_q       <= side_i;
      containers1_q <= phv_i.c;
    end
  end

  logic hit2;
  logic [3:0] row2;

  sluice_rmt_pattern u_pattern (
      .clk_i,
      .load_i    (valid1_q && free2),
      .patterns_i(patterns),
      .key_i     (key1_q),
      .hit_o     (hit2),
      .row_o     (row2)
  );

  // S2.
  logic valid2_q;
  logic [3:0] destinations2_q;
  logic [13:0] last_byte2_q;
  rmt_ctl_t ctl2_q;
  route_t route2_q;
  sideband_t side2_q;
  rmt_containers_t containers2_q;

  always_ff @(posedge clk_i) begin
    if (valid1_q && free2) begin
      destinations2_q <= count_ones(route1_q.destinations);
      last_byte2_q    <= side1_q.length - 14'd1;
      ctl2_q          <= ctl1_q;
      route2_q        <= route1_q;
      side2_q         <= side1_q;
      containers2_q   <= containers1_q;
    end
  end

  // S3. `left`: beats that the packet has behind the slot's. `place`: the slot's against the packet's last beat, up to
  // three before it.
  logic first3_q, gone3_q, beat3_q, enter3;
  rmt_event_e reason3_q;
  logic [3:0] row3_q, destinations3_q;
  logic [BeatBits:0] slot3_q;
  logic [CountBits-1:0] left3_q;
  logic signed [ExtraBits-1:0] place3_q;
  logic [ByteBits-1:0] end3_q;
  rmt_ctl_t ctl3_q;
  route_t route3_q;
  sideband_t side3_q;
  rmt_containers_t containers3_q;
  deparse_head_t head;
  logic left_any, left_two, more_next;
  logic [1:0] left_sat3_q;  // up to three of `left`
  // Whether a slot follows is known beforehand; but for the packet's first slot only as far as beats do: then one may
  // follow, and does if the row's delta is at least `need` (128 is added, so that both are positive).
  logic known3_q, may3_q;
  logic [7:0] need3_q;

  function automatic logic [1:0] up_to_three(logic [CountBits-1:0] beats);
    return (beats[CountBits-1:2] != '0) ? 2'd3 : beats[1:0];
  endfunction

  logic [CountBits-1:0] left_less;
  assign left_less = left3_q - 1'b1;
  assign left_any = left_sat3_q != '0;
  assign left_two = left_sat3_q[1];
  assign want3 = valid2_q && !row_hold;
  assign enter3 = want3 && !stay3;

  always_ff @(posedge clk_i) begin
    if (enter3) begin
      first3_q        <= 1'b1;
      gone3_q         <= ctl2_q.dropped || !hit2;
      reason3_q       <= ctl2_q.dropped ? ctl2_q.reason : RmtEventDeparseReject;
      row3_q          <= row2;
      destinations3_q <= destinations2_q;
      slot3_q         <= '0;
      beat3_q         <= 1'b1;
      left3_q         <= last_byte2_q[13:ByteBits];
      left_sat3_q     <= up_to_three(last_byte2_q[13:ByteBits]);
      place3_q        <= -ExtraBits'(up_to_three(last_byte2_q[13:ByteBits]));
      end3_q          <= last_byte2_q[ByteBits-1:0];
      need3_q         <= 8'(128 + Cfg.bus_bytes) - 8'(last_byte2_q[ByteBits-1:0]);
      ctl3_q          <= ctl2_q;
      route3_q        <= route2_q;
      side3_q         <= side2_q;
      containers3_q   <= containers2_q;
    end else if (load) begin
      first3_q <= 1'b0;
      if (load_window_o) slot3_q <= slot3_q + 1'b1;
      beat3_q <= left_any;
      if (left_any) begin
        left3_q     <= left_less;
        left_sat3_q <= up_to_three(left_less);
        place3_q    <= -ExtraBits'(up_to_three(left_less));
      end else begin
        place3_q <= place3_q + 1'b1;
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      known3_q <= 1'b0;
      may3_q   <= 1'b0;
    end else if (enter3) begin
      known3_q <= last_byte2_q[13:ByteBits] != '0;
      may3_q   <= last_byte2_q[13:ByteBits] != '0 || (!ctl2_q.dropped && hit2);
    end else if (load) begin
      known3_q <= more_next;
      may3_q   <= more_next;
    end
  end

  // Bytes from the last incoming beat's begin to the outgoing packet's last one; beats that it has more, or less.
  logic signed [8:0] reach;
  logic signed [ExtraBits-1:0] extra;
  // "Bits of signal are not used": the word has the width of what it is computed from; some of it decides nothing.
  // verilator lint_off UNUSEDSIGNAL
  logic signed [15:0] came, delta, length, over_least, over_all, under_most;
  // verilator lint_on UNUSEDSIGNAL
  logic short_packet, long_packet, dropped;
  rmt_event_e reason;

  assign reach = $signed({{(9 - ByteBits) {1'b0}}, end3_q}) + $signed({head.delta[7], head.delta});
  assign extra = reach[8:ByteBits];
  assign came = {2'b0, side3_q.length};
  assign delta = {{8{head.delta[7]}}, head.delta};
  assign length = came + delta;

  // Each in one addition, beside that of the length. No row lets a packet become shorter than `Least`.
  assign over_least = came + delta - $signed({8'd0, head.least});
  assign over_all = came + delta - 16'(Least);
  assign under_most = came + delta - 16'(MaxFrameBytes + 1);
  assign short_packet = over_least[15] || over_all[15];
  assign long_packet = !under_most[15];
  assign dropped = gone3_q || short_packet || long_packet;
  always_comb begin
    reason = long_packet ? RmtEventDeparseLong : RmtEventDeparseShort;
    if (gone3_q) reason = reason3_q;
  end

  // `extra` against `place`, as tables: a LUT each, where an operator would become a carry chain. The packet reaches
  // this slot; a slot behind the next one's place.
  localparam int unsigned Places = 2 ** ExtraBits;
  typedef logic [Places-1:0][Places-1:0] places_t;

  function automatic int signed_value(int unsigned bits);
    return (bits < Places / 2) ? int'(bits) : int'(bits) - int'(Places);
  endfunction

  function automatic places_t reached_places();
    for (int unsigned e = 0; e < Places; e++) begin
      for (int unsigned p = 0; p < Places; p++) reached_places[e][p] = signed_value(e) >= signed_value(p);
    end
  endfunction

  function automatic places_t followed_places();
    for (int unsigned e = 0; e < Places; e++) begin
      for (int unsigned p = 0; p < Places; p++) begin
        followed_places[e][p] = signed_value(e) > ((signed_value(p) < 0) ? 0 : signed_value(p) + 1);
      end
    end
  endfunction

  localparam places_t Reached = reached_places();
  localparam places_t Followed = followed_places();

  logic reached;
  assign reached = Reached[unsigned'(extra)][unsigned'(place3_q)];
  // One chain: a carry comes out of the lower bits if the delta is enough, and passes the upper one if it may.
  logic [9:0] unused_more;
  assign {more3, unused_more} = {1'b0, may3_q, !head.delta[7], head.delta[6:0], 1'b1} +
      {1'b0, known3_q, ~need3_q, 1'b1};
  assign more_next = left_two || (!gone3_q && Followed[unsigned'(extra)][unsigned'(place3_q)]);

  // Movement. The slots of a packet follow each other without a gap: S3 has the next one unless S4 is the last.
  logic valid4_q;
  assign step_o = valid4_q && room_i && (!slot_o.next || here_i) && (!slot_o.second || behind_i);
  assign load   = valid3_q && (!beat3_q || here_i) && (!valid4_q || step_o);
  assign stay3  = valid3_q && (!load || more3);
  assign both12 = valid1_q && valid2_q;
  assign free2  = !(valid2_q && (row_hold || stay3));

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      valid1_q <= 1'b0;
      valid2_q <= 1'b0;
      valid3_q <= 1'b0;
      valid4_q <= 1'b0;
    end else begin
      valid1_q <= take || (valid1_q && !free2);
      valid2_q <= (valid1_q && free2) || (valid2_q && !enter3);
      valid3_q <= want3 || stay3;
      valid4_q <= load || (valid4_q && !step_o);
    end
  end

  logic [BeatBits-1:0] next_beat;
  assign next_beat = slot3_q[BeatBits-1:0] + 1'b1;

  sluice_rmt_deparse_rows #(
      .Cfg(Cfg)
  ) u_rows (
      .clk_i,
      .rst_ni,
      .patterns_select_i(want1),
      .patterns_stay_i(both12 && (row_hold || stay3)),
      .patterns_index_i(ModuleRowBits'({ctl_i.module_id, ctl_i.generation})),
      .patterns_hold_o(patterns_hold),
      .patterns_o(patterns),
      // A row is read again for each beat of the window, and for nothing behind it.
      .row_select_i(want3),
      .row_stay_i(stay3),
      .row_next_i(load && more3 && !slot3_q[BeatBits] && !(&slot3_q[BeatBits-1:0])),
      .row_packet_i(more3 || want3),
      .row_index_i      (more3 ? {ModuleRowBits'({ctl3_q.module_id, ctl3_q.generation}), row3_q, next_beat} :
                         {ModuleRowBits'({ctl2_q.module_id, ctl2_q.generation}), row2, BeatBits'(0)}),
      .row_hold_o(row_hold),
      .head_o(head),
      .lanes_o,
      .cfg_valid_i,
      .cfg_req_i,
      .cfg_row_i,
      .cfg_valid_o,
      .cfg_rsp_o,
      .slot_request_o
  );

  assign load_o        = load;
  assign load_first_o  = first3_q;
  assign load_beat_o   = beat3_q;
  assign load_window_o = !slot3_q[BeatBits];
  assign containers_o  = containers3_q;
  assign delta_o       = head.delta;

  // S4.
  logic out3, own_all;
  logic [5:0] own;  // bytes before the split
  assign out3 = reached && !dropped;
  assign own_all = load_window_o && head.split[7:ByteBits] > (8 - ByteBits)'(slot3_q);
  assign own     = (load_window_o && head.split[7:ByteBits] == (8 - ByteBits)'(slot3_q)) ?
      6'(head.split[ByteBits-1:0]) : '0;

  always_ff @(posedge clk_i) begin
    if (load) begin
      slot_o.first        <= first3_q;
      slot_o.goes         <= !dropped;
      slot_o.ends         <= !more3;
      slot_o.out          <= out3;
      // Whatever the row says, a packet ends with its last slot.
      slot_o.last         <= extra == place3_q || !more3;
      slot_o.end_byte     <= 6'(reach[ByteBits-1:0]);
      slot_o.window       <= load_window_o;
      slot_o.beat         <= 2'(slot3_q[BeatBits-1:0]);
      slot_o.next         <= left_any;
      slot_o.second       <= left_two && Cfg.bus_bytes == 32;
      slot_o.shift        <= 8'd64 - head.delta;
      slot_o.own_all      <= own_all;
      slot_o.own          <= own;
      slot_o.updates      <= head.updates;
      slot_o.adjust       <= head.adjust;
      side_o              <= side3_q;
      side_o.length       <= length[13:0];
      side_o.destinations <= route3_q.destinations;
      side_o.generation   <= ctl3_q.generation;
      side_o.egress_queue <= route3_q.egress_queue;
      side_o.tag          <= '0;
      route_o             <= route3_q;
    end
  end

  // Verdict and leave. What leave is made of is registered apart: a LUT for it would stand in front of `stay3`, too.
  logic loaded_q, followed_q;
  assign leave_valid_o = loaded_q && !followed_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      loaded_q        <= 1'b0;
      event_valid_o   <= 1'b0;
      verdict_valid_o <= 1'b0;
    end else begin
      loaded_q        <= load;
      event_valid_o   <= load && first3_q && (dropped || (Last && destinations3_q > 4'd1));
      verdict_valid_o <= load && first3_q;
    end
    followed_q     <= more3;
    leave_ctl_o    <= ctl3_q;
    event_kind_o   <= dropped ? reason : RmtEventCopies;
    event_amount_o <= dropped ? 4'd1 : destinations3_q - 4'd1;
    verdict_id_o   <= side3_q.id;
    verdict_ctl_o  <= ctl3_q;
    if (dropped) begin
      verdict_ctl_o.dropped <= 1'b1;
      verdict_ctl_o.reason  <= reason;
    end
    verdict_destinations_o <= dropped ? '0 : route3_q.destinations;
  end

  assign event_module_o = verdict_ctl_o.module_id;

`ifndef SYNTHESIS
  SlotsOfAPacketFollowEachOther_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !(valid4_q && slot_o.next) || (valid3_q && beat3_q));
  EveryPacketsOutputEnds_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !(load && out3 && !more3) || extra == place3_q);
  NothingFollowsWhatIsNotThere_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) valid3_q || !more3);
`endif

endmodule
