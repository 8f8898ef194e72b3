/// What the host does with the map engine: its operations, their keys and values, and rows of search memory.
///
/// `cfg_valid_i` with `cfg_req_i` begins; both stay until `cfg_valid_o`. A row of search memory is the host's in a cycle in which `search_free_i` says so (`search_o`);
/// while it waits (`waits_o`) no operation is begun. A row outside is waited for. An operation is offered by `call_valid_o` until `call_taken_i`, and ends with `done_i`. Its key and value are
/// in a memory of words of 8 bytes: either half of the engine reads them, and what an entry holds is written there.
///
/// Latency: a word comes in the cycle behind its number; answers 3 cycles behind `cfg_valid_i`, or when the row or the operation is done. Throughput: one request at a time.
module sluice_xdp_maps_host
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_pkg::*;
#(
    parameter int unsigned Rows = 1 << 15,
    parameter bit Outside = 1'b0
) (
    input logic clk_i,
    input logic rst_ni,

    output logic             waits_o,
    output logic             search_o,
    output logic             outside_o,      // its row lies in external memory
    output logic             looks_o,        // at what comes of it
    input  logic             search_hold_i,  // which is waited for
    input  logic             search_free_i,
    input  logic [3:0][31:0] search_i,

    output logic                 call_valid_o,
    input  logic                 call_taken_i,
    output xdp_map_call_t        call_o,
    input  logic                 done_i,
    input  logic          [ 7:0] error_i,
    input  logic          [23:0] slot_i,
    input  logic          [23:0] chain_i,

    // Words that the halves read, and that is written.
    input  logic        front_valid_i,
    input  logic [ 6:0] front_word_i,
    input  logic        back_valid_i,
    input  logic [ 6:0] back_word_i,
    output logic [63:0] data_o,
    input  logic        write_i,
    input  logic [ 6:0] write_word_i,
    input  logic [63:0] data_i,

    input  logic     cfg_valid_i,
    input  cfg_req_t cfg_req_i,
    output logic     cfg_valid_o,
    output cfg_rsp_t cfg_rsp_o
);

  localparam int unsigned HostRows = XdpKeyBytes / 32 + XdpValueBytes / 32;
  localparam int unsigned HostRowBits = $clog2(HostRows);

  typedef enum logic [2:0] {
    Idle,
    Search,  // waits for search memory
    Late,    // a row arrives
    Runs,    // its operation
    Done
  } state_e;
  state_e state_q;

  logic is_search, is_host, is_data, here, reads_data, pending_q;
  cfg_status_e status;
  logic [3:0][31:0] search_kept_q;
  logic [3:0][63:0] row;
  logic [1:0] word_q;
  xdp_host_row_t asked, answer_q;

  assign is_search = cfg_req_i.tab == TableXdpSearch;
  assign is_host = cfg_req_i.tab == TableXdpHost;
  assign is_data = cfg_req_i.tab == TableXdpHostData;
  assign here = is_search || is_host || is_data;
  assign waits_o = state_q == Search;
  assign search_o = waits_o && search_free_i;
  assign call_valid_o = pending_q;
  assign outside_o = Outside && cfg_req_i.index[SearchBits-1];
  assign looks_o = state_q == Late && is_search && !cfg_req_i.write;

  always_comb begin
    case (cfg_req_i.tab)
      TableXdpSearch: status = cfg_check(cfg_req_i, 1'b1, 1'b1, outside_o ? '1 : 24'(Rows), 4'(XdpSearchRowWords));
      TableXdpHost: status = cfg_check(cfg_req_i, 1'b1, 1'b1, 24'd1, 4'(XdpHostRowWords));
      default: status = cfg_check(cfg_req_i, is_data, 1'b1, 24'(HostRows), 4'(XdpValueRowWords));
    endcase
  end

  // Key and value of the host's operation.
  logic [HostRowBits-1:0] index;
  assign reads_data = cfg_valid_i && is_data && !cfg_req_i.write;
  assign index = front_valid_i ? front_word_i[HostRowBits+1:2] : back_valid_i ? back_word_i[HostRowBits+1:2] : cfg_req_i.index[HostRowBits-1:0];
  sluice_ram_1r1w #(
      .Width(256),
      .Depth(HostRows),
      .Lanes(4)
  ) u_data (
      .clk_i,
      .wr_en_i  (write_i ? 4'd1 << write_word_i[1:0] : {4{cfg_valid_i && is_data && cfg_req_i.write && status == StatusOk}}),
      .wr_addr_i(write_i ? write_word_i[HostRowBits+1:2] : cfg_req_i.index[HostRowBits-1:0]),
      .wr_data_i(write_i ? {4{data_i}} : cfg_req_i.data),
      .rd_en_i(front_valid_i || back_valid_i || reads_data),
      .rd_addr_i(index),
      .rd_data_o(row)
  );
  always_ff @(posedge clk_i) word_q <= front_valid_i ? front_word_i[1:0] : back_word_i[1:0];
  assign data_o = row[word_q];

  assign asked  = cfg_req_i.data[XdpHostRowBits-1:0];
  always_comb begin
    call_o = '0;
    call_o.op = xdp_map_op_e'(asked.op);
    call_o.map = asked.map;
    call_o.value = {8'd0, asked.chain, 27'd0, asked.cpu};
    call_o.flags = (asked.op == XdpMapOpNext) ? 64'(asked.key) : 64'(asked.flags);
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q   <= Idle;
      pending_q <= 1'b0;
      answer_q  <= '0;
    end else begin
      case (state_q)
        Idle:
        if (cfg_valid_i && here) begin
          state_q <= Late;
          if (status == StatusOk && is_search) state_q <= Search;
          if (status == StatusOk && is_host && cfg_req_i.write) begin
            state_q   <= Runs;
            pending_q <= 1'b1;
          end
        end
        Search: if (search_free_i) state_q <= Late;
        Runs: if (done_i) state_q <= Done;
        Late: if (!search_hold_i || !is_search) state_q <= Done;
        default: state_q <= Idle;
      endcase
      if (call_taken_i) pending_q <= 1'b0;
      if (done_i) begin
        answer_q       <= asked;
        answer_q.error <= error_i;
        answer_q.slot  <= slot_i;
        answer_q.chain <= chain_i;
      end
    end
    if (state_q == Late) search_kept_q <= search_i;
  end

  assign cfg_valid_o = state_q == Done;
  always_comb begin
    cfg_rsp_o = '{status: status, words: 4'(XdpValueRowWords), data: row};
    if (is_search) begin
      cfg_rsp_o.words = 4'(XdpSearchRowWords);
      cfg_rsp_o.data  = 256'(search_kept_q);
    end
    if (is_host) begin
      cfg_rsp_o.words = 4'(XdpHostRowWords);
      cfg_rsp_o.data  = 256'(answer_q);
    end
  end

endmodule
