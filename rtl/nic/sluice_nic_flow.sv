/// Brings merged packets to the pipeline: sideband with flow hash, byte enables (docs/design/nic.md, "Flow hash").
///
/// The lowest bits of the flow hash are under a secret, so that nobody can choose flows that meet there (sluice_toeplitz); the others are a CRC's.
/// `valid_i` and so on are the merge's stream. `m_axis_tuser` counts with a packet's first beat. Its queue, tag,
/// generation and destinations are 0: the pipeline says them.
///
/// Latency: 4 cycles; a packet's first beat waits for the second where that has bytes of the first WindowBytes.
/// Throughput: a beat a cycle, no cycle between packets. Stall behaviour: all stand still while the output does; `ready_o` depends
/// on `valid_i`, no valid on a ready.
module sluice_nic_flow
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_shell_pkg::*;
  import sluice_nic_pkg::*;
#(
    parameter int unsigned Bytes = 64
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic                     valid_i,
    output logic                     ready_o,
    input  logic       [8*Bytes-1:0] data_i,
    input  logic                     last_i,
    input  port_desc_t               desc_i,

    input flow_secret_t flow_secret_i,

    output logic                    m_axis_tvalid,
    input  logic                    m_axis_tready,
    output logic      [8*Bytes-1:0] m_axis_tdata,
    output logic      [  Bytes-1:0] m_axis_tkeep,
    output logic                    m_axis_tlast,
    output sideband_t               m_axis_tuser,

    output logic waiting_o
);

  localparam int unsigned OffsetBits = $clog2(Bytes);

  if (Bytes != 32 && Bytes != 64) begin : gen_bad_bytes
    $fatal(1, "nic_flow: Bytes is %0d, expected 32 or 64 (%m)", Bytes);
  end

  typedef struct packed {
    port_desc_t         desc;
    logic               last;
    logic [8*Bytes-1:0] data;
  } beat_t;

  typedef struct packed {
    sideband_t          side;
    logic               last;
    logic [Bytes-1:0]   keep;
    logic [8*Bytes-1:0] data;
  } out_t;

  // 1: the window is whole. 2: its fields. 3: the hash of these.
  logic advance, whole;
  logic [3:1] valid_q;
  beat_t beat1_q, beat2_q;
  // "Bits of signal are not used": the structure travels whole, this module takes the fields that concern it.
  // verilator lint_off UNUSEDSIGNAL
  fields_t fields, fields2_q;
  // verilator lint_on UNUSEDSIGNAL
  logic [8*WindowBytes-1:0] window;
  // "Bits of signal are not used": those in whose place the secret's are.
  // verilator lint_off UNUSEDSIGNAL
  logic [31:0] flow_crc;
  // verilator lint_on UNUSEDSIGNAL
  logic [FlowSecretBits-1:0] secret_hash;
  logic [OffsetBits-1:0] end2;
  logic [Bytes-1:0] keep2;
  sideband_t side2;
  out_t out3_q, out;

  if (Bytes == WindowBytes) begin : gen_one_beat
    assign whole  = 1'b1;
    assign window = beat1_q.data;
  end else begin : gen_two_beats
    logic first1_q;
    always_ff @(posedge clk_i) begin
      if (!rst_ni) first1_q <= 1'b1;
      else if (valid_q[1] && ready_o) first1_q <= beat1_q.last;
    end
    assign whole  = !first1_q || beat1_q.last || valid_i;
    assign window = {data_i, beat1_q.data};
  end

  assign ready_o = !valid_q[1] || (advance && whole);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      valid_q <= '0;
    end else begin
      if (ready_o) valid_q[1] <= valid_i;
      if (advance) valid_q[3:2] <= {valid_q[2], valid_q[1] && whole};
    end
  end

  sluice_shell_extract u_extract (
      .window_i(window),
      .length_i(beat1_q.desc.length),
      .fields_o(fields)
  );

  sluice_crc32c #(
      .Width(8 * KeyBytes)
  ) u_flow_hash (
      .data_i(fields2_q.tuple),
      .crc_o (flow_crc)
  );

  sluice_toeplitz #(
      .KeyBits   (8 * KeyBytes),
      .HashBits  (FlowSecretBits),
      .SecretBits($bits(flow_secret_t))
  ) u_secret_hash (
      .key_i   (fields2_q.tuple),
      .secret_i(flow_secret_i),
      .hash_o  (secret_hash)
  );

  // Bytes behind the last one's place in its beat are not there.
  assign end2 = OffsetBits'(beat2_q.desc.length - 14'd1);
  assign keep2[0] = 1'b1;
  for (genvar i = 1; i < Bytes; i++) begin : gen_keep
    assign keep2[i] = !beat2_q.last || end2 >= OffsetBits'(i);
  end

  always_comb begin
    side2 = '0;
    side2.id = beat2_q.desc.id;
    side2.stamp = beat2_q.desc.arrival;
    side2.tenant = beat2_q.desc.tenant;
    side2.module_id = beat2_q.desc.module_id;
    side2.length = beat2_q.desc.length;
    side2.tci = beat2_q.desc.tci;
    side2.tag_off = beat2_q.desc.tag_off;
    side2.flow_hash = fields2_q.ipv4 ? {flow_crc[31:FlowSecretBits], secret_hash} : '0;
  end

  always_ff @(posedge clk_i) begin
    if (ready_o) beat1_q <= '{desc: desc_i, last: last_i, data: data_i};
    if (advance) begin
      beat2_q   <= beat1_q;
      fields2_q <= fields;
      out3_q    <= '{side: side2, last: beat2_q.last, keep: keep2, data: beat2_q.data};
    end
  end

  sluice_skid #(
      .Width($bits(out_t))
  ) u_out (
      .clk_i,
      .rst_ni,
      .valid_i(valid_q[3]),
      .ready_o(advance),
      .data_i (out3_q),
      .valid_o(m_axis_tvalid),
      .ready_i(m_axis_tready),
      .data_o (out)
  );

  assign m_axis_tdata = out.data;
  assign m_axis_tkeep = out.keep;
  assign m_axis_tlast = out.last;
  assign m_axis_tuser = out.side;
  assign waiting_o = |valid_q || m_axis_tvalid;

endmodule
