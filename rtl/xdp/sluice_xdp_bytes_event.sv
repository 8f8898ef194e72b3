/// An event of a helper: whether it is refused and why, and its words.
///
/// It is opened with its header, for which there has to be room; 8 bytes are pushed into it at a time; then it is whole, or undone.
///
/// Latency: 1 cycle a word. Stall behaviour: `event_valid_o` holds with its values until taken; one at a time.
module sluice_xdp_bytes_event
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,

    // "Bits of signal are not used": of a call what an event is made of.
    // verilator lint_off UNUSEDSIGNAL
    input xdp_call_t                  call_i,
    // verilator lint_on UNUSEDSIGNAL
    input logic                       prints_i,
    input logic                       perfs_i,
    input logic                       outputs_i,
    input logic                       submits_i,
    // Its data: bytes, and whether they are in one piece of memory; bytes of the frame.
    input logic      [          31:0] size_i,
    input logic                       in_memory_i,
    input logic      [OffsetBits-1:0] frame_size_i,

    output logic                  wrong_o,    // the call faults
    output logic                  refused_o,
    output logic [          63:0] answer_o,
    output logic [OffsetBits-1:0] captured_o, // bytes of the packet, behind the data

    // What is next.
    input logic        opens_i,
    input logic        pushes_i,
    input logic        shuts_i,
    input logic        undoes_i,
    input logic [63:0] word_i,

    // It is being opened, pushed into, shut.
    output logic       opening_o,
    output logic       pushing_o,
    output logic       shutting_o,
    output logic       event_valid_o,
    input  logic       event_ready_i,
    output xdp_event_t event_o
);

  typedef enum logic [2:0] {
    Rest,
    Open,
    Push,  // 8 bytes into it
    Shut,  // it is whole
    Undo   // it is none
  } state_e;

  state_e state_q;
  logic empty, wrong;
  logic [63:0] answer;
  logic [19:0] captured;

  assign empty = size_i == '0;
  assign captured = call_i.third[51:32];
  assign captured_o = captured[OffsetBits-1:0];
  assign wrong_o = wrong;
  assign answer_o = answer;
  assign refused_o = wrong || answer != '0;
  always_comb begin
    wrong  = 1'b0;
    answer = '0;
    if (perfs_i) begin
      wrong = call_i.first != 64'(ContextAddress) || (!empty && !in_memory_i);
      if (call_i.third[63:52] != '0) answer = ErrorInvalid;
      else if (captured > 20'(frame_size_i)) answer = ErrorFault;
      else if (call_i.third[31:0] != '1 && call_i.third[31:0] != 32'(call_i.processor)) answer = ErrorNotSupported;
    end
    if (outputs_i) begin
      wrong = !empty && !in_memory_i;
      if (call_i.fourth[63:2] != '0) answer = ErrorInvalid;
    end
    if (submits_i) wrong = !call_i.record.held || call_i.first != 64'(RecordAddress);
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= Rest;
    end else if (state_q == Rest) begin
      if (opens_i) state_q <= Open;
      if (pushes_i) state_q <= Push;
      if (shuts_i) state_q <= Shut;
      if (undoes_i) state_q <= Undo;
    end else if (event_ready_i) begin
      state_q <= Rest;
    end
  end
  assign opening_o = state_q == Open;
  assign pushing_o = state_q == Push;
  assign shutting_o = state_q == Shut;
  assign event_valid_o = state_q != Rest;

  // What is longer than all words has no room.
  logic huge;
  logic [7:0] channel;
  xdp_event_kind_e kind;
  logic [9:0] all_words;
  xdp_words_t words;
  xdp_event_header_t header;
  assign huge = size_i[31:RecordBits] != '0 || (perfs_i && captured[19:RecordBits] != '0);
  always_comb begin
    all_words = 10'(record_words(size_i[RecordBits-1:0]));
    if (perfs_i) all_words = all_words + 10'(record_words(captured[RecordBits-1:0])) - 10'd1;
    words = (huge || all_words[9]) ? '1 : all_words[8:0];
  end
  always_comb begin
    kind = XdpEventOfRing;
    if (prints_i) kind = XdpEventOfPrint;
    if (perfs_i) kind = XdpEventOfPerf;
    channel = submits_i ? call_i.record.channel : call_i.number[15:8];
  end
  assign header = '{
          kind: kind,
          generation: call_i.generation,
          processor: call_i.processor,
          channel: channel,
          bytes: size_i[15:0],
          packet: perfs_i ? captured[15:0] : '0,
          reserved: '0
      };

  always_comb begin
    event_o = '{op: EventWord, module_id: call_i.module_id, reserved: submits_i, words: words, data: word_i};
    case (state_q)
      Open: begin
        event_o.op   = EventBegin;
        event_o.data = header;
      end
      Shut: event_o.op = EventEnd;
      Undo: event_o.op = EventUndo;
      default: ;
    endcase
  end

endmodule
