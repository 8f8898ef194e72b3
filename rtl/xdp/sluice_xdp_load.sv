/// Puts packets into a core's memory, and hands them to its contexts.
///
/// A packet takes a slot with its first beat, if one is free, and a place for its stack, headroom and frame, for frames of functions
/// before them, and for what its program may add. Both come back in any order: the slot with the packet's verdict (`left_*`), the place when its frame was read (`free_*`). Its program's row and its port's interface come in the cycle behind `look_valid_o`. With its last
/// beat its slot is written (`slot_*`); a packet without a program is ready to go at once. The others wait for a
/// context (`start_*`) in order; one whose program is flow-serial waits until nobody before it in its bucket is left (`waits_i`), while
/// others are started. Which packet is offered may change until one is taken.
///
/// Frames have the length that their beats have; what does not fit into the rows that its sideband's length asked for is not
/// written, and the slot says so.
///
/// Latency: 2 cycles from a beat to memory, when the write port is free. Throughput: a beat a cycle, no cycle between packets.
/// Stall behaviour: waits for a place, a slot, and the write port; `write_valid_o` holds with its values.
module sluice_xdp_load
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_pkg::*;
#(
    parameter int unsigned Rows = 1024,
    parameter int unsigned Slots = 32,
    parameter int unsigned Modules = 64,
    parameter bit Outside = 1'b0,
    localparam int unsigned SlotBits = $clog2(Slots)
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic                      s_axis_tvalid,
    output logic                      s_axis_tready,
    input  logic      [        511:0] s_axis_tdata,
    input  logic      [         63:0] s_axis_tkeep,
    input  logic                      s_axis_tlast,
    input  sideband_t                 s_axis_side,
    input  route_t                    s_axis_route,
    input  token_t                    s_axis_token,
    input  logic                      s_axis_broken,  // it is longer than its sideband says
    input  logic      [ClockBits-1:0] s_axis_came,

    // With a packet's first beat it enters, in this slot.
    output logic                            look_valid_o,
    output logic             [SlotBits-1:0] enter_slot_o,
    // Slots that are taken.
    output logic             [  SlotBits:0] level_o,
    input  xdp_program_row_t                program_i,
    input  logic             [        31:0] ifindex_i,

    output logic                   write_valid_o,
    input  logic                   write_ready_i,
    output xdp_place_t             write_place_o,
    output logic       [7:0][63:0] write_data_o,

    output logic                     slot_valid_o,
    output logic      [SlotBits-1:0] slot_o,
    output xdp_slot_t                slot_data_o,

    output logic       start_valid_o,
    input  logic       start_ready_i,
    output xdp_start_t start_o,

    // Slots whose packets wait for others of their flow.
    input logic [Slots-1:0] waits_i,

    input logic                left_valid_i,
    input logic [SlotBits-1:0] left_slot_i,
    input logic                free_valid_i,
    input logic [ RowBits-1:0] free_place_i,
    input logic [         8:0] free_rows_i,

    output logic waiting_o
);

  localparam int unsigned FrameRow = StackRows + Headroom / 64;
  // Rows of a packet that may grow to 3,520 bytes.
  localparam int unsigned GrownRows = FrameRow + MostGrown / 64;
  localparam int unsigned MostRecordRows = 3 * XdpRecordUnit / 64;
  localparam int unsigned MostFrameRows = (MaxFrameBytes + 63) / 64;
  localparam int unsigned MostRows = FrameRow + MostFrameRows + (2 ** DepthBits - 1) * StackRows + MostRecordRows;
  localparam int unsigned Units = Rows / UnitRows;
  localparam int unsigned UnitBits = $clog2(Units);
  localparam int unsigned CountBits = $clog2(Units + 1);

  if (Rows < MostRows || 2 ** $clog2(Rows) != Rows) begin : gen_bad_rows
    $fatal(1, "xdp_load: Rows is %0d, expected a power of two from %0d on (%m)", Rows, MostRows);
  end
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
  logic [63:0] beat_keep_q;
  sideband_t side_q;
  route_t route_q;
  token_t token_q;
  logic too_long_q, looked_q;
  logic [ClockBits-1:0] came_q;
  xdp_program_row_t program_row, program_q;
  logic [31:0] ifindex, ifindex_q;

  logic go, found;
  logic grows, none_q, beyond_q;
  logic [8:0] rows_in, plain, grown, plain_q, grown_q, plain_up_q, grown_up_q;
  logic [8:0] need, need_up, front_rows, row_q, row, rows_q, rows;
  logic [CountBits-1:0] need_units;
  logic [ UnitBits-1:0] unit;
  logic [RowBits-1:0] base, place, place_q;
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

  assign advance = go && (beyond || write_ready_i);
  assign s_axis_tready = (!beat_valid_q || advance) && (!first_in_q || slot_free);
  assign take = s_axis_tvalid && s_axis_tready;
  assign look_valid_o = take && first_in_q;
  assign enter_slot_o = free_slot;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      beat_valid_q <= 1'b0;
      first_in_q   <= 1'b1;
      taken_q      <= '0;
      level_o      <= '0;
    end else begin
      if (take) begin
        beat_valid_q <= 1'b1;
        first_in_q   <= s_axis_tlast;
      end else if (advance) begin
        beat_valid_q <= 1'b0;
      end
      if (look_valid_o) taken_q[free_slot] <= 1'b1;
      if (left_valid_i) taken_q[left_slot_i] <= 1'b0;
      level_o <= level_o + (SlotBits + 1)'(look_valid_o) - (SlotBits + 1)'(left_valid_i);
    end
    if (take) begin
      beat_data_q <= s_axis_tdata;
      beat_keep_q <= s_axis_tkeep;
      beat_last_q <= s_axis_tlast;
      side_q      <= s_axis_side;
      route_q     <= s_axis_route;
      token_q     <= s_axis_token;
      too_long_q  <= s_axis_broken;
      came_q      <= s_axis_came;
    end
    if (look_valid_o) slot_q <= free_slot;
    looked_q  <= look_valid_o;
    program_q <= program_row;
    ifindex_q <= ifindex;
  end
  assign program_row = looked_q ? program_i : program_q;
  assign ifindex = looked_q ? ifindex_i : ifindex_q;

  // Its place. What its length asks for is counted as it comes, what its program asks for when that is known.
  // No frame has more rows; one whose sideband says so is broken.
  assign rows_in = 9'((15'(s_axis_side.length) + 15'd63) >> 6);
  assign plain = 9'(FrameRow) + ((rows_in > 9'(MostFrameRows)) ? 9'(MostFrameRows) : rows_in);
  assign grown = (plain < 9'(GrownRows)) ? 9'(GrownRows) : plain;
  always_ff @(posedge clk_i) begin
    if (take && first_in_q) begin
      none_q     <= rows_in == '0;
      plain_q    <= plain;
      grown_q    <= grown;
      plain_up_q <= plain + 9'(UnitRows - 1);
      grown_up_q <= grown + 9'(UnitRows - 1);
    end
  end
  // Modules that this target does not have, have no program.
  assign has_program = program_row.valid && 32'(side_q.module_id) < Modules;
  assign grows = has_program && program_row.grows;
  // A packet's base is behind its record and the frames of functions: 8 rows for each frame, and for each unit of its record.
  assign front_rows = has_program ? 9'({4'(program_row.frames) + 4'(program_row.records), 3'd0}) : '0;
  assign need = (grows ? grown_q : plain_q) + front_rows;
  assign need_up = (grows ? grown_up_q : plain_up_q) + front_rows;
  assign need_units = CountBits'(need_up / 9'(UnitRows));

  sluice_xdp_places #(
      .Units(Units),
      .Most ((MostRows + UnitRows - 1) / UnitRows)
  ) u_places (
      .clk_i,
      .rst_ni,
      .want_i      (beat_valid_q && first_q),
      .need_i      (need_units),
      .found_o     (found),
      .first_o     (unit),
      .take_i      (advance && first_q),
      .free_valid_i,
      .free_first_i(UnitBits'(free_place_i / RowBits'(UnitRows))),
      .free_units_i(CountBits'(units_of(free_rows_i)))
  );

  assign go = beat_valid_q && (!first_q || found);
  assign place = first_q ? RowBits'({unit, 4'd0}) : place_q;
  assign base = place + RowBits'(front_rows);
  assign row = first_q ? 9'(FrameRow) + front_rows : row_q;
  assign rows = first_q ? need : rows_q;
  // Whether a beat has no row any more: a first one if its sideband says that there are no bytes.
  assign beyond = first_q ? none_q && !grows : beyond_q;
  assign broken = (!first_q && broken_q) || beyond || too_long_q;

  assign write_valid_o = go && !beyond;
  assign write_place_o = '{row: place + RowBits'(row), word: 3'd0};
  assign write_data_o = beat_data_q;

  assign ends = advance && beat_last_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) first_q <= 1'b1;
    else if (advance) first_q <= beat_last_q;
    if (advance) begin
      place_q  <= place;
      row_q    <= row + 9'd1;
      rows_q   <= rows;
      beyond_q <= row + 9'd1 >= rows;
      broken_q <= broken;
    end
  end

  // Bytes of the frame: those of whole rows before, and of the last beat.
  logic [6:0] last_bytes;
  logic [OffsetBits-1:0] past;
  always_comb begin
    last_bytes = '0;
    for (int unsigned i = 0; i < 64; i++) if (beat_keep_q[i]) last_bytes = 7'(i + 1);
    past = OffsetBits'({row - front_rows - 9'(StackRows), 6'd0}) + OffsetBits'(last_bytes);
  end

  // Bytes that the frame may come to have, as its tenant pays for.
  logic [OffsetBits-1:0] most;
  assign most = (program_row.growth == '0) ? '1 : past - OffsetBits'(Headroom) + OffsetBits'(program_row.growth) - OffsetBits'(1);

  assign slot_valid_o = ends;
  assign slot_o = slot_q;
  assign slot_data_o = '{
          side: side_q,
          route: route_q,
          token: token_q,
          place: place,
          base: base,
          rows: rows,
          past: past,
          has_program: has_program && !broken,
          broken: broken,
          pass_valid: program_row.pass_valid,
          pass: program_row.pass,
          granted: program_row.granted
      };

  // What waits for a context: in order, or until nobody of its flow is before it.
  logic starts_valid, starts_ready, unused_starts_room, freed_valid, holds;
  logic [$clog2(Slots+1)-1:0] unused_start_level;
  logic [Slots-1:0] held_q, unused_freed_onehot;
  slot_index_t starts_slot, freed_slot, start_slot;
  xdp_start_t start;
  assign start = '{
          slot: 8'(slot_q),
          place: place,
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
          most: most,
          stamp: side_q.stamp,
          came: came_q
      };
  assign holds = ends && slot_data_o.has_program && program_row.serial;

  sluice_ram_lut #(
      .Width($bits(xdp_start_t)),
      .Depth(Slots)
  ) u_start (
      .clk_i,
      .we_i   (ends),
      .waddr_i(slot_q),
      .wdata_i(start),
      .raddr_i(start_slot),
      .rdata_o(start_o)
  );

  sluice_fifo #(
      .Width(SlotBits),
      .Depth(Slots)
  ) u_starts (
      .clk_i,
      .rst_ni,
      .valid_i(ends && slot_data_o.has_program && !program_row.serial),
      .ready_o(unused_starts_room),
      .data_i (slot_q),
      .valid_o(starts_valid),
      .ready_i(starts_ready),
      .data_o (starts_slot),
      .level_o(unused_start_level)
  );

  sluice_prio_enc #(
      .Width(Slots)
  ) u_freed (
      .req_i   (held_q & ~waits_i),
      .valid_o (freed_valid),
      .index_o (freed_slot),
      .onehot_o(unused_freed_onehot)
  );

  // Those of the order in front, unless one that was held had its turn before.
  logic freed_turn, freed_last_q;
  assign freed_turn = freed_valid && (!starts_valid || !freed_last_q);
  assign start_slot = freed_turn ? freed_slot : starts_slot;
  assign start_valid_o = freed_valid || starts_valid;
  assign starts_ready = start_ready_i && !freed_turn;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      held_q       <= '0;
      freed_last_q <= 1'b0;
    end else begin
      if (holds) held_q[slot_q] <= 1'b1;
      if (start_valid_o && start_ready_i) begin
        freed_last_q <= freed_turn;
        if (freed_turn) held_q[freed_slot] <= 1'b0;
      end
    end
  end

  assign waiting_o = taken_q != '0;

`ifndef SYNTHESIS
  SlotsComeBackOnce_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !left_valid_i || taken_q[left_slot_i]);
`endif

endmodule
