/// Counters in threes: how often something was, the cycles that it took, and the bundles that it completed.
///
/// `valid_i` adds 1, `cycles_i` and `bundle_i` to the entry `index_i`, each modulo 2^Width; one a cycle, also when all of them hit one entry. A read
/// (`read_valid_i`) gives its numbers of one instant in the next cycle: all that was added up to three cycles before.
/// They live in RAM: they start at zero and a reset leaves them alone. What is added in the last two cycles before a reset may be lost.
///
/// Latency: 3 cycles. Throughput: an addition and a read a cycle. Never stalls.
module sluice_xdp_spent #(
    parameter int unsigned Entries = 512,
    parameter int unsigned Width = 48,
    parameter int unsigned CycleBits = 32,
    localparam int unsigned IndexBits = $clog2(Entries)
) (
    input logic clk_i,
    input logic rst_ni,

    input logic                 valid_i,
    input logic [IndexBits-1:0] index_i,
    input logic [CycleBits-1:0] cycles_i,
    input logic                 bundle_i,

    input  logic                 read_valid_i,
    input  logic [IndexBits-1:0] read_index_i,
    output logic [    Width-1:0] count_o,
    output logic [    Width-1:0] cycles_o,
    output logic [    Width-1:0] bundles_o
);

  if (Entries < 2) begin : gen_bad_entries
    $fatal(1, "xdp_spent: Entries is %0d, expected at least 2 (%m)", Entries);
  end
  if (CycleBits > Width) begin : gen_bad_width
    $fatal(1, "xdp_spent: Width is %0d, expected at least CycleBits, which is %0d (%m)", Width, CycleBits);
  end

  typedef struct packed {
    logic [Width-1:0] bundles;
    logic [Width-1:0] cycles;
    logic [Width-1:0] count;
  } entry_t;

  // Read, add, write. What is added in the two cycles behind an addition to the same entry takes its sum from the pipeline.
  logic add_valid_q, add_bundle_q, write_valid_q, write, from_write_q, from_written_q;
  logic [IndexBits-1:0] add_index_q, write_index_q;
  logic [CycleBits-1:0] add_cycles_q;
  entry_t stored, so_far, sum_q, written_q, read;

  assign write = write_valid_q && rst_ni;

  sluice_ram_1r1w #(
      .Width($bits(entry_t)),
      .Depth(Entries),
      .Style("block")
  ) u_entries (
      .clk_i,
      .wr_en_i  (write),
      .wr_addr_i(write_index_q),
      .wr_data_i(sum_q),
      .rd_en_i  (valid_i),
      .rd_addr_i(index_i),
      .rd_data_o(stored)
  );

  // The host's.
  sluice_ram_1r1w #(
      .Width($bits(entry_t)),
      .Depth(Entries),
      .Style("block")
  ) u_copy (
      .clk_i,
      .wr_en_i  (write),
      .wr_addr_i(write_index_q),
      .wr_data_i(sum_q),
      .rd_en_i  (read_valid_i),
      .rd_addr_i(read_index_i),
      .rd_data_o(read)
  );

  assign count_o = read.count;
  assign cycles_o = read.cycles;
  assign bundles_o = read.bundles;
  assign so_far = from_write_q ? sum_q : from_written_q ? written_q : stored;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      add_valid_q   <= 1'b0;
      write_valid_q <= 1'b0;
    end else begin
      add_valid_q   <= valid_i;
      write_valid_q <= add_valid_q;
    end
    add_index_q <= index_i;
    add_cycles_q <= cycles_i;
    add_bundle_q <= bundle_i;
    from_write_q <= add_valid_q && add_index_q == index_i;
    from_written_q <= write && write_index_q == index_i;
    write_index_q <= add_index_q;
    sum_q <= '{
        count: so_far.count + Width'(1),
        cycles: so_far.cycles + Width'(add_cycles_q),
        bundles: so_far.bundles + Width'(add_bundle_q)
    };
    written_q <= sum_q;
  end

endmodule
