/// A queue for each module in front of the cores, with its own room, and drops where a packet finds none.
///
/// Packets lie in a memory of `Rows` rows of the bus, a list of rows for each module. Row 1 of a list is always there, empty, and
/// the next packet begins in it: `Rows - Modules` rows may be full. A packet takes as many as its sideband's length asks for. It may
/// take them of the module's own rows (`xdp_share_row`), if they are enough for all of it, else of those that nobody has reserved, else
/// it is dropped whole: `drop_valid_o` with its last beat. Beats beyond the length are thrown away, and `m_axis_broken` says so. The host reserves no more than `Rows - Modules` rows, or nobody is sure to find his.
///
/// Which module's packet leaves next says sluice_late_drr; a module's packets leave in their order. `charge_*` once for
/// each packet that has left, when it has ended. A packet leaves once it has room behind (`granted_i`, for the one of `first_o`). One that finds none is
/// put aside as long as modules have packets whose own room is free (`own_i`): these go past it, nobody else does.
///
/// Configuration: `xdp_share`, answered a cycle after `cfg_valid_i`. A clear empties a module's counts and rows; no packet is there
/// then.
///
/// Latency: 6 cycles from the last beat in to the first out, of a packet alone. Throughput: a beat a cycle, no cycle between packets. Stall
/// behaviour: the input waits for nothing but `drop_ready_i` and, for a few cycles, rows that are on their way back. Output beats hold.
module sluice_xdp_queues
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_pkg::*;
  import sluice_xdp_room_pkg::*;
  import sluice_xdp_streams_pkg::*;
