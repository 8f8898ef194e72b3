/// Goes through chains from one on, for the host: to the first that is not empty, or so far as one operation looks.
///
/// Latency: 2 cycles a chain. Stands still while `hold_i`.
module sluice_xdp_maps_next
  import sluice_xdp_pkg::*;
  import sluice_xdp_walk_pkg::*;
(
    input  logic clk_i,
    input  logic rst_ni,
    input  logic hold_i,
    output logic looks_o, // at what comes of search memory

    input logic         [        4:0] bucket_bits_i,  // chains of the map, as a power of two
    input walk_go_e                   go_i,
    input logic         [ChainBits:0] from_i,         // the first chain, when it begins
    // "Bits of signal are not used": how many chains there were.
    // verilator lint_off UNUSEDSIGNAL
    input walk_cursor_t               cursor_i,
    // verilator lint_on UNUSEDSIGNAL
    input link_t                      chain_word_i,

    output walk_go_e                 go_o,
    output logic       [       63:0] error_o,
    output walk_move_t               move_o,
    output walk_look_t               look_o,
    // A chain that was looked at is the next one, and what it leads to.
    output logic                     came_o,
    output logic       [ChainBits:0] chain_o
);

  // Chains that one operation looks at.
  localparam int unsigned NextChains = 64;

  typedef enum logic [1:0] {
    Rest,
    Chains,
    ChainsRow
  } state_e;

  state_e state_q, state_next;
  logic [ChainBits:0] scan_q;

  assign came_o  = state_q == ChainsRow;
  assign looks_o = state_q == ChainsRow;
  assign chain_o = scan_q;

  always_comb begin
    state_next = state_q;
    go_o = GoStay;
    error_o = '0;
    move_o = '0;
    look_o = '0;
    case (state_q)
      Chains: begin
        state_next = ChainsRow;
        look_o.valid = 1'b1;
        look_o.row = LookBucket;
        look_o.chain_valid = 1'b1;
        look_o.chain = scan_q[ChainBits-1:0];
        move_o.step = 1'b1;
        if (32'(scan_q) >= (32'd1 << bucket_bits_i)) begin
          error_o = ErrorNoEntry;
          go_o = GoFail;
        end
      end
      ChainsRow: begin
        state_next = Chains;
        if (chain_word_i != '0 || 32'(cursor_i.steps) >= NextChains) go_o = GoAnswer;
      end
      default: ;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= Rest;
    end else if (!hold_i) begin
      case (go_i)
        GoStay:   state_q <= state_next;
        GoChains: state_q <= Chains;
        default:  state_q <= Rest;
      endcase
    end
    if (state_q == Chains && !hold_i) scan_q <= scan_q + (ChainBits + 1)'(1);
    if (go_i == GoChains) scan_q <= from_i;
  end

endmodule
