/// Lines of the cache, on their way from memory (docs/decisions/xdp-external-memory.md).
///
/// `ask_valid_i` with `ready_o` asks for a line of an asker, which has one under way at most (`away_q`). Each read has an ID of its own, and an ID is free
/// again when all four beats have come. `fill_o` is a beat, with whose line it belongs to; it comes in cycles of `free_i` alone.
///
/// The line of an access that is late (`late_valid_o`, sluice_xdp_outside_late) is given up (`gives_up_o`, in a cycle of `late_free_i`). Its ID stays taken until memory has
/// answered; what comes then is thrown away. So it cannot be taken for another's. Half of the IDs may wait like this, so each asker finds one that is
/// free. With as many, or when memory has taken no address for a whole round (`round_o`), memory is gone (`gone_o`) and nothing is asked, until it answers
/// again.
///
/// Behind a reset 64 cycles pass until it is ready. Latency: 1 cycle to the port. Throughput: a read in 2 cycles; the search for a free ID takes a cycle for each
/// that is taken. Stall behaviour: the port's.
module sluice_xdp_outside_reads
  import sluice_xdp_outside_pkg::*;
#(
    parameter int unsigned LineBits = 25,
    parameter int unsigned Askers = 22,
    parameter int unsigned LateCycles = 1 << 14,
    localparam int unsigned AskerBits = $clog2(Askers)
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic                 ask_valid_i,
    output logic                 ready_o,
    input  logic [AskerBits-1:0] ask_asker_i,
    input  logic [ LineBits-1:0] ask_line_i,

    // Accesses come, and are under way.
    input  logic                            enter_valid_i,
    input  logic        [    AskerBits-1:0] enter_asker_i,
    input  logic        [       Askers-1:0] busy_i,
    input  logic                            late_free_i,
    output logic                            look_valid_o,
    output outside_id_t                     look_o,
    output logic                            round_o,
    output logic                            late_valid_o,
    output logic        [    AskerBits-1:0] late_asker_o,
    output logic                            gives_up_o,
    output logic                            gone_o,
    output logic        [OutsideIdBits-1:0] lost_o,         // IDs that wait for what nobody wants

    input  logic                 free_i,
    output logic                 fill_o,
    output logic                 fill_last_o,
    output logic [          1:0] fill_beat_o,
    output logic [AskerBits-1:0] fill_asker_o,
    output logic [ LineBits-1:0] line_o,        // of the beat's asker, or of the one that gives up

    output logic               ar_valid_o,
    output outside_id_t        ar_id_o,
    output logic        [31:0] ar_addr_o,
    output logic        [ 7:0] ar_len_o,
    input  logic               ar_ready_i,
    input  logic               r_valid_i,
    output logic               r_ready_o,
    input  outside_id_t        r_id_i
);

  localparam int unsigned Ids = 2 ** OutsideIdBits;

  if (Askers > Ids / 2) begin : gen_bad_askers
    $fatal(1, "xdp_outside_reads: Askers is %0d, expected at most %0d (%m)", Askers, Ids / 2);
  end

  typedef logic [AskerBits-1:0] asker_t;

  logic [OutsideIdBits:0] begin_q;  // counts of beats are made zero behind a reset
  logic begins, takes, last, beat, wrong;
  logic [Ids-1:0] taken_q, lost_q;
  logic [Askers-1:0] away_q;
  outside_id_t next_q, given_up;
  logic [1:0] beat_count;
  logic stuck_q, moved_q;

  sluice_xdp_outside_late #(
      .Askers(Askers),
      .Cycles(LateCycles)
  ) u_late (
      .clk_i,
      .rst_ni,
      .enter_valid_i,
      .enter_asker_i,
      .busy_i,
      .hold_i(!late_free_i),
      .look_valid_o,
      .look_o,
      .round_o,
      .late_valid_o,
      .late_asker_o
  );
  assign gives_up_o = late_valid_o && away_q[late_asker_o];

  assign begins = !begin_q[OutsideIdBits];
  assign ready_o = !begins && !ar_valid_o && !taken_q[next_q] && !gone_o;
  assign takes = ask_valid_i && ready_o;
  assign gone_o = lost_o[OutsideIdBits-1] || stuck_q;

  assign beat = r_valid_i && r_ready_o;
  assign last = beat && beat_count == 2'd3;
  // Nobody wants it.
  assign wrong = lost_q[r_id_i];
  assign r_ready_o = !begins && !gives_up_o && (free_i || wrong);
  assign fill_o = beat && !wrong;
  assign fill_last_o = last && !wrong;
  assign fill_beat_o = beat_count;

  sluice_ram_lut #(
      .Width(2),
      .Depth(Ids)
  ) u_beats (
      .clk_i,
      .we_i   (begins || beat),
      .waddr_i(begins ? begin_q[OutsideIdBits-1:0] : r_id_i),
      .wdata_i(begins ? '0 : beat_count + 2'd1),
      .raddr_i(r_id_i),
      .rdata_o(beat_count)
  );
  sluice_ram_lut #(
      .Width(AskerBits),
      .Depth(Ids)
  ) u_askers (
      .clk_i,
      .we_i   (takes),
      .waddr_i(next_q),
      .wdata_i(ask_asker_i),
      .raddr_i(r_id_i),
      .rdata_o(fill_asker_o)
  );
  sluice_ram_lut #(
      .Width(OutsideIdBits),
      .Depth(Askers)
  ) u_ids (
      .clk_i,
      .we_i   (takes),
      .waddr_i(ask_asker_i),
      .wdata_i(next_q),
      .raddr_i(late_asker_o),
      .rdata_o(given_up)
  );
  sluice_ram_lut #(
      .Width(LineBits),
      .Depth(Askers)
  ) u_lines (
      .clk_i,
      .we_i   (takes),
      .waddr_i(ask_asker_i),
      .wdata_i(ask_line_i),
      .raddr_i(gives_up_o ? late_asker_o : fill_asker_o),
      .rdata_o(line_o)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      begin_q    <= '0;
      ar_valid_o <= 1'b0;
      taken_q    <= '0;
      lost_q     <= '0;
      lost_o     <= '0;
      next_q     <= '0;
      away_q     <= '0;
      stuck_q    <= 1'b0;
    end else begin
      if (begins) begin_q <= begin_q + (OutsideIdBits + 1)'(1);
      if (takes) ar_valid_o <= 1'b1;
      else if (ar_ready_i) ar_valid_o <= 1'b0;
      if (takes || taken_q[next_q]) next_q <= next_q + outside_id_t'(1);
      if (takes) taken_q[next_q] <= 1'b1;
      if (takes) away_q[ask_asker_i] <= 1'b1;
      if (last) taken_q[r_id_i] <= 1'b0;
      if (last) lost_q[r_id_i] <= 1'b0;
      if (fill_last_o) away_q[fill_asker_o] <= 1'b0;
      // Beats wait in that cycle.
      if (gives_up_o) lost_q[given_up] <= 1'b1;
      if (gives_up_o) away_q[late_asker_o] <= 1'b0;
      lost_o <= lost_o + OutsideIdBits'(gives_up_o) - OutsideIdBits'(last && wrong);
      // An address that was there for a whole round.
      if (round_o) stuck_q <= ar_valid_o && !moved_q;
      if (!ar_valid_o) stuck_q <= 1'b0;
    end
    if (round_o) moved_q <= 1'b0;
    if (!ar_valid_o) moved_q <= 1'b1;
    if (takes) begin
      ar_id_o   <= next_q;
      ar_addr_o <= 32'({ask_line_i, OutsideLineBits'(0)});
    end
  end
  assign ar_len_o = 8'd3;

`ifndef SYNTHESIS
  OneReadAtATime_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !takes || !away_q[ask_asker_i]);
  AnswersWereAskedFor_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !r_valid_i || taken_q[r_id_i]);
`endif

endmodule
