/// Both ends of the configuration ring: behind a reset it clears the tables (docs/design/nic.md, "Reset").
///
/// The first message behind a reset comes from here: the numbers 0 to `Rows` - 1, a word each. On their way through the
/// nodes they clear row by row all tables that decide, of all nodes at a time (sluice_shell_cfg_node). Behind the last
/// node they end here. Until then `clearing_o` is high and the host's messages wait; from then on both ends are wires.
///
/// Latency: 0 cycles for messages. `clearing_o` is high for `Rows` cycles and 1 a node.
/// Stall behaviour: as above; behind it none.
module sluice_shell_clear #(
    parameter  int unsigned Rows      = 1,
    localparam int unsigned IndexBits = (Rows > 1) ? $clog2(Rows) : 1
) (
    input logic clk_i,
    input logic rst_ni,

    output logic clearing_o,

    // From the host, to the first node.
    input  logic        s_valid_i,
    output logic        s_ready_o,
    input  logic [31:0] s_data_i,
    input  logic        s_last_i,
    output logic        first_valid_o,
    input  logic        first_ready_i,
    output logic [31:0] first_data_o,
    output logic        first_last_o,

    // From the last node, to the host.
    input  logic last_valid_i,
    output logic last_ready_o,
    input  logic last_last_i,
    output logic m_valid_o,
    input  logic m_ready_i
);

  if (Rows < 1 || Rows > 65536) begin : gen_bad_rows
    $fatal(1, "shell_clear: Rows is %0d, expected 1 to 65536 (%m)", Rows);
  end

  logic sends_q, last_q, clearing_q;
  logic [IndexBits-1:0] index_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      sends_q    <= 1'b1;
      last_q     <= Rows == 1;
      index_q    <= '0;
      clearing_q <= 1'b1;
    end else begin
      if (sends_q && first_ready_i) begin
        sends_q <= !last_q;
        last_q  <= 32'(index_q) + 2 == Rows;
        index_q <= index_q + 1'b1;
      end
      if (last_valid_i && last_last_i) clearing_q <= 1'b0;
    end
  end

  assign first_valid_o = sends_q || s_valid_i;
  assign first_data_o  = sends_q ? 32'(index_q) : s_data_i;
  assign first_last_o  = sends_q ? last_q : s_last_i;
  assign s_ready_o     = first_ready_i && !sends_q;

  assign clearing_o    = clearing_q;
  assign m_valid_o     = last_valid_i && !clearing_q;
  assign last_ready_o  = m_ready_i || clearing_q;

endmodule
