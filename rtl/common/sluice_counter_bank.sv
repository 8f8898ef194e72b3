/// Bank of counters with exact snapshots.
///
/// `inc_valid_i` adds `inc_amount_i` to counter `inc_index_i`, modulo 2^Width; one increment a
/// cycle, also when all of them hit one counter.
///
/// A host read (`rd_valid_i`) is answered 3 cycles later by `rd_valid_o` with `rd_data_o`, which is not registered:
///   - `rd_snapshot_i` low: the live value. All increments presented in cycles before the
///     read's are in, those of the read's own cycle and later are not.
///   - `rd_snapshot_i` high: the value at the moment of the last change of `epoch_i`.
///     Increments presented in cycles before the one in which `epoch_i` took its present
///     number are in, those from that cycle on are not. Before the first change it is zero.
/// `epoch_i` is taken in the cycle of the increment or read; it may change at any time, as
/// often as every cycle. What an entry keeps is the number of the epoch of its last increment
/// and its value before the first increment of that epoch. Epoch numbers are compared in
/// full: a snapshot is wrong only for an entry that was last incremented exactly
/// 2^EpochWidth epochs ago.
///
/// Values and epoch numbers live in RAM: they start at zero and a reset leaves them alone, so
/// `epoch_i` must not go back to an old number at a reset. Increments of the last two cycles
/// before a reset may be lost. An index that is not below
/// `Entries` counts nowhere and reads an unspecified value.
///
/// Latency: 3 cycles, fixed. Throughput: 1 increment and 1 host read per cycle. Never stalls.
module sluice_counter_bank #(
    parameter  int unsigned Entries    = 256,
    parameter  int unsigned Width      = 64,
    parameter  int unsigned IncWidth   = 16,
    parameter  int unsigned EpochWidth = 32,
    localparam int unsigned IndexWidth = (Entries > 1) ? $clog2(Entries) : 1
) (
    input  logic                  clk_i,
    input  logic                  rst_ni,
    input  logic [EpochWidth-1:0] epoch_i,
    // Increments.
    input  logic                  inc_valid_i,
    input  logic [IndexWidth-1:0] inc_index_i,
    input  logic [  IncWidth-1:0] inc_amount_i,
    // Host reads.
    input  logic                  rd_valid_i,
    input  logic                  rd_snapshot_i,
    input  logic [IndexWidth-1:0] rd_index_i,
    output logic                  rd_valid_o,
    output logic [     Width-1:0] rd_data_o
);

  if (Entries < 1) begin : gen_bad_entries
    $fatal(1, "counter_bank: Entries is %0d, expected at least 1 (%m)", Entries);
  end
  if (Width < 1) begin : gen_bad_width
    $fatal(1, "counter_bank: Width is %0d, expected at least 1 (%m)", Width);
  end
  if (IncWidth < 1 || IncWidth > Width) begin : gen_bad_inc_width
    $fatal(1, "counter_bank: IncWidth is %0d, expected 1 to Width, which is %0d (%m)", IncWidth, Width);
  end
  if (EpochWidth < 1) begin : gen_bad_epoch_width
    $fatal(1, "counter_bank: EpochWidth is %0d, expected at least 1 (%m)", EpochWidth);
  end

  typedef struct packed {
    logic [EpochWidth-1:0] epoch;  // of the last increment
    logic [Width-1:0]      value;
  } entry_t;

  // A read of the RAMs sees what was written up to the cycle before. An increment is written
  // two cycles after its RAM read, so an increment in the next two cycles takes its result
  // from the pipeline instead: from `write` (the increment one cycle ahead) or
  // from `written_q` (two cycles ahead).
  typedef struct packed {
    logic                  valid;
    logic [IndexWidth-1:0] index;
    entry_t                entry;
    logic                  shadow_valid;  // first increment of its epoch
    logic [Width-1:0]      shadow;
  } write_t;

  write_t                                                                   write;

  struct packed {logic valid; logic [IndexWidth-1:0] index; entry_t entry;} written_q;

  // Epochs differ: three bits a LUT, kept so that the rest is a short tree.
  localparam int unsigned Triples = (EpochWidth + 2) / 3;
  (* keep *) logic [Triples-1:0] write_differs, choose_differs;

  // Increments: read, add, write.
  logic                    add_valid_q;
  logic   [IndexWidth-1:0] add_index_q;
  logic   [EpochWidth-1:0] add_epoch_q;
  logic   [  IncWidth-1:0] add_amount_q;
  entry_t                  add_from_ram;
  entry_t                  add_entry;

  logic                    write_valid_q;
  logic   [IndexWidth-1:0] write_index_q;
  logic   [EpochWidth-1:0] write_epoch_q;
  logic   [     Width-1:0] write_value_q;
  entry_t                  write_old_q;

  sluice_ram_1r1w #(
      .Width(EpochWidth + Width),
      .Depth(Entries)
  ) u_live (
      .clk_i    (clk_i),
      .wr_en_i  (write.valid),
      .wr_addr_i(write.index),
      .wr_data_i(write.entry),
      .rd_en_i  (inc_valid_i),
      .rd_addr_i(inc_index_i),
      .rd_data_o(add_from_ram)
  );

  always_comb begin
    add_entry = add_from_ram;
    if (written_q.valid && written_q.index == add_index_q) add_entry = written_q.entry;
    if (write.valid && write.index == add_index_q) add_entry = write.entry;
  end

  assign write = '{
          // Before the first edge in reset `write_valid_q` is anything, and a RAM has no reset.
          valid:
          write_valid_q
          &&
          rst_ni,
          index: write_index_q,
          entry: '{epoch: write_epoch_q, value: write_value_q},
          shadow_valid: |write_differs,
          shadow: write_old_q.value
      };

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      add_valid_q     <= 1'b0;
      write_valid_q   <= 1'b0;
      written_q.valid <= 1'b0;
    end else begin
      add_valid_q     <= inc_valid_i;
      write_valid_q   <= add_valid_q;
      written_q.valid <= write.valid;
    end
    add_index_q     <= inc_index_i;
    add_epoch_q     <= epoch_i;
    add_amount_q    <= inc_amount_i;
    write_index_q   <= add_index_q;
    write_epoch_q   <= add_epoch_q;
    write_value_q   <= add_entry.value + Width'(add_amount_q);
    write_old_q     <= add_entry;
    written_q.index <= write.index;
    written_q.entry <= write.entry;
  end

  // Host reads, from a second copy of the live values. Two cycles late, for then the RAMs hold what was presented
  // before the read's cycle and nothing later: an increment is written two cycles after its own.
  logic rd1_valid_q, rd1_snapshot_q, rd2_valid_q, rd2_snapshot_q, choose_snapshot_q;
  logic [IndexWidth-1:0] rd1_index_q, rd2_index_q;
  logic [EpochWidth-1:0] choose_epoch_q;
  entry_t choose_entry;
  logic [Width-1:0] choose_shadow;
  logic choose_same;
  logic [Triples-1:0] unused_same;

  for (genvar t = 0; t < int'(Triples); t++) begin : gen_write_differs
    localparam int unsigned Bits = (EpochWidth - 3 * t < 3) ? EpochWidth - 3 * t : 3;
    assign write_differs[t]  = write_old_q.epoch[3*t+:Bits] != write_epoch_q[3*t+:Bits];
    assign choose_differs[t] = choose_entry.epoch[3*t+:Bits] != choose_epoch_q[3*t+:Bits];
  end

  sluice_ram_1r1w #(
      .Width(EpochWidth + Width),
      .Depth(Entries)
  ) u_live_copy (
      .clk_i    (clk_i),
      .wr_en_i  (write.valid),
      .wr_addr_i(write.index),
      .wr_data_i(write.entry),
      .rd_en_i  (rd2_valid_q),
      .rd_addr_i(rd2_index_q),
      .rd_data_o(choose_entry)
  );

  sluice_ram_1r1w #(
      .Width(Width),
      .Depth(Entries)
  ) u_shadow (
      .clk_i    (clk_i),
      .wr_en_i  (write.valid && write.shadow_valid),
      .wr_addr_i(write.index),
      .wr_data_i(write.shadow),
      .rd_en_i  (rd2_valid_q),
      .rd_addr_i(rd2_index_q),
      .rd_data_o(choose_shadow)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      rd1_valid_q <= 1'b0;
      rd2_valid_q <= 1'b0;
      rd_valid_o  <= 1'b0;
    end else begin
      rd1_valid_q <= rd_valid_i;
      rd2_valid_q <= rd1_valid_q;
      rd_valid_o  <= rd2_valid_q;
    end
    rd1_snapshot_q    <= rd_snapshot_i;
    rd1_index_q       <= rd_index_i;
    rd2_snapshot_q    <= rd1_snapshot_q;
    rd2_index_q       <= rd1_index_q;
    choose_snapshot_q <= rd2_snapshot_q;
    choose_epoch_q    <= write_epoch_q;  // that of the read's cycle
  end

  // An entry without an increment in this epoch still has the value it began with. All equal: a carry comes through.
  assign {choose_same, unused_same} = {1'b0, ~choose_differs} + (Triples + 1)'(choose_snapshot_q);
  assign rd_data_o = choose_same ? choose_shadow : choose_entry.value;

`ifndef SYNTHESIS
  ReadTakesThreeCycles_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !$past(rst_ni && rd2_valid_q) || rd_valid_o);
`endif

endmodule
