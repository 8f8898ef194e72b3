/// Search memory of the map engine: rows on the chip, and rows in external memory (docs/decisions/xdp-external-memory.md).
///
/// Lookups beside the others have rows on the chip by `beside_*`, in cycles that nobody else reads; one that has waited for `Patience` cycles holds the others up until it has
/// read. They ask for rows outside by themselves.
///
/// `read_i` takes a row's number; on the chip it is in `row_o` in the next cycle, and stays until another is read. A row outside is fetched when somebody
/// looks at it: in a cycle of `looks_i` without it `hold_o` is high, and whoever reads and writes stands still. Some that were fetched are kept
/// (sluice_xdp_search_kept), until a lookup sets a bit there (`forget_*`) or units are cleared (`clear_i`). A row written outside goes to
/// memory in one store; `hold_o` is high while `Puts` of them have not gone. Reads and writes are done in their order.
///
/// A row that memory answers with an error comes as zeros, with `bad_o`.
///
/// Latency: 1 cycle on the chip, 2 for a row that is kept, outside that of sluice_xdp_outside and 3 more. Stall behaviour: `hold_o`.
module sluice_xdp_search
  import sluice_xdp_pkg::*;
  import sluice_xdp_outside_pkg::*;
#(
    parameter int unsigned Rows = 1 << 15,
    parameter bit Outside = 1'b0,
    parameter int unsigned Patience = 7,
    parameter int unsigned Puts = 2,
    localparam int unsigned IndexBits = $clog2(Rows)
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic                        read_i,
    // "Bits of signal are not used": without external memory rows have small numbers.
    // verilator lint_off UNUSEDSIGNAL
    input  logic [SearchBits-1:0]       read_row_i,
    input  logic [SearchBits-1:0]       write_row_i,
    // verilator lint_on UNUSEDSIGNAL
    input  logic                        looks_i,
    output logic [           3:0][31:0] row_o,
    output logic                        bad_o,
    input  logic [           3:0]       write_i,
    input  logic [           3:0][31:0] write_row_data_i,
    output logic                        hold_o,
    output logic                        idle_o,            // nothing is left to be written

    // Lookups beside. The row comes in the next cycle.
    input  logic                       beside_waits_i,
    output logic                       beside_busy_o,
    input  logic                       beside_read_i,
    input  logic [IndexBits-1:0]       beside_row_i,
    output logic [          3:0][31:0] beside_o,
    input  logic                       mark_valid_i,
    output logic                       mark_ready_o,
    input  logic [IndexBits-1:0]       mark_row_i,
    input  logic [         63:0]       mark_i,          // the row's upper words

    // What is kept of rows outside: a lookup's bit is set, all may have changed.
    input logic       forget_valid_i,
    input logic [5:0] forget_row_i,    // a row's lowest bits
    input logic       clear_i,

    // To sluice_xdp_outside: a load gives 16 bytes, a store has no answer.
    output logic                     load_valid_o,
    input  logic                     load_ready_i,
    output logic             [ 31:0] load_place_o,
    input  logic                     done_valid_i,
    input  logic                     done_fault_i,
    input  logic             [127:0] done_i,
    input  logic             [  5:0] module_i,       // whose map it is
    output logic                     store_valid_o,
    input  logic                     store_ready_i,
    output outside_request_t         store_o
);

  localparam int unsigned OutsideRow = SearchBits - 1;

  logic [3:0][31:0] chip_row;
  logic chip_reads, marks;
  logic [3:0] chip_writes;

  assign beside_o    = chip_row;
  assign chip_reads  = read_i && !hold_o && !(Outside && read_row_i[OutsideRow]);
  assign chip_writes = (hold_o || (Outside && write_row_i[OutsideRow])) ? '0 : write_i;
  assign mark_ready_o = chip_writes == '0;
  assign marks = Outside && mark_valid_i && mark_ready_o;
  sluice_ram_1r1w #(
      .Width   (128),
      .Depth   (Rows),
      .Lanes   (4),
      .InitZero(1'b0),
      .Style   ("block")
  ) u_rows (
      .clk_i,
      .wr_en_i  (marks ? 4'b1100 : chip_writes),
      .wr_addr_i(marks ? mark_row_i : write_row_i[IndexBits-1:0]),
      .wr_data_i(marks ? {mark_i, 64'd0} : write_row_data_i),
      .rd_en_i  (chip_reads || beside_read_i),
      .rd_addr_i(chip_reads ? read_row_i[IndexBits-1:0] : beside_row_i),
      .rd_data_o(chip_row)
  );

  if (Outside) begin : gen_outside
    typedef logic [OutsideRow-1:0] far_row_t;
    typedef struct packed {
      logic [5:0]       module_id;
      far_row_t         row;
      logic [3:0]       words;
      logic [3:0][31:0] data;
    } put_t;

    logic there_q, asks_q, away_q, bad_q, outside_q, new_q, stale_q, fetches, waits;
    far_row_t row_q;
    logic [127:0] data_q, kept_row;
    logic puts, put_fits, put_valid, put_new_q, kept, keeps;
    put_t put, put_new;
    // "Bits of signal are not used": whose it is is asked when it is stored.
    // verilator lint_off UNUSEDSIGNAL
    put_t put_q;
    // verilator lint_on UNUSEDSIGNAL

    logic mine_q, yields;
    logic [3:0][31:0] kept_q;

    // A row is asked for behind what was written before.
    assign fetches = outside_q && looks_i && !there_q;
    assign puts    = write_i != '0 && write_row_i[OutsideRow];
    assign waits   = puts && !put_fits;
    assign hold_o = fetches || waits || yields;
    assign load_valid_o = asks_q && !put_valid;
    assign load_place_o = {5'd0, row_q, 4'd0};
    assign row_o = outside_q ? data_q : mine_q ? chip_row : kept_q;
    assign bad_o = outside_q && there_q && bad_q;
    assign idle_o = !put_valid;

    // It is looked for in the cycle behind its number.
    assign keeps = done_valid_i && !done_fault_i && !stale_q && !clear_i;
    sluice_xdp_search_kept #(
        .RowBits(OutsideRow),
        .Depth  (2 ** $bits(forget_row_i))
    ) u_kept (
        .clk_i,
        .rst_ni,
        .look_row_i    (row_q),
        .hit_o         (kept),
        .row_o         (kept_row),
        .fill_valid_i  (keeps),
        .fill_row_i    (row_q),
        .fill_i        (done_i),
        .put_valid_i   (put_new_q),
        .put_words_i   (put_q.words),
        .put_row_i     (put_q.row),
        .put_i         (put_q.data),
        .forget_valid_i,
        .forget_index_i(forget_row_i),
        .clear_i
    );

    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        outside_q <= 1'b0;
        there_q   <= 1'b0;
        asks_q    <= 1'b0;
        away_q    <= 1'b0;
      end else begin
        if (new_q && kept) there_q <= 1'b1;
        if (read_i && !hold_o) begin
          outside_q <= read_row_i[OutsideRow];
          there_q   <= 1'b0;
        end
        if (fetches && !asks_q && !away_q && !(new_q && kept)) asks_q <= 1'b1;
        if (load_valid_o && load_ready_i) begin
          asks_q <= 1'b0;
          away_q <= 1'b1;
        end
        if (done_valid_i) begin
          away_q  <= 1'b0;
          there_q <= 1'b1;
        end
      end
      new_q <= read_i && !hold_o && rst_ni;
      if (read_i && !hold_o) row_q <= read_row_i[OutsideRow-1:0];
      // What comes may be older than what was cleared.
      stale_q <= (stale_q || clear_i) && away_q;
      if (new_q) begin
        bad_q  <= 1'b0;
        data_q <= kept_row;
      end
      if (done_valid_i) begin
        bad_q  <= done_fault_i;
        data_q <= done_fault_i ? '0 : done_i;
      end
    end

    // What was read stays when the memory gives another one's.
    logic [$clog2(Patience+1)-1:0] wait_q;
    assign yields = 32'(wait_q) == Patience;
    assign beside_busy_o = chip_reads;
    always_ff @(posedge clk_i) begin
      mine_q <= chip_reads;
      if (mine_q) kept_q <= chip_row;
      if (!rst_ni || !beside_waits_i || beside_read_i) wait_q <= '0;
      else if (!yields) wait_q <= wait_q + 1'b1;
    end

    // A row's words that are written: all, the upper ones, or one.
    logic [$clog2(Puts+1)-1:0] unused_put_level;
    assign put_new = '{
            module_id: module_i,
            row: write_row_i[OutsideRow-1:0],
            words: write_i,
            data: write_row_data_i
        };
    sluice_fifo #(
        .Width($bits(put_t)),
        .Depth(Puts)
    ) u_puts (
        .clk_i,
        .rst_ni,
        .valid_i(puts && !hold_o),
        .ready_o(put_fits),
        .data_i (put_new),
        .valid_o(put_valid),
        .ready_i(store_ready_i),
        .data_o (put),
        .level_o(unused_put_level)
    );
    always_ff @(posedge clk_i) begin
      put_new_q <= puts && !hold_o && rst_ni;
      put_q     <= put_new;
    end
    assign store_valid_o = put_valid;
    always_comb begin
      store_o = '0;
      store_o.op = OutsideStore;
      store_o.module_id = put.module_id;
      store_o.place = {5'd0, put.row, 4'd0};
      store_o.bytes = 4'd8;
      store_o.data = put.data[1:0];
      case (put.words)
        4'b1111: begin
          store_o.op = OutsideStoreTwo;
          store_o.expected = put.data[3:2];
        end
        4'b1100: begin
          store_o.place[3] = 1'b1;
          store_o.data = put.data[3:2];
        end
        4'b0001, 4'b0010, 4'b0100, 4'b1000: begin
          store_o.place[3:2] = {put.words[3] || put.words[2], put.words[3] || put.words[1]};
          store_o.bytes = 4'd4;
          store_o.data = 64'(put.data[store_o.place[3:2]]);
        end
        default: ;
      endcase
    end

