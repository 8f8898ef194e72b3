/// Helpers that read or copy memory: `csum_diff`, `xdp_load_bytes`, `xdp_store_bytes`, and those that tell the host of an event:
/// `trace_printk`, `perf_event_output`, `ringbuf_output`, `ringbuf_submit` (docs/design/xdp-helpers.md).
///
/// `start_i` begins the call `call_i`, which stays until `done_o` is high for one cycle with the answer. Memory is the frame with
/// its metadata, the stack, a record, or one value of a map; an argument that is not in one piece of it faults, before anything is
/// written. A copy goes from the end that keeps the source whole, as if it had been read before.
///
/// Latency: 4 cycles; each 8 bytes 3 more to sum, 4 to copy; those in a value 6 more for a load, 7 for a store; a
/// checksum 3 a range and 1; an event 4 and 2 more for each 8 bytes. Stall behaviour: one call at a time; `read_valid_o`, `write_valid_o`,
/// `request_valid_o` and `event_valid_o` hold with their values until taken.
module sluice_xdp_bytes
  import sluice_xdp_pkg::*;
  import sluice_xdp_rows_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,

    input logic      start_i,
    // "Bits of signal are not used": sizes and offsets are 32 bits.
    // verilator lint_off UNUSEDSIGNAL
    input xdp_call_t call_i,
    // verilator lint_on UNUSEDSIGNAL

    output logic                         done_o,
    output logic                         fault_o,
    output logic        [          63:0] value_o,
    // Of a call that is not under way here as they are: a cycle behind it.
    output xdp_record_t                  record_o,
    output logic        [StackWords-1:0] written_o,
    output logic                         told_o,     // a number that no program knows: whether an event found room
    output logic                         room_o,     // which it is

    output logic       event_valid_o,
    input  logic       event_ready_i,
    output xdp_event_t event_o,
    input  logic       event_room_i,

    output logic                   read_valid_o,
    input  logic                   read_ready_i,
    output xdp_place_t             read_place_o,
    input  logic       [1:0][63:0] read_data_i,
    output logic                   write_valid_o,
    input  logic                   write_ready_i,
    output xdp_place_t             write_place_o,
    output logic       [1:0][ 7:0] write_enable_o,
    output logic       [1:0][63:0] write_data_o,

    output logic                request_valid_o,
    input  logic                request_ready_i,
    output xdp_request_t        request_o,
    input  logic                found_valid_i,
    input  logic                found_fault_i,
    input  logic         [63:0] found_value_i
);

  typedef enum logic [3:0] {
    Idle,
    Measure,  // where ranges end
    Judge,    // what may be read and written
    Turn,     // to the ranges' ends, of a copy that goes down
    Step,     // to the next 8 bytes
    Read,
    Data,     // arrive
    Found,    // in a value
    Write,
    Stored,   // in a value
    Event,    // is opened, gets 8 bytes, ends
    Behind,   // to the packet's bytes
    Sum,      // of a range is folded
    Done
  } state_e;

  logic wrong, refused, opening, pushing, shutting, folded, closes, told_q, room_q;
  logic [15:0] sum;
  logic [OffsetBits-1:0] captured;
  logic [63:0] answer;
  xdp_record_t record_q;

  // Bytes of a packet's memory: its stack, then its buffer, and before both, below zero, frames of functions; or an address of a value.
  localparam int unsigned LineBits = OffsetBits + 2;
  typedef struct packed {
    logic        in_value;
    logic [31:0] at;
  } spot_t;

  logic [LineBits-7:0] record_row;
  state_e state_q, state_next;
  logic fault_q, second_q, down_q, over;
  spot_t from_q, into_q, spot;
  logic [OffsetBits-1:0] left_q;
  logic [3:0] bytes, bytes_q;
  logic [63:0] value_q, word_q;
  logic [StackWords-1:0] stack_q;

  // ---------------------------------------------------------------------------------------------------------------
  // The range in memory, and of a copy the one in the frame.

  logic sums, loads, prints, perfs, outputs, submits, emits;
  logic [63:0] asked, address_q;
  logic [31:0] asked_size, size_q;
  logic [OffsetBits:0] end_q;
  logic [OffsetBits-1:0] frame_size_q, frame_at_q;
  logic [16:0] frame_end_q;
  // Of the address that was asked for a cycle ago.
  logic in_packet, in_stack, in_record, in_values;
  // The same a cycle later, when it is judged.
  logic in_packet_q, in_stack_q, in_record_q, in_memory_q, too_large_q, beyond_q;

  assign sums    = call_i.number == HelperChecksum;
  assign loads   = call_i.number == HelperLoadBytes;
  assign prints  = call_i.number[7:0] == HelperPrint;
  assign perfs   = call_i.number[7:0] == HelperPerf;
  assign outputs = call_i.number[7:0] == HelperRingOutput;
  assign submits = call_i.number[7:0] == HelperRingSubmit;
  assign emits   = prints || perfs || outputs || submits;
  always_comb begin
    asked = call_i.third;
    asked_size = call_i.fourth[31:0];
    // The second range is asked for as soon as the first one is summed.
    if ((sums && !second_q && !folded) || submits) begin
      asked = call_i.first;
      asked_size = call_i.second[31:0];
    end
    if (submits) asked_size = 32'(call_i.record.bytes);
    if (outputs) begin
      asked = call_i.second;
      asked_size = call_i.third[31:0];
    end
    if (perfs) begin
      asked = call_i.fourth;
      asked_size = call_i.fifth[31:0];
    end
    if (prints) asked_size = 32'd24;
  end

  always_ff @(posedge clk_i) begin
    address_q    <= asked;
    size_q       <= asked_size;
    end_q        <= (OffsetBits + 1)'(asked[OffsetBits-1:0]) + (OffsetBits + 1)'(asked_size[OffsetBits-1:0]);
    frame_size_q <= call_i.bounds.past - call_i.bounds.data;
    frame_at_q   <= call_i.bounds.data + call_i.second[OffsetBits-1:0];
    frame_end_q  <= 17'(call_i.second[15:0]) + 17'(asked_size[15:0]);
  end

  logic fits;
  assign fits = address_q[63:32] == '0 && size_q[31:OffsetBits] == '0;
  assign in_packet = fits && address_q[31:OffsetBits] == PacketAddress[31:OffsetBits] &&
      address_q[OffsetBits-1:0] >= call_i.bounds.meta && end_q <= {1'b0, call_i.bounds.past};
  // From bit 9 of an address on the stack: its last byte is the frame's last.
  assign in_stack = fits && on_stack(
      address_q[31:0], call_i.depth
  ) && end_q <= (OffsetBits + 1)'({(DepthBits + 1)'(frame_of(
      address_q[31:0]
  )) + (DepthBits + 1)'(1), 10'd0});
  assign in_record = fits && call_i.record.held && address_q[31:RecordBits] == RecordAddress[31:RecordBits] &&
      end_q <= (OffsetBits + 1)'(call_i.record.bytes);
  assign in_values = fits && size_q[OffsetBits-1:10] == '0 && address_q[31:28] inside {[4'd4 : 4'd8]};
  always_ff @(posedge clk_i) begin
    in_packet_q <= in_packet;
    in_stack_q  <= in_stack;
    in_record_q <= in_record;
    in_memory_q <= in_packet || in_stack || in_record || in_values;
    too_large_q <= call_i.second[31:16] != '0 || size_q[31:16] != '0;
    beyond_q    <= frame_end_q > 17'(frame_size_q);
  end

  always_comb begin
    spot = '{in_value: 1'b1, at: address_q[31:0]};
    if (in_packet_q) spot = '{in_value: 1'b0, at: 32'(LineBits'(512) + LineBits'(address_q[OffsetBits-1:0]))};
    // Its rows are numbered from the packet's base on, as all others.
    if (in_record_q) spot = '{in_value: 1'b0, at: 32'({record_row, 6'd0} + LineBits'(address_q[RecordBits-1:0]))};
    if (in_stack_q) spot = '{in_value: 1'b0, at: 32'($signed({-{1'b0, frame_of(address_q[31:0])}, address_q[8:0]}))};
  end

  spot_t frame_spot;
  assign frame_spot = '{in_value: 1'b0, at: 32'(LineBits'(512) + LineBits'(frame_at_q))};

  assign record_row = (LineBits - 6)'(call_i.place - call_i.base);

  function automatic xdp_place_t line_place(logic [RowBits-1:0] base, logic [LineBits-1:3] line);
    return '{row: base + RowBits'($signed(line[LineBits-1:6])), word: line[5:3]};
  endfunction

  // In the program's own stack, whose words may be unwritten.
  function automatic logic may_be_unset(spot_t a);
    return !a.in_value && a.at[LineBits-1:9] == '0;
  endfunction

  // ---------------------------------------------------------------------------------------------------------------
  // States.

  logic empty;
  assign empty = size_q == '0;
  assign bytes = (left_q < OffsetBits'(8)) ? left_q[3:0] : 4'd8;

  // What becomes of an event.
  logic opens, pushes, shuts, undoes;
  always_comb begin
    state_next = state_q;
    opens = 1'b0;
    pushes = 1'b0;
    shuts = 1'b0;
    undoes = 1'b0;
    case (state_q)
      Idle: if (start_i) state_next = Measure;
      Measure: state_next = Judge;
      Judge: begin
        if (sums) begin
          if (empty) state_next = Sum;
          else state_next = in_memory_q ? Step : Done;
        end else if (emits) begin
          state_next = refused ? Done : Event;
          opens = !refused;
        end else if (call_i.first != 64'(ContextAddress) || too_large_q || beyond_q || empty) begin
          state_next = Done;
        end else begin
          state_next = !in_memory_q ? Done : in_packet_q ? Turn : Step;
        end
      end
      Turn: state_next = Step;
      Step: begin
        if (emits && !room_q) begin
          state_next = Done;
        end else if (left_q != '0) begin
          state_next = prints ? Event : Read;
          pushes = prints;
        end else if (emits) begin
          state_next = (perfs && !second_q) ? Behind : Event;
          shuts = !perfs || second_q;
        end else begin
          state_next = sums ? Sum : Done;
        end
      end
      Read: begin
        if (from_q.in_value) begin
          if (request_ready_i) state_next = Found;
        end else if (read_ready_i) begin
          state_next = Data;
        end
      end
      Data: begin
        state_next = sums ? Step : emits ? Event : Write;
        pushes = emits;
      end
      Found: begin
        if (found_valid_i) begin
          state_next = sums ? Step : emits ? Event : Write;
          if (found_fault_i) state_next = emits ? Event : Done;
          pushes = emits && !found_fault_i;
          undoes = emits && found_fault_i;
        end
      end
      Write: begin
        if (into_q.in_value) begin
          if (request_ready_i) state_next = Stored;
        end else if (write_ready_i) begin
          state_next = Step;
        end
      end
      Stored: if (found_valid_i) state_next = found_fault_i ? Done : Step;
      // Whether it has found room is looked at behind that.
      Event: if (event_ready_i) state_next = (pushing || opening) ? Step : Done;
      Behind: state_next = Step;
      Sum: begin
        if (folded && !second_q) state_next = Measure;
        if (closes) state_next = Done;
      end
      default: state_next = Idle;
    endcase
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) state_q <= Idle;
    else state_q <= state_next;
  end

  // ---------------------------------------------------------------------------------------------------------------
  // What is read.

  logic [1:0] unset_from, unset_into;
  logic [15:0] read_q;
  logic [7:0][7:0] parts;
  logic [63:0] aligned;
  logic arrives;

  assign unset_from = {
    may_be_unset(from_q) && !stack_q[6'(from_q.at[8:3]+6'd1)], may_be_unset(from_q) && !stack_q[from_q.at[8:3]]
  };
  assign unset_into = {
    may_be_unset(into_q) && !stack_q[6'(into_q.at[8:3]+6'd1)], may_be_unset(into_q) && !stack_q[into_q.at[8:3]]
  };
  // The piece stays where it is between its read and its data. Its bytes lie in the two words from its first one on, around behind the eighth: turned
  // down they are where they belong.
  always_ff @(posedge clk_i) begin
    read_q <= (16'(byte_mask(bytes_q)) << from_q.at[2:0]) & ~{{8{unset_from[1]}}, {8{unset_from[0]}}};
  end
  always_comb begin
    for (int unsigned i = 0; i < 8; i++) begin
      parts[i] = (read_data_i[0][8*i+:8] & {8{read_q[i]}}) | (read_data_i[1][8*i+:8] & {8{read_q[8+i]}});
    end
  end
  assign aligned = 64'({parts, parts} >> {from_q.at[2:0], 3'd0});
  assign arrives = state_q == Data || (state_q == Found && found_valid_i && !found_fault_i);

  // ---------------------------------------------------------------------------------------------------------------
  // Sums and events.

  sluice_xdp_bytes_sum u_sum (
      .clk_i,
      .rst_ni,
      .begins_i    (state_q == Judge),
      .second_i    (second_q),
      .seed_i      (call_i.fifth[31:0]),
      .from_empty_i(call_i.second[31:0] == '0),
      .to_empty_i  (call_i.fourth[31:0] == '0),
      .arrives_i   (arrives && sums),
      .word_i      (word_q),
      .folds_i     (state_q != Sum && state_next == Sum),
      .folded_o    (folded),
      .closes_o    (closes),
      .sum_o       (sum)
  );

  sluice_xdp_bytes_event u_event (
      .clk_i,
      .rst_ni,
      .call_i,
      .prints_i    (prints),
      .perfs_i     (perfs),
      .outputs_i   (outputs),
      .submits_i   (submits),
      .size_i      (size_q),
      .in_memory_i (in_memory_q),
      .frame_size_i(frame_size_q),
      .wrong_o     (wrong),
      .refused_o   (refused),
      .answer_o    (answer),
      .captured_o  (captured),
      .opens_i     (opens),
      .pushes_i    (pushes),
      .shuts_i     (shuts),
      .undoes_i    (undoes),
      .word_i      (word_q),
      .opening_o   (opening),
      .pushing_o   (pushing),
      .shutting_o  (shutting),
      .event_valid_o,
      .event_ready_i,
      .event_o
  );
  assign told_o = told_q && !fault_q;
  assign room_o = room_q;

  // ---------------------------------------------------------------------------------------------------------------
  // Where the copy is: to the ranges' ends, or one piece further, up or down. At the packet's bytes it begins anew.

  logic further, moves;
  logic [OffsetBits:0] by;
  assign further = (arrives && sums) || (pushing && event_ready_i) || (state_q == Write && !into_q.in_value && write_ready_i) ||
      (state_q == Stored && found_valid_i);
  always_comb begin
    moves = further && !down_q;
    by = (OffsetBits + 1)'(8);
    if (state_q == Turn) begin
      moves = into_q.at > from_q.at;
      by = {1'b0, left_q};
    end
    if (state_q == Step) begin
      moves = down_q;
      by = -(OffsetBits + 1)'(bytes);
    end
  end

  always_ff @(posedge clk_i) begin
    case (state_q)
      Idle: begin
        second_q <= 1'b0;
        fault_q  <= 1'b0;
        told_q   <= 1'b0;
        value_q  <= '0;
        record_q <= call_i.record;
        stack_q  <= call_i.written;
      end
      Judge: begin
        left_q <= OffsetBits'(size_q);
        from_q <= loads ? frame_spot : spot;
        into_q <= loads ? spot : frame_spot;
        if (sums) begin
          fault_q <= !empty && !in_memory_q;
        end else if (emits) begin
          fault_q <= wrong;
          value_q <= wrong ? '0 : answer;
        end else if (call_i.first != 64'(ContextAddress)) begin
          fault_q <= 1'b1;
        end else if (too_large_q) begin
          value_q <= ErrorFault;
        end else if (beyond_q) begin
          value_q <= ErrorInvalid;
        end else if (!empty) begin
          fault_q <= !in_memory_q;
        end
      end
      Step: bytes_q <= bytes;
      Event: begin
        if (opening && event_ready_i) begin
          room_q <= event_room_i;
          told_q <= !submits;
          if (!event_room_i) value_q <= outputs ? ErrorAgain : perfs ? ErrorNoSpace : '0;
        end
        if (shutting && event_ready_i && submits) record_q.held <= 1'b0;
      end
      Behind: begin
        second_q <= 1'b1;
        from_q   <= '{in_value: 1'b0, at: 32'(LineBits'(512) + LineBits'(call_i.bounds.data))};
        left_q   <= captured;
      end
      Found, Stored: if (found_valid_i && found_fault_i) fault_q <= 1'b1;
      Sum: begin
        if (folded) second_q <= 1'b1;
        if (closes) value_q <= 64'(sum);
      end
      default: ;
    endcase
    if (state_q == Judge) down_q <= 1'b0;
    if (state_q == Turn) down_q <= into_q.at > from_q.at;
    if (state_q == Data) word_q <= aligned;
    if (state_q == Found) word_q <= found_value_i;
    if (state_q == Step && prints) begin
      case (left_q)
        OffsetBits'(24): word_q <= call_i.third;
        OffsetBits'(16): word_q <= call_i.fourth;
        default: word_q <= call_i.fifth;
      endcase
    end
    if (further) left_q <= left_q - OffsetBits'(bytes_q);
    if (moves) begin
      from_q.at <= from_q.at + 32'($signed(by));
      into_q.at <= into_q.at + 32'($signed(by));
    end
    if (state_q == Write && may_be_unset(into_q) && write_ready_i) begin
      stack_q[into_q.at[8:3]] <= 1'b1;
      if (over) stack_q[6'(into_q.at[8:3]+6'd1)] <= 1'b1;
    end
  end

  // ---------------------------------------------------------------------------------------------------------------

  logic [15:0] enable;

  assign over = 5'(into_q.at[2:0]) + 5'(bytes_q) > 5'd8;
  assign enable = 16'(byte_mask(bytes_q)) << into_q.at[2:0];

  assign read_valid_o = state_q == Read && !from_q.in_value;
  assign read_place_o = line_place(call_i.base, from_q.at[LineBits-1:3]);
  assign write_valid_o = state_q == Write && !into_q.in_value;
  assign write_place_o = line_place(call_i.base, into_q.at[LineBits-1:3]);
  // Zeros but in the write itself; so are bytes of a word that are not the copy's.
  logic [7:0][7:0] turned;
  assign turned = turned_up(word_q, into_q.at[2:0]);
  always_comb begin
    for (int unsigned i = 0; i < 8; i++) begin
      write_data_o[0][8*i+:8] = turned[i] & {8{enable[i] && write_valid_o}};
      write_data_o[1][8*i+:8] = turned[i] & {8{enable[8+i] && write_valid_o}};
    end
    write_enable_o[0] = write_valid_o ? enable[7:0] | {8{unset_into[0]}} : 8'd0;
    write_enable_o[1] = (write_valid_o && over) ? enable[15:8] | {8{unset_into[1]}} : 8'd0;
  end

  assign request_valid_o = (state_q == Read && from_q.in_value) || (state_q == Write && into_q.in_value);
  always_comb begin
    request_o = '0;
    request_o.kind = (state_q == Write) ? RequestStore : RequestLoad;
    request_o.module_id = call_i.module_id;
    request_o.regions = call_i.regions;
    request_o.address = (state_q == Write) ? into_q.at : from_q.at;
    request_o.bytes = bytes_q;
    request_o.span = 10'(left_q);
    request_o.data = word_q;
  end

  assign done_o = state_q == Done;
  assign fault_o = fault_q;
  assign value_o = value_q;
  assign record_o = record_q;
  assign written_o = stack_q;

endmodule
