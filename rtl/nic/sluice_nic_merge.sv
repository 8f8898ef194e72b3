/// Merges the ports' packets into one stream, fairly in beats, and gives each a header token.
///
/// Whole packets by deficit round robin charged in beats (docs/decisions/port-merge.md). The
/// stream goes to `data_*`; one token a packet goes to the header pipeline, which must take it
/// (`token_valid_o` has no ready): a token is only sent while one of `Credits` is left, and
/// `credit_i` gives one back.
///
/// `slot_request_i` asks for a cycle without a token (a maintenance slot). It is granted
/// (`slot_grant_o`) in the first such cycle; when there was none for `MaintenancePeriod` - 1
/// cycles, the merge leaves one out.
///
/// Latency: 1 cycle from a port's head to `data_*` and the token (of a packet of several beats:
/// when WindowBytes have come). Throughput: one beat a cycle, no cycle between packets.
/// Stall behaviour: `data_ready_i` low stalls all ports; `hold_i` stops it between packets.
module sluice_nic_merge
  import sluice_pkg::*;
  import sluice_nic_pkg::*;
#(
    parameter nic_cfg_t Cfg = NicCfgDefault,
    parameter int unsigned Credits = 32,
    localparam int unsigned Bytes = Cfg.bus_bytes,
    localparam int unsigned Ports = Cfg.ports
) (
    input logic clk_i,
    input logic rst_ni,

    input logic hold_i,

    input  logic       [Ports-1:0]              desc_valid_i,
    output logic       [Ports-1:0]              desc_ready_o,
    input  port_desc_t [Ports-1:0]              desc_i,
    input  logic       [Ports-1:0]              valid_i,
    output logic       [Ports-1:0]              ready_o,
    input  logic       [Ports-1:0][8*Bytes-1:0] data_i,
    input  logic       [Ports-1:0]              last_i,

    output logic               data_valid_o,
    input  logic               data_ready_i,
    output logic [8*Bytes-1:0] data_o,
    output logic               data_last_o,

    output logic                           token_valid_o,
    output port_desc_t                     token_desc_o,
    output logic       [8*WindowBytes-1:0] token_window_o,
    input  logic                           credit_i,

    input  logic slot_request_i,
    output logic slot_grant_o,

    output logic waiting_o
);

  localparam int unsigned PortBits = (Ports > 1) ? $clog2(Ports) : 1;
  localparam int unsigned BeatBits = $clog2(MaxFrameBytes / Bytes + 1);
  localparam int unsigned OffsetBits = $clog2(Bytes);
  localparam int unsigned WindowBeats = (WindowBytes > Bytes) ? WindowBytes / Bytes : 1;
  // The longest packet: with less, a cycle may pass in which every port is in debt.
  localparam int unsigned QuantumBeats = (MaxFrameBytes + Bytes - 1) / Bytes;

  if (2 ** $clog2(MaintenancePeriod) != MaintenancePeriod) begin : gen_bad_period
    $fatal(1, "nic_merge: MaintenancePeriod is %0d, expected a power of two (%m)", MaintenancePeriod);
  end
  if (2 ** OffsetBits != Bytes || Bytes < 32 || Bytes > WindowBytes) begin : gen_bad_bytes
    $fatal(1, "nic_merge: bus_bytes is %0d, expected 32 or 64 (%m)", Bytes);
  end

  logic [Ports-1:0] grant;
  logic [PortBits-1:0] index;
  logic grant_valid, start, take, ending;
  logic busy_q;
  logic [BeatBits-1:0] cost;
  port_desc_t desc;
  logic [8*Bytes-1:0] data;
  logic last, available;

  logic out_valid_q, out_last_q;
  logic [8*Bytes-1:0] out_data_q;
  logic out_free;

  logic token_now;
  logic [$clog2(Credits+1)-1:0] credits_q;
  logic [$clog2(MaintenancePeriod)-1:0] starved_q;
  logic leave_out;
  localparam logic [$clog2(MaintenancePeriod)-1:0] StarvedMax = ($clog2(MaintenancePeriod))'(MaintenancePeriod - 2);

  sluice_arb_drr #(
      .Requests (Ports),
      .CostWidth(BeatBits),
      .Quantum  (QuantumBeats)
  ) u_arb (
      .clk_i,
      .rst_ni,
      .req_i   (desc_valid_i & valid_i),
      .hold_i  (busy_q),
      .charge_i(start),
      .cost_i  (cost),
      .grant_o (grant),
      .index_o (index),
      .valid_o (grant_valid)
  );

  assign desc = desc_i[index];
  assign data = data_i[index];
  assign last = last_i[index];
  assign available = valid_i[index];
  assign cost = BeatBits'((desc.length + 14'(Bytes - 1)) >> OffsetBits);

  assign out_free = !out_valid_q || data_ready_i;
  // Without a token in this cycle the slot is granted now; left out now, it is granted in the next.
  assign leave_out = slot_request_i && starved_q >= StarvedMax && token_valid_o;
  assign take = grant_valid && available && out_free && (busy_q || (!hold_i && credits_q != '0 && !leave_out));
  assign start = take && !busy_q;
  assign ending = take && last;

  always_comb begin
    ready_o = '0;
    desc_ready_o = '0;
    ready_o[index] = take;
    desc_ready_o[index] = ending;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      busy_q      <= 1'b0;
      out_valid_q <= 1'b0;
    end else begin
      if (take) busy_q <= !last;
      if (out_free) out_valid_q <= take;
    end
  end

  always_ff @(posedge clk_i) begin
    if (take) begin
      out_data_q <= data;
      out_last_q <= last;
    end
  end

  assign data_valid_o = out_valid_q;
  assign data_o = out_data_q;
  assign data_last_o = out_last_q;

  // The token leaves with the beat that completes the window.
  if (WindowBeats == 1) begin : gen_window_one
    assign token_now = start;
    always_ff @(posedge clk_i) token_window_o <= data;
  end else begin : gen_window_two
    logic second_q;
    logic [8*Bytes-1:0] first_data_q;
    always_ff @(posedge clk_i) begin
      if (!rst_ni) second_q <= 1'b0;
      else if (take) second_q <= start && !last;
    end
    always_ff @(posedge clk_i) begin
      if (start) first_data_q <= data;
      token_window_o <= start ? {(8 * Bytes)'(0), data} : {data, first_data_q};
    end
    assign token_now = take && (second_q || (start && last));
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      token_valid_o <= 1'b0;
      credits_q     <= ($bits(credits_q))'(Credits);
      starved_q     <= '0;
    end else begin
      token_valid_o <= token_now;
      credits_q     <= credits_q - ($bits(credits_q))'(start) + ($bits(credits_q))'(credit_i);
      if (!slot_request_i || slot_grant_o) starved_q <= '0;
      else if (starved_q != StarvedMax) starved_q <= starved_q + 1'b1;
    end
  end

  always_ff @(posedge clk_i) token_desc_o <= desc;

  // Granted in the cycle in which the header pipeline gets no token.
  assign slot_grant_o = slot_request_i && !token_valid_o;

  assign waiting_o = |desc_valid_i || out_valid_q;

`ifndef SYNTHESIS
  DescriptorGoesWithItsData_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !take || desc_valid_i[index]);
  GrantHoldsThroughThePacket_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !(busy_q && $past(rst_ni)) || $stable(index));
  OneMaintenanceSlotIsEnough_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !$past(rst_ni && leave_out && !busy_q) || !leave_out);
  CreditsDoNotOverflow_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) credits_q <= ($bits(credits_q))'(Credits));
  logic unused_grant;
  assign unused_grant = ^grant;
`endif

endmodule
