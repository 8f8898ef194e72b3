/// Port rows (table `l7_port`): which application, endpoint or raw application a UDP port is.
///
/// In a cycle with `look_i` the key is compared with all rows. From the next cycle on, until the next look, `known_o` says that the
/// module has this port in this generation, `found_o` that a row is for it, which of an application needs its ID too, and `row_o` is
/// that row. A row that the host writes meanwhile does not change them. Keys are there once.
///
/// Configuration: answered a cycle after `cfg_valid_i`. A write counts, whole, for looks of later cycles. Latency: 1 cycle.
/// Throughput: a look a cycle. Never stalls.
module sluice_l7_ports
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_l7_rows_pkg::*;
#(
    parameter int unsigned Ports = 64,
    localparam int unsigned IndexBits = $clog2(Ports)
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic                          look_i,
    input  logic         [ModuleBits-1:0] module_i,
    input  logic                          generation_i,
    input  logic         [          15:0] port_i,
    input  logic         [           7:0] id_i,
    output logic                          known_o,
    output logic                          found_o,
    output l7_port_row_t                  row_o,

    input  logic     cfg_valid_i,
    // "Bits of signal are not used": a row has some of a message's.
    // verilator lint_off UNUSEDSIGNAL
    input  cfg_req_t cfg_req_i,
    // verilator lint_on UNUSEDSIGNAL
    output logic     cfg_valid_o,
    output cfg_rsp_t cfg_rsp_o
);

  typedef struct packed {
    logic valid;  // and of a kind that there is
    logic [ModuleBits-1:0] module_id;
    logic generation;
    logic [15:0] port;
    logic application;
    logic [7:0] id;
  } key_t;

  logic write;
  cfg_status_e status;
  logic [IndexBits-1:0] index;
  l7_port_row_t row_in;

  assign index  = cfg_req_i.index[IndexBits-1:0];
  assign status = cfg_check(cfg_req_i, 1'b1, 1'b1, 24'(Ports), 4'(L7PortRowWords));
  assign write  = cfg_req_i.clear || (cfg_valid_i && cfg_req_i.write && status == StatusOk);
  assign row_in = cfg_req_i.clear ? '0 : cfg_req_i.data[L7PortRowBits-1:0];

  key_t [Ports-1:0] keys_q;
  logic [Ports-1:0] known, found, unused_onehot;
  logic any_found;
  logic [IndexBits-1:0] at, at_q;

  always_comb begin
    for (int unsigned r = 0; r < Ports; r++) begin
      known[r] = keys_q[r].valid && keys_q[r].module_id == module_i && keys_q[r].generation == generation_i &&
          keys_q[r].port == port_i;
      found[r] = known[r] && (!keys_q[r].application || keys_q[r].id == id_i);
    end
  end

  sluice_prio_enc #(
      .Width(Ports)
  ) u_at (
      .req_i   (found),
      .valid_o (any_found),
      .index_o (at),
      .onehot_o(unused_onehot)
  );

  always_ff @(posedge clk_i) begin
    for (int unsigned r = 0; r < Ports; r++) begin
      if (!rst_ni) begin
        keys_q[r].valid <= 1'b0;
      end else if (write && index == IndexBits'(r)) begin
        keys_q[r] <= '{
            valid: row_in.valid && row_in.kind != 2'd3,
            module_id: row_in.module_id,
            generation: row_in.generation,
            port: row_in.port,
            application: row_in.kind == L7PortKindApplication,
            id: row_in.id
        };
      end
    end
    if (look_i) begin
      known_o <= |known;
      found_o <= any_found;
      at_q    <= at;
    end
  end

  // Rows are written a cycle after their keys and read a cycle after them.
  logic write_q, fresh_q;
  logic [IndexBits-1:0] index_q;
  l7_port_row_t row_in_q, row_there, row_held_q, row_read;

  sluice_ram_lut #(
      .Width    (L7PortRowBits),
      .Depth    (Ports),
      .ReadPorts(2)
  ) u_rows (
      .clk_i,
      .we_i   (write_q),
      .waddr_i(index_q),
      .wdata_i(row_in_q),
      .raddr_i({index, at_q}),
      .rdata_o({row_read, row_there})
  );

  assign row_o = fresh_q ? row_there : row_held_q;

  always_ff @(posedge clk_i) begin
    write_q    <= write;
    index_q    <= index;
    row_in_q   <= row_in;
    fresh_q    <= look_i;
    row_held_q <= row_o;
  end

  always_ff @(posedge clk_i) begin
    cfg_valid_o <= cfg_valid_i && rst_ni;
    cfg_rsp_o   <= '{status: status, words: 4'(L7PortRowWords), data: 256'(row_read)};
  end

endmodule
