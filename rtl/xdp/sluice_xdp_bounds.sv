/// Helpers that need nothing but the packet's bounds: they move, and bytes that come into view become zero (docs/design/xdp.md,
/// "The packet"; docs/design/xdp-helpers.md).
///
/// `start_i` begins the call `call_i`, which stays until `done_o` is high for one cycle with the answer. A number that is no helper
/// here, or a first argument that is not the program's context, faults. A frame never becomes longer than `call_i.most` bytes: a bound
/// that would make it so does not move, as at the buffer's end.
///
/// Latency: 1 cycle; bounds that move over metadata 2 more a byte of it, and each row of memory that comes into view 1 more,
/// when nothing else takes the memory's ports. Stall behaviour: one call at a time; `read_valid_o` and `write_valid_o` hold
/// with their values until taken.
module sluice_xdp_bounds
  import sluice_xdp_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,

    input logic      start_i,
    // "Bits of signal are not used": these helpers take two arguments.
    // verilator lint_off UNUSEDSIGNAL
    input xdp_call_t call_i,
    // verilator lint_on UNUSEDSIGNAL

    input logic [31:0] random_i,

    output logic        done_o,
    output xdp_return_t return_o,

    // Memory; data come in the cycle behind a read that was taken.
    output logic                   read_valid_o,
    input  logic                   read_ready_i,
    output xdp_place_t             read_place_o,
    input  logic       [63:0]      read_data_i,
    output logic                   write_valid_o,
    input  logic                   write_ready_i,
    output xdp_place_t             write_place_o,
    output logic       [ 7:0][7:0] write_enable_o,
    output logic       [63:0]      write_data_o
);

  typedef enum logic [2:0] {
    Idle,
    Read,   // a byte of metadata
    Write,
    Clear,  // bytes that come into view, a row at a time
    Done
  } state_e;

  // Signed, wide enough for offsets and 32-bit distances.
  typedef logic signed [33:0] wide_t;

  state_e state_q;
  xdp_return_t return_q, decided;
  logic [OffsetBits-1:0] from_q, to_q, count_q, decided_from, decided_to, decided_count;
  logic [OffsetBits-1:0] copy_q, into_q;
  logic down, clears, copies, takes_context;
  wide_t delta, data, meta, past, most, moved;

  assign takes_context = call_i.number inside {HelperAdjustHead, HelperAdjustMeta, HelperAdjustTail, HelperLength};
  assign delta = wide_t'($signed(call_i.second[31:0]));
  assign data = wide_t'(call_i.bounds.data);
  assign meta = wide_t'(call_i.bounds.meta);
  assign past = wide_t'(call_i.bounds.past);
  assign most = wide_t'(call_i.most);

  // What the call comes to. [decided_from, decided_to) becomes zero, decided_count bytes of metadata move.
  always_comb begin
    decided = unchanged(call_i);
    decided_from = '0;
    decided_to = '0;
    decided_count = '0;
    moved = '0;
    case (call_i.number)
      HelperAdjustHead: begin
        moved = data + delta;
        if (moved < wide_t'(Reserved) + data - meta || moved > past - wide_t'(14) ||
            (moved < data && past - moved > most)) begin
          decided.value = ErrorInvalid;
        end else begin
          decided.bounds.data = OffsetBits'(moved);
          decided.bounds.meta = OffsetBits'(meta + delta);
          decided_count = OffsetBits'(data - meta);
        end
      end
      HelperAdjustMeta: begin
        moved = meta + delta;
        if (moved < wide_t'(Reserved) || moved > data) decided.value = ErrorInvalid;
        else if (2'(data - moved) != 2'd0 || data - moved > wide_t'(255)) decided.value = ErrorAccess;
        else decided.bounds.meta = OffsetBits'(moved);
      end
      HelperAdjustTail: begin
        moved = past + delta;
        if ((moved > past && (moved > wide_t'(MostPast) || moved - data > most)) || moved < data + wide_t'(14)) begin
          decided.value = ErrorInvalid;
        end else begin
          decided.bounds.past = OffsetBits'(moved);
          if (moved > past) begin
            decided_from = call_i.bounds.past;
            decided_to   = OffsetBits'(moved);
          end
        end
      end
      HelperLength: decided.value = 64'(past - data);
      HelperRedirect: begin
        decided.redirects = call_i.second == '0;
        decided.value = (call_i.second == '0) ? 64'(VerdictRedirect) : 64'(VerdictAborted);
      end
      HelperProcessor: decided.value = 64'(call_i.processor);
      HelperNode: ;
      HelperTime: decided.value = 64'(call_i.stamp) << TickShift;
      HelperRandom: decided.value = 64'(random_i);
      default: decided.fault = 1'b1;
    endcase
    if (call_i.number != HelperAdjustTail && decided.bounds.meta < call_i.low) begin
      decided_from = decided.bounds.meta;
      decided_to   = call_i.low;
      decided.low  = decided.bounds.meta;
    end
    if (takes_context && call_i.first != 64'(ContextAddress)) decided.fault = 1'b1;
  end

  assign clears = decided_to != '0 && !decided.fault;
  assign copies = decided_count != '0 && !decided.fault && decided.bounds.meta != call_i.bounds.meta;
  assign down   = return_q.bounds.meta < call_i.bounds.meta;

  // One row of what is cleared.
  logic last_row;
  logic [7:0][7:0] ahead, behind;
  assign last_row = from_q[OffsetBits-1:6] == to_q[OffsetBits-1:6] || (to_q[5:0] == '0 &&
      from_q[OffsetBits-1:6] + (OffsetBits - 6)'(1) == to_q[OffsetBits-1:6]);
  assign ahead = 64'hffff_ffff_ffff_ffff << from_q[5:0];
  assign behind = (last_row && to_q[5:0] != '0) ? ~(64'hffff_ffff_ffff_ffff << to_q[5:0]) : '1;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= Idle;
    end else begin
      case (state_q)
        Idle: if (start_i) state_q <= clears ? Clear : copies ? Read : Done;
        // The bytes that come into view are cleared first: metadata moves into them.
        Clear: if (write_ready_i && last_row) state_q <= (count_q != '0) ? Read : Done;
        Read: if (read_ready_i) state_q <= Write;
        Write: if (write_ready_i) state_q <= (count_q == OffsetBits'(1)) ? Done : Read;
        default: state_q <= Idle;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (state_q == Idle) begin
      return_q <= decided;
      from_q   <= decided_from;
      to_q     <= decided_to;
      count_q  <= copies ? decided_count : '0;
      // Upwards from the last byte, downwards from the first.
      if (decided.bounds.meta < call_i.bounds.meta) begin
        copy_q <= call_i.bounds.meta;
        into_q <= decided.bounds.meta;
      end else begin
        copy_q <= call_i.bounds.data - OffsetBits'(1);
        into_q <= decided.bounds.data - OffsetBits'(1);
      end
    end
    if (state_q == Clear && write_ready_i) from_q <= {from_q[OffsetBits-1:6] + (OffsetBits - 6)'(1), 6'd0};
    if (state_q == Write && write_ready_i) begin
      count_q <= count_q - OffsetBits'(1);
      copy_q  <= down ? copy_q + OffsetBits'(1) : copy_q - OffsetBits'(1);
      into_q  <= down ? into_q + OffsetBits'(1) : into_q - OffsetBits'(1);
    end
  end

  // The byte that was read, until it is written.
  logic first_q;
  logic [63:0] held_q, word;
  logic [7:0] moving;
  always_ff @(posedge clk_i) begin
    first_q <= state_q == Read;
    if (first_q) held_q <= read_data_i;
  end
  assign word = first_q ? read_data_i : held_q;
  assign moving = word[8*copy_q[2:0]+:8];

  assign read_valid_o = state_q == Read;
  assign read_place_o = place_of(call_i.base, copy_q);
  assign write_valid_o = state_q inside {Clear, Write};
  always_comb begin
    if (state_q == Clear) begin
      write_place_o  = place_of(call_i.base, {from_q[OffsetBits-1:6], 6'd0});
      write_enable_o = ahead & behind;
      write_data_o   = '0;
    end else begin
      write_place_o = place_of(call_i.base, into_q);
      write_enable_o = '0;
      write_enable_o[0] = 8'd1 << into_q[2:0];
      write_data_o = {8{moving}};
    end
  end

  assign done_o   = state_q == Done;
  assign return_o = return_q;

endmodule
