/// Packet memory of a core: rows of 64 bytes in eight columns, with stacks and whole frames.
///
/// A place is a word of eight bytes in a row. An access takes eight words from there on, the last of them in the next
/// row when the first is not the row's first; behind the last row comes row 0. `read_data_o` has the place's word and the one behind it,
/// `columns_o` all words by columns: word c of a row is its word c. So has `write_data_i`; `write_enable_i` has the place's word lowest, a
/// bit a byte.
///
/// A read of a word that is written in the same cycle gets the old one. Contents are not touched by a reset.
///
/// Latency: 1 cycle; the data stay until the next read. Throughput: a read and a write a cycle. Never stalls.
module sluice_xdp_memory
  import sluice_xdp_pkg::*;
#(
    parameter int unsigned Rows = 1024,
    localparam int unsigned AddressBits = $clog2(Rows)
) (
    input logic clk_i,

    input  logic                   read_valid_i,
    // "Bits of signal are not used": a place has room for larger memories.
    // verilator lint_off UNUSEDSIGNAL
    input  xdp_place_t             read_place_i,
    // verilator lint_on UNUSEDSIGNAL
    output logic       [1:0][63:0] read_data_o,
    output logic       [7:0][63:0] columns_o,

    input logic                   write_valid_i,
    // verilator lint_off UNUSEDSIGNAL
    input xdp_place_t             write_place_i,
    // verilator lint_on UNUSEDSIGNAL
    input logic       [7:0][ 7:0] write_enable_i,
    input logic       [7:0][63:0] write_data_i
);

  if (Rows < 2 || 2 ** AddressBits != Rows || AddressBits > RowBits) begin : gen_bad_rows
    $fatal(1, "xdp_memory: Rows is %0d, expected a power of two from 2 to %0d (%m)", Rows, 2 ** RowBits);
  end

  logic [1:0][ 2:0] word_q;
  logic [7:0][63:0] columns;
  logic [AddressBits-1:0] read_row, read_next, write_row, write_next;

  assign read_row   = read_place_i.row[AddressBits-1:0];
  assign read_next  = read_row + AddressBits'(1);
  assign write_row  = write_place_i.row[AddressBits-1:0];
  assign write_next = write_row + AddressBits'(1);

  always_ff @(posedge clk_i) if (read_valid_i) word_q <= {read_place_i.word + 3'd1, read_place_i.word};

  for (genvar c = 0; c < 8; c++) begin : gen_column
    logic [2:0] from;
    logic write_wraps, read_wraps;
    assign from = 3'(c) - write_place_i.word;
    // Words before the place's own are those of the next row.
    assign write_wraps = 4'(c) < 4'(write_place_i.word);
    assign read_wraps = 4'(c) < 4'(read_place_i.word);
    sluice_ram_1r1w #(
        .Width   (64),
        .Depth   (Rows),
        .Lanes   (8),
        .InitZero(1'b0),
        .Style   ("block")
    ) u_ram (
        .clk_i,
        .wr_en_i  (write_valid_i ? write_enable_i[from] : 8'd0),
        .wr_addr_i(write_wraps ? write_next : write_row),
        .wr_data_i(write_data_i[c]),
        .rd_en_i  (read_valid_i),
        .rd_addr_i(read_wraps ? read_next : read_row),
        .rd_data_o(columns[c])
    );
  end

  for (genvar c = 0; c < 2; c++) begin : gen_rotated
    assign read_data_o[c] = columns[word_q[c]];
  end
  assign columns_o = columns;

endmodule
