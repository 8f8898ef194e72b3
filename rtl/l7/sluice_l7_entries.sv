/// Who enters a matcher's loop next (sluice_l7_loop).
///
/// Those wait that have to hash a field of a group, those that begin, and those that left the loop for others: each in a line of
/// its own, and in this order of lines. A message that begins while nobody waits comes to the loop at once, in the same cycle
/// even where it can (`direct_i`). One that goes on
/// waits for one to end; while it does, one that has not been in the loop comes before it, once.
///
/// Latency: 1 cycle from `start_i` to `entry_valid_q`, when nobody waits. Throughput: an entry every cycle. `entry_o` is another
/// one than in the cycle before only if that was taken, or if an urgent one comes before one that is not.
module sluice_l7_entries
  import sluice_l7_rows_pkg::*;
  import sluice_l7_matcher_pkg::*;
#(
    parameter int unsigned Places = 4
) (
    input logic clk_i,
    input logic rst_ni,

    // The message that is being loaded: with `begin_i` what is known of it, with `start_i` its first segment.
    input place_t      place_i,
    input logic        begin_i,
    input logic        start_i,
    input l7_context_t about_i,
    input l7_move_t    step_i,
    input l7_target_t  target_i,
    input logic        bad_i,

    input logic         hash_valid_i,
    input place_t       hash_place_i,
    input logic   [3:0] hash_field_i,

    input logic      save_valid_i,
    input place_t    save_place_i,
    input l7_saved_t save_i,

    // Nobody waits: `entry_o` is the message that begins, and may enter before it waits (`direct_i`).
    output logic      idle_o,
    input  logic      direct_i,
    output logic      entry_valid_o,
    input  logic      entry_ready_i,
    output l7_entry_t entry_o
);

  localparam int unsigned PlaceIndexBits = (Places > 1) ? $clog2(Places) : 1;

  typedef struct packed {
    l7_move_t step;
    l7_target_t target;
    logic bad;
  } start_t;

  logic hash_waits, start_waits, resume_waits, waits, picks, put_back, at_once;
  place_t hash_place, start_place, resume_place, place;
  logic [Places-1:0] passed_q, passed;
  logic [Places-1:0][3:0] hash_field_q;
  logic [PlaceIndexBits-1:0] index;
  start_t start, coming, kept;
  l7_context_t about, kept_about;
  l7_saved_t saved;
  logic entry_valid_q;
  l7_entry_t entry_q;

  assign idle_o = !entry_valid_q && !waits;
  assign entry_valid_o = entry_valid_q;
  always_comb begin
    entry_o = entry_q;
    if (!entry_valid_q) begin
      entry_o = '{
          place: place_i,
          about: about_i,
          step: step_i,
          state: '{target: target_i, past: 1'b1, default: '0},
          resumed: 1'b0,
          urgent: 1'b1,
          hash: 1'b0,
          bad: bad_i
      };
    end
  end

  assign waits = hash_waits || start_waits || resume_waits;
  assign put_back = entry_valid_q && !entry_ready_i && !entry_q.urgent && (hash_waits || start_waits);
  assign picks = !entry_valid_q || entry_ready_i || put_back;
  assign at_once = start_i && !direct_i && !waits && (!entry_valid_q || entry_ready_i);

  sluice_l7_line #(
      .Places(Places)
  ) u_hash (
      .clk_i  (clk_i),
      .rst_ni (rst_ni),
      .push_i (hash_valid_i),
      .place_i(hash_place_i),
      .pop_i  (picks && hash_waits),
      .valid_o(hash_waits),
      .place_o(hash_place)
  );

  sluice_l7_line #(
      .Places(Places)
  ) u_start (
      .clk_i  (clk_i),
      .rst_ni (rst_ni),
      .push_i (start_i && !at_once && !direct_i),
      .place_i(place_i),
      .pop_i  (picks && !hash_waits && start_waits),
      .valid_o(start_waits),
      .place_o(start_place)
  );

  // An entry is put back only if it is not urgent, and one leaves the loop only for an urgent one.
  sluice_l7_line #(
      .Places(Places)
  ) u_resume (
      .clk_i  (clk_i),
      .rst_ni (rst_ni),
      .push_i (save_valid_i || put_back),
      .place_i(save_valid_i ? save_place_i : entry_q.place),
      .pop_i  (picks && !hash_waits && !start_waits && resume_waits),
      .valid_o(resume_waits),
      .place_o(resume_place)
  );

  assign place  = hash_waits ? hash_place : start_waits ? start_place : resume_waits ? resume_place : place_i;
  assign index  = PlaceIndexBits'(place);

  assign coming = '{step: step_i, target: target_i, bad: bad_i};
  assign start  = (begin_i && !waits) ? coming : kept;
  assign about  = (begin_i && !waits) ? about_i : kept_about;

  sluice_ram_lut #(
      .Width($bits(l7_context_t)),
      .Depth(Places),
      .InitZero(1'b0)
  ) u_contexts (
      .clk_i(clk_i),
      .we_i(begin_i),
      .waddr_i(PlaceIndexBits'(place_i)),
      .wdata_i(about_i),
      .raddr_i(index),
      .rdata_o(kept_about)
  );

  sluice_ram_lut #(
      .Width($bits(start_t)),
      .Depth(Places),
      .InitZero(1'b0)
  ) u_starts (
      .clk_i(clk_i),
      .we_i(begin_i),
      .waddr_i(PlaceIndexBits'(place_i)),
      .wdata_i(coming),
      .raddr_i(index),
      .rdata_o(kept)
  );

  sluice_ram_lut #(
      .Width($bits(l7_saved_t)),
      .Depth(Places),
      .InitZero(1'b0)
  ) u_saved (
      .clk_i(clk_i),
      .we_i(save_valid_i),
      .waddr_i(PlaceIndexBits'(save_place_i)),
      .wdata_i(save_i),
      .raddr_i(index),
      .rdata_o(saved)
  );

  always_comb begin
    for (int unsigned p = 0; p < Places; p++) begin
      passed[p] = passed_q[p];
      if (entry_valid_q && entry_q.place == place_t'(p)) begin
        if (put_back) passed[p] = 1'b1;
        else if (entry_ready_i) passed[p] = 1'b0;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      entry_valid_q <= 1'b0;
      passed_q <= '0;
    end else begin
      if (picks) entry_valid_q <= waits || at_once;
      passed_q <= passed;
    end
  end

  always_ff @(posedge clk_i) begin
    for (int unsigned p = 0; p < Places; p++) begin
      if (hash_valid_i && hash_place_i == place_t'(p)) hash_field_q[p] <= hash_field_i;
    end
    if (picks) begin
      entry_q.place <= place;
      entry_q.about <= about;
      entry_q.step <= start.step;
      entry_q.state <= '{target: start.target, past: 1'b1, default: '0};
      entry_q.bad <= start.bad;
      entry_q.hash <= 1'b0;
      entry_q.resumed <= 1'b0;
      entry_q.urgent <= 1'b1;
      if (hash_waits) begin
        entry_q.step <= '{field: hash_field_q[index], default: '0};
        entry_q.hash <= 1'b1;
        entry_q.bad  <= 1'b0;
      end else if (!start_waits && resume_waits) begin
        entry_q.step <= '0;
        entry_q.state <= saved;
        entry_q.bad <= 1'b0;
        entry_q.resumed <= 1'b1;
        entry_q.urgent <= passed_q[index];
      end
    end
  end

endmodule
