/// A stand-in for the matchers while they are written: what it says of a message is the first byte of its view, and the last.
///
/// Not for synthesis. Queue: the first byte of the view xor the last one, or 255 without a view; from a first byte of 200 on it drops, from 230
/// on it is malformed, from 245 on a fault that goes to queue 1. A verdict comes some cycles after its last segment, out of order.
// verilator lint_off UNUSEDSIGNAL
module sluice_l7_matchers
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_l7_rows_pkg::*;
  import sluice_l7_pkg::*;
#(
    parameter int unsigned Matchers = 4,
    parameter int unsigned Places = 4,
    parameter int unsigned Rows = 512,
    parameter int unsigned Starts = 1024,
    parameter int unsigned Groups = 64,
    parameter int unsigned Modules = 64
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic    job_valid_i,
    output logic    job_ready_o,
    input  l7_job_t job_i,

    input  logic                        segment_valid_i,
    output logic                        segment_ready_o,
    input  logic [8*L7SegmentBytes-1:0] segment_data_i,

    output logic        verdict_valid_o,
    input  logic        verdict_ready_i,
    output l7_verdict_t verdict_o,

    input  logic                               cfg_valid_i,
    input  wide_req_t                          cfg_req_i,
    input  logic      [32*L7MatchRowWords-1:0] cfg_row_i,
    output logic                               cfg_valid_o,
    output cfg_rsp_t                           cfg_rsp_o
);

  localparam int unsigned Most = Matchers * Places;

  logic [Most-1:0] used_q, free_onehot;
  l7_verdict_t [Most-1:0] verdict_q;
  logic [Most-1:0][7:0] wait_q;
  logic loading_q, free, done;
  logic [$clog2(Most)-1:0] free_at, at_q, out_at;
  l7_job_t job_q;
  logic [PositionBits-1:0] left_q;
  logic [7:0] head_q, noise_q, head, tail;
  logic [Most-1:0] ready_now, out_onehot;

  sluice_prio_enc #(
      .Width(Most)
  ) u_free (
      .req_i(~used_q),
      .valid_o(free),
      .index_o(free_at),
      .onehot_o(free_onehot)
  );
  sluice_prio_enc #(
      .Width(Most)
  ) u_out (
      .req_i(ready_now),
      .valid_o(done),
      .index_o(out_at),
      .onehot_o(out_onehot)
  );

  assign job_ready_o = free && !loading_q;
  assign segment_ready_o = loading_q && noise_q[1:0] != 2'd0;
  assign head = (left_q == job_q.bytes) ? segment_data_i[7:0] : head_q;
  assign tail = segment_data_i[8*6'(left_q-1)+:8];

  function automatic l7_verdict_t verdict(l7_job_t job, logic [7:0] first, logic [7:0] to);
    l7_verdict_t v;
    v = '0;
    v.tag = job.tag;
    v.module_id = job.module_id;
    v.queue = to;
    v.steps = 10'd1;
    if (job.bytes != '0) begin
      v.drop = first >= 8'd200 && first < 8'd230;
      v.malformed = first >= 8'd230 && first < 8'd245;
      v.fault = first >= 8'd245;
      if (v.fault) v.queue = 8'd1;
    end
    return v;
  endfunction

  always_comb
    for (int unsigned i = 0; i < Most; i++)
      ready_now[i] = used_q[i] && wait_q[i] == 8'd0 && !(loading_q && 32'(at_q) == i);

  always_ff @(posedge clk_i) begin
    noise_q <= {noise_q[6:0], ~(noise_q[7] ^ noise_q[5] ^ noise_q[4] ^ noise_q[3])};
    for (int unsigned i = 0; i < Most; i++) if (wait_q[i] != 8'd0) wait_q[i] <= wait_q[i] - 8'd1;
    if (job_valid_i && job_ready_o) begin
      used_q[free_at] <= 1'b1;
      at_q <= free_at;
      job_q <= job_i;
      left_q <= job_i.bytes;
      loading_q <= job_i.bytes != '0;
      verdict_q[free_at] <= verdict(job_i, 8'd0, 8'd255);
      wait_q[free_at] <= {2'd0, noise_q[5:0]};
    end
    if (segment_valid_i && segment_ready_o) begin
      head_q <= head;
      left_q <= (left_q > PositionBits'(L7SegmentBytes)) ? left_q - PositionBits'(L7SegmentBytes) : '0;
      if (left_q <= PositionBits'(L7SegmentBytes)) begin
        loading_q <= 1'b0;
        verdict_q[at_q] <= verdict(job_q, head, head ^ tail);
        wait_q[at_q] <= {2'd0, noise_q[5:0]};
      end
    end
    if (!verdict_valid_o || verdict_ready_i) begin
      verdict_valid_o <= done;
      verdict_o <= verdict_q[out_at];
      if (done) used_q[out_at] <= 1'b0;
    end
    cfg_valid_o <= cfg_valid_i;
    if (!rst_ni) begin
      used_q <= '0;
      loading_q <= 1'b0;
      verdict_valid_o <= 1'b0;
      cfg_valid_o <= 1'b0;
      noise_q <= 8'd1;
      wait_q <= '0;
    end
  end
  assign cfg_rsp_o = '{status: StatusOk, words: 4'd1, data: 256'(cfg_row_i[31:0])};

  logic unused;
  assign unused = ^{cfg_req_i, free_onehot, out_onehot, 32'(Rows), 32'(Starts), 32'(Groups), 32'(Modules)};

endmodule