#(
    parameter int unsigned Bytes = 64,
    parameter int unsigned Rows = 1024,
    parameter int unsigned Modules = 64,
    localparam int unsigned RowIndexBits = $clog2(Rows),
    localparam int unsigned IndexBits = $clog2(Modules)
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic                        s_axis_tvalid,
    output logic                        s_axis_tready,
    input  logic        [  8*Bytes-1:0] s_axis_tdata,
    input  beat_bytes_t                 s_axis_bytes,
    input  logic                        s_axis_tlast,
    input  sideband_t                   s_axis_side,
    input  route_t                      s_axis_route,
    input  token_t                      token_i,        // with the last beat
    input  xdp_need_t                   need_i,
    input  logic        [         15:0] need_rows_i,    // here, as its sideband says
    input  logic        [ClockBits-1:0] now_i,

    output logic drop_valid_o,
    input  logic drop_ready_i,

    output logic                        m_axis_tvalid,
    input  logic                        m_axis_tready,
    output logic        [  8*Bytes-1:0] m_axis_tdata,
    output beat_bytes_t                 m_axis_bytes,
    output logic                        m_axis_tlast,
    output sideband_t                   m_axis_side,
    output route_t                      m_axis_route,
    output token_t                      m_axis_token,
    output logic                        m_axis_broken,
    output logic        [ClockBits-1:0] m_axis_came,    // when its last beat came
    output xdp_need_t                   m_axis_need,

    // Room: of the packet in front, which may take what all share, what it needs; of that or the one put aside what is to be found; whether it is there.
    output logic                first_o,
    output logic                first_pool_o,
    output logic [UnitBits-1:0] first_units_o,
    input  logic                granted_i,
    output logic                find_valid_o,
    output logic [UnitBits-1:0] find_o,
    input  logic                found_i,
    input  logic [ Modules-1:0] own_i,

    input logic                   charge_valid_i,
    // "Bits of signal are not used": modules are numbered as for the largest target.
    // verilator lint_off UNUSEDSIGNAL
    input logic  [ModuleBits-1:0] charge_module_i,
    // verilator lint_on UNUSEDSIGNAL
    input cost_t                  charge_i,

    input  logic     cfg_valid_i,
    // "Bits of signal are not used": a row has some of a message's.
    // verilator lint_off UNUSEDSIGNAL
    input  cfg_req_t cfg_req_i,
    // verilator lint_on UNUSEDSIGNAL
    output logic     cfg_valid_o,
    output cfg_rsp_t cfg_rsp_o,

    output logic waiting_o
);

  localparam int unsigned CountBits = RowIndexBits + 1;
  typedef logic [RowIndexBits-1:0] row_t;
  typedef logic [IndexBits-1:0] index_t;
  typedef logic [CountBits-1:0] count_t;

  typedef struct packed {
    row_t               next;
    logic               last;
    beat_bytes_t        bytes;
    logic [8*Bytes-1:0] data;
  } beat_t;

  if (Rows < 4 * Modules || 2 ** RowIndexBits != Rows || Rows > 32768) begin : gen_bad_rows
    $fatal(1, "xdp_queues: Rows is %0d, expected a power of two from %0d to 32768 (%m)", Rows, 4 * Modules);
  end

  logic   clear;
  index_t clear_index;
  assign clear = cfg_req_i.clear;
  assign clear_index = cfg_req_i.index[IndexBits-1:0];

  // ---------------------------------------------------------------------------------------------------------------
  // Shares.

  logic share_asked, share_written;
  cfg_status_e share_status;
  xdp_share_row_t share_row, share_read;
  // "Bits of signal are not used": who comes in has rows, whose turn it is a weight.
  // verilator lint_off UNUSEDSIGNAL
  xdp_share_row_t share_in, share_turn;
  // verilator lint_on UNUSEDSIGNAL
  index_t turn, module_in;
  logic [31:0] reserved_q;
  count_t room_q;

  assign share_asked = cfg_valid_i && cfg_req_i.tab == TableXdpShare;
  assign share_status = cfg_check(cfg_req_i, 1'b1, 1'b1, 24'(Modules), 4'(XdpShareRowWords));
  assign share_written = share_asked && cfg_req_i.write && share_status == StatusOk;
  assign share_row = clear ? '0 : cfg_req_i.data[XdpShareRowBits-1:0];

  sluice_ram_lut #(
      .Width    (XdpShareRowBits),
      .Depth    (Modules),
      .ReadPorts(3)
  ) u_share (
      .clk_i,
      .we_i   (share_written || clear),
      .waddr_i(clear_index),
      .wdata_i(share_row),
      .raddr_i({turn, module_in, clear_index}),
      .rdata_o({share_turn, share_in, share_read})
  );

  // Rows that are reserved, and those left to all.
  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear) reserved_q <= '0;
    else if (share_written) reserved_q <= reserved_q - 32'(share_read.rows) + 32'(share_row.rows);
    room_q <= (reserved_q > 32'(Rows - Modules)) ? '0 : count_t'(32'(Rows - Modules) - reserved_q);
    cfg_valid_o <= share_asked && rst_ni;
    cfg_rsp_o <= '{status: share_status, words: 4'(XdpShareRowWords), data: 256'(share_read)};
    if (!share_asked) cfg_rsp_o <= '0;
  end

  // ---------------------------------------------------------------------------------------------------------------
  // In.

  logic first_q, skip_q, shared_q, shared, fits_own, fits_shared, fits, takes, stores, ends, put, cut_q, cut, oversize;
  logic [15:0] need, need_q, stored_q, stored, rows_in;
  count_t own_in, own_out, own_used, shared_used_q, free_q;
  row_t first_row_q, first_row, tail, fresh_q, free_row, fresh_row, row_out_q;
  logic fresh_left_q, free_valid, row_valid, row_taken, finish;
  logic [Modules-1:0] queued_q;
  xdp_queued_t queued_in, queued_out;
  beat_t beat_in, beat_out;
  index_t module_out_q;

  assign module_in = s_axis_side.module_id[IndexBits-1:0];
  assign own_used = own_in - own_out;
  assign need = need_rows_i;
  assign fits_own = $signed(18'(share_in.rows) - 18'(need)) >= $signed(18'(own_used)) && need <= 16'(free_q);
  assign fits_shared = $signed(18'(room_q) - 18'(shared_used_q)) >= $signed(18'(need)) && need <= 16'(free_q);
  assign fits = (fits_own || fits_shared) && need != '0;
  assign shared = first_q ? !fits_own : shared_q;
  assign takes = first_q ? fits : !skip_q;

  // Beats that are stored; the last one ends its packet, or cuts it.
  assign stored = first_q ? '0 : stored_q;
  assign stores = takes && !(!first_q && cut_q);
  assign cut = stores && !s_axis_tlast && stored + 16'd1 == (first_q ? need : need_q);
  assign s_axis_tready = stores ? row_valid : (takes || !s_axis_tlast || drop_ready_i);
  assign put = s_axis_tvalid && s_axis_tready && stores;
  assign ends = s_axis_tvalid && s_axis_tready && s_axis_tlast && takes;
  assign drop_valid_o = s_axis_tvalid && s_axis_tlast && !takes;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      first_q <= 1'b1;
    end else if (s_axis_tvalid && s_axis_tready) begin
      first_q <= s_axis_tlast;
    end
    if (s_axis_tvalid && s_axis_tready) begin
      skip_q   <= !takes;
      cut_q    <= cut || (!first_q && cut_q);
      need_q   <= first_q ? need : need_q;
      stored_q <= stored + 16'(stores);
      shared_q <= shared;
      if (first_q) first_row_q <= tail;
    end
  end
  assign first_row = first_q ? tail : first_row_q;

  // Rows that nobody has: first those never used, then those that came back.
  assign row_valid = fresh_left_q || free_valid;
  assign row_taken = put;
  assign fresh_row = fresh_left_q ? fresh_q : free_row;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      fresh_q      <= row_t'(Modules);
      fresh_left_q <= 1'b1;
      free_q       <= count_t'(Rows - Modules);
    end else begin
      if (row_taken && fresh_left_q) begin
        fresh_q      <= fresh_q + row_t'(1);
        fresh_left_q <= fresh_q != row_t'(Rows - 1);
      end
      free_q <= free_q - count_t'(row_taken) + count_t'(m_axis_tvalid && m_axis_tready);
    end
  end

  logic free_ready;
  logic [$clog2(Rows+1)-1:0] unused_free_level;
  sluice_fifo_ram #(
      .Width(RowIndexBits),
      .Depth(Rows)
  ) u_free (
      .clk_i,
      .rst_ni,
      .valid_i(m_axis_tvalid && m_axis_tready),
      .ready_o(free_ready),
      .data_i (row_out_q),
      .valid_o(free_valid),
      .ready_i(row_taken && !fresh_left_q),
      .data_o (free_row),
      .level_o(unused_free_level)
  );

  // Where each module's next packet begins.
  sluice_ram_lut #(
      .Width(RowIndexBits),
      .Depth(Modules)
  ) u_tail (
      .clk_i,
      .we_i   (put || clear),
      .waddr_i(clear ? clear_index : module_in),
      .wdata_i(clear ? row_t'(clear_index) : fresh_row),
      .raddr_i(module_in),
      .rdata_o(tail)
  );

  assign beat_in = '{next: fresh_row, last: s_axis_tlast || cut, bytes: s_axis_bytes, data: s_axis_tdata};
  assign rows_in = stored + 16'(first_q || !cut_q);
  assign oversize = units_of(need_i.rows) > share_in.units;
  assign queued_in = '{
          side: s_axis_side,
          route: s_axis_route,
          token: token_i,
          rows: rows_in,
          shared: shared,
          broken: cut || (!first_q && cut_q),
          oversize: oversize,
          need_units: units_of(need_i.rows),
          need: need_i,
          came: now_i
      };

  // ---------------------------------------------------------------------------------------------------------------
  // Memory: rows, and what is known of packets, by their first row.

  logic start, starts;
  row_t head, head_read;
  index_t chosen;

  sluice_ram_1r1w #(
      .Width   ($bits(beat_t)),
      .Depth   (Rows),
      .InitZero(1'b0)
  ) u_rows (
      .clk_i,
      .wr_en_i  (put),
      .wr_addr_i(tail),
      .wr_data_i(beat_in),
      .rd_en_i  (start || (m_axis_tvalid && m_axis_tready && !m_axis_tlast)),
      .rd_addr_i(start ? head : beat_out.next),
      .rd_data_o(beat_out)
  );

  sluice_ram_1r1w #(
      .Width   ($bits(xdp_queued_t)),
      .Depth   (Rows),
      .InitZero(1'b0),
      .Style   ("block")
  ) u_packets (
      .clk_i,
      .wr_en_i  (ends),
      .wr_addr_i(first_row),
      .wr_data_i(queued_in),
      .rd_en_i  (start),
      .rd_addr_i(head),
      .rd_data_o(queued_out)
  );

  // ---------------------------------------------------------------------------------------------------------------
  // Counts by module: rows and packets that have come and gone.

  count_t packets_in, packets_out, packets_in_there, own_gone, shared_left, freed_q;
  logic stored_own, leaves_own, empties;
  assign stored_own = ends && !shared;
  assign leaves_own = finish && !queued_out.shared;

  sluice_ram_lut #(
      .Width(CountBits),
      .Depth(Modules)
  ) u_own_in (
      .clk_i,
      .we_i   (stored_own || clear),
      .waddr_i(clear ? clear_index : module_in),
      .wdata_i(clear ? '0 : own_in + count_t'(queued_in.rows)),
      .raddr_i(module_in),
      .rdata_o(own_in)
  );
  sluice_ram_lut #(
      .Width    (CountBits),
      .Depth    (Modules),
      .ReadPorts(2)
  ) u_own_out (
      .clk_i,
      .we_i   (leaves_own || clear),
      .waddr_i(clear ? clear_index : module_out_q),
      .wdata_i(clear ? '0 : own_gone + count_t'(queued_out.rows)),
      .raddr_i({module_in, module_out_q}),
      .rdata_o({own_out, own_gone})
  );
  sluice_ram_lut #(
      .Width    (CountBits),
      .Depth    (Modules),
      .ReadPorts(2)
  ) u_packets_in (
      .clk_i,
      .we_i   (ends || clear),
      .waddr_i(clear ? clear_index : module_in),
      .wdata_i(clear ? '0 : packets_in + count_t'(1)),
      .raddr_i({module_in, chosen}),
      .rdata_o({packets_in, packets_in_there})
  );
  sluice_ram_lut #(
      .Width(CountBits),
      .Depth(Modules)
  ) u_packets_out (
      .clk_i,
      .we_i   (starts || clear),
      .waddr_i(clear ? clear_index : chosen),
      .wdata_i(clear ? '0 : packets_out + count_t'(1)),
      .raddr_i(chosen),
      .rdata_o(packets_out)
  );

  assign shared_left = shared_used_q - freed_q;  // what leaves is known late: a cycle later
  assign empties = starts && count_t'(packets_out + count_t'(1)) == packets_in_there;
  always_ff @(posedge clk_i) begin
    freed_q <= (finish && queued_out.shared && rst_ni) ? count_t'(queued_out.rows) : '0;
    if (!rst_ni) begin
      queued_q      <= '0;
      shared_used_q <= '0;
    end else begin
      if (empties) queued_q[chosen] <= 1'b0;
      if (ends) queued_q[module_in] <= 1'b1;
      // Whether it comes in is known last.
      shared_used_q <= (ends && shared) ? shared_left + count_t'(rows_in) : shared_left;
    end
  end

  logic first_out_q;
  logic [Modules-1:0] oversize_there;
  sluice_xdp_oversize #(
      .Modules  (Modules),
      .CountBits(CountBits)
  ) u_oversize (
      .clk_i,
      .rst_ni,
      .stored_i     (ends && oversize),
      .module_in_i  (module_in),
      .leaves_i     (m_axis_tvalid && m_axis_tready && first_out_q && queued_out.oversize),
      .module_out_i (module_out_q),
      .oversize_o   (oversize_there),
      .clear_i      (clear),
      .clear_index_i(clear_index)
  );

  // ---------------------------------------------------------------------------------------------------------------
  // Out. A packet that is put aside keeps its module from being chosen: packets of a module leave in their order.

  typedef struct packed {
    logic                valid;
    index_t              module_id;
    row_t                row;
    logic [UnitBits-1:0] need;
  } aside_t;
  aside_t aside_q;
  logic chosen_valid, beat_valid_q, pool_q, resumes, stuck, puts_aside;
  logic [Modules-1:0] may_own, may_pass;

  assign may_own = queued_q & own_i & ~oversize_there;
  always_comb begin
    may_pass = queued_q;
    if (aside_q.valid) begin
      may_pass = may_own;
      may_pass[aside_q.module_id] = 1'b0;
    end
  end
  assign first_units_o = queued_out.need_units;
  assign first_o = beat_valid_q && first_out_q;
  assign first_pool_o = pool_q;
  assign find_valid_o = aside_q.valid || first_o;
  assign find_o = (first_o && pool_q) ? queued_out.need_units : aside_q.need;
  assign stuck = first_o && !granted_i;
  // What was put aside goes on once it finds room, in front of all others; who finds none then waits in its place.
  assign resumes = aside_q.valid && (!beat_valid_q || finish || stuck) &&
      ((found_i && !(first_o && pool_q)) || (own_i[aside_q.module_id] && !oversize_there[aside_q.module_id]));
  assign puts_aside = stuck && (resumes || (!aside_q.valid && may_own != '0));
  assign starts = chosen_valid && (!beat_valid_q || finish) && !resumes;
  assign start = starts || resumes;

  sluice_late_drr #(
      .Modules   (Modules),
      .CostBits  (CostBits),
      .QuantumLog(4)
  ) u_scheduler (
      .clk_i,
      .rst_ni,
      .queued_i       (may_pass),
      .valid_o        (chosen_valid),
      .module_o       (chosen),
      .take_i         (starts),
      .room_i         (1'b1),
      .charge_valid_i (charge_valid_i),
      .charge_module_i(charge_module_i[IndexBits-1:0]),
      .charge_i       (charge_i),
      .weight_index_o (turn),
      .weight_i       (share_turn.weight),
      .clear_i        (clear),
      .clear_index_i  (clear_index)
  );

  // The packet before may have been the same module's.
  always_comb begin
    head = (finish && chosen == module_out_q) ? beat_out.next : head_read;
    if (resumes) head = aside_q.row;
  end
  sluice_ram_lut #(
      .Width(RowIndexBits),
      .Depth(Modules)
  ) u_head (
      .clk_i,
      .we_i   (finish || clear),
      .waddr_i(clear ? clear_index : module_out_q),
      .wdata_i(clear ? row_t'(clear_index) : beat_out.next),
      .raddr_i(chosen),
      .rdata_o(head_read)
  );

  assign finish = m_axis_tvalid && m_axis_tready && m_axis_tlast;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) beat_valid_q <= 1'b0;
    else if (start) beat_valid_q <= 1'b1;
    else if (finish || puts_aside) beat_valid_q <= 1'b0;
    if (!rst_ni) aside_q.valid <= 1'b0;
    else if (puts_aside)
      aside_q <= '{valid: 1'b1, module_id: module_out_q, row: row_out_q, need: queued_out.need_units};
    else if (resumes) aside_q.valid <= 1'b0;
    if (start) pool_q <= resumes || !aside_q.valid;
    if (start) first_out_q <= 1'b1;
    else if (m_axis_tvalid && m_axis_tready) first_out_q <= 1'b0;
    if (start) begin
      module_out_q <= resumes ? aside_q.module_id : chosen;
      row_out_q    <= head;
    end else if (m_axis_tvalid && m_axis_tready) begin
      row_out_q <= beat_out.next;
    end
  end

  assign m_axis_tvalid = beat_valid_q && (!first_out_q || granted_i);
  assign m_axis_tdata = beat_out.data;
  assign m_axis_bytes = beat_out.bytes;
  assign m_axis_tlast = beat_out.last;
  assign m_axis_broken = queued_out.broken;
  assign m_axis_came = queued_out.came;
  assign m_axis_need = queued_out.need;
  assign m_axis_side = queued_out.side;
  assign m_axis_route = queued_out.route;
  assign m_axis_token = queued_out.token;

  assign waiting_o = queued_q != '0 || beat_valid_q || aside_q.valid;

`ifndef SYNTHESIS
  RowsHaveRoomWhenTheyComeBack_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !(m_axis_tvalid && m_axis_tready) || free_ready);
  RowsAreThere_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !put || free_q != '0);
`endif

endmodule
