/// Puts packets into a core's memory, and hands them to its contexts.
///
/// A packet comes with room (`s_axis_room`): a slot is free for it, and a place for its stack, headroom and frame, for frames of functions
/// before them, and for what its program may add. Its slot comes back with the packet's verdict (`left_*`). Its program's row and its port's interface come in the cycle behind `look_valid_o`. With its last
/// beat its slot is written (`slot_*`); a packet without a program is ready to go at once. The others wait for a context.
///
/// Which of them gets one (`start_*`) says sluice_xdp_starts. Which packet is offered may change until one is taken.
///
/// A packet comes with what the warp engine says of it (`s_axis_leaf`, with each beat). A leaf is followed if its length is the frame's and its work within the program's; else the packet is plain.
/// Words and an answer come for it beside (`words_*`, `answer_*`), and what it begins with is asked by its slot (`begin_*`). One whose verdict is known waits for no context (`settle_*`).
///
/// Frames have the length that their beats have; what does not fit into the rows that its sideband's length asked for is not
/// written, and the slot says so.
///
/// Latency: 2 cycles from a beat to memory, when the write port is free. Throughput: a beat a cycle, no cycle between packets.
/// Stall behaviour: waits for the write port; `write_valid_o` holds with its values.
module sluice_xdp_load
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_pkg::*;
  import sluice_xdp_start_pkg::*;
  import sluice_xdp_room_pkg::*;
  import sluice_xdp_streams_pkg::*;
  import sluice_warp_pkg::*;
