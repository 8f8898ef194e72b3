/// Rings: their rows, doorbells and how far they are (docs/design/l7.md, "Receive").
///
/// - `look_ring_i`: `look_now_o` says whether there is a ring, and in the next cycle `look_*_o` whether there was, whose, whether it has a descriptor
///   with a place for its completion (`look_free_o`), or will have one without the host's doing (`look_soon_o`), and the number of that descriptor. `take_*` takes it. Whoever looks at a ring again waits until it is taken or left.
/// - `fetch_ring_i`: `fetch_*_o` say in the same cycle what of the ring has been posted, asked for and taken; its address follows a cycle later.
///   `ask_*` says that descriptors up to a number have been asked for, `commit_*` that they are here.
/// - `end_ring_i`: `end_*_o` say in the same cycle where its next completion lies, its address a cycle later. `end_valid_i` takes that place.
/// - `wake_*`: the doorbell of a ring has rung.
///
/// A row that makes a ring needs quiet: `hold_o` asks for it, until `quiet_i` says that nobody looks and no descriptor is under way.
///
/// Configuration: `l7_ring`, `l7_doorbell`, `l7_ring_state`, answered 2 cycles after `cfg_valid_i`, and a row that makes a ring as soon as it is
/// quiet. A clear leaves no ring. Throughput: of each kind one a cycle. Never stalls.
module sluice_l7_rings
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_l7_rows_pkg::*;
#(
    parameter  int unsigned Rings    = 256,
    localparam int unsigned RingBits = $clog2(Rings)
) (
    input logic clk_i,
    input logic rst_ni,

    output logic hold_o,
    input  logic quiet_i,

    input  logic [  RingBits-1:0] look_ring_i,
    output logic                  look_now_o,
    output logic                  look_valid_o,
    output logic [ModuleBits-1:0] look_module_o,
    output logic                  look_free_o,
    output logic                  look_soon_o,
    output logic [          15:0] look_number_o,
    input  logic                  take_valid_i,
    input  logic [  RingBits-1:0] take_ring_i,
    input  logic [          15:0] take_number_i,

    input  logic [RingBits-1:0] fetch_ring_i,
    output logic                fetch_valid_o,
    output logic [         3:0] fetch_log_o,
    output logic [        15:0] fetch_posted_o,
    output logic [        15:0] fetch_asked_o,
    output logic [        15:0] fetch_taken_o,
    output logic [        63:0] fetch_address_o,
    input  logic                ask_valid_i,
    input  logic [        15:0] ask_number_i,
    input  logic                commit_valid_i,
    input  logic [RingBits-1:0] commit_ring_i,
    input  logic [        15:0] commit_number_i,

    input  logic [RingBits-1:0] end_ring_i,
    output logic [        15:0] end_number_o,
    output logic [         3:0] end_log_o,
    output logic [        63:0] end_address_o,
    input  logic                end_valid_i,

    output logic                wake_valid_o,
    output logic [RingBits-1:0] wake_ring_o,

    input  logic     cfg_valid_i,
    // "Bits of signal are not used": a row has some of a message's.
    // verilator lint_off UNUSEDSIGNAL
    input  cfg_req_t cfg_req_i,
    // verilator lint_on UNUSEDSIGNAL
    output logic     cfg_valid_o,
    output cfg_rsp_t cfg_rsp_o
);

  // What is known of a ring at once; the addresses are in block RAM.
  typedef struct packed {
    logic valid;
    logic [ModuleBits-1:0] module_id;
    logic [3:0] log_size;
  } head_t;

  localparam logic [3:0] LeastLog = 4'd2;

  // ---------------------------------------------------------------------------------------------------------------
  // Configuration.

  typedef enum logic [1:0] {
    StIdle,
    StAnswer,
    StAwaitQuiet
  } state_e;
  state_e state_q;
  logic clear, is_ring, is_doorbell, makes, unmakes, rings_bell, in_use, made, writes_row;
  logic [RingBits-1:0] index;
  cfg_status_e status, status_q;
  // "Bits of signal are not used": the lowest bits of addresses count as 0.
  // verilator lint_off UNUSEDSIGNAL
  l7_ring_row_t row_in;
  // verilator lint_on UNUSEDSIGNAL
  l7_doorbell_row_t bell_in, bell;
  head_t head_in, head_there;
  logic [63:0] descriptors_there, completions_there;
  logic [15:0] fetched_there, taken_there, completed_there;

  assign clear = cfg_req_i.clear;
  assign index = cfg_req_i.index[RingBits-1:0];
  assign is_ring = cfg_req_i.tab == TableL7Ring;
  assign is_doorbell = cfg_req_i.tab == TableL7Doorbell;
  assign row_in = cfg_req_i.data[L7RingRowBits-1:0];
  assign bell_in = clear ? '0 : cfg_req_i.data[L7DoorbellRowBits-1:0];

  always_comb begin
    status = cfg_check(cfg_req_i, 1'b1, 1'b0, 24'(Rings), 4'(L7RingStateRowWords));
    if (is_ring) status = cfg_check(cfg_req_i, 1'b1, 1'b1, 24'(Rings), 4'(L7RingRowWords));
    if (is_doorbell) status = cfg_check(cfg_req_i, 1'b1, 1'b1, 24'(Rings), 4'(L7DoorbellRowWords));
  end

  assign makes = is_ring && row_in.valid && row_in.log_size >= LeastLog;
  assign unmakes = cfg_valid_i && cfg_req_i.write && status == StatusOk && is_ring && !makes;
  assign rings_bell = cfg_valid_i && cfg_req_i.write && status == StatusOk && is_doorbell;
  // Whoever is in it keeps it.
  assign in_use = head_there.valid || taken_there != completed_there;
  assign made = state_q == StAwaitQuiet && quiet_i && !in_use;
  assign hold_o = state_q == StAwaitQuiet;
  assign writes_row = made || clear;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= StIdle;
    end else begin
      unique case (state_q)
        StIdle: if (cfg_valid_i) state_q <= (cfg_req_i.write && status == StatusOk && makes) ? StAwaitQuiet : StAnswer;
        StAwaitQuiet: if (quiet_i) state_q <= StAnswer;
        default: state_q <= StIdle;
      endcase
    end
    if (state_q == StIdle) status_q <= status;
    if (state_q == StAwaitQuiet && in_use) status_q <= StatusBusy;
  end

  l7_ring_row_t row_out;
  always_comb begin
    row_out = '{
        valid: head_there.valid,
        module_id: head_there.module_id,
        log_size: head_there.log_size,
        descriptors: descriptors_there,
        completions: completions_there
    };
    cfg_rsp_o = '{status: status_q, words: 4'(L7RingRowWords), data: 256'(row_out)};
    if (is_doorbell) begin
      cfg_rsp_o.words = 4'(L7DoorbellRowWords);
      cfg_rsp_o.data  = 256'(bell);
    end else if (!is_ring) begin
      cfg_rsp_o.words = 4'(L7RingStateRowWords);
      cfg_rsp_o.data = 256'(l7_ring_state_row_t
