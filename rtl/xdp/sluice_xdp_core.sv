/// One core: executes bundles of several contexts in turns (docs/design/hxdp-core.md).
///
/// A context has one bundle under way. Its next one may be picked `Interval` = 5 cycles later:
///
/// | cycle | stage | what |
/// | --- | --- | --- |
/// | 0 | pick | a context, or a packet for a free one |
/// | 1 | fetch | its row is asked of the instruction memory |
/// | 2 | read | the row is there; registers |
/// | 3 | first | addresses, first part of arithmetic |
/// | 4 | second | results; what is allowed, which branch is taken, who is squashed |
/// | 5 | memory | loads read, stores write, the next row is known |
/// | 6 | write | results and loads into registers |
///
/// A packet's first bundle is picked when a context takes it.
///
/// What takes longer (values, maps, multiplication, division) is launched by its bundle, which does all else; its *late* result is
/// written when it is there, in a cycle in which the last lane writes nothing, and the context is picked again. What ends the packet,
/// goes back, or changes more than a register (a helper, a redirect, an atomic operation on the stack) has a first pass, which launches it
/// and does nothing else, and a second one, which does all of the bundle. A unit that is busy sends the context back to be picked again.
///
/// A call of a function goes where its lane says, or (`wide`) to the function whose address the last lane reads; it counts as work but for one
/// of the engine's own (`spare`). It has a first pass too, in which the new frame is cleared; the second one keeps r6 to r9 and the row behind.
/// The exit of a function is followed by two passes without a bundle, which restore them. A tail call in a function is followed by two
/// passes without a bundle, which clear its frame.
///
/// A packet is taken by `start_*` and ends with `end_valid_o`, once; `end_o` says what its program said. A fault ends it as
/// aborted.
///
/// Latency: 5 cycles a bundle and pass. Throughput: a bundle a cycle over all contexts. `hold_i` keeps a cycle free of bundles, so that
/// somebody else has the memory 5 cycles later.
module sluice_xdp_core
  import sluice_pkg::*;
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_pkg::*;
#(
    parameter int unsigned Contexts = 8,
    // Its number: its contexts are the processors from `Core` * `Contexts` on.
    parameter int unsigned Core = 0,
    parameter int unsigned Lanes = XdpLanes,
    localparam int unsigned ContextBits = $clog2(Contexts)
) (
    input logic clk_i,
    input logic rst_ni,

    input logic hold_i,

    input logic [ClockBits-1:0] now_i,

    input  logic       start_valid_i,
    output logic       start_ready_o,
    input  xdp_start_t start_i,

    output logic                         fetch_valid_o,
    output logic          [CodeBits-1:0] fetch_row_o,
    input  xdp_code_row_t                code_i,
    input  xdp_page_row_t                page_i,

    output logic                   read_valid_o,
    output xdp_place_t             read_place_o,
    // The place's word and the one behind it.
    input  logic       [1:0][63:0] read_data_i,

    output logic                   write_valid_o,
    output xdp_place_t             write_place_o,
    output logic       [7:0][ 7:0] write_enable_o,
    // The place's word and the one behind it.
    output logic       [1:0][63:0] write_data_o,

    output logic        call_valid_o,
    input  logic        call_ready_i,
    output xdp_call_t   call_o,
    input  logic        return_valid_i,
    input  xdp_return_t return_i,

    output logic                           request_valid_o,
    input  logic                           request_ready_i,
    output xdp_request_t                   request_o,
    output logic         [ContextBits-1:0] request_context_o,
    // Behind a request: what the memory gave.
    output logic         [           63:0] late_o,
    // Of a request, its bundle's row; of a packet that is taken, its context.
    output logic         [   CodeBits-1:0] request_row_o,
    output logic         [ContextBits-1:0] start_context_o,
    input  logic                           done_valid_i,
    input  logic         [ContextBits-1:0] done_context_i,
    input  logic                           done_fault_i,
    input  logic         [           63:0] done_value_i,

    // Of a lock that it asked for; and whose packet has ended, with which its lock is free.
    input  logic                               lock_valid_i,
    output logic                               lock_ready_o,
    input  logic             [ContextBits-1:0] lock_context_i,
    input  xdp_lock_answer_t                   lock_i,
    output logic                               free_valid_o,
    output logic             [ContextBits-1:0] free_context_o,

    // The map engine takes each call, and answers it once.
    output logic                              map_call_valid_o,
    output xdp_map_call_t                     map_call_o,
    output logic            [ContextBits-1:0] map_context_o,
    input  logic                              map_answer_valid_i,
    output logic                              map_answer_ready_o,
    input  logic            [ContextBits-1:0] map_answer_context_i,
    input  xdp_map_answer_t                   map_answer_i,

    // A pass for its module's account, a cycle behind it.
    output logic       pass_valid_o,
    output xdp_spent_t pass_o,

    // A program has ended while it held a record, whose event's room is free again.
    output logic       abandon_valid_o,
    output xdp_event_t abandon_o,

    output logic     end_valid_o,
    output xdp_end_t end_o,

    output logic idle_o
);

  typedef logic [ContextBits-1:0] context_t;

  // Reads as the address of the frame's first byte.
  localparam logic [3:0] StartRegister = 4'd15;

  // Who executes a lane's instruction.
  typedef enum logic [2:0] {
    UnitNone,
    UnitMuldiv,
    UnitHelper,
    UnitValues,
    UnitMaps
  } unit_e;

  // ---------------------------------------------------------------------------------------------------------------
  // Contexts.

  logic [Contexts-1:0] used_q, ready_q, resume_q;
  logic start_take, pick_valid, free_valid;
  context_t pick_context, free_context, chosen;
  logic behind_valid;
  context_t behind_context, first_context;
  logic [Contexts-1:0] unused_behind_onehot, unused_first_onehot, unused_free_onehot;

  // Nobody is picked: for others, or for late results that waited.
  logic hold, late_wants;
  assign hold = hold_i || late_wants;

  // In turns: the first ready one behind the last that was picked, else the first of all.
  logic [Contexts-1:0] behind_q;
  sluice_prio_enc #(
      .Width(Contexts)
  ) u_behind (
      .req_i   (ready_q & behind_q),
      .valid_o (behind_valid),
      .index_o (behind_context),
      .onehot_o(unused_behind_onehot)
  );
  sluice_prio_enc #(
      .Width(Contexts)
  ) u_first (
      .req_i   (ready_q),
      .valid_o (pick_valid),
      .index_o (first_context),
      .onehot_o(unused_first_onehot)
  );
  assign pick_context = behind_valid ? behind_context : first_context;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      behind_q <= '0;
    end else if (!hold && !start_take && pick_valid) begin
      for (int unsigned c = 0; c < Contexts; c++) behind_q[c] <= c > 32'(pick_context);
    end
  end

  sluice_prio_enc #(
      .Width(Contexts)
  ) u_free (
      .req_i   (~used_q),
      .valid_o (free_valid),
      .index_o (free_context),
      .onehot_o(unused_free_onehot)
  );

  assign start_ready_o = free_valid && !hold;
  assign start_take = start_valid_i && start_ready_o;
  assign chosen = start_take ? free_context : pick_context;
  assign idle_o = used_q == '0;

  // Stages: whose bundle is there.
  logic f_valid_q, d_valid_q, x_valid_q, y_valid_q, m_valid_q;
  logic f_start_q, d_start_q, x_start_q, y_start_q, m_start_q;
  logic d_resume_q, x_resume_q, y_resume_q;
  context_t f_context_q, d_context_q, x_context_q, y_context_q, m_context_q, w_context_q;

  // What the memory stage has decided of its bundle.
  logic m_stops, m_ends, m_parks, m_retries;
  // A unit has answered: whether its result is still to be written, or its bundle has another pass.
  logic unit_done, done_late, done_again, late_take;
  context_t late_context;
  context_t done_context;

  // Units that contexts wait for, one context at a time in each.
  logic
      muldiv_ready,
      muldiv_done,
      park_muldiv_q,
      park_helper_q,
      m_helped,
      muldiv_takes,
      helper_takes,
      m_referred,
      answered;
  logic [63:0] muldiv_result;
  context_t muldiv_context_q, helper_context_q;
  logic [31:0] redirect_q;
  xdp_return_t return_q;
  logic [63:0] w_aligned;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      used_q   <= '0;
      ready_q  <= '0;
      resume_q <= '0;
    end else begin
      if (start_take) used_q[free_context] <= 1'b1;
      if (!hold && !start_take && pick_valid) ready_q[pick_context] <= 1'b0;
      // Before it is known whether the bundle stops its context; if so the memory stage takes it back.
      if (y_valid_q) ready_q[y_context_q] <= 1'b1;
      if (m_valid_q) resume_q[m_context_q] <= 1'b0;
      if (m_stops) begin
        ready_q[m_context_q] <= 1'b0;
        if (m_ends) used_q[m_context_q] <= 1'b0;
      end
      // What is written late comes first.
      if (unit_done && !done_late) begin
        ready_q[done_context]  <= 1'b1;
        resume_q[done_context] <= done_again;
      end
      if (late_take) ready_q[late_context] <= 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      f_valid_q <= 1'b0;
      d_valid_q <= 1'b0;
      x_valid_q <= 1'b0;
      y_valid_q <= 1'b0;
      m_valid_q <= 1'b0;
    end else begin
      f_valid_q <= !hold && (start_take || (pick_valid && !(m_stops && m_context_q == pick_context)));
      d_valid_q <= f_valid_q;
      x_valid_q <= d_valid_q;
      y_valid_q <= x_valid_q;
      m_valid_q <= y_valid_q;
    end
    f_context_q <= chosen;
    f_start_q   <= start_take;
    d_context_q <= f_context_q;
    d_start_q   <= f_start_q;
    d_resume_q  <= resume_q[f_context_q] && !f_start_q;
    x_context_q <= d_context_q;
    x_start_q   <= d_start_q;
    x_resume_q  <= d_resume_q;
    y_context_q <= x_context_q;
    y_start_q   <= x_start_q;
    y_resume_q  <= x_resume_q;
    m_context_q <= y_context_q;
    m_start_q   <= y_start_q;
    w_context_q <= m_context_q;
  end

  // ---------------------------------------------------------------------------------------------------------------
  // What a context keeps, written by its start and by the memory stage.

  typedef struct packed {
    logic [7:0]            slot;
    logic [RowBits-1:0]    place;
    logic [RowBits-1:0]    base;
    logic [1:0]            records;
    logic                  generation;
    logic [ModuleBits-1:0] module_id;
    logic [31:0]           ifindex;
    xdp_regions_t          regions;
    depth_t                frames;
    logic [OffsetBits-1:0] most;
  } fixed_t;

  fixed_t taken_fixed;
  // "Bits of signal are not used": each reader takes the fields that concern it.
  // verilator lint_off UNUSEDSIGNAL
  fixed_t f_fixed, x_fixed, m_fixed;
  xdp_start_t taken_q;
  // verilator lint_on UNUSEDSIGNAL
  logic taken_valid_q;
  context_t taken_context_q;

  // The packet was taken a cycle ago: its fixed part is written in its fetch stage.
  always_ff @(posedge clk_i) begin
    taken_valid_q <= start_take && rst_ni;
    if (start_take) begin
      taken_q         <= start_i;
      taken_context_q <= free_context;
    end
  end

  assign taken_fixed = '{
          slot: taken_q.slot,
          place: taken_q.place,
          base: taken_q.base,
          records: taken_q.records,
          generation: taken_q.generation,
          module_id: taken_q.module_id,
          ifindex: taken_q.ifindex,
          regions: taken_q.regions,
          frames: taken_q.frames,
          most: taken_q.most
      };

  sluice_ram_lut #(
      .Width    ($bits(fixed_t)),
      .Depth    (Contexts),
      .ReadPorts(3)
  ) u_fixed (
      .clk_i,
      .we_i   (taken_valid_q),
      .waddr_i(taken_context_q),
      .wdata_i(taken_fixed),
      .raddr_i({m_context_q, x_context_q, f_context_q}),
      .rdata_o({m_fixed, x_fixed, f_fixed})
  );

  // Its packet's stamp.
  logic [StampBits-1:0] m_stamp;
  sluice_ram_lut #(
      .Width(StampBits),
      .Depth(Contexts)
  ) u_stamp (
      .clk_i,
      .we_i   (taken_valid_q),
      .waddr_i(taken_context_q),
      .wdata_i(taken_q.stamp),
      .raddr_i(m_context_q),
      .rdata_o(m_stamp)
  );

  // What changes: next row, bounds, work left, redirect.
  typedef struct packed {
    xdp_bounds_t           bounds;
    logic [OffsetBits-1:0] low;
    logic [WorkBits-1:0]   work;
    logic [5:0]            tails;       // tail calls so far
    xdp_record_t           record;      // that is reserved
    logic                  locked;      // it holds a spin lock
    logic                  redirected;
    logic                  to_host;     // the redirect is to a destination
    logic [31:0]           redirect;
    logic [31:0]           aim;         // what the last redirect was asked for: an interface, or an index
  } kept_t;

  logic [CodeBits-1:0] f_row, m_next_row;
  kept_t d_kept, fresh_kept, x_kept_q, y_kept_q, m_kept_q, m_kept;
  logic m_write_row, m_write_kept;
  logic [OffsetBits-1:0] d_past_q;
  logic [  WorkBits-1:0] d_work_q;

  sluice_ram_lut #(
      .Width(CodeBits),
      .Depth(Contexts)
  ) u_row (
      .clk_i,
      .we_i   (m_write_row),
      .waddr_i(m_context_q),
      .wdata_i(m_next_row),
      .raddr_i(f_context_q),
      .rdata_o(f_row)
  );

  sluice_ram_lut #(
      .Width($bits(kept_t)),
      .Depth(Contexts)
  ) u_kept (
      .clk_i,
      .we_i   (m_write_kept),
      .waddr_i(m_context_q),
      .wdata_i(m_kept),
      .raddr_i(d_context_q),
      .rdata_o(d_kept)
  );
  assign fresh_kept = '{
          bounds: '{meta: OffsetBits'(Headroom), data: OffsetBits'(Headroom), past: d_past_q},
          low: OffsetBits'(Headroom),
          work: d_work_q,
          tails: '0,
          record: '0,
          locked: 1'b0,
          redirected: 1'b0,
          to_host: 1'b0,
          redirect: '0,
          aim: '0
      };
  always_ff @(posedge clk_i) begin
    d_past_q <= taken_q.past;
    d_work_q <= taken_q.work;
    x_kept_q <= d_start_q ? fresh_kept : d_kept;
  end

  // The frame that runs, and what its context's next pass is.
  typedef enum logic [1:0] {
    PassBundle,
    PassLower,   // r6 and r7 of the caller come back
    PassUpper,   // r8 and r9, and the row behind the call
    PassClear    // a tail call in a function: the frame is cleared
  } pass_e;

  typedef struct packed {
    pass_e  pass;
    depth_t depth;
  } turn_t;

  turn_t f_turn, d_turn_q, x_turn_q, y_turn_q, m_turn_q, m_turn;
  logic m_write_turn, m_calls, m_leaves;
  depth_t y_frames_q;

  sluice_ram_lut #(
      .Width($bits(turn_t)),
      .Depth(Contexts)
  ) u_turn (
      .clk_i,
      .we_i   (m_write_turn),
      .waddr_i(m_context_q),
      .wdata_i(m_turn),
      .raddr_i(f_context_q),
      .rdata_o(f_turn)
  );

  // What a caller finds again, by its depth.
  typedef struct packed {
    logic [CodeBits-1:0] row;
    logic [3:0][63:0]    registers;  // r6 to r9
  } caller_t;

  caller_t m_caller, x_caller;
  logic [CodeBits-1:0] y_caller_row_q;

  sluice_ram_1r1w #(
      .Width   ($bits(caller_t)),
      .Depth   (Contexts * 2 ** DepthBits),
      .InitZero(1'b0),
      .Style   ("block")
  ) u_caller (
      .clk_i,
      .wr_en_i  (m_calls),
      .wr_addr_i({m_context_q, m_turn_q.depth}),
      .wr_data_i(m_caller),
      .rd_en_i  (1'b1),
      .rd_addr_i({d_context_q, d_turn_q.depth}),
      .rd_data_o(x_caller)
  );

  // ---------------------------------------------------------------------------------------------------------------
  // Fetch.

  logic [CodeBits-1:0] d_row_q, x_row_q, y_row_q, m_row_q;
  logic [ModuleBits-1:0] d_module_q;

  assign fetch_valid_o = f_valid_q;
  assign fetch_row_o   = f_start_q ? taken_q.start : f_row;

  always_ff @(posedge clk_i) begin
    d_row_q    <= fetch_row_o;
    d_module_q <= f_start_q ? taken_q.module_id : f_fixed.module_id;
    x_row_q    <= d_row_q;
    y_row_q    <= x_row_q;
    m_row_q    <= y_row_q;
    d_turn_q   <= f_start_q ? '{pass: PassBundle, depth: '0} : f_turn;
    x_turn_q   <= d_turn_q;
    y_turn_q   <= x_turn_q;
    m_turn_q   <= y_turn_q;
  end

  // ---------------------------------------------------------------------------------------------------------------
  // Read: registers.

  logic d_foreign;
  logic [2*Lanes-1:0][3:0] d_registers;
  logic [2*Lanes-1:0][63:0] x_values;
  logic [Lanes-1:0] w_write;
  logic [Lanes-1:0][3:0] w_register;
  logic [Lanes-1:0][63:0] w_value;
  // A register that is written late, and one that is written so now, by the last lane's port.
  logic w_clear_q, w_mark_q, w_late_q;
  logic [3:0] w_marked_q;
  context_t w_late_context_q;

  assign d_foreign = !page_i.valid || page_i.module_id != d_module_q;

  // Register 15 reads as the address of the frame's first byte.
  logic [31:0] d_start;
  assign d_start = PacketAddress | 32'(d_start_q ? OffsetBits'(Headroom) : d_kept.bounds.data);

  // Operations of 32 bits take the lower halves. A negation subtracts what it negates from nothing.
  logic [2*Lanes-1:0] d_none, d_narrow;
  logic [Lanes-1:0] d_negates;
  always_comb begin
    for (int unsigned l = 0; l < Lanes; l++) begin
      d_negates[l] = code_i.lanes[l].op == XdpOpNegate;
      d_narrow[2*l+:2] = {2{takes_halves(code_i.lanes[l])}};
      d_registers[2*l] = code_i.lanes[l].a;
      d_registers[2*l+1] = d_negates[l] ? code_i.lanes[l].a : code_i.lanes[l].b;
      d_none[2*l] = d_negates[l] || code_i.lanes[l].a == StartRegister;
      d_none[2*l+1] = (code_i.lanes[l].immediate && !d_negates[l]) || d_registers[2*l+1] == StartRegister;
    end
  end

  sluice_xdp_registers #(
      .Contexts(Contexts),
      .Lanes   (Lanes)
  ) u_registers (
      .clk_i,
      .read_context_i  (d_context_q),
      .read_fresh_i    (d_start_q),
      .read_depth_i    (d_turn_q.depth),
      .read_register_i (d_registers),
      .read_none_i     (d_none),
      .read_narrow_i   (d_narrow),
      .read_o          (x_values),
      .write_context_i (w_context_q),
      .write_clear_i   (w_clear_q),
      .write_valid_i   (w_write),
      .write_register_i(w_register),
      .write_data_i    (w_value),
      .late_mark_i     (w_mark_q),
      .late_marked_i   (w_marked_q),
      .late_valid_i    (w_late_q),
      .late_context_i  (w_late_context_q)
  );

  logic x_foreign_q;
  logic [6:0] x_next_page_q;
  xdp_lane_t [Lanes-1:0] x_lane_q;
  // What comes in place of a register: the frame's start, a number.
  logic [Lanes-1:0][31:0] x_start_a_q;
  logic [Lanes-1:0][63:0] x_other_b_q, x_a, x_b;
  // Of its operation: whether arithmetic subtracts, has 64 bits.
  logic [Lanes-1:0] x_subtracts_q, x_wide_q;

  always_ff @(posedge clk_i) begin
    // A pass that restores registers has no bundle.
    x_foreign_q   <= d_foreign && d_turn_q.pass == PassBundle;
    x_next_page_q <= page_i.next;
    for (int unsigned l = 0; l < Lanes; l++) begin
      x_lane_q[l] <= (d_turn_q.pass == PassBundle) ? code_i.lanes[l] : '0;
      x_subtracts_q[l] <= !(code_i.lanes[l].op inside {XdpOpAdd, XdpOpLength});
      x_wide_q[l] <= code_i.lanes[l].wide || code_i.lanes[l].op == XdpOpLength;
      x_start_a_q[l] <= (!d_negates[l] && code_i.lanes[l].a == StartRegister) ? d_start : '0;
      x_other_b_q[l] <= '0;
      if (code_i.lanes[l].immediate && !d_negates[l])
        x_other_b_q[l] <= {{32{code_i.lanes[l].imm[31]}}, code_i.lanes[l].imm};
      else if (d_registers[2*l+1] == StartRegister) x_other_b_q[l] <= 64'(d_start);
      if (d_narrow[2*l]) x_other_b_q[l][63:32] <= '0;
    end
  end
  always_comb begin
    for (int unsigned l = 0; l < Lanes; l++) begin
      x_a[l] = x_values[2*l] | 64'(x_start_a_q[l]);
      x_b[l] = x_values[2*l+1] | x_other_b_q[l];
    end
  end

  // ---------------------------------------------------------------------------------------------------------------
  // First: arithmetic begins; the address of the bundle's access, or a helper's second argument.

  logic [Lanes-1:0][63:0] y_result, y_sum;
  logic [Lanes-1:0] y_holds, y_beyond;

  // A 64-bit constant; of a per-CPU array's value the distance of copies is above its address.
  logic [Lanes-1:0][63:0] x_constant;
  logic [4:0] x_processor;
  assign x_processor = 5'(Core * Contexts) + 5'(x_context_q);
  always_comb begin
    for (int unsigned l = 0; l < Lanes; l++) begin
      x_constant[l] = {
        x_lane_q[l].high,
        x_lane_q[l].imm,
        x_lane_q[l].off,
        x_lane_q[l].spare,
        x_lane_q[l].extra,
        x_lane_q[l].wide,
        x_lane_q[l].immediate,
        x_lane_q[l].b
      };
    end
  end

  // Results of units, by context.
  typedef struct packed {
    logic        late;      // its bundle was done when it was launched
    logic        fault;
    logic [63:0] value;
    logic        failed;    // of a reference to a map's entry
    logic        refers;
    logic        to_host;
    logic [31:0] referent;
  } result_t;

  // "Bits of signal are not used": a late result is a value, another one was not late.
  // verilator lint_off UNUSEDSIGNAL
  result_t done_result, x_result, y_unit_result_q, late_result;
  // verilator lint_on UNUSEDSIGNAL

  // What others have made of a lane's register: its unit, or the function that it has called, behind whose exit it comes back.
  logic [Lanes-1:0][63:0] x_given;
  always_comb begin
    for (int unsigned l = 0; l < Lanes; l++) begin
      x_given[l] = x_result.fault ? '0 : x_result.value;
      if (x_lane_q[l].op == XdpOpHelper && x_lane_q[l].imm[15:0] == HelperTailCall && x_kept_q.tails == MostTailCalls)
        x_given[l] = ErrorPermission;
      if (x_turn_q.pass inside {PassLower, PassUpper} && l < 2)
        x_given[l] = x_caller.registers[((x_turn_q.pass==PassLower)?0 : 2)+l];
    end
  end

  for (genvar l = 0; l < int'(Lanes); l++) begin : gen_alu
    sluice_xdp_alu u_alu (
        .clk_i,
        .op_i       (x_lane_q[l].op),
        .subtracts_i(x_subtracts_q[l]),
        .wide_i     (x_wide_q[l]),
        .a_i        (x_a[l]),
        .b_i        (x_b[l]),
        .constant_i (x_constant[l]),
        .given_i    (x_given[l]),
        .sum_o      (y_sum[l]),
        .result_o   (y_result[l]),
        .holds_o    (y_holds[l])
    );
  end

  // The one lane that accesses memory or calls a helper or function, and the one that multiplies or divides: the first of them.
  logic [Lanes-1:0] x_accesses, x_muldivs;
  logic [Lanes-1:0] x_access_lane, x_muldiv_lane;
  logic [63:0] x_base, x_data, x_address, x_left, x_right;
  xdp_lane_t x_access, x_muldiv;

  always_comb begin
    x_base   = '0;
    x_data   = '0;
    x_access = '0;
    x_left   = '0;
    x_right  = '0;
    x_muldiv = '0;
    for (int unsigned l = 0; l < Lanes; l++) begin
      x_accesses[l] = is_access(x_lane_q[l].op) || is_atomic(x_lane_q[l].op) ||
          x_lane_q[l].op inside {XdpOpHelper, XdpOpCall};
      x_muldivs[l] = is_muldiv(x_lane_q[l].op);
    end
    x_access_lane = x_accesses & (~x_accesses + Lanes'(1));
    x_muldiv_lane = x_muldivs & (~x_muldivs + Lanes'(1));
    for (int unsigned l = 0; l < Lanes; l++) begin
      if (x_access_lane[l]) begin
        x_base   = x_base | x_a[l];
        x_data   = x_data | x_b[l];
        x_access = x_access | x_lane_q[l];
      end
      // A call's lane reads r6 and r7.
      if (x_muldiv_lane[l] || x_lane_q[l].op == XdpOpCall) begin
        x_left  = x_left | x_a[l];
        x_right = x_right | x_b[l];
      end
      if (x_muldiv_lane[l]) x_muldiv = x_muldiv | x_lane_q[l];
    end
    x_address = x_base + {{48{x_access.off[15]}}, x_access.off};
  end

  logic y_foreign_q, y_late_fault_q;
  logic [6:0] y_next_page_q;
  xdp_lane_t [Lanes-1:0] y_lane_q;
  logic [Lanes-1:0][31:0] y_low_q, y_copy_q;
  logic [Lanes-1:0] y_access_lane_q, y_muldiv_lane_q;
  logic [63:0] y_address_q, y_data_q, y_left_q, y_right_q;
  // "Bits of signal are not used": a whole lane travels, an access has no registers any more.
  // verilator lint_off UNUSEDSIGNAL
  xdp_lane_t y_access_q, y_muldiv_q;
  // verilator lint_on UNUSEDSIGNAL
  logic [RowBits-1:0] y_base_q, y_record_q;
  logic [31:0] y_ifindex_q;
  logic [3:0] x_bytes, y_bytes_q;
  logic signed [OffsetBits+1:0] y_last_q;
  logic [StackWords-1:0] x_stack, y_stack_q;
  logic [63:0] y_third_q, y_fourth_q;

  always_comb begin
    x_bytes = bytes_of(x_access.op[2:0]);
    if (is_atomic(x_access.op)) x_bytes = x_access.op[3] ? 4'd8 : 4'd4;
    // A lookup reads its key.
    if (x_access.op == XdpOpHelper) x_bytes = 4'd4;
  end

  always_ff @(posedge clk_i) begin
    // A late result was a fault: its context's next pass ends the packet.
    y_foreign_q     <= x_foreign_q || (x_resume_q && x_result.fault && x_result.late);
    y_late_fault_q  <= x_resume_q && x_result.fault && x_result.late;
    y_next_page_q   <= x_next_page_q;
    y_lane_q        <= x_lane_q;
    y_access_lane_q <= x_access_lane;
    y_muldiv_lane_q <= x_muldiv_lane;
    y_address_q     <= x_address;
    y_data_q        <= x_data;
    y_left_q        <= x_left;
    y_right_q       <= x_right;
    y_access_q      <= x_access;
    y_muldiv_q      <= x_muldiv;
    y_kept_q        <= x_kept_q;
    y_base_q        <= x_fixed.base;
    y_record_q      <= x_fixed.place;
    y_ifindex_q     <= x_fixed.ifindex;
    y_caller_row_q  <= x_caller.row;
    y_frames_q      <= x_fixed.frames;
    y_bytes_q       <= x_bytes;
    y_stack_q       <= x_start_q ? '0 : x_stack;
    // A third and fourth argument, what compare-and-exchange expects, and r8 and r9 of a call are read by the last lane: nothing
    // else is in the bundle.
    y_third_q       <= x_a[Lanes-1];
    y_fourth_q      <= x_b[Lanes-1];
    // Offset of the last place where so many bytes fit in front of the frame's end.
    y_last_q        <= $signed({2'd0, x_kept_q.bounds.past}) - $signed({12'd0, x_bytes});
    for (int unsigned l = 0; l < Lanes; l++) begin
      y_low_q[l]  <= x_b[l][31:0];
      y_copy_q[l] <= x_constant[l][31:0] + x_constant[l][63:32] * 32'(x_processor);
      if (x_lane_q[l].op != XdpOpElement) y_copy_q[l] <= '0;
    end
  end

  // ---------------------------------------------------------------------------------------------------------------
  // Second: what the access may, which lane stops the bundle.

  logic
      y_redirects,
      y_is_reference,
      y_is_lock,
      y_is_lookup,
      y_is_map,
      y_is_tail,
      y_tail,
      y_spent,
      y_is_atomic,
      y_in_values,
      y_misaligned,
      y_waits;
  logic
      y_is_access,
      y_is_store,
      y_is_load,
      y_high,
      y_in_context,
      y_in_packet,
      y_in_stack,
      y_in_record,
      y_keeps,
      y_in_first,
      y_allowed,
      y_access_faults;
  logic [OffsetBits-1:0] y_offset;
  logic [8:0] y_stack_offset;
  xdp_place_t y_place;
  unit_e y_unit;
  logic y_result_fault;
  logic [63:0] y_unit_value;

  // A lookup in an array and a reference to a devmap's entry (`spare`) are the unit of values', other operations on maps are the map
  // engine's. So is a lookup in an array whose key lies in a value: values would be asked twice.
  assign y_redirects = y_access_q.op == XdpOpHelper && y_access_q.imm[15:0] == HelperRedirectMap;
  assign y_is_reference = y_redirects && y_access_q.spare;
  assign y_is_lookup = y_access_q.op == XdpOpHelper && y_access_q.imm[15:0] == HelperLookup && y_access_q.spare && !y_in_values;
  assign y_is_lock = y_access_q.op == XdpOpHelper && y_access_q.imm[15:0] inside {HelperLock, HelperUnlock};
  assign y_is_map = y_access_q.op == XdpOpHelper && !y_is_lookup && !y_is_reference && y_access_q.imm[15:0] inside {HelperLookup, HelperUpdate,
      HelperDelete, HelperTailCall, HelperRedirectMap, HelperLookupPercpu};
  // A tail call, which has found a program and may still go there.
  assign y_is_tail = y_access_q.op == XdpOpHelper && y_access_q.imm[15:0] == HelperTailCall;
  assign y_spent = y_kept_q.tails == MostTailCalls;
  assign y_tail = y_is_tail && y_resume_q && y_unit_result_q.refers && !y_spent;
  assign y_is_atomic = is_atomic(y_access_q.op);
  assign y_is_access = is_access(y_access_q.op) || y_is_atomic || y_is_lookup;
  assign y_is_store = is_store(y_access_q.op);
  assign y_is_load = is_access(y_access_q.op) && !y_is_store;
  assign y_high = y_address_q[63:32] != '0;
  assign y_offset = y_address_q[OffsetBits-1:0];
  assign y_stack_offset = y_address_q[8:0];
  assign y_in_context = !y_high && y_address_q[31:5] == ContextAddress[31:5] && y_address_q[4:0] <= 5'd20 &&
      y_address_q[1:0] == '0 && y_access_q.op == XdpOpLoad4;
  assign y_in_packet = !y_high && y_address_q[31:OffsetBits] == PacketAddress[31:OffsetBits] &&
      y_offset >= y_kept_q.bounds.meta && $signed(
      {2'd0, y_offset}
  ) <= y_last_q;
  assign y_in_stack = !y_high && on_stack(
      y_address_q[31:0], y_turn_q.depth
  ) && {1'b0, y_stack_offset} + 10'(y_bytes_q) <= 10'd512;
  assign y_in_record = !y_high && y_kept_q.record.held && y_address_q[31:RecordBits] == RecordAddress[31:RecordBits] &&
      {1'b0, y_address_q[RecordBits-1:0]} + (RecordBits + 1)'(y_bytes_q) <= {1'b0, y_kept_q.record.bytes};
  // Frames of functions have no unwritten words: they are cleared when they are entered.
  assign y_in_first = y_in_stack && frame_of(y_address_q[31:0]) == '0;
  assign y_in_values = !y_high && y_address_q[31:28] inside {[4'd4 : 4'd8]};
  assign y_misaligned = y_is_atomic && (y_address_q[1:0] != '0 || (y_access_q.op[3] && y_address_q[2]));
  // Where it lies in values their unit judges it.
  assign y_allowed = (y_in_packet && !y_is_atomic) || y_in_stack || y_in_record || y_in_context || y_in_values;
  assign y_access_faults = (y_is_access && (!y_allowed || y_misaligned)) || (y_is_lock && !y_in_values);
  // The record lies before the stack, which lies before the buffer.
  always_comb begin
    y_place = place_of(y_base_q, y_offset);
    if (y_in_stack) y_place = '{row: stack_row(y_base_q, y_address_q[31:0]), word: y_stack_offset[5:3]};
    if (y_in_record) y_place = '{row: y_record_q + RowBits'(y_address_q[RecordBits-1:6]), word: y_address_q[5:3]};
  end

  // The access is asked of the unit of values: those that lie there, lookups, and the read of an atomic operation on the stack.
  assign y_waits = (y_is_access && y_in_values) || y_is_lookup || y_is_reference || y_is_lock || y_is_atomic;

  // A program's end, by exit or tail call, with a record or lock that it still holds is a fault.
  assign y_keeps = y_kept_q.record.held || y_kept_q.locked;

  // Lanes in their order: what each does to those behind it.
  logic [Lanes-1:0] y_active, y_faults, y_takes, y_exits, y_stops, y_longs;
  logic y_stopped, y_fault, y_taken, y_back, y_exit, y_long;
  logic [CodeBits-1:0] y_target;
  logic [31:0] y_verdict;

  always_comb begin
    for (int unsigned l = 0; l < Lanes; l++) begin
      y_exits[l] = y_lane_q[l].op inside {XdpOpExit, XdpOpExitValue};
      y_beyond[l] = y_sum[l][63:32] != '0 || y_sum[l][31:0] > (PacketAddress | 32'(y_kept_q.bounds.past));
      y_takes[l]  = y_holds[l] || y_lane_q[l].op inside {XdpOpJump, XdpOpCall} || (y_tail && y_access_lane_q[l]) ||
          (y_lane_q[l].op == XdpOpLength && y_beyond[l] != y_lane_q[l].wide);
      y_longs[l] = y_muldiv_lane_q[l] || (y_access_lane_q[l] && (y_waits || y_lane_q[l].op inside {XdpOpHelper, XdpOpCall}));
      y_faults[l] = (y_access_lane_q[l] && !(y_is_load && y_lane_q[l].wide) &&
                     (y_access_faults || (y_is_tail && y_third_q != 64'(ContextAddress)) ||
                      (y_longs[l] && y_resume_q && y_result_fault) || (y_tail && y_keeps))) ||
          (y_exits[l] && y_keeps && y_turn_q.depth == '0) ||
          (y_lane_q[l].op == XdpOpCall && (l != 0 || y_turn_q.depth == y_frames_q ||
                                           (y_lane_q[l].wide && y_third_q[63:CodeBits] != 51'(FunctionAddress[31:CodeBits])))) ||
          ((is_access(y_lane_q[l].op) || is_atomic(y_lane_q[l].op) || y_lane_q[l].op inside {XdpOpHelper, XdpOpCall}) &&
          !y_access_lane_q[l]) || (is_muldiv(y_lane_q[l].op) && !y_muldiv_lane_q[l]) ||
          (y_access_lane_q[l] && y_longs[l] && y_muldiv_lane_q != '0);
      y_stops[l] = y_faults[l] || y_takes[l] || y_exits[l];
    end
    y_stopped = 1'b0;
    y_fault = y_foreign_q;
    y_taken = 1'b0;
    y_back = 1'b0;
    y_exit = 1'b0;
    y_long = 1'b0;
    y_target = '0;
    y_verdict = '0;
    for (int unsigned l = 0; l < Lanes; l++) begin
      y_active[l] = !y_stopped && !y_foreign_q;
      if (y_active[l]) begin
        if (y_faults[l]) begin
          y_fault = 1'b1;
          y_back  = y_exits[l] && y_lane_q[l].extra;
        end else if (y_takes[l]) begin
          y_taken = 1'b1;
          y_back = y_lane_q[l].extra || (y_lane_q[l].op == XdpOpCall && !y_lane_q[l].spare) || (y_tail && y_access_lane_q[l]);
          y_target = (y_tail && y_access_lane_q[l]) ? y_unit_result_q.referent[CodeBits-1:0] :
              (y_lane_q[l].op == XdpOpCall && y_lane_q[l].wide) ? y_third_q[CodeBits-1:0] : y_lane_q[l].off[CodeBits-1:0];
        end else if (y_exits[l]) begin
          y_exit = 1'b1;
          y_back = y_lane_q[l].extra;
          y_verdict = y_low_q[l];
        end
        if (y_longs[l]) y_long = 1'b1;
      end
      y_stopped = y_stopped || y_stops[l];
    end
    y_unit = UnitNone;
    for (int unsigned l = 0; l < Lanes; l++) begin
      if (y_active[l] && y_longs[l]) begin
        y_unit = y_muldiv_lane_q[l] ? UnitMuldiv : y_waits ? UnitValues : y_is_map ? UnitMaps : UnitHelper;
      end
    end
    if (y_turn_q.pass == PassClear) begin
      y_long = 1'b1;
      y_unit = UnitHelper;
    end
  end

  // Done with its launch: what changes a register at most, while the bundle goes on to another row of its frame. A multiplication has no
  // access beside it, which would be made twice.
  logic y_late, y_late_writes;
  logic [3:0] y_late_register;
  always_comb begin
    case (y_unit)
      UnitValues: y_late = (y_in_values || y_is_lookup) && !y_is_reference && !y_is_lock;
      UnitMaps: y_late = !y_redirects && !y_is_tail;
      UnitMuldiv: y_late = y_access_lane_q == '0;
      default: y_late = 1'b0;
    endcase
    if (y_exit || y_back) y_late = 1'b0;
    y_late_writes   = 1'b0;
    y_late_register = '0;
    for (int unsigned l = 0; l < Lanes; l++) begin
      if (y_active[l] && y_longs[l] && writes(y_lane_q[l])) begin
        y_late_writes   = 1'b1;
        y_late_register = y_lane_q[l].dst;
      end else if (y_active[l] && !y_longs[l] && writes(y_lane_q[l]) && y_lane_q[l].dst == y_late_register) begin
        // A lane behind it has the last word.
        y_late_writes = 1'b0;
      end
    end
  end

  // Their results.
  sluice_ram_lut #(
      .Width    ($bits(result_t)),
      .Depth    (Contexts),
      .ReadPorts(2)
  ) u_result (
      .clk_i,
      .we_i   (unit_done),
      .waddr_i(done_context),
      .wdata_i(done_result),
      .raddr_i({late_context, x_context_q}),
      .rdata_o({late_result, x_result})
  );
  always_ff @(posedge clk_i) y_unit_result_q <= x_result;
  assign y_result_fault = y_unit_result_q.fault;
  assign y_unit_value   = y_unit_result_q.fault ? '0 : y_unit_result_q.value;

  logic [63:0] y_atomic;
  sluice_xdp_atomic u_atomic (
      .code_i    (y_access_q.op[2:0]),
      .wide_i    (y_access_q.op[3]),
      .old_i     (y_unit_value),
      .operand_i (y_data_q),
      .expected_i(y_third_q),
      .new_o     (y_atomic)
  );

  // ---------------------------------------------------------------------------------------------------------------
  // Memory.

  logic m_fault_q, m_taken_q, m_back_q, m_exit_q, m_launch_q, m_load_q, m_store_q, m_in_first_q, m_in_context_q;
  unit_e m_unit_q;
  logic [6:0] m_next_page_q;
  logic [CodeBits-1:0] m_target_q;
  logic [31:0] m_verdict_q, m_context_value_q;
  logic [Lanes-1:0] m_write_q, m_load_lane_q;
  logic [Lanes-1:0][3:0] m_register_q;
  logic [Lanes-1:0][63:0] m_value_q;
  xdp_place_t m_place_q;
  logic [2:0] m_byte_q;
  logic [3:0] m_bytes_q;
  logic m_signed_q, m_nothing_q;
  logic [63:0] m_data_q, m_left_q, m_right_q, m_address_q;
  logic [StackWords-1:0] m_stack_q;
  logic [5:0] m_stack_word_q;
  logic [1:0] m_words_unset_q;
  logic m_workless_q;
  logic [7:0] m_muldiv_op_q;
  logic m_muldiv_wide_q;
  logic [15:0] m_helper_q;
  logic m_commits, m_completes, m_reads_late_q, m_enters_q, m_tail_q, m_locks_q;
  logic m_late_q, m_late_writes_q, m_redirects_q;
  logic [3:0] m_late_register_q;
  xdp_request_e m_kind_q;
  logic [2:0] m_code_q;
  logic [15:0] m_map_q;
  logic m_handle_q, m_failed_q, m_refers_q, m_to_host_q;
  logic [31:0] m_reference_q;
  logic [63:0] m_third_q, m_fourth_q, m_fifth, m_kept_fifth;

  always_ff @(posedge clk_i) begin
    m_fault_q <= y_fault;
    m_taken_q <= y_taken || y_turn_q.pass == PassUpper;
    m_enters_q <= (y_lane_q[0].op == XdpOpCall && !y_fault) || y_turn_q.pass == PassClear;
    m_tail_q <= y_tail && !y_fault;
    m_locks_q <= y_is_lock && y_resume_q && (y_access_lane_q & y_active) != '0 && !y_fault;
    m_back_q <= y_back;
    m_exit_q <= y_exit;
    m_unit_q <= y_unit;
    m_launch_q <= y_long && !y_resume_q && !y_fault;
    m_load_q <= y_is_load && (y_access_lane_q & y_active) != '0 && !y_in_values;
    m_store_q      <= (y_is_store || (y_is_atomic && y_resume_q)) && (y_access_lane_q & y_active) != '0 && !y_access_faults &&
        !y_in_values;
    m_reads_late_q <= (y_is_lookup || y_is_atomic) && !y_in_values;
    m_late_q <= y_late;
    m_redirects_q <= y_redirects;
    m_late_writes_q <= y_late_writes;
    m_late_register_q <= y_late_register;
    m_kind_q       <= y_is_lock ? ((y_access_q.imm[15:0] == HelperLock) ? RequestLock : RequestUnlock) : y_is_reference ? RequestReference : y_is_lookup ? RequestLookup : !y_in_values ? RequestEcho : y_is_atomic ? RequestAtomic :
        y_is_store ? RequestStore : RequestLoad;
    m_code_q <= y_access_q.op[2:0];
    m_map_q <= y_access_q.imm[31:16];
    m_handle_q <= !y_access_q.extra;
    m_failed_q <= y_unit_result_q.failed;
    m_refers_q <= y_unit_result_q.refers;
    m_to_host_q <= y_unit_result_q.to_host;
    m_reference_q <= y_unit_result_q.referent;
    m_third_q <= y_third_q;
    m_fourth_q <= y_fourth_q;
    m_in_first_q <= y_in_first;
    m_in_context_q <= y_in_context;
    m_next_page_q <= y_next_page_q;
    m_target_q <= (y_turn_q.pass == PassUpper) ? y_caller_row_q : y_target;
    m_verdict_q <= y_verdict;
    m_place_q <= y_place;
    m_byte_q <= y_address_q[2:0];
    m_bytes_q <= y_bytes_q;
    // Of an atomic operation this flag is that the old value is fetched, which has no sign.
    m_signed_q <= y_access_q.extra && !y_is_atomic;
    m_nothing_q <= !y_allowed;
    m_data_q <= (y_is_atomic && !y_in_values && y_resume_q) ? y_atomic : y_data_q;
    m_left_q <= y_left_q;
    m_right_q <= y_right_q;
    m_address_q <= y_address_q;
    m_stack_q <= y_stack_q;
    m_stack_word_q <= y_stack_offset[8:3];
    m_workless_q <= y_kept_q.work == '0;
    // Words of the stack that nobody wrote are zero.
    m_words_unset_q <= {
      y_in_first && !y_stack_q[6'(y_stack_offset[8:3]+6'd1)], y_in_first && !y_stack_q[y_stack_offset[8:3]]
    };
    m_muldiv_op_q <= y_muldiv_q.op;
    m_muldiv_wide_q <= y_muldiv_q.wide;
    m_helper_q <= y_access_q.imm[15:0];
    m_kept_q <= y_kept_q;
    case (y_address_q[4:2])
      3'd0: m_context_value_q <= PacketAddress | 32'(y_kept_q.bounds.data);
      3'd1: m_context_value_q <= PacketAddress | 32'(y_kept_q.bounds.past);
      3'd2: m_context_value_q <= PacketAddress | 32'(y_kept_q.bounds.meta);
      3'd3: m_context_value_q <= y_ifindex_q;
      default: m_context_value_q <= '0;
    endcase
    for (int unsigned l = 0; l < Lanes; l++) begin
      // What is launched is not there yet. A tail call leaves all registers: r1 was the context already.
      m_write_q[l] <= y_active[l] && !y_faults[l] && writes(y_lane_q[l]) && (!y_longs[l] || (y_resume_q && !y_tail));
      m_load_lane_q[l] <= y_access_lane_q[l] && y_is_load && !y_longs[l];
      m_register_q[l] <= y_lane_q[l].dst;
      m_value_q[l] <= y_result[l] | 64'(y_copy_q[l]);
      if (y_turn_q.pass inside {PassLower, PassUpper} && l < 2) begin
        m_write_q[l]    <= 1'b1;
        m_register_q[l] <= ((y_turn_q.pass == PassLower) ? 4'd6 : 4'd8) + 4'(l);
      end
    end
  end

  // The first of two passes does nothing but launch.
  logic m_out_of_work, m_holds_q, m_store, m_launches, m_unit_ready;
  logic [CodeBits-1:0] m_row_behind;
  assign m_launches = m_valid_q && m_launch_q;
  always_comb begin
    case (m_unit_q)
      UnitHelper: m_unit_ready = call_ready_i && !park_helper_q;
      UnitMuldiv: m_unit_ready = muldiv_ready && !park_muldiv_q;
      UnitMaps: m_unit_ready = 1'b1;
      default: m_unit_ready = request_ready_i;
    endcase
  end
  assign m_retries = m_launches && !m_unit_ready;
  assign m_parks = m_launches && !m_retries;
  // An exit in the place of a jump back counts as work, before what it still holds is looked at.
  assign m_out_of_work = (m_taken_q || m_exit_q || m_holds_q) && m_back_q && m_workless_q;
  // The bundle is over, but for what it launched; and altogether.
  assign m_commits = m_valid_q && (!m_launch_q || (m_late_q && m_unit_ready));
  assign m_completes = m_valid_q && !m_launch_q;
  assign m_ends = m_completes && (m_fault_q || (m_exit_q && m_turn_q.depth == '0) || m_out_of_work);
  assign m_calls = m_completes && m_enters_q && m_turn_q.pass == PassBundle && !m_out_of_work;
  assign m_leaves = m_completes && m_exit_q && !m_fault_q && m_turn_q.depth != '0;
  assign m_stops = m_parks || m_ends;

  assign m_write_row = (m_commits && !m_ends && m_turn_q.pass != PassClear) || (m_valid_q && m_start_q);
  always_comb begin
    m_row_behind = m_row_q + CodeBits'(1);
    if (m_row_q[5:0] == '1) m_row_behind = {m_next_page_q, 6'd0};
    m_next_row = m_row_behind;
    if (m_taken_q) m_next_row = m_target_q;
    // The packet's first bundle comes again.
    if (m_start_q && !m_commits) m_next_row = m_row_q;
  end

  // Calls and exits change the frame, a packet's first bundle is in the program's own.
  always_comb begin
    m_turn = '{pass: PassBundle, depth: m_turn_q.depth};
    if (m_turn_q.pass == PassLower) m_turn.pass = PassUpper;
    if (m_enters_q && m_turn_q.pass == PassBundle) m_turn.depth = m_turn_q.depth + depth_t'(1);
    if (m_tail_q && m_turn_q.depth != '0) m_turn.pass = PassClear;
    if (m_exit_q) m_turn = '{pass: PassLower, depth: m_turn_q.depth - depth_t'(1)};
    if (m_start_q) m_turn = '{pass: PassBundle, depth: '0};
  end
  assign m_write_turn = (m_valid_q && m_start_q) || m_calls || m_leaves ||
      (m_completes && (m_tail_q || m_turn_q.pass != PassBundle));
  assign m_caller = '{row: m_row_behind, registers: {m_fourth_q, m_third_q, m_right_q, m_left_q}};

  // The kept part is written by a packet's first pass, taken back edges, and when a helper has answered.
  always_comb begin
    m_kept = m_kept_q;
    if (m_completes && m_taken_q && m_back_q) m_kept.work = m_kept_q.work - WorkBits'(1);
    if (m_completes && m_tail_q) m_kept.tails = m_kept_q.tails + 6'd1;
    if (m_completes && m_locks_q) m_kept.locked = m_kind_q == RequestLock;
    // The second pass of a helper's bundle brings the bounds that it left.
    if (m_helped) begin
      m_kept.bounds = return_q.bounds;
      m_kept.low = return_q.low;
      m_kept.record = return_q.record;
      if (return_q.redirects) begin
        m_kept.redirected = 1'b1;
        m_kept.to_host    = 1'b0;
        m_kept.redirect   = redirect_q;
        m_kept.aim        = redirect_q;
      end
    end
    // An entry that is none leaves what was asked for before, as an interface.
    if (m_referred && m_refers_q) begin
      m_kept.redirected = 1'b1;
      m_kept.to_host    = m_to_host_q;
      m_kept.redirect   = m_reference_q;
      m_kept.aim        = m_address_q[31:0];
    end
    if (m_referred && m_failed_q) begin
      m_kept.to_host  = 1'b0;
      m_kept.redirect = m_kept_q.aim;
    end
  end
  assign m_write_kept = m_valid_q && (m_start_q || (m_completes && ((m_taken_q && m_back_q) || m_helped || m_referred || m_locks_q)));

  // What a packet costs: its bundles, once more each that has two passes or launches what comes late, and the cycles of the map engine, with the
  // pass behind them. Being sent back costs nothing.
  cost_t m_cost, m_cost_before, m_cost_after;
  logic [CostBits:0] m_cost_sum;
  logic [1:0] m_passes;
  logic [Contexts-1:0] stepped_q;
  steps_t m_steps;
  logic map_answered, lock_answered;
  assign lock_answered = lock_valid_i && lock_ready_o;
  assign map_answered = map_answer_valid_i && map_answer_ready_o;
  assign m_cost_before = m_start_q ? '0 : m_cost;
  // What a bundle launches late holds its context for as long again.
  assign m_passes = m_retries ? 2'd0 : (m_commits && m_launch_q) ? 2'd2 : 2'd1;
  assign m_cost_sum = {1'b0, m_cost_before} + (stepped_q[m_context_q] ? (CostBits + 1)'(m_steps) : '0) + (CostBits + 1)'(m_passes);
  assign m_cost_after = m_cost_sum[CostBits] ? '1 : m_cost_sum[CostBits-1:0];

  // A context has no pass between its operation's launch and its answer.
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      stepped_q <= '0;
    end else begin
      if (m_valid_q) stepped_q[m_context_q] <= 1'b0;
      if (map_answered) stepped_q[map_answer_context_i] <= 1'b1;
      if (lock_answered) stepped_q[lock_context_i] <= 1'b1;
    end
  end

  sluice_ram_lut #(
      .Width(StepBits),
      .Depth(Contexts)
  ) u_steps (
      .clk_i,
      .we_i   (map_answered || lock_answered),
      .waddr_i(lock_answered ? lock_context_i : map_answer_context_i),
      .wdata_i(lock_answered ? lock_i.steps : map_answer_i.steps),
      .raddr_i(m_context_q),
      .rdata_o(m_steps)
  );

  sluice_ram_lut #(
      .Width(CostBits),
      .Depth(Contexts)
  ) u_cost (
      .clk_i,
      .we_i   (m_valid_q),
      .waddr_i(m_context_q),
      .wdata_i(m_cost_after),
      .raddr_i(m_context_q),
      .rdata_o(m_cost)
  );

  // Loads and stores.
  logic [127:0] m_wide_data;
  logic [15:0] m_wide_enable;
  logic m_two_words;

  assign m_two_words = 5'(m_byte_q) + 5'(m_bytes_q) > 5'd8;
  assign m_wide_data = 128'(m_data_q & bit_mask(m_bytes_q)) << {m_byte_q, 3'd0};
  assign m_wide_enable = 16'(byte_mask(m_bytes_q)) << m_byte_q;
  assign m_store = m_completes && m_store_q;

  assign read_valid_o = (m_completes && m_load_q) || (m_launches && m_reads_late_q);
  assign read_place_o = m_place_q;
  assign write_valid_o = m_store;
  assign write_place_o = m_place_q;
  assign write_data_o = m_wide_data;
  always_comb begin
    write_enable_o = '0;
    write_enable_o[0] = m_wide_enable[7:0] | {8{m_words_unset_q[0]}};
    if (m_two_words) write_enable_o[1] = m_wide_enable[15:8] | {8{m_words_unset_q[1]}};
  end

  logic [StackWords-1:0] m_stack;
  always_comb begin
    m_stack = m_stack_q;
    // A packet's first bundle writes what it stores alone.
    if (m_store && m_in_first_q) begin
      m_stack[m_stack_word_q] = 1'b1;
      if (m_two_words) m_stack[6'(m_stack_word_q+6'd1)] = 1'b1;
    end
    if (m_helped) m_stack = return_q.written;
    if (m_tail_q) m_stack = '0;
  end

  sluice_ram_lut #(
      .Width(StackWords),
      .Depth(Contexts)
  ) u_stack (
      .clk_i,
      .we_i   ((m_store && m_in_first_q) || m_helped || (m_valid_q && m_start_q) ||
                (m_completes && m_tail_q && m_turn_q.depth == '0)),
      .waddr_i(m_context_q),
      .wdata_i(m_stack),
      .raddr_i(x_context_q),
      .rdata_o(x_stack)
  );

  // A lock that its packet has left is free.
  always_ff @(posedge clk_i) begin
    free_valid_o   <= m_ends && rst_ni;
    free_context_o <= m_context_q;
  end

  // Room of a record's event. A helper may have changed what is held.
  logic m_holds;
  logic [RecordBits-1:0] m_record_bytes;
  assign m_holds = m_helped ? return_q.record.held : m_kept_q.record.held;
  assign m_record_bytes = m_helped ? return_q.record.bytes : m_kept_q.record.bytes;
  always_ff @(posedge clk_i) begin
    abandon_valid_o <= m_ends && m_holds && rst_ni;
    abandon_o <= '{
        op: EventReturn,
        module_id: m_fixed.module_id,
        reserved: 1'b0,
        words: record_words(m_record_bytes),
        data: '0
    };
  end

  // Of the bundle that was launched last: where its late result faults, and as what.
  xdp_outcome_t m_launching, m_launched;
  logic m_late_fault_q, m_long_behind_q;
  logic m_foreign_q, m_helps_q, m_behind_q, m_frames_q, m_wrong_q;
  xdp_fault_e m_fault;
  assign m_launching = '{fault: m_helps_q ? XdpFaultArgument : XdpFaultAccess, row: m_row_q, lane: m_long_behind_q};
  sluice_ram_lut #(
      .Width($bits(xdp_outcome_t)),
      .Depth(Contexts)
  ) u_launched (
      .clk_i,
      .we_i   (m_launches),
      .waddr_i(m_context_q),
      .wdata_i(m_launching),
      .raddr_i(m_context_q),
      .rdata_o(m_launched)
  );

  // What a fault was. Of a bundle's lanes the one that stopped it has faulted.
  always_ff @(posedge clk_i) begin
    m_foreign_q <= y_foreign_q;
    m_late_fault_q <= y_late_fault_q;
    m_long_behind_q <= !(y_active[0] && y_longs[0]);
    m_helps_q <= y_access_q.op == XdpOpHelper;
    m_behind_q <= !y_stops[0] && !y_foreign_q;
    // Only a call in the first lane may be one too many.
    m_frames_q <= y_lane_q[0].op == XdpOpCall;
    m_holds_q <= ((y_exits & y_active & y_faults) != '0 && y_keeps) || (y_tail && y_keeps && (y_access_lane_q & y_active) != '0) ||
        (y_is_lock && y_resume_q && y_result_fault && y_unit_result_q.value[0] && (y_access_lane_q & y_active) != '0);
    // Something of which a bundle has one: the lane that stops it is not the one that has it, or wants it together with another.
    m_wrong_q   <= (y_access_lane_q & y_active & y_faults) == '0 || (y_muldiv_lane_q != '0 && (y_access_lane_q & y_longs) != '0);
  end
  always_comb begin
    m_fault = XdpFaultNone;
    if (m_out_of_work) m_fault = XdpFaultWork;
    if (m_fault_q) begin
      if (m_foreign_q) m_fault = XdpFaultBundle;
      else if (m_frames_q) m_fault = XdpFaultDepth;
      else if (m_holds_q) m_fault = m_out_of_work ? XdpFaultWork : XdpFaultLock;
      else if (m_wrong_q) m_fault = XdpFaultBundle;
      else m_fault = m_helps_q ? XdpFaultArgument : XdpFaultAccess;
    end
  end

  // End.
  xdp_outcome_t m_outcome;
  always_comb begin
    m_outcome = '{fault: m_fault, row: m_row_q, lane: m_behind_q};
    if (m_late_fault_q) m_outcome = m_launched;
  end
  always_ff @(posedge clk_i) begin
    end_valid_o <= m_ends && rst_ni;
    end_o <= '{
        slot: m_fixed.slot,
        verdict: (m_fault_q || m_out_of_work || m_verdict_q > VerdictRedirect) ? 3'd0 : m_verdict_q[2:0],
        bounds: m_kept_q.bounds,
        redirected: m_kept_q.redirected,
        to_host: m_kept_q.to_host,
        ifindex: m_kept_q.redirect,
        cost: m_cost_after,
        outcome: m_outcome,
        ended: now_i
    };
  end

  // What the pass has cost.
  logic m_waited_q;
  xdp_pass_e m_unit;
  always_ff @(posedge clk_i) m_waited_q <= y_resume_q && y_long;
  always_comb begin
    case (m_unit_q)
      UnitValues: m_unit = XdpPassValues;
      UnitMaps: m_unit = XdpPassMaps;
      UnitHelper: m_unit = XdpPassHelper;
      default: m_unit = XdpPassArithmetic;
    endcase
  end

  sluice_xdp_passes #(
      .Contexts(Contexts)
  ) u_passes (
      .clk_i,
      .rst_ni,
      .now_i,
      .taken_i  (start_take),
      .came_i   (start_i.came),
      .valid_i  (m_valid_q),
      .context_i(m_context_q),
      .module_i (m_fixed.module_id),
      .start_i  (m_start_q),
      // A late result that faults is of a bundle that was done.
      .bundle_i (m_commits && m_turn_q.pass == PassBundle && !m_late_fault_q),
      .retries_i(m_retries),
      .waited_i (m_waited_q),
      .late_i   (m_commits && m_launch_q),
      .unit_i   (m_unit),
      .valid_o  (pass_valid_o),
      .spent_o  (pass_o)
  );

  // ---------------------------------------------------------------------------------------------------------------
  // Units: one context at a time in each.

  assign muldiv_takes = m_parks && m_unit_q == UnitMuldiv;
  assign helper_takes = m_parks && m_unit_q == UnitHelper;

  sluice_xdp_muldiv u_muldiv (
      .clk_i,
      .rst_ni,
      .valid_i (muldiv_takes),
      .ready_o (muldiv_ready),
      .op_i    (m_muldiv_op_q),
      .wide_i  (m_muldiv_wide_q),
      .a_i     (m_left_q),
      .b_i     (m_right_q),
      .done_o  (muldiv_done),
      .result_o(muldiv_result)
  );

  // A fifth argument is in r5 always: each context has a copy of it here.
  logic w_fifth_write;
  logic [63:0] w_fifth;

  always_comb begin
    w_fifth_write = w_clear_q;
    w_fifth = '0;
    for (int unsigned l = 0; l < Lanes; l++) begin
      if ((w_write[l] || (w_late_q && l == Lanes - 1)) && w_register[l] == 4'd5) begin
        w_fifth_write = 1'b1;
        w_fifth = w_value[l];
      end
    end
  end

  sluice_ram_lut #(
      .Width(64),
      .Depth(Contexts)
  ) u_fifth (
      .clk_i,
      .we_i   (w_fifth_write),
      .waddr_i((w_late_q && w_register[Lanes-1] == 4'd5) ? w_late_context_q : w_context_q),
      .wdata_i(w_fifth),
      .raddr_i(m_context_q),
      .rdata_o(m_kept_fifth)
  );
  // Of a first bundle it is not cleared yet.
  assign m_fifth = m_start_q ? '0 : m_kept_fifth;

  assign call_valid_o = helper_takes;
  assign call_o = '{
          number: m_helper_q,
          first: m_data_q,
          second: m_address_q,
          third: m_third_q,
          fourth: m_fourth_q,
          fifth: m_fifth,
          bounds: m_kept_q.bounds,
          most: m_fixed.most,
          low: m_kept_q.low,
          base: m_fixed.base,
          module_id: m_fixed.module_id,
          regions: m_fixed.regions,
          written: m_stack_q,
          processor: 5'(Core * Contexts) + 5'(m_context_q),
          stamp: m_stamp,
          place: m_fixed.place,
          records: m_fixed.records,
          record: m_kept_q.record,
          generation: m_fixed.generation,
          depth: (m_turn_q.pass == PassClear) ? m_turn_q.depth - depth_t'(1) : m_turn_q.depth,
          enters: m_enters_q
      };

  // What of a launched bundle is still to be done, by context: a register is written late, or a reference is told from its flags.
  typedef struct packed {
    logic       late;
    logic       writes;
    logic [3:0] target;
    logic       refers;
    logic       plain;     // flags that lead to one entry
    logic       several;   // flags that lead to all
    logic       excludes;  // but not back
    logic [1:0] verdict;
  } waits_t;
  // "Bits of signal are not used": each reader takes what concerns it.
  // verilator lint_off UNUSEDSIGNAL
  waits_t m_waits, waits_late, waits_value, waits_map, waits_muldiv, written_late;
  // verilator lint_on UNUSEDSIGNAL

  // A result waits while the other unit's is written. A helper is taken up again only when its bundle has had its second pass, which
  // writes what the helper left.
  logic muldiv_waits_q, helper_waits_q;
  result_t muldiv_result_q;
  assign m_helped = m_completes && park_helper_q && m_context_q == helper_context_q && m_unit_q == UnitHelper;
  assign m_referred = m_completes && m_unit_q inside {UnitMaps, UnitValues} && m_redirects_q;
  assign answered = done_valid_i || map_answer_valid_i;
  assign map_answer_ready_o = !done_valid_i;
  // Contexts are fewer than the cycles that each takes from one answer to the next: a cycle for locks is always near.
  assign lock_ready_o = !answered && !helper_waits_q && !muldiv_waits_q;
  assign unit_done = answered || helper_waits_q || muldiv_waits_q || lock_valid_i;
  assign done_context = done_valid_i ? done_context_i : map_answer_valid_i ? map_answer_context_i :
      helper_waits_q ? helper_context_q : muldiv_waits_q ? muldiv_context_q : lock_context_i;
  always_comb begin
    done_result = muldiv_waits_q ? muldiv_result_q : '{fault: lock_i.fault, value: 64'(lock_i.misused), default: '0};
    if (helper_waits_q) done_result = '{fault: return_q.fault, value: return_q.value, default: '0};
    if (map_answer_valid_i) done_result = {1'b0, map_answer_i[$bits(xdp_map_answer_t)-1:StepBits]};
    if (done_valid_i) done_result = '{fault: done_fault_i, value: done_value_i, default: '0};
    // The lowest two bits of the flags are the verdict where there is no entry.
    if (done_valid_i && waits_value.refers) begin
      done_result = '{
          late: 1'b0,
          fault: done_fault_i,
          value: 64'(waits_value.verdict),
          failed: waits_value.plain && done_value_i[31:0] == '0,
          refers: waits_value.several || (waits_value.plain && done_value_i[31:0] != '0),
          to_host: waits_value.several,
          referent: waits_value.several ? to_several(done_value_i[7:0], waits_value.excludes) : done_value_i[31:0]
      };
      if (done_result.refers) done_result.value = 64'(VerdictRedirect);
      else if (!waits_value.plain) done_result.value = '0;
    end
    done_result.late = waits_late.late;
  end

  // Cycles that a late result waits before nobody is picked for one.
  localparam int unsigned LatePatience = 3;

  logic late_valid, late_blocked, unused_late_ready;
  logic [1:0] late_wait_q;
  logic [$clog2(Contexts+1)-1:0] unused_late_level;

  sluice_ram_lut #(
      .Width    ($bits(waits_t)),
      .Depth    (Contexts),
      .ReadPorts(4)
  ) u_waits (
      .clk_i,
      .we_i   (m_launches),
      .waddr_i(m_context_q),
      .wdata_i(m_waits),
      .raddr_i({late_context, muldiv_context_q, map_answer_context_i, done_context_i}),
      .rdata_o({written_late, waits_muldiv, waits_map, waits_value})
  );
  // A helper has two passes, and so has a lock.
  always_comb begin
    waits_late = done_valid_i ? waits_value : map_answer_valid_i ? waits_map : waits_muldiv;
    if (!answered && (helper_waits_q || !muldiv_waits_q)) waits_late = '0;
  end
  assign m_waits = '{
          late: m_late_q,
          writes: m_late_writes_q,
          target: m_late_register_q,
          refers: m_kind_q == RequestReference && m_unit_q == UnitValues,
          plain: takes_flags(m_third_q, 1'b1) && !m_third_q[FlagBroadcast],
          several: takes_flags(m_third_q, 1'b1) && m_third_q[FlagBroadcast],
          excludes: m_third_q[FlagExclude],
          verdict: m_third_q[1:0]
      };
  assign done_late = waits_late.late && waits_late.writes && !done_result.fault;
  assign done_again = !waits_late.late || done_result.fault;

  // Those whose result is there, in the order in which it came.
  sluice_fifo #(
      .Width(ContextBits),
      .Depth(Contexts)
  ) u_late (
      .clk_i,
      .rst_ni,
      .valid_i(unit_done && done_late),
      .ready_o(unused_late_ready),
      .data_i (done_context),
      .valid_o(late_valid),
      .ready_i(!late_blocked),
      .data_o (late_context),
      .level_o(unused_late_level)
  );

  // The last lane's port is free, and for r5 the copy of it too.
  always_comb begin
    late_blocked = m_write_q[Lanes-1];
    if (written_late.target == 4'd5) late_blocked = m_start_q || m_write_q != '0;
    if (!m_valid_q) late_blocked = 1'b0;
  end
  assign late_take  = late_valid && !late_blocked;
  assign late_wants = late_wait_q == 2'(LatePatience);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) late_wait_q <= '0;
    else late_wait_q <= (late_valid && late_blocked && !late_wants) ? late_wait_q + 2'd1 : '0;
  end

  assign request_valid_o = m_launches && m_unit_q == UnitValues;
  assign request_context_o = m_context_q;
  assign request_o = '{
          kind: m_kind_q,
          module_id: m_fixed.module_id,
          regions: m_fixed.regions,
          address: m_address_q[31:0],
          bytes: m_bytes_q,
          span: 10'(m_bytes_q),
          sign: (m_kind_q == RequestReference) ? m_waits.several : m_signed_q,
          code: m_code_q,
          data: m_data_q,
          expected: m_third_q,
          map: m_map_q
      };
  assign late_o = w_aligned;
  assign request_row_o = m_row_q;
  assign start_context_o = free_context;

  // Which map it is: the number in the lane, or a handle in the first argument. Other numbers are no map's.
  assign map_call_valid_o = m_launches && m_unit_q == UnitMaps;
  assign map_context_o = m_context_q;
  always_comb begin
    map_call_o = '{
        op: XdpMapOpLookup,
        map: m_map_q,
        module_id: m_fixed.module_id,
        key: m_address_q,
        value: m_third_q,
        flags: m_fourth_q,
        regions: m_fixed.regions,
        bounds: m_kept_q.bounds,
        base: m_fixed.base,
        written: m_stack_q,
        depth: m_turn_q.depth
    };
    if (m_handle_q) map_call_o.map = (m_data_q[63:16] == 48'(HandleAddress[31:16])) ? m_data_q[15:0] : '1;
    case (m_helper_q)
      HelperUpdate: map_call_o.op = XdpMapOpUpdate;
      HelperDelete: map_call_o.op = XdpMapOpDelete;
      HelperTailCall: map_call_o.op = XdpMapOpProgram;
      HelperRedirectMap: map_call_o.op = XdpMapOpReference;
      HelperLookupPercpu: map_call_o.op = XdpMapOpLookupPercpu;
      default: ;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      park_muldiv_q  <= 1'b0;
      park_helper_q  <= 1'b0;
      muldiv_waits_q <= 1'b0;
      helper_waits_q <= 1'b0;
    end else begin
      if (muldiv_takes) park_muldiv_q <= 1'b1;
      else if (muldiv_waits_q && !helper_waits_q && !answered) park_muldiv_q <= 1'b0;
      if (muldiv_done) muldiv_waits_q <= 1'b1;
      else if (!helper_waits_q && !answered) muldiv_waits_q <= 1'b0;
      if (helper_takes) park_helper_q <= 1'b1;
      else if (m_helped) park_helper_q <= 1'b0;
      if (return_valid_i) helper_waits_q <= 1'b1;
      else if (!answered) helper_waits_q <= 1'b0;
    end
    if (muldiv_takes) muldiv_context_q <= m_context_q;
    if (muldiv_done) muldiv_result_q <= '{fault: 1'b0, value: muldiv_result, default: '0};
    if (helper_takes) begin
      helper_context_q <= m_context_q;
      redirect_q <= m_data_q[31:0];
    end
    if (return_valid_i) return_q <= return_i;
  end

  // ---------------------------------------------------------------------------------------------------------------
  // Write.

  logic [Lanes-1:0] w_write_q, w_load_lane_q;
  logic [Lanes-1:0][63:0] w_value_q;
  logic w_in_context_q, w_nothing_q, w_signed_q;
  logic [  1:0] w_words_unset_q;
  logic [  2:0] w_byte_q;
  logic [  3:0] w_bytes_q;
  logic [ 31:0] w_context_value_q;
  logic [127:0] w_two;
  logic [ 63:0] w_loaded;

  always_ff @(posedge clk_i) begin
    w_clear_q         <= m_valid_q && m_start_q && rst_ni;
    w_write_q         <= (m_commits && !m_out_of_work && rst_ni) ? m_write_q : '0;
    w_register        <= m_register_q;
    w_load_lane_q     <= m_load_lane_q;
    w_value_q         <= m_value_q;
    w_in_context_q    <= m_in_context_q;
    w_nothing_q       <= m_nothing_q;
    w_signed_q        <= m_signed_q;
    w_words_unset_q   <= m_words_unset_q;
    w_byte_q          <= m_byte_q;
    w_bytes_q         <= m_bytes_q;
    w_context_value_q <= m_context_value_q;
    w_mark_q          <= m_commits && m_launch_q && m_late_writes_q && rst_ni;
    w_marked_q        <= m_late_register_q;
    w_late_q          <= late_take && rst_ni;
    w_late_context_q  <= late_context;
    if (late_take) begin
      w_register[Lanes-1]    <= written_late.target;
      w_value_q[Lanes-1]     <= late_result.value;
      w_load_lane_q[Lanes-1] <= 1'b0;
    end
  end

  assign w_two = {w_words_unset_q[1] ? 64'd0 : read_data_i[1], w_words_unset_q[0] ? 64'd0 : read_data_i[0]};
  always_comb begin
    w_aligned = 64'(w_two >> {w_byte_q, 3'd0}) & bit_mask(w_bytes_q);
    if (w_in_context_q) w_aligned = 64'(w_context_value_q);
    if (w_nothing_q) w_aligned = '0;
    w_loaded = extended(w_aligned, w_bytes_q, w_signed_q);
    for (int unsigned l = 0; l < Lanes; l++) begin
      w_write[l] = w_write_q[l];
      w_value[l] = w_load_lane_q[l] ? w_loaded : w_value_q[l];
    end
  end

`ifndef SYNTHESIS
  ALateResultHasTheLastLanesPort_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !w_late_q || !w_write[Lanes-1]);
  ABundleAtATime_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !(f_valid_q && ((d_valid_q && d_context_q == f_context_q) ||
      (x_valid_q && x_context_q == f_context_q) || (y_valid_q && y_context_q == f_context_q))));
  OneFinishedAtATime_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !(muldiv_done && muldiv_waits_q));
  OnlyUsedContextsEnd_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !m_ends || used_q[m_context_q]);
`endif

endmodule
