/// Last stage of a core: results and loads, and what comes late, for the registers that the read stage has.
///
/// Latency: none. Throughput: a bundle a cycle. Never stalls.
module sluice_xdp_stage_write
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_pkg::*;
  import sluice_xdp_stages_pkg::*;
(
    input xdp_done_t             bundle_i,
    input logic      [1:0][63:0] read_data_i,

    output xdp_write_t        write_o,
    // What was read.
    output logic       [63:0] read_o
);

  localparam int unsigned Lanes = XdpLanes;

  // A load's bytes lie in the two words from its first one on, around behind the eighth; turned down they are where they belong.
  logic [7:0][7:0] parts, aligned, loaded;
  logic sign;
  always_comb begin
    for (int unsigned i = 0; i < 8; i++) begin
      parts[i] = (read_data_i[0][8*i+:8] & {8{bundle_i.takes[0][i]}}) | (read_data_i[1][8*i+:8] & {8{bundle_i.takes[1][i]}});
    end
    aligned = 64'({parts, parts} >> {bundle_i.byte_number, 3'd0}) | 64'(bundle_i.context_value);
    sign = parts[bundle_i.sign_byte][7] || bundle_i.context_value[31];
    for (int unsigned i = 0; i < 8; i++) loaded[i] = aligned[i] | {8{bundle_i.signs[i] && sign}};
  end

  always_comb begin
    write_o = '{
        clear: bundle_i.clear,
        valid: bundle_i.write,
        registers: bundle_i.registers,
        data: bundle_i.value,
        mark: bundle_i.mark,
        marked: bundle_i.marked,
        late: bundle_i.late
    };
    for (int unsigned l = 0; l < Lanes; l++) if (bundle_i.load_lane[l]) write_o.data[l] = loaded;
  end
  assign read_o = aligned;

endmodule