#(
    parameter int unsigned Slots = 32,
    parameter int unsigned Contexts = 8,
    parameter int unsigned Modules = 64,
    parameter bit Outside = 1'b0,
    localparam int unsigned SlotBits = $clog2(Slots),
    localparam int unsigned ContextCountBits = $clog2(Contexts + 1)
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic                        s_axis_tvalid,
    output logic                        s_axis_tready,
    input  logic        [        511:0] s_axis_tdata,
    input  beat_bytes_t                 s_axis_bytes,
    input  logic                        s_axis_tlast,
    input  sideband_t                   s_axis_side,
    input  route_t                      s_axis_route,
    input  token_t                      s_axis_token,
    input  logic                        s_axis_broken,  // it is longer than its sideband says
    input  logic        [ClockBits-1:0] s_axis_came,
    input  xdp_room_t                   s_axis_room,
    input  xdp_need_t                   s_axis_need,
    input  warp_leaf_t                  s_axis_leaf,

    // With a packet's first beat it enters, in this slot.
    output logic                            look_valid_o,
    output logic             [SlotBits-1:0] enter_slot_o,
    input  xdp_program_row_t                program_i,
    input  logic             [        31:0] ifindex_i,

    output logic                   write_valid_o,
    input  logic                   write_ready_i,
    output xdp_place_t             write_place_o,
    output logic       [7:0][63:0] write_data_o,

    output logic                     slot_valid_o,
    output logic      [SlotBits-1:0] slot_o,
    output xdp_slot_t                slot_data_o,
    output logic                     slot_waits_o,  // without a program: for words that are still to come

    // Its stack's first row, once it has entered.
    output logic                      base_valid_o,
    output logic       [SlotBits-1:0] base_slot_o,
    output logic       [ RowBits-1:0] base_o,
    // What comes for it has come.
    input  logic                      words_valid_i,
    input  logic       [SlotBits-1:0] words_slot_i,
    input  logic                      answer_valid_i,
    input  logic       [SlotBits-1:0] answer_slot_i,
    output logic       [SlotBits-1:0] begin_slot_o,
    input  xdp_given_t                begin_given_i,
    input  logic                      begin_fault_i,
    input  logic                      begin_found_i,
    input  steps_t                    begin_steps_i,

    output logic         settle_valid_o,
    output xdp_settled_t settle_o,

    output logic       start_valid_o,
    input  logic       start_ready_i,
    output xdp_start_t start_o,

    // Slots whose flow's section is another packet's.
    input logic [Slots-1:0] flow_waits_i,

    input logic [ContextCountBits-1:0] shared_contexts_i,

    // A slot's program has ended; its packet has left.
    input logic                end_valid_i,
    input logic [SlotBits-1:0] end_slot_i,
    input logic                left_valid_i,
    input logic [SlotBits-1:0] left_slot_i,

    output logic waiting_o
);

  if (StackRows != 8 || XdpRecordUnit != 64 * StackRows || 2 ** $clog2(UnitRows) != UnitRows) begin : gen_bad_units
    $fatal(
        1,
        "xdp_load: a frame has %0d rows and a record's unit %0d bytes, expected 8 and 512 (%m)",
        StackRows,
        XdpRecordUnit
    );
  end
  if (Slots < 2 || 2 ** SlotBits != Slots || Slots > 256) begin : gen_bad_slots
    $fatal(1, "xdp_load: Slots is %0d, expected a power of two from 2 to 256 (%m)", Slots);
  end

  typedef logic [SlotBits-1:0] slot_index_t;

  // A beat that waits for the memory; the program's row is there with a packet's first.
  logic beat_valid_q, beat_last_q, first_in_q, first_q, take, advance;
  logic [511:0] beat_data_q;
  beat_bytes_t beat_bytes_q;
  sideband_t side_q;
  route_t route_q;
  token_t token_q;
  logic too_long_q, looked_q;
  logic [ClockBits-1:0] came_q;
  xdp_program_row_t program_row, program_q;
  logic [31:0] ifindex, ifindex_q;

  xdp_room_t  room_q;
  xdp_need_t  need_q;
  warp_leaf_t leaf_q;
  logic [8:0] front_rows, row_q, row;
  logic [RowBits-1:0] base;
  logic broken_q, broken, beyond, ends, has_program;

  // Slots.
  logic [Slots-1:0] taken_q, unused_free_onehot;
  logic slot_free;
  slot_index_t free_slot, slot_q;
  sluice_prio_enc #(
      .Width(Slots)
  ) u_slot (
      .req_i   (~taken_q),
      .valid_o (slot_free),
      .index_o (free_slot),
      .onehot_o(unused_free_onehot)
  );

  assign advance = beat_valid_q && (beyond || write_ready_i);
  assign s_axis_tready = (!beat_valid_q || advance) && (!first_in_q || slot_free);
  assign take = s_axis_tvalid && s_axis_tready;
  assign look_valid_o = take && first_in_q;
  assign enter_slot_o = free_slot;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      beat_valid_q <= 1'b0;
      first_in_q   <= 1'b1;
      taken_q      <= '0;
    end else begin
      if (take) begin
        beat_valid_q <= 1'b1;
        first_in_q   <= s_axis_tlast;
      end else if (advance) begin
        beat_valid_q <= 1'b0;
      end
      if (look_valid_o) taken_q[free_slot] <= 1'b1;
      if (left_valid_i) taken_q[left_slot_i] <= 1'b0;
    end
    if (take) begin
      beat_data_q  <= s_axis_tdata;
      beat_bytes_q <= s_axis_bytes;
      beat_last_q  <= s_axis_tlast;
      side_q       <= s_axis_side;
      route_q      <= s_axis_route;
      token_q      <= s_axis_token;
      too_long_q   <= s_axis_broken;
      came_q       <= s_axis_came;
      room_q       <= s_axis_room;
      need_q       <= s_axis_need;
      leaf_q       <= s_axis_leaf;
    end
    if (look_valid_o) slot_q <= free_slot;
    looked_q  <= look_valid_o;
    program_q <= program_row;
    ifindex_q <= ifindex;
  end
  assign program_row = looked_q ? program_i : program_q;
  assign ifindex = looked_q ? ifindex_i : ifindex_q;

  // Modules that this target does not have, have no program.
  assign has_program = program_row.valid && 32'(side_q.module_id) < Modules;
  // A packet's base is behind its record and the frames of functions: 8 rows for each frame, and for each unit of its record.
  assign front_rows = 9'({need_q.front, 3'd0});
  assign base = room_q.place + RowBits'(front_rows);
  assign row = first_q ? 9'(FrameRow) + front_rows : row_q;
  // Whether a beat has no row any more: a first one if its sideband says that there are no bytes.
  assign beyond = row >= need_q.rows;
  assign broken = (!first_q && broken_q) || beyond || too_long_q;

  assign write_valid_o = beat_valid_q && !beyond;
  assign write_place_o = '{row: room_q.place + RowBits'(row), word: 3'd0};
  assign write_data_o = beat_data_q;

  assign ends = advance && beat_last_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) first_q <= 1'b1;
    else if (advance) first_q <= beat_last_q;
    if (advance) begin
      row_q    <= row + 9'd1;
      broken_q <= broken;
    end
  end

  // Bytes of the frame: those of whole rows before, and of the last beat.
  logic [OffsetBits-1:0] past;
  assign past = OffsetBits'({row - front_rows - 9'(StackRows), 6'd0}) + OffsetBits'(beat_bytes_q);

  assign base_valid_o = looked_q;
  assign base_slot_o = slot_q;
  assign base_o = base;

  assign slot_valid_o = ends;
  assign slot_o = slot_q;
  assign slot_waits_o = leaf_q.has_steps;
  assign slot_data_o = '{
          side: side_q,
          route: route_q,
          token: token_q,
          room: room_q,
          base: base,
          rows: need_q.rows,
          past: past,
          has_program: has_program && !broken,
          broken: broken,
          pass_valid: program_row.pass_valid,
          pass: program_row.pass,
          granted: program_row.granted
      };

  // What its context begins with, and that it waits for one, a cycle later.
  logic put_q, has_program_q;
  xdp_start_t start_q;
  logic serial_q, waits_q;
  xdp_room_t put_room_q;
  logic grows_q;
  logic [OffsetBits-1:0] growth_q;
  // "Bits of signal are not used": its words and its lookup are made elsewhere.
  // verilator lint_off UNUSEDSIGNAL
  warp_leaf_t put_leaf_q;
  // verilator lint_on UNUSEDSIGNAL
  always_ff @(posedge clk_i) begin
    put_q <= ends && (slot_data_o.has_program || slot_waits_o) && rst_ni;
    has_program_q <= slot_data_o.has_program;
    serial_q <= program_row.serial;
    waits_q <= program_row.waits;
    put_room_q <= room_q;
    grows_q <= program_row.growth != '0;
    growth_q <= OffsetBits'(program_row.growth);
    put_leaf_q <= leaf_q;
    start_q <= '{
        slot: 8'(slot_q),
        place: room_q.place,
        base: base,
        records: program_row.records,
        generation: side_q.generation,
        past: past,
        start: program_row.start,
        module_id: side_q.module_id,
        work: program_row.work,
        ifindex: ifindex,
        regions: '{
            base: program_row.regions,
            writable: program_row.writable,
            large_writable: Outside ? program_row.large_writable : '0,
            read_only: program_row.read_only,
            large_read_only: Outside ? program_row.large_read_only : '0
        },
        frames: program_row.frames,
        most: '0,
        stamp: side_q.stamp,
        came: came_q,
        given: '0,
        made: '0,
        steps: '0
    };
  end

  // Whether its leaf is followed: made for this length, and within the program's work.
  logic follows, resumes, settles;
  assign follows = has_program_q && put_leaf_q.length == WarpLengthBits'(start_q.past - OffsetBits'(Headroom)) &&
      WorkBits'(put_leaf_q.work) <= start_q.work;
  assign resumes = follows && put_leaf_q.kind == XdpWarpResume;
  assign settles = !has_program_q || (follows && put_leaf_q.kind == XdpWarpVerdict);

  // Where it begins: the program's first row; or its leaf's, or where its lookup has found nothing the other one.
  typedef struct packed {
    xdp_start_t          start;
    logic                resumes;
    logic                has_words;
    logic                looks_up;
    logic                misses;
    logic [CodeBits-1:0] found_row;
    logic [CodeBits-1:0] missed_row;
    logic [7:0]          work;
  } begin_t;
  begin_t put, begins;
  always_comb begin
    put = '{
        start: start_q,
        resumes: resumes,
        has_words: put_leaf_q.has_steps,
        looks_up: put_leaf_q.looks_up,
        misses: put_leaf_q.counts[0].valid,
        found_row: put_leaf_q.start,
        missed_row: put_leaf_q.counts[0].address[CodeBits-1:0],
        work: put_leaf_q.work
    };
    // Bytes that the frame may come to have, as its tenant pays for.
    put.start.most = grows_q ? start_q.past - OffsetBits'(Headroom + 1) + growth_q : '1;
  end
  slot_index_t start_slot;
  sluice_ram_lut #(
      .Width($bits(begin_t)),
      .Depth(Slots)
  ) u_start (
      .clk_i,
      .we_i   (put_q),
      .waddr_i(start_q.slot[SlotBits-1:0]),
      .wdata_i(put),
      .raddr_i(start_slot),
      .rdata_o(begins)
  );
  assign begin_slot_o = start_slot;
  // One whose lookup faults begins anew.
  logic resumed;
  assign resumed = begins.resumes && !(begins.looks_up && begin_fault_i);
  always_comb begin
    start_o = begins.start;
    if (resumed) begin
      start_o.start = (begins.looks_up && begins.misses && !begin_found_i) ? begins.missed_row : begins.found_row;
      start_o.made  = begins.work;
      if (begins.has_words) start_o.given = begin_given_i;
    end
    if (begins.looks_up) start_o.steps = begin_steps_i;
  end

  logic begun_valid, begun_serial, begun_waits;
  slot_index_t begun_slot, settle_slot;
  logic [ModuleBits-1:0] begun_module;
  xdp_room_t begun_room;
  sluice_xdp_begin #(
      .Slots(Slots)
  ) u_begin (
      .clk_i,
      .rst_ni,
      .enter_valid_i (look_valid_o),
      .enter_slot_i  (free_slot),
      .enter_words_i (s_axis_leaf.has_steps),
      .enter_looks_i (s_axis_leaf.looks_up),
      .words_valid_i,
      .words_slot_i,
      .answer_valid_i,
      .answer_slot_i,
      .put_valid_i   (put_q),
      .put_slot_i    (start_q.slot[SlotBits-1:0]),
      .put_settles_i (settles),
      .put_serial_i  (serial_q),
      .put_waits_i   (waits_q),
      .put_module_i  (start_q.module_id),
      .put_room_i    (put_room_q),
      .start_valid_o (begun_valid),
      .start_slot_o  (begun_slot),
      .start_serial_o(begun_serial),
      .start_waits_o (begun_waits),
      .start_module_o(begun_module),
      .start_room_o  (begun_room),
      .settle_valid_o,
      .settle_slot_o (settle_slot)
  );
  // A verdict waits for nothing, so it is that of whoever was put now; of one without a program nothing counts.
  always_comb begin
    settle_o = '{
        slot: 8'(settle_slot),
        verdict: 3'(put_leaf_q.verdict),
        past: start_q.past,
        module_id: start_q.module_id,
        regions: start_q.regions,
        counts: put_leaf_q.counts
    };
    if (!(put_q && follows && put_leaf_q.kind == XdpWarpVerdict)) settle_o.counts = '0;
  end

  sluice_xdp_starts #(
      .Slots   (Slots),
      .Contexts(Contexts),
      .Modules (Modules)
  ) u_starts (
      .clk_i,
      .rst_ni,
      .put_i       (begun_valid),
      .put_slot_i  (begun_slot),
      .put_serial_i(begun_serial),
      .put_waits_i (begun_waits),
      .put_module_i(begun_module),
      .put_room_i  (begun_room),
      .flow_waits_i,
      .shared_contexts_i,
      .valid_o     (start_valid_o),
      .slot_o      (start_slot),
      .ready_i     (start_ready_i),
      .end_valid_i,
      .end_slot_i
  );

  assign waiting_o = taken_q != '0;

`ifndef SYNTHESIS
  LoadWritesWholeRows_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !write_valid_o || write_place_o.word == '0);
  SlotsComeBackOnce_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !left_valid_i || taken_q[left_slot_i]);
`endif

endmodule
