/// Rows of search memory outside that the map engine's second half has read before: so it need not fetch them again.
///
/// `look_row_i` is in `row_o` in the same cycle, if `hit_o`. A row that comes from memory is kept in the place of another one (`fill_*`). Of a row that is written
/// (`put_*`) words are changed where it is kept; in that cycle no row of its place is found. `forget_*` forgets what is kept in a row's place, `clear_i` all.
///
/// Latency: none. Throughput: a row found and one written a cycle; never a fill beside a put. Never stalls.
module sluice_xdp_search_kept #(
    parameter int unsigned RowBits = 23,
    parameter int unsigned Depth = 64,
    localparam int unsigned IndexBits = $clog2(Depth)
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic [RowBits-1:0] look_row_i,
    output logic               hit_o,
    output logic [      127:0] row_o,

    input logic                       fill_valid_i,
    input logic [  RowBits-1:0]       fill_row_i,
    input logic [        127:0]       fill_i,
    input logic                       put_valid_i,
    input logic [          3:0]       put_words_i,
    input logic [  RowBits-1:0]       put_row_i,
    input logic [          3:0][31:0] put_i,
    input logic                       forget_valid_i,
    input logic [IndexBits-1:0]       forget_index_i,  // a row's lowest bits
    input logic                       clear_i
);

  localparam int unsigned TagBits = RowBits - IndexBits;

  if (2 ** IndexBits != Depth || Depth < 2) begin : gen_bad_depth
    $fatal(1, "xdp_search_kept: Depth is %0d, expected a power of two (%m)", Depth);
  end

  typedef logic [IndexBits-1:0] index_t;

  logic [Depth-1:0] valid_q;
  logic [TagBits-1:0] look_tag, put_tag;
  index_t look_index, put_index, write_index;
  logic put_here;
  logic [3:0] writes;

  assign look_index = look_row_i[IndexBits-1:0];
  assign put_index = put_row_i[IndexBits-1:0];
  assign write_index = fill_valid_i ? fill_row_i[IndexBits-1:0] : put_index;
  assign put_here = put_valid_i && valid_q[put_index] && put_tag == put_row_i[RowBits-1:IndexBits];
  assign writes = fill_valid_i ? 4'b1111 : put_here ? put_words_i : 4'b0000;
  assign hit_o       = valid_q[look_index] && look_tag == look_row_i[RowBits-1:IndexBits] && !(put_valid_i && put_index == look_index);

  sluice_ram_lut #(
      .Width    (TagBits),
      .Depth    (Depth),
      .ReadPorts(2)
  ) u_tags (
      .clk_i,
      .we_i   (fill_valid_i),
      .waddr_i(fill_row_i[IndexBits-1:0]),
      .wdata_i(fill_row_i[RowBits-1:IndexBits]),
      .raddr_i({put_index, look_index}),
      .rdata_o({put_tag, look_tag})
  );
  for (genvar w = 0; w < 4; w++) begin : gen_word
    sluice_ram_lut #(
        .Width(32),
        .Depth(Depth)
    ) u_words (
        .clk_i,
        .we_i   (writes[w]),
        .waddr_i(write_index),
        .wdata_i(fill_valid_i ? fill_i[32*w+:32] : put_i[w]),
        .raddr_i(look_index),
        .rdata_o(row_o[32*w+:32])
    );
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear_i) begin
      valid_q <= '0;
    end else begin
      if (fill_valid_i) valid_q[fill_row_i[IndexBits-1:0]] <= 1'b1;
      if (forget_valid_i) valid_q[forget_index_i] <= 1'b0;
    end
  end

`ifndef SYNTHESIS
  OneWriterAtATime_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !(fill_valid_i && put_valid_i));
`endif

endmodule
