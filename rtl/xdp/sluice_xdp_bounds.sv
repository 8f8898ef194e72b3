/// Helpers that need nothing but the packet's bounds: they move, and bytes that come into view become zero (docs/design/xdp.md,
/// "The packet"; docs/design/xdp-helpers.md).
///
/// `start_i` begins the call `call_i`, which stays until `done_o` is high for one cycle with the answer. A number that is no helper
/// here, or a first argument that is not the program's context, faults. A frame never becomes longer than `call_i.most` bytes: a bound
/// that would make it so does not move, as at the buffer's end.
///
/// `whole_i` writes all bytes of a row, of whatever place: who clears whole rows needs no enables of its own.
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

    // Bounds are those of any call, a cycle behind it; none but these helpers move them.
    output logic                         done_o,
    output logic                         fault_o,
    output logic        [          63:0] value_o,
    output xdp_bounds_t                  bounds_o,
    output logic        [OffsetBits-1:0] low_o,
    output logic                         redirects_o,

    // Memory; data come in the cycle behind a read that was taken.
    output logic                   read_valid_o,
    input  logic                   read_ready_i,
    output xdp_place_t             read_place_o,
    input  logic       [63:0]      read_data_i,
    output logic                   write_valid_o,
    input  logic                   write_ready_i,
    output xdp_place_t             write_place_o,
    output logic       [ 7:0][7:0] write_enable_o,
    output logic       [63:0]      write_data_o,
    input  logic                   whole_i
);

  typedef enum logic [2:0] {
    Idle,
    Read,   // a byte of metadata
    Write,
    Clear,  // bytes that come into view, a row at a time
    Done
  } state_e;

  // Signed, wide enough for offsets and distances of that many bits. What is further away is no place of a packet.
  localparam int unsigned NearBits = 17;
  typedef logic signed [NearBits:0] wide_t;

  state_e state_q;
  typedef struct packed {
    logic                  fault;
    logic [63:0]           value;
    xdp_bounds_t           bounds;
    logic [OffsetBits-1:0] low;
    logic                  redirects;
  } decided_t;
  decided_t return_q, decided;
  logic [OffsetBits-1:0] from_q, to_q, count_q, decided_from, decided_to;
  logic [OffsetBits-1:0] copy_q, into_q;
  logic down, clears, copies, takes_context, far, moves_head, grows_tail, shows, wrong_context;
  wide_t delta, data, meta, past, most, moved;

  // A function that is called has a frame, and its number is none of a helper.
  logic [15:0] number;
  assign number = call_i.enters ? '0 : call_i.number;
  assign takes_context = number inside {HelperAdjustHead, HelperAdjustMeta, HelperAdjustTail, HelperLength};
  assign far = call_i.second[31:NearBits-1] != '0 && call_i.second[31:NearBits-1] != '1;
  assign delta = wide_t'($signed(call_i.second[NearBits-1:0]));
  assign data = wide_t'(call_i.bounds.data);
  assign meta = wide_t'(call_i.bounds.meta);
  assign past = wide_t'(call_i.bounds.past);
  assign most = wide_t'(call_i.most);

  // What the call comes to. [decided_from, decided_to) becomes zero where something does. Metadata move with the frame's start.
  always_comb begin
    decided = '{fault: 1'b0, value: '0, bounds: call_i.bounds, low: call_i.low, redirects: 1'b0};
    decided_from = '0;
    decided_to = '0;
    moves_head = 1'b0;
    grows_tail = 1'b0;
    moved = '0;
    case (number)
      HelperAdjustHead: begin
        moved = data + delta;
        if (far || moved < wide_t'(Reserved) + data - meta || moved > past - wide_t'(14) ||
            (moved < data && past - moved > most)) begin
          decided.value = ErrorInvalid;
        end else begin
          decided.bounds.data = OffsetBits'(moved);
          decided.bounds.meta = OffsetBits'(meta + delta);
          moves_head = 1'b1;
        end
      end
      HelperAdjustMeta: begin
        moved = meta + delta;
        if (far || moved < wide_t'(Reserved) || moved > data) decided.value = ErrorInvalid;
        else if (2'(data - moved) != 2'd0 || data - moved > wide_t'(255)) decided.value = ErrorAccess;
        else decided.bounds.meta = OffsetBits'(moved);
      end
      HelperAdjustTail: begin
        moved = past + delta;
        if (far || (moved > past && (moved > wide_t'(MostPast) || moved - data > most)) || moved < data + wide_t'(14)) begin
          decided.value = ErrorInvalid;
        end else begin
          decided.bounds.past = OffsetBits'(moved);
          grows_tail = moved > past;
          decided_from = call_i.bounds.past;
          decided_to = OffsetBits'(moved);
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
    shows = number != HelperAdjustTail && decided.bounds.meta < call_i.low;
    if (number != HelperAdjustTail) begin
      decided_from = decided.bounds.meta;
      decided_to   = call_i.low;
    end
    if (shows) decided.low = decided.bounds.meta;
    if (wrong_context) decided.fault = 1'b1;
  end

  assign wrong_context = takes_context && call_i.first != 64'(ContextAddress);
  assign clears = (shows || grows_tail) && !decided.fault;
  assign copies = moves_head && call_i.bounds.data != call_i.bounds.meta && delta != '0 && !wrong_context;
  assign down = return_q.bounds.meta < call_i.bounds.meta;

  // One row of what is cleared: columns that are whole on this side, those that are not and their bytes.
  logic last_row, ends;
  logic [7:0] behind_first, at_first, first_bytes, before_last, at_last, last_bytes;
  logic [7:0][7:0] cleared;
  assign last_row = from_q[OffsetBits-1:6] == to_q[OffsetBits-1:6] || (to_q[5:0] == '0 &&
      from_q[OffsetBits-1:6] + (OffsetBits - 6)'(1) == to_q[OffsetBits-1:6]);
  assign ends = last_row && to_q[5:0] != '0 && !whole_i;
  assign first_bytes = 8'hff << from_q[2:0];
  assign last_bytes = ~(8'hff << to_q[2:0]);
  always_comb begin
    for (int unsigned c = 0; c < 8; c++) begin
      behind_first[c] = whole_i || (state_q == Clear && 3'(c) > from_q[5:3]);
      at_first[c]     = state_q == Clear && 3'(c) == from_q[5:3];
      before_last[c]  = !ends || 3'(c) < to_q[5:3];
      at_last[c]      = 3'(c) == to_q[5:3];
      for (int unsigned b = 0; b < 8; b++) begin
        cleared[c][b] = (behind_first[c] || (at_first[c] && first_bytes[b])) &&
            (before_last[c] || (at_last[c] && last_bytes[b]));
      end
    end
  end

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
      count_q  <= copies ? call_i.bounds.data - call_i.bounds.meta : '0;
      // Upwards from the last byte, downwards from the first.
      if (delta < 0) begin
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
    write_enable_o = cleared;
    if (state_q == Write) write_enable_o[0] = 8'd1 << into_q[2:0];
    write_place_o = place_of(call_i.base, (state_q == Clear) ? {from_q[OffsetBits-1:6], 6'd0} : into_q);
    // Zeros but in the write of a byte.
    write_data_o  = {8{moving & {8{state_q == Write}}}};
  end

  assign done_o = state_q == Done;
  assign fault_o = return_q.fault;
  assign value_o = return_q.value;
  assign bounds_o = return_q.bounds;
  assign low_o = return_q.low;
  assign redirects_o = return_q.redirects;

endmodule