`ifndef SYNTHESIS
    OneRowIsAskedFor_A :
    assert property (@(posedge clk_i) disable iff (!rst_ni) done_valid_i |-> away_q && fetches);
    WrittenWordsAreOneStore_A :
    assert property (@(posedge clk_i) disable iff (!rst_ni) !puts || write_i inside {4'b1111, 4'b1100, 4'b0001, 4'b0010, 4'b0100, 4'b1000});
`endif
  end else begin : gen_no_outside
    assign row_o = chip_row;
    assign bad_o = 1'b0;
    assign hold_o = 1'b0;
    assign idle_o = 1'b1;
    assign load_valid_o = 1'b0;
    assign load_place_o = '0;
    assign store_valid_o = 1'b0;
    assign store_o = '0;
    assign beside_busy_o = chip_reads;
    // "Signal is not used": without external memory nobody waits.
    // verilator lint_off UNUSEDSIGNAL
    logic [148:0] unused;
    // verilator lint_on UNUSEDSIGNAL
    assign unused = {
      forget_valid_i,
      forget_row_i,
      clear_i,
      module_i,
      beside_waits_i,
      looks_i,
      load_ready_i,
      done_valid_i,
      done_fault_i,
      done_i,
      store_ready_i,
      rst_ni
    };
  end

endmodule
