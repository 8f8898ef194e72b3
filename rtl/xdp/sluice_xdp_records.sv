/// Records of ring buffers: `ringbuf_reserve`, `ringbuf_discard` (docs/design/hxdp-core.md, "Events"). A record lies in its packet's memory until
/// sluice_xdp_bytes submits it.
///
/// `start_i` begins the call `call_i`, which stays until `done_o` is high for one cycle with the answer. A packet has one record at a time, of at
/// most the bytes that its program's row says; a second or longer one finds no room, as one for whose event there is none
/// (`told_o`, with `done_o`: whether it was found). A record begins as zeros. What is no record faults.
///
/// Latency: 5 cycles, one more for each 64 bytes that become zero, and what events and memory are waited for. Stall behaviour: one call at a
/// time; `event_valid_o` and `write_valid_o` hold with their values until taken.
module sluice_xdp_records
  import sluice_xdp_pkg::*;
  import sluice_xdp_rows_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,

    input logic      start_i,
    // "Bits of signal are not used": a record has a place, a size and flags.
    // verilator lint_off UNUSEDSIGNAL
    input xdp_call_t call_i,
    // verilator lint_on UNUSEDSIGNAL

    output logic               done_o,
    output logic               fault_o,
    output logic        [63:0] value_o,
    output xdp_record_t        record_o,
    output logic               told_o,    // a number that no program knows: whether there was room

    output logic       event_valid_o,
    input  logic       event_ready_i,
    output xdp_event_t event_o,
    input  logic       event_room_i,

    // A whole row of zeros.
    output logic       write_valid_o,
    input  logic       write_ready_i,
    output xdp_place_t write_place_o
);

  typedef enum logic [2:0] {
    Idle,
    Judge,
    Ask,    // for its event's room, or give that back
    Clear,
    Done
  } state_e;

  // Bits of a number of rows.
  localparam int unsigned CountBits = RecordBits - 5;

  state_e state_q;
  logic reserves, fits, is_record, fault_q, told_q;
  logic [63:0] value_q;
  logic [CountBits-1:0] row_q, rows_q;
  xdp_record_t record_q;

  assign reserves = call_i.number[7:0] == HelperRingReserve;
  assign fits = call_i.second[63:RecordBits] == '0 && !call_i.record.held &&
      {1'b0, call_i.second[RecordBits-1:0]} <= {1'b0, call_i.records, 9'd0};
  assign is_record = call_i.record.held && call_i.first == 64'(RecordAddress);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= Idle;
    end else begin
      case (state_q)
        Idle: if (start_i) state_q <= Judge;
        Judge: state_q <= ((reserves && call_i.third == '0 && fits) || (!reserves && is_record)) ? Ask : Done;
        Ask: if (event_ready_i) state_q <= (reserves && event_room_i && rows_q != '0) ? Clear : Done;
        Clear: if (write_ready_i && row_q + CountBits'(1) == rows_q) state_q <= Done;
        default: state_q <= Idle;
      endcase
    end
    case (state_q)
      Judge: begin
        fault_q  <= !reserves && !is_record;
        told_q   <= reserves && call_i.third == '0;
        value_q  <= '0;
        row_q    <= '0;
        rows_q   <= CountBits'((12'(call_i.second[RecordBits-1:0]) + 12'd63) >> 6);
        record_q <= call_i.record;
      end
      Ask: begin
        if (event_ready_i && reserves && event_room_i) begin
          value_q  <= 64'(RecordAddress);
          record_q <= '{held: 1'b1, channel: call_i.number[15:8], bytes: call_i.second[RecordBits-1:0]};
        end
        if (event_ready_i && !reserves) record_q.held <= 1'b0;
      end
      Clear:   if (write_ready_i) row_q <= row_q + CountBits'(1);
      default: ;
    endcase
  end

  assign event_valid_o = state_q == Ask;
  assign event_o = '{
          op: reserves ? EventReserve : EventReturn,
          module_id: call_i.module_id,
          reserved: 1'b0,
          words: record_words(reserves ? call_i.second[RecordBits-1:0] : call_i.record.bytes),
          data: '0
      };
  assign write_valid_o = state_q == Clear;
  assign write_place_o = '{row: call_i.place + RowBits'(row_q), word: 3'd0};

  assign done_o = state_q == Done;
  assign told_o = told_q;
  assign fault_o = fault_q;
  assign value_o = value_q;
  assign record_o = record_q;

endmodule
