/// Round-robin arbiter.
///
/// While any request is up, one requester is granted in the same cycle (`grant_o` one-hot,
/// `index_o` its number). `advance_i` says that the grant was used; the search for the next
/// one starts behind it. Without `advance_i` the grant stays with its requester for as long
/// as it requests, whatever the others do, so that a `valid` made of it holds. `advance_i`
/// without a grant is ignored.
///
/// A requester that keeps its request up is granted after at most `Requests` - 1 uses by
/// others, counted from the cycle in which its request comes up (a use in that cycle counts).
///
/// Latency: 0 cycles from request to grant. Throughput: 1 grant per cycle. Never stalls.
module sluice_arb_rr #(
    parameter  int unsigned Requests   = 4,
    localparam int unsigned IndexWidth = (Requests > 1) ? $clog2(Requests) : 1
) (
    input  logic                  clk_i,
    input  logic                  rst_ni,
    input  logic [  Requests-1:0] req_i,
    input  logic                  advance_i,
    output logic [  Requests-1:0] grant_o,
    output logic [IndexWidth-1:0] index_o,
    output logic                  valid_o
);

  if (Requests < 1) begin : gen_bad_requests
    $fatal(1, "arb_rr: Requests is %0d, expected at least 1 (%m)", Requests);
  end

  if (Requests <= 4) begin : gen_few
    // Of so few the start is a number: a grant is a function of six bits then, which is one LUT.
    logic [IndexWidth-1:0] start_q, next;

    always_comb begin
      grant_o = req_i;
      index_o = '0;
      for (int unsigned r = 0; r < Requests; r++) begin
        for (int unsigned k = 0; k < Requests; k++) begin
          // Who comes before `r`: both behind the start or both in front of it, the lower one; else the one behind it.
          if (req_i[k] && (((k < 32'(start_q)) == (r < 32'(start_q))) ? k < r : k > r)) grant_o[r] = 1'b0;
        end
        if (grant_o[r]) index_o |= IndexWidth'(r);
      end
    end
    assign valid_o = |req_i;
    assign next = (32'(index_o) == Requests - 1) ? '0 : index_o + IndexWidth'(1);

    always_ff @(posedge clk_i) begin
      if (!rst_ni) start_q <= '0;
      // An unused grant becomes the start of the search: that alone keeps it where it is.
      else if (valid_o) start_q <= advance_i ? next : index_o;
    end
  end else begin : gen_many
    // Bits at or above the position where the search starts (a thermometer code: it masks the
    // requests without a decoder).
    logic [Requests-1:0] first_q, first_d;
    logic [Requests-1:0] at_or_above;
    logic [Requests-1:0] ahead;

    assign ahead = req_i & first_q;

    sluice_prio_enc #(
        .Width(Requests)
    ) u_prio (
        .req_i   ((|ahead) ? ahead : req_i),
        .valid_o (valid_o),
        .index_o (index_o),
        .onehot_o(grant_o)
    );

    // All bits from the granted one on: -g == ~g + 1.
    assign at_or_above = ~grant_o + 1'b1;

    // An unused grant becomes the start of the search: that alone keeps it where it is.
    assign first_d = advance_i ? at_or_above & ~grant_o : at_or_above;

    always_ff @(posedge clk_i) begin
      if (!rst_ni) first_q <= '1;
      else if (valid_o) first_q <= first_d;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      GrantIsOnehot_A :
      assert ($onehot0(grant_o) && valid_o == |req_i)
      else $error("arb_rr: grant %b for requests %b (%m)", grant_o, req_i);
      OnlyRequestersAreGranted_A :
      assert ((grant_o & ~req_i) == '0)
      else $error("arb_rr: grant %b for requests %b (%m)", grant_o, req_i);
    end
  end

  UnusedGrantHolds_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !$past(
      rst_ni && valid_o && !advance_i
  ) || grant_o == $past(
      grant_o
  ) || (req_i & $past(
      grant_o
  )) == '0)
  else $error("arb_rr: an unused grant moved to %b (%m)", grant_o);
`endif

endmodule
