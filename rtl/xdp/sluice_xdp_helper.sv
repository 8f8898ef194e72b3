/// Helpers: gives a call to the unit of its family, and hands its answer back (docs/design/xdp-helpers.md).
///
/// | family | helpers |
/// | --- | --- |
/// | sluice_xdp_bounds | those that need the packet's bounds only, redirect, time, random and other numbers |
/// | sluice_xdp_bytes | csum_diff, xdp_load_bytes, xdp_store_bytes, trace_printk, perf_event_output, ringbuf_output, ringbuf_submit |
/// | sluice_xdp_records | ringbuf_reserve, ringbuf_discard |
/// | sluice_xdp_jiffies | jiffies64 |
/// | sluice_xdp_frame | none: a function is entered |
///
/// `start_i` begins the call `call_i`, which stays until `done_o` is high for one cycle with the answer; the next one may begin in the cycle behind.
/// A number that is no helper here faults.
///
/// Latency: the family's. Stall behaviour: one call at a time; `read_valid_o`, `write_valid_o` and
/// `request_valid_o` and `event_valid_o` hold with their values until taken.
module sluice_xdp_helper
  import sluice_xdp_pkg::*;
#(
    // What random numbers begin with.
    parameter logic [63:0] Seed = 64'd1
) (
    input logic clk_i,
    input logic rst_ni,

    input logic      start_i,
    input xdp_call_t call_i,

    output logic               done_o,
    output xdp_return_t        return_o,
    // A number that no program knows: the random one, or whether an event has found room.
    output logic               told_o,
    output logic        [31:0] number_o,

    output logic       event_valid_o,
    input  logic       event_ready_i,
    output xdp_event_t event_o,
    input  logic       event_room_i,

    // Memory; data come in the cycle behind a read that was taken. The place's word and the one behind it; the words that are
    // written repeat themselves in the row.
    output logic                   read_valid_o,
    input  logic                   read_ready_i,
    output xdp_place_t             read_place_o,
    input  logic       [1:0][63:0] read_data_i,
    output logic                   write_valid_o,
    input  logic                   write_ready_i,
    output xdp_place_t             write_place_o,
    output logic       [7:0][ 7:0] write_enable_o,
    output logic       [1:0][63:0] write_data_o,

    // Values; the answer comes some cycles later.
    output logic                request_valid_o,
    input  logic                request_ready_i,
    output xdp_request_t        request_o,
    input  logic                found_valid_i,
    input  logic                found_fault_i,
    input  logic         [63:0] found_value_i
);

  logic is_bytes, is_jiffies, is_records, is_frame;

  assign is_frame = call_i.enters;
  assign is_bytes = !is_frame && (call_i.number inside {HelperChecksum, HelperLoadBytes, HelperStoreBytes} ||
                                  call_i.number[7:0] inside {HelperPrint, HelperPerf, HelperRingOutput, HelperRingSubmit});
  assign is_records = !is_frame && call_i.number[7:0] inside {HelperRingReserve, HelperRingDiscard};
  assign is_jiffies = !is_frame && call_i.number == HelperJiffies;

  logic
      bounds_done,
      bounds_read,
      bounds_write,
      bytes_done,
      bytes_read,
      bytes_write,
      jiffies_done,
      bytes_told,
      bytes_room,
      bytes_event,
      records_done,
      records_told,
      records_event,
      records_write,
      frame_done,
      frame_write;
  logic bounds_fault, bounds_redirects, bytes_fault, records_fault;
  logic [63:0] bounds_value, bytes_value, jiffies_value, records_value;
  xdp_record_t bytes_record, records_record;
  xdp_event_t bytes_event_data, records_event_data;
  xdp_place_t
      bounds_read_place,
      bounds_write_place,
      bytes_read_place,
      bytes_write_place,
      records_write_place,
      frame_write_place;
  logic [7:0][7:0] bounds_write_enable;
  logic [1:0][7:0] bytes_write_enable;
  logic [63:0] bounds_write_data;
  logic [1:0][63:0] bytes_write_data;

  logic [31:0] random;
  sluice_xdp_random #(
      .Seed(Seed)
  ) u_random (
      .clk_i,
      .rst_ni,
      .number_o(random)
  );
  always_comb begin
    told_o   = bounds_done && call_i.number == HelperRandom && !call_i.enters;
    number_o = bounds_value[31:0];
    if (bytes_done) begin
      told_o   = bytes_told;
      number_o = 32'(bytes_room);
    end
    if (records_done) begin
      told_o   = records_told;
      number_o = 32'(records_value != '0);
    end
  end

  sluice_xdp_bounds u_bounds (
      .clk_i,
      .rst_ni,
      .random_i      (random),
      .start_i       (start_i && !is_bytes && !is_jiffies && !is_records && !is_frame),
      .call_i,
      .done_o        (bounds_done),
      .fault_o       (bounds_fault),
      .value_o       (bounds_value),
      .bounds_o      (return_o.bounds),
      .low_o         (return_o.low),
      .redirects_o   (bounds_redirects),
      .read_valid_o  (bounds_read),
      .read_ready_i,
      .read_place_o  (bounds_read_place),
      .read_data_i   (read_data_i[0]),
      .write_valid_o (bounds_write),
      .write_ready_i,
      .write_place_o (bounds_write_place),
      .write_enable_o(bounds_write_enable),
      .write_data_o  (bounds_write_data),
      .whole_i       (records_write || frame_write)
  );

  sluice_xdp_bytes u_bytes (
      .clk_i,
      .rst_ni,
      .start_i       (start_i && is_bytes),
      .call_i,
      .done_o        (bytes_done),
      .fault_o       (bytes_fault),
      .value_o       (bytes_value),
      .record_o      (bytes_record),
      .written_o     (return_o.written),
      .told_o        (bytes_told),
      .room_o        (bytes_room),
      .event_valid_o (bytes_event),
      .event_ready_i,
      .event_o       (bytes_event_data),
      .event_room_i,
      .read_valid_o  (bytes_read),
      .read_ready_i,
      .read_place_o  (bytes_read_place),
      .read_data_i,
      .write_valid_o (bytes_write),
      .write_ready_i,
      .write_place_o (bytes_write_place),
      .write_enable_o(bytes_write_enable),
      .write_data_o  (bytes_write_data),
      .request_valid_o,
      .request_ready_i,
      .request_o,
      .found_valid_i,
      .found_fault_i,
      .found_value_i
  );

  sluice_xdp_jiffies u_jiffies (
      .clk_i,
      .rst_ni,
      .start_i(start_i && is_jiffies),
      .call_i,
      .done_o (jiffies_done),
      .value_o(jiffies_value)
  );

  sluice_xdp_records u_records (
      .clk_i,
      .rst_ni,
      .start_i      (start_i && is_records),
      .call_i,
      .done_o       (records_done),
      .fault_o      (records_fault),
      .value_o      (records_value),
      .record_o     (records_record),
      .told_o       (records_told),
      .event_valid_o(records_event),
      .event_ready_i,
      .event_o      (records_event_data),
      .event_room_i,
      .write_valid_o(records_write),
      .write_ready_i,
      .write_place_o(records_write_place)
  );

  sluice_xdp_frame u_frame (
      .clk_i,
      .rst_ni,
      .start_i      (start_i && is_frame),
      .call_i,
      .done_o       (frame_done),
      .write_valid_o(frame_write),
      .write_ready_i,
      .write_place_o(frame_write_place)
  );

  assign done_o = bounds_done || bytes_done || jiffies_done || records_done || frame_done;
  // What a helper does not change is as it was called in each that could.
  assign return_o.fault = (bounds_done && bounds_fault) || (bytes_done && bytes_fault) || (records_done && records_fault);
  assign return_o.value = (bounds_value & {64{bounds_done}}) | (bytes_value & {64{bytes_done}}) | (jiffies_value & {64{jiffies_done}}) |
      (records_value & {64{records_done}});
  assign return_o.redirects = bounds_done && bounds_redirects;
  assign return_o.record = records_done ? records_record : bytes_record;
  assign event_valid_o = bytes_event || records_event;
  assign event_o = records_event ? records_event_data : bytes_event_data;
  assign read_valid_o = bounds_read || bytes_read;
  assign read_place_o = bytes_read ? bytes_read_place : bounds_read_place;
  assign write_valid_o = bounds_write || bytes_write || records_write || frame_write;
  // Records and frames have rows of zeros. Who does not write gives zeros.
  assign write_enable_o = bounds_write_enable | 64'(bytes_write_enable);
  assign write_data_o = {2{bounds_write_data}} | bytes_write_data;
  always_comb begin
    write_place_o = bounds_write_place;
    if (bytes_write) write_place_o = bytes_write_place;
    if (records_write || frame_write) write_place_o = frame_write ? frame_write_place : records_write_place;
  end

endmodule
