/// Puts packets into a core's memory, and hands them to its contexts.
///
/// A packet takes rows for its stack, headroom and frame, for frames of functions before them, and for what its program may add; rows and slots are given out and
/// come back in the order of arrival (`free_valid_i` with `free_rows_i`). Its program's row comes in the cycle behind `look_valid_o` and
/// stays until the next. With its last beat its slot is written (`slot_*`); a packet without a program is ready to go at
/// once, the others wait for a context in order (`start_*`).
///
/// Frames have the length that their beats have; what does not fit into the rows that its sideband's length asked for is not
/// written, and the slot says so.
///
/// Latency: 2 cycles from a beat to memory, when the write port is free. Throughput: a beat a cycle, no cycle between packets.
/// Stall behaviour: waits for rows, a slot, and the write port; `write_valid_o` holds with its values.
module sluice_xdp_load
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_pkg::*;
#(
    parameter int unsigned Rows = 1024,
    parameter int unsigned Slots = 32,
    parameter int unsigned Modules = 64,
    localparam int unsigned SlotBits = $clog2(Slots),
    localparam int unsigned LookBits = $clog2(2 * Modules)
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic              s_axis_tvalid,
    output logic              s_axis_tready,
    input  logic      [511:0] s_axis_tdata,
    input  logic      [ 63:0] s_axis_tkeep,
    input  logic              s_axis_tlast,
    input  sideband_t         s_axis_side,
    input  route_t            s_axis_route,

    output logic                            look_valid_o,
    output logic             [LookBits-1:0] look_index_o,
    input  xdp_program_row_t                program_i,
    input  logic             [        31:0] ifindex_i,

    output logic                   write_valid_o,
    input  logic                   write_ready_i,
    output xdp_place_t             write_place_o,
    output logic       [7:0][63:0] write_data_o,

    // Of the packet whose slot is written.
    input  token_t                   token_i,
    input  logic                     broken_i,      // it was longer than its sideband says
    output logic                     slot_valid_o,
    output logic      [SlotBits-1:0] slot_o,
    output xdp_slot_t                slot_data_o,

    output logic       start_valid_o,
    input  logic       start_ready_i,
    output xdp_start_t start_o,

    input logic       free_valid_i,
    input logic [8:0] free_rows_i,

    output logic waiting_o
);

  localparam int unsigned LevelBits = $clog2(Rows + 1);
  localparam int unsigned FrameRow = StackRows + Headroom / 64;
  // Rows of a packet that may grow to 3,520 bytes.
  localparam int unsigned GrownRows = FrameRow + MostGrown / 64;
  localparam int unsigned MostRows = FrameRow + (MaxFrameBytes + 63) / 64 + (2 ** DepthBits - 1) * StackRows;

  if (Rows < MostRows || 2 ** $clog2(Rows) != Rows) begin : gen_bad_rows
    $fatal(1, "xdp_load: Rows is %0d, expected a power of two from %0d on (%m)", Rows, MostRows);
  end
  if (Slots < 2 || 2 ** SlotBits != Slots || Slots > 256) begin : gen_bad_slots
    $fatal(1, "xdp_load: Slots is %0d, expected a power of two from 2 to 256 (%m)", Slots);
  end

  // A beat that waits for the memory; the program's row is there with a packet's first.
  logic beat_valid_q, beat_last_q, first_in_q, first_q, take, advance;
  logic [511:0] beat_data_q;
  logic [63:0] beat_keep_q;
  sideband_t side_q;
  route_t route_q;

  logic go, fits;
  logic [8:0] frame_rows, need, function_rows, row_q, row, rows_q, rows;
  logic [LevelBits-1:0] used_q;
  logic [SlotBits:0] slots_q;
  logic [SlotBits-1:0] slot_q;
  logic [RowBits-1:0] base_q, base;
  logic broken_q, broken, beyond, start_room, ends, has_program;

  assign advance = go && (beyond || write_ready_i);
  assign s_axis_tready = !beat_valid_q || advance;
  assign take = s_axis_tvalid && s_axis_tready;
  assign look_valid_o = take && first_in_q;
  assign look_index_o = {s_axis_side.module_id[LookBits-2:0], s_axis_side.generation};

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      beat_valid_q <= 1'b0;
      first_in_q   <= 1'b1;
    end else begin
      if (take) begin
        beat_valid_q <= 1'b1;
        first_in_q   <= s_axis_tlast;
      end else if (advance) begin
        beat_valid_q <= 1'b0;
      end
    end
    if (take) begin
      beat_data_q <= s_axis_tdata;
      beat_keep_q <= s_axis_tkeep;
      beat_last_q <= s_axis_tlast;
      side_q      <= s_axis_side;
      route_q     <= s_axis_route;
    end
  end

  // Rows and slots.
  assign frame_rows  = 9'((15'(side_q.length) + 15'd63) >> 6);
  // Modules that this target does not have, have no program.
  assign has_program = program_i.valid && 32'(side_q.module_id) < Modules;
  always_comb begin
    need = 9'(FrameRow) + frame_rows;
    if (has_program && program_i.grows && need < 9'(GrownRows)) need = 9'(GrownRows);
    need = need + function_rows;
  end
  // A packet's base is behind the frames of functions.
  assign function_rows = has_program ? 9'(StackRows) * 9'(program_i.frames) : '0;
  assign base = base_q + RowBits'(function_rows);
  assign fits = LevelBits'(need) <= LevelBits'(Rows) - used_q && !slots_q[SlotBits] && start_room;
  assign go = beat_valid_q && (!first_q || fits);
  assign row = first_q ? 9'(FrameRow) + function_rows : row_q;
  assign rows = first_q ? need : rows_q;
  assign beyond = row >= rows;
  assign broken = (!first_q && broken_q) || beyond || (beat_last_q && broken_i);

  assign write_valid_o = go && !beyond;
  assign write_place_o = '{row: base_q + RowBits'(row), word: 3'd0};
  assign write_data_o = beat_data_q;

  assign ends = advance && beat_last_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      first_q <= 1'b1;
      used_q  <= '0;
      slots_q <= '0;
      slot_q  <= '0;
      base_q  <= '0;
    end else begin
      if (advance) first_q <= beat_last_q;
      used_q <= used_q + ((advance && first_q) ? LevelBits'(need) : '0) - (free_valid_i ? LevelBits'(free_rows_i) : '0);
      slots_q <= slots_q + (SlotBits + 1)'(advance && first_q) - (SlotBits + 1)'(free_valid_i);
      if (ends) begin
        slot_q <= slot_q + SlotBits'(1);
        base_q <= (base_q + RowBits'(rows)) & RowBits'(Rows - 1);
      end
    end
    if (advance) begin
      row_q    <= row + 9'd1;
      rows_q   <= rows;
      broken_q <= broken;
    end
  end

  // Bytes of the frame: those of whole rows before, and of the last beat.
  logic [6:0] last_bytes;
  logic [OffsetBits-1:0] past;
  always_comb begin
    last_bytes = '0;
    for (int unsigned i = 0; i < 64; i++) if (beat_keep_q[i]) last_bytes = 7'(i + 1);
    past = OffsetBits'({row - function_rows - 9'(StackRows), 6'd0}) + OffsetBits'(last_bytes);
  end

  assign slot_valid_o = ends;
  assign slot_o = slot_q;
  assign slot_data_o = '{
          side: side_q,
          route: route_q,
          token: token_i,
          base: base,
          rows: rows,
          past: past,
          has_program: has_program && !broken,
          broken: broken,
          pass_valid: program_i.pass_valid,
          pass: program_i.pass,
          granted: program_i.granted
      };

  // What waits for a context.
  logic [$clog2(Slots+1)-1:0] start_level;
  xdp_start_t start;
  assign start = '{
          slot: 8'(slot_q),
          base: base,
          past: past,
          start: program_i.start,
          module_id: side_q.module_id,
          work: program_i.work,
          ifindex: ifindex_i,
          regions: '{base: program_i.regions, writable: program_i.writable, read_only: program_i.read_only},
          frames: program_i.frames
      };

  sluice_fifo #(
      .Width($bits(xdp_start_t)),
      .Depth(Slots)
  ) u_starts (
      .clk_i,
      .rst_ni,
      .valid_i(ends && slot_data_o.has_program),
      .ready_o(start_room),
      .data_i (start),
      .valid_o(start_valid_o),
      .ready_i(start_ready_i),
      .data_o (start_o),
      .level_o(start_level)
  );

  assign waiting_o = beat_valid_q || start_level != '0;

`ifndef SYNTHESIS
  RowsComeBackOnce_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !free_valid_i || (slots_q != '0 && used_q >= LevelBits'(free_rows_i)));
`endif

endmodule
