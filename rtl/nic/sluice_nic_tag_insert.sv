/// Puts the outer 0x8100 tag back before byte 12 of packets whose `tag_off` is set.
///
/// Beats come from the reader with their number of valid bytes; they leave as AXI-Stream with
/// `tkeep`, the sideband on every beat. A packet of n bytes leaves as ceil((n + 4) / Bytes)
/// beats, or as it came.
///
/// Latency: 0 cycles. Throughput: one beat a cycle; one more cycle where the tag needs a beat.
/// Stall behaviour: holds its beat while `m_axis_tready` is low.
module sluice_nic_tag_insert
  import sluice_pkg::*;
#(
    parameter int unsigned Bytes = 64,
    parameter bit Insert = 1'b1,
    localparam int unsigned ByteCountBits = $clog2(Bytes + 1)
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic                          valid_i,
    output logic                          ready_o,
    input  logic      [      8*Bytes-1:0] data_i,
    input  logic      [ByteCountBits-1:0] bytes_i,
    input  logic                          first_i,
    input  logic                          last_i,
    input  sideband_t                     meta_i,

    output logic                    m_axis_tvalid,
    input  logic                    m_axis_tready,
    output logic      [8*Bytes-1:0] m_axis_tdata,
    output logic      [  Bytes-1:0] m_axis_tkeep,
    output logic                    m_axis_tlast,
    output sideband_t               m_axis_tuser
);

  localparam int unsigned Width = 8 * Bytes;
  localparam int unsigned MacBits = 96;
  localparam int unsigned TagBits = 8 * TagBytes;
  // A last beat with more bytes than this spills into a beat of its own.
  localparam int unsigned Fits = Bytes - TagBytes;

  function automatic logic [Bytes-1:0] keep(logic [ByteCountBits-1:0] bytes);
    logic [Bytes-1:0] k;
    for (int unsigned i = 0; i < Bytes; i++) k[i] = i < 32'(bytes);
    return k;
  endfunction

  if (Insert) begin : gen_insert
    logic insert, spill_q, spills;
    logic [TagBits-1:0] carry_q, tag;
    logic [Width-1:0] shifted;
    logic [ByteCountBits-1:0] bytes;

    assign insert = meta_i.tag_off;
    assign tag = {meta_i.tci[7:0], meta_i.tci[15:8], VlanEthertype[7:0], VlanEthertype[15:8]};
    assign shifted = first_i ? {data_i[Width-TagBits-1:MacBits], tag, data_i[MacBits-1:0]} :
        {data_i[Width-TagBits-1:0], carry_q};
    assign spills = insert && last_i && bytes_i > ByteCountBits'(Fits);

    assign m_axis_tvalid = valid_i;
    assign m_axis_tdata = spill_q ? Width'(carry_q) : (insert ? shifted : data_i);
    assign m_axis_tlast = spill_q || (last_i && !spills);
    always_comb begin
      if (spill_q) bytes = bytes_i - ByteCountBits'(Fits);
      else if (spills) bytes = ByteCountBits'(Bytes);
      else if (insert && last_i) bytes = bytes_i + ByteCountBits'(TagBytes);
      else bytes = bytes_i;
    end
    assign m_axis_tkeep = keep(bytes);
    assign m_axis_tuser = meta_i;
    // The beat that spills stays at the input until the spilled bytes are out.
    assign ready_o = m_axis_tready && (spill_q || !spills);

    always_ff @(posedge clk_i) begin
      if (!rst_ni) spill_q <= 1'b0;
      else if (m_axis_tvalid && m_axis_tready) spill_q <= spills && !spill_q;
    end
    always_ff @(posedge clk_i) begin
      if (m_axis_tvalid && m_axis_tready) carry_q <= data_i[Width-1-:TagBits];
    end
  end else begin : gen_pass
    logic unused;
    assign unused = ^{clk_i, rst_ni, first_i};
    assign m_axis_tvalid = valid_i;
    assign ready_o = m_axis_tready;
    assign m_axis_tdata = data_i;
    assign m_axis_tkeep = keep(bytes_i);
    assign m_axis_tlast = last_i;
    assign m_axis_tuser = meta_i;
  end

`ifndef SYNTHESIS
  logic stalled;
  assign stalled = rst_ni && m_axis_tvalid && !m_axis_tready;
  // A property would copy what is wide in every cycle.
  logic stalled_q;
  logic [$bits({m_axis_tdata, m_axis_tkeep, m_axis_tlast, m_axis_tuser})-1:0] held_q;
  always_ff @(posedge clk_i) begin
    stalled_q <= stalled;
    if (stalled) held_q <= {m_axis_tdata, m_axis_tkeep, m_axis_tlast, m_axis_tuser};
    if (rst_ni && stalled_q) begin
      BeatHoldsUntilTaken_A :
      assert (m_axis_tvalid && {m_axis_tdata, m_axis_tkeep, m_axis_tlast, m_axis_tuser} == held_q);
    end
  end
`endif

endmodule