'{fetched: fetched_there, taken: taken_there, completed: completed_there}
      );
    end
  end
  assign cfg_valid_o = state_q == StAnswer;

  // ---------------------------------------------------------------------------------------------------------------
  // Rows.

  head_t look_now, look_head;
  // "Bits of signal are not used": each asks for a part.
  // verilator lint_off UNUSEDSIGNAL
  head_t fetch_head, end_head;
  // verilator lint_on UNUSEDSIGNAL

  always_comb begin
    head_in = '{valid: 1'b1, module_id: row_in.module_id, log_size: row_in.log_size};
    if (unmakes) begin
      head_in = head_there;
      head_in.valid = 1'b0;
    end
    if (clear) head_in = '0;
  end

  logic [RingBits-1:0] look_ring_q;
  always_ff @(posedge clk_i) begin
    look_ring_q <= look_ring_i;
    look_head   <= look_now;
  end

  sluice_ram_lut #(
      .Width    ($bits(head_t)),
      .Depth    (Rings),
      .ReadPorts(4)
  ) u_heads (
      .clk_i,
      .we_i   (writes_row || unmakes),
      .waddr_i(index),
      .wdata_i(head_in),
      .raddr_i({index, end_ring_i, fetch_ring_i, look_ring_i}),
      .rdata_o({head_there, end_head, fetch_head, look_now})
  );

  // Of addresses the host reads a copy: each block RAM has one port to read.
  for (genvar c = 0; c < 2; c++) begin : gen_copy
    logic [63:0] descriptors, completions;
    sluice_ram_1r1w #(
        .Width(64),
        .Depth(Rings),
        .Style("block")
    ) u_descriptors (
        .clk_i,
        .wr_en_i  (writes_row),
        .wr_addr_i(index),
        .wr_data_i(clear ? '0 : {row_in.descriptors[63:6], 6'd0}),
        .rd_en_i  (1'b1),
        .rd_addr_i((c == 0) ? fetch_ring_i : index),
        .rd_data_o(descriptors)
    );
    sluice_ram_1r1w #(
        .Width(64),
        .Depth(Rings),
        .Style("block")
    ) u_completions (
        .clk_i,
        .wr_en_i  (writes_row),
        .wr_addr_i(index),
        .wr_data_i(clear ? '0 : {row_in.completions[63:6], 6'd0}),
        .rd_en_i  (1'b1),
        .rd_addr_i((c == 0) ? end_ring_i : index),
        .rd_data_o(completions)
    );
  end
  assign fetch_address_o   = gen_copy[0].descriptors;
  assign end_address_o     = gen_copy[0].completions;
  assign descriptors_there = gen_copy[1].descriptors;
  assign completions_there = gen_copy[1].completions;

  // ---------------------------------------------------------------------------------------------------------------
  // Numbers, each with one who counts it. A new ring begins at 0, when nobody counts.

  logic [15:0] look_posted, look_fetched, look_seen, end_number, posted_there, seen_there;

  sluice_ram_lut #(
      .Width    (16),
      .Depth    (Rings),
      .ReadPorts(3)
  ) u_posted (
      .clk_i,
      .we_i   (rings_bell || writes_row),
      .waddr_i(index),
      .wdata_i(rings_bell ? bell_in.posted : '0),
      .raddr_i({index, fetch_ring_i, look_ring_q}),
      .rdata_o({posted_there, fetch_posted_o, look_posted})
  );
  sluice_ram_lut #(
      .Width    (16),
      .Depth    (Rings),
      .ReadPorts(2)
  ) u_seen (
      .clk_i,
      .we_i   (rings_bell || writes_row),
      .waddr_i(index),
      .wdata_i(rings_bell ? bell_in.seen : '0),
      .raddr_i({index, look_ring_q}),
      .rdata_o({seen_there, look_seen})
  );
  assign bell = '{posted: posted_there, seen: seen_there};

  sluice_ram_lut #(
      .Width(16),
      .Depth(Rings)
  ) u_asked (
      .clk_i,
      .we_i   (ask_valid_i || writes_row),
      .waddr_i(ask_valid_i ? fetch_ring_i : index),
      .wdata_i(ask_valid_i ? ask_number_i : '0),
      .raddr_i(fetch_ring_i),
      .rdata_o(fetch_asked_o)
  );
  sluice_ram_lut #(
      .Width    (16),
      .Depth    (Rings),
      .ReadPorts(2)
  ) u_fetched (
      .clk_i,
      .we_i   (commit_valid_i || writes_row),
      .waddr_i(commit_valid_i ? commit_ring_i : index),
      .wdata_i(commit_valid_i ? commit_number_i : '0),
      .raddr_i({index, look_ring_q}),
      .rdata_o({fetched_there, look_fetched})
  );
  sluice_ram_lut #(
      .Width    (16),
      .Depth    (Rings),
      .ReadPorts(3)
  ) u_taken (
      .clk_i,
      .we_i   (take_valid_i || writes_row),
      .waddr_i(take_valid_i ? take_ring_i : index),
      .wdata_i(take_valid_i ? take_number_i + 16'd1 : '0),
      .raddr_i({index, fetch_ring_i, look_ring_q}),
      .rdata_o({taken_there, fetch_taken_o, look_number_o})
  );
  sluice_ram_lut #(
      .Width    (16),
      .Depth    (Rings),
      .ReadPorts(2)
  ) u_completed (
      .clk_i,
      .we_i   (end_valid_i || writes_row),
      .waddr_i(end_valid_i ? end_ring_i : index),
      .wdata_i(end_valid_i ? end_number + 16'd1 : '0),
      .raddr_i({index, end_ring_i}),
      .rdata_o({completed_there, end_number})
  );

  assign look_now_o = look_now.valid;
  assign look_valid_o = look_head.valid;
  assign look_module_o = look_head.module_id;
  logic has_place;
  assign has_place = 17'(16'(look_number_o - look_seen)) < 17'd1 << look_head.log_size;
  assign look_free_o = look_fetched != look_number_o && has_place;
  assign look_soon_o = look_posted != look_number_o && has_place;
  assign fetch_valid_o = fetch_head.valid;
  assign fetch_log_o = fetch_head.log_size;
  assign end_number_o = end_number;
  assign end_log_o = end_head.log_size;

  always_ff @(posedge clk_i) begin
    wake_valid_o <= rst_ni && rings_bell;
    wake_ring_o  <= index;
  end

`ifndef SYNTHESIS
  NobodyCountsInANewRing_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !writes_row || !(ask_valid_i || commit_valid_i || take_valid_i));
`endif

endmodule
