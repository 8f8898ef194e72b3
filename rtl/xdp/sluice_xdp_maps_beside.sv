/// Search memory (sluice_xdp_search), and lookups of programs beside what the second half of the map engine does: one at a time (sluice_xdp_maps_seek), or one of each
/// context where rows may lie in external memory (sluice_xdp_maps_far).
///
/// `take_i` takes an operation with its key: with `idle_o` where there is one at a time. Nobody changes rows of its map meanwhile: `among_o` says whether one of
/// the map `whose_i` may be under way, until its answer is taken.
///
/// Latency, throughput and stall behaviour: of the two.
module sluice_xdp_maps_beside
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_pkg::*;
  import sluice_xdp_walk_pkg::*;
  import sluice_xdp_outside_pkg::*;
#(
    parameter int unsigned Processors = 8,
    parameter int unsigned Rows = 1 << 15,
    parameter bit Outside = 1'b0,
    parameter int unsigned IdBits = $clog2(Processors)  // of who asks
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic                              take_i,
    output logic                              idle_o,
    input  logic         [  IdBits-1:0]       context_i,
    input  xdp_map_row_t                      map_i,
    // "Bits of signal are not used": with external memory the whole key goes on, without it what its rows have not.
    // verilator lint_off UNUSEDSIGNAL
    input  walk_key_t                         key_i,
    input  logic         [KeyWords-1:0][63:0] whole_i,
    // verilator lint_on UNUSEDSIGNAL
    input  chain_t                            chain_i,
    input  slot_t                             copy_i,

    // Rows of its key: which one is needed, in its cycle.
    output key_slot_t         key_slot_o,
    output logic      [  1:0] key_rest_o,
    // "Signal is not used": with external memory the whole key comes.
    // verilator lint_off UNUSEDSIGNAL
    input  logic      [127:0] rest_key_i,
    // verilator lint_on UNUSEDSIGNAL

    input  logic [15:0] whose_i,
    output logic        among_o,

    // The second half's and the host's rows: as sluice_xdp_search.
    input  logic                        read_i,
    input  logic [SearchBits-1:0]       read_row_i,
    input  logic                        looks_i,
    output logic [           3:0][31:0] row_o,
    output logic                        bad_o,
    input  logic [           3:0]       write_i,
    input  logic [SearchBits-1:0]       write_row_i,
    input  logic [           3:0][31:0] write_row_data_i,
    output logic                        hold_o,
    output logic                        written_o,         // nothing is left to be written
    input  logic                        clear_i,           // rows outside may have changed

    // Rows outside. Lookups' are asked for behind what was written before.
    output logic                    load_valid_o,
    input  logic                    load_ready_i,
    output logic             [31:0] load_place_o,
    output logic                    load_lookup_o,
    output logic                    load_touch_o,   // of an LRU map's row a touched bit is set
    output logic             [ 5:0] load_bit_o,
    output logic             [ 3:0] load_number_o,
    output logic             [ 5:0] load_module_o,
    input  logic             [ 5:0] own_module_i,   // whose map the second half's operation concerns
    input  outside_row_t            loaded_i,
    output logic                    store_valid_o,
    input  logic                    store_ready_i,
    output outside_request_t        store_o,

    output logic                         answer_valid_o,
    input  logic                         answer_ready_i,
    output logic            [IdBits-1:0] answer_context_o,
    output xdp_map_answer_t              answer_o
);

  logic busy, waits, read, own_valid, mark_valid, mark_ready, far_touch, written;
  logic [63:0] mark;
  // "Bits of signal are not used": rows on the chip have small numbers.
  // verilator lint_off UNUSEDSIGNAL
  row_t row, mark_row;
  // verilator lint_on UNUSEDSIGNAL
  logic [3:0][31:0] data;
  logic [31:0] own_place;

  sluice_xdp_search #(
      .Rows   (Rows),
      .Outside(Outside)
  ) u_search (
      .clk_i,
      .rst_ni,
      .read_i,
      .read_row_i,
      .write_row_i,
      .looks_i,
      .row_o,
      .bad_o,
      .write_i,
      .write_row_data_i,
      .hold_o,
      .idle_o        (written),
      .beside_waits_i(waits),
      .beside_busy_o (busy),
      .beside_read_i (read),
      .beside_row_i  (row[$clog2(Rows)-1:0]),
      .beside_o      (data),
      .mark_valid_i  (mark_valid),
      .mark_ready_o  (mark_ready),
      .mark_row_i    (mark_row[$clog2(Rows)-1:0]),
      .mark_i        (mark),
      .forget_valid_i(load_valid_o && load_ready_i && load_touch_o),
      .forget_row_i  (load_place_o[9:4]),
      .clear_i,
      .load_valid_o  (own_valid),
      .load_ready_i,
      .load_place_o  (own_place),
      .done_valid_i  (loaded_i.valid && !loaded_i.lookup),
      .done_fault_i  (loaded_i.fault),
      .done_i        (loaded_i.data),
      .module_i      (own_module_i),
      .store_valid_o,
      .store_ready_i,
      .store_o
  );

  if (Outside) begin : gen_far
    logic far_valid;
    logic [31:0] far_place;
    logic [IdBits-1:0] far_context;
    logic [5:0] far_module;

    sluice_xdp_maps_far #(
        .Processors(Processors)
    ) u_far (
        .clk_i,
        .rst_ni,
        .take_i,
        .context_i,
        .map_i,
        .key_i           (whole_i),
        .chain_i,
        .copy_i,
        .idle_o,
        .whose_i,
        .among_o,
        .chip_busy_i     (busy),
        .chip_read_o     (read),
        .chip_waits_o    (waits),
        .chip_row_o      (row),
        .chip_i          (data),
        .mark_valid_o    (mark_valid),
        .mark_ready_i    (mark_ready),
        .mark_row_o      (mark_row),
        .mark_o          (mark),
        .load_valid_o    (far_valid),
        .load_ready_i    (load_ready_i && !own_valid && written),
        .load_place_o    (far_place),
        .load_context_o  (far_context),
        .load_module_o   (far_module),
        .load_touch_o    (far_touch),
        .load_bit_o,
        .loaded_valid_i  (loaded_i.valid && loaded_i.lookup),
        .loaded_fault_i  (loaded_i.fault),
        .loaded_i        (loaded_i.data),
        .loaded_context_i(loaded_i.number[IdBits-1:0]),
        .answer_valid_o,
        .answer_ready_i,
        .answer_context_o,
        .answer_o
    );
    assign key_slot_o    = key_i.slot;
    assign key_rest_o    = '0;
    assign load_valid_o  = own_valid || (far_valid && written);
    assign load_touch_o  = !own_valid && far_touch;
    assign written_o     = written && !mark_valid;
    assign load_lookup_o = !own_valid;
    assign load_place_o  = own_valid ? own_place : far_place;
    assign load_number_o = 4'(far_context);
    assign load_module_o = own_valid ? own_module_i : far_module;
  end else begin : gen_seek
    logic seek_busy;
    logic [15:0] seek_state;

    sluice_xdp_maps_seek #(
        .IdBits(IdBits)
    ) u_seek (
        .clk_i,
        .rst_ni,
        .take_i,
        .idle_o,
        .context_i,
        .map_i,
        .key_i,
        .chain_i,
        .copy_i,
        .key_slot_o,
        .key_rest_o,
        .rest_key_i,
        .busy_o       (seek_busy),
        .state_o      (seek_state),
        .hold_i       (busy),
        .search_read_o(read),
        .search_row_o (row),
        .search_i     (data),
        .answer_valid_o,
        .answer_ready_i,
        .answer_context_o,
        .answer_o
    );
    assign among_o = seek_busy && seek_state == whose_i;
    assign waits = 1'b0;
    assign load_valid_o = own_valid;
    assign load_lookup_o = 1'b0;
    assign load_touch_o = 1'b0;
    assign load_bit_o = '0;
    assign written_o = written;
    assign mark_valid = 1'b0;
    assign mark_row = '0;
    assign mark = '0;
    assign far_touch = 1'b0;
    assign load_place_o = own_place;
    assign load_number_o = '0;
    assign load_module_o = own_module_i;
    // "Signal is not used": which context's row has come.
    // verilator lint_off UNUSEDSIGNAL
    logic [5:0] unused;
    // verilator lint_on UNUSEDSIGNAL
    assign unused = {far_touch, mark_ready, loaded_i.number};
  end

endmodule
