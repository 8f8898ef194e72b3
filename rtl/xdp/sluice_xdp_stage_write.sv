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

  logic [127:0] two;
  logic [63:0] aligned, loaded;
  assign two = {bundle_i.words_unset[1] ? 64'd0 : read_data_i[1], bundle_i.words_unset[0] ? 64'd0 : read_data_i[0]};

  always_comb begin
    aligned = 64'(two >> {bundle_i.byte_number, 3'd0}) & bit_mask(bundle_i.bytes);
    if (bundle_i.in_context) aligned = 64'(bundle_i.context_value);
    if (bundle_i.nothing) aligned = '0;
    loaded = extended(aligned, bundle_i.bytes, bundle_i.sign);
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
