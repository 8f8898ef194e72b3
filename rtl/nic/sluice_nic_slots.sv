/// Chooses a destination each cycle: who has the slot, else one in turn.
///
/// Each cycle is somebody's slot. Of `Period` cycles one is a host queue's, and the others are the ports', one after the
/// other; the host queues take theirs one after the other too. Who has the slot and requests is granted. A slot that is not
/// wanted goes to the others in turns, ports and host queues alike (docs/decisions/output-slots.md).
///
/// So a port that keeps its request up is granted within `Ports` + 1 cycles, and as often as (`Period` - 1) / `Period` of a
/// port's part of the cycles; a host queue within `Period` * `Hosts`.
///
/// Latency: 0 cycles from request to grant. Throughput: a grant in every cycle with a request. Never stalls.
module sluice_nic_slots #(
    parameter int unsigned Ports = 4,
    parameter int unsigned Hosts = 4,
    parameter int unsigned Period = 16,
    localparam int unsigned Dests = Ports + Hosts,
    localparam int unsigned DestIndexBits = $clog2(Dests)
) (
    input  logic                     clk_i,
    input  logic                     rst_ni,
    input  logic [        Dests-1:0] req_i,
    output logic [        Dests-1:0] grant_o,
    output logic [DestIndexBits-1:0] index_o,
    output logic                     valid_o
);

  if (Ports < 1 || Hosts < 1 || Dests < 2) begin : gen_bad_dests
    $fatal(1, "nic_slots: %0d ports and %0d host queues, expected one of each at least (%m)", Ports, Hosts);
  end
  // Else a port would meet two slots of host queues between two of its own, and wait longer than said.
  if (Period <= Ports) begin : gen_bad_period
    $fatal(1, "nic_slots: Period is %0d, expected more than the %0d ports (%m)", Period, Ports);
  end

  // Whose slot comes next, of the ports and of the host queues, and how many cycles ago a host queue had one.
  logic [DestIndexBits-1:0] port_q, host_q, slot_q, slot;
  logic [$clog2(Period)-1:0] cycle_q;
  logic [Dests-1:0] turn, own;
  logic [DestIndexBits-1:0] turn_index;
  logic is_host, has_own;

  assign is_host = 32'(cycle_q) == Period - 1;
  assign slot = is_host ? host_q : port_q;

  // The slot is known a cycle before it begins.
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      cycle_q <= '0;
      port_q  <= '0;
      host_q  <= DestIndexBits'(Ports);
      slot_q  <= DestIndexBits'(Dests - 1);
    end else begin
      slot_q  <= slot;
      cycle_q <= is_host ? '0 : cycle_q + 1'b1;
      if (is_host) host_q <= (32'(host_q) == Dests - 1) ? DestIndexBits'(Ports) : host_q + 1'b1;
      else port_q <= (32'(port_q) == Ports - 1) ? '0 : port_q + 1'b1;
    end
  end

  always_comb begin
    own = '0;
    own[slot_q] = req_i[slot_q];
  end
  assign has_own = own != '0;

  // Turns are of what is left: a slot of one's own takes none.
  sluice_arb_rr #(
      .Requests(Dests)
  ) u_turns (
      .clk_i,
      .rst_ni,
      .req_i,
      .advance_i(!has_own),
      .grant_o  (turn),
      .index_o  (turn_index),
      .valid_o
  );

  assign grant_o = has_own ? own : turn;
  assign index_o = has_own ? slot_q : turn_index;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      GrantIsOfARequest_A : assert ((grant_o & ~req_i) == '0 && (grant_o != '0) == (req_i != '0));
      IndexNamesTheGrant_A : assert (!valid_o || grant_o == Dests'(1) << index_o);
    end
  end
`endif

endmodule
