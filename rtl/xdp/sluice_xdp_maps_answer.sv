/// What is said of an operation of the map engine: to the context that asked, or to the host.
///
/// Parts say what has come of it, one a cycle; when the operation is answered all is there.
///
/// Latency: 1 cycle. Throughput: an event a cycle. Never stalls.
module sluice_xdp_maps_answer
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_pkg::*;
  import sluice_xdp_walk_pkg::*;
#(
    parameter bit Outside = 1'b0
) (
    input logic clk_i,

    // "Bits of signal are not used": of an operation what is asked, of which map.
    // verilator lint_off UNUSEDSIGNAL
    input walk_operation_t operation_i,
    input walk_cursor_t    cursor_i,
    // verilator lint_on UNUSEDSIGNAL

    // The next operation is taken; at its beginning what is known of a reference by index.
    input logic       takes_i,
    input logic       next_fault_i,
    input logic       next_program_i,
    input logic       next_index_i,
    input logic [1:0] next_verdict_i,
    input logic       free_i,          // no operation is under way

    input walk_go_e                  go_i,
    input logic        [       63:0] error_i,
    input logic                      no_entry_i,
    input logic                      failed_i,
    input logic                      verdict_valid_i,
    input logic        [        1:0] verdict_i,
    input logic                      index_valid_i,
    input logic                      found_i,
    input link_t                     next_i,
    input logic                      loops_i,
    input logic                      fails_i,
    input logic                      refuses_i,
    input logic                      bad_i,            // a row of search memory could not be read
    input logic                      written_i,
    // "Bits of signal are not used": of a queue what the context is told.
    // verilator lint_off UNUSEDSIGNAL
    input walk_queue_t               queue_i,
    // verilator lint_on UNUSEDSIGNAL
    input logic                      chain_valid_i,
    input logic        [ChainBits:0] chain_i,
    input link_t                     chain_word_i,
    input logic                      got_i,
    input logic                      got_first_i,
    input logic                      got_fault_i,      // external memory has answered with an error
    input logic        [       31:0] value_i,

    output xdp_map_answer_t        answer_o,
    output logic            [ 7:0] host_error_o,
    output logic            [23:0] host_slot_o,
    output logic            [23:0] host_chain_o
);

  // As the host has error numbers.
  function automatic logic [7:0] host_error(logic [63:0] error);
    return 8'(64'd0 - error);
  endfunction

  xdp_map_answer_t answer_q;
  steps_t spent_q;
  logic [63:0] error_q;
  logic refers, there;
  logic [63:0] address;

  assign there = value_i != '0;
  assign refers = operation_i.call.op == XdpMapOpReference;
  assign address = (Outside && is_wide(
      operation_i
  )) ? element_address(
      operation_i
  ) : value_address(
      operation_i, (found_i || queue_i.given) ? cursor_i.at : cursor_i.slot
  );

  always_comb begin
    answer_o = answer_q;
    answer_o.steps = spent_q;
  end

  always_ff @(posedge clk_i) begin
    // What an operation takes of the engine.
    if (free_i) spent_q <= '0;
    else if (spent_q != '1) spent_q <= spent_q + steps_t'(1);

    if (go_i == GoFail) error_q <= error_i;
    if (verdict_valid_i) answer_q.value <= 64'(verdict_i);
    if (failed_i) answer_q.failed <= 1'b1;
    if (no_entry_i) host_error_o <= host_error(ErrorNoEntry);
    if (index_valid_i) host_slot_o <= 24'(slot_t'(operation_i.key.first)) + 24'd1;

    if (found_i) begin
      host_slot_o <= 24'(cursor_i.at) + 24'd1;
      if (operation_i.call.op == XdpMapOpNext && next_i != '0) host_slot_o <= 24'(next_i);
      if (program_looks(operation_i)) answer_q.value <= address;
    end
    if (written_i) host_slot_o <= 24'(cursor_i.slot) + 24'd1;
    if (queue_i.given) answer_q.value <= {queue_i.why, address[31:0]};
    if (chain_valid_i) begin
      host_chain_o <= 24'(chain_i);
      host_slot_o  <= 24'(chain_word_i);
    end
    if (loops_i) begin
      answer_q.fault <= 1'b1;
      host_error_o   <= host_error(ErrorNoMemory);
    end

    // What an entry holds.
    if (got_i && operation_i.host) begin
      // An empty place of such a map is no entry.
      if (!(operation_i.map.kind inside {XdpMapArray, XdpMapHash, XdpMapTrie, XdpMapQueue, XdpMapStack}) && got_first_i && !there) begin
        host_error_o <= host_error(ErrorNoEntry);
        host_slot_o  <= '0;
      end
    end else if (got_i && operation_i.call.op inside {XdpMapOpReference, XdpMapOpProgram}) begin
      answer_q.refers   <= there;
      answer_q.failed   <= !there;
      answer_q.to_host  <= operation_i.map.kind == XdpMapReferences;
      answer_q.referent <= value_i;
      if (refers && there) answer_q.value <= 64'(VerdictRedirect);
      if (refers && operation_i.call.value[FlagBroadcast]) begin
        answer_q.refers   <= 1'b1;
        answer_q.failed   <= 1'b0;
        answer_q.to_host  <= 1'b1;
        answer_q.referent <= to_several(value_i[7:0], operation_i.call.value[FlagExclude]);
        answer_q.value    <= 64'(VerdictRedirect);
      end
    end else if (got_i && operation_i.map.kind == XdpMapDevices) begin
      answer_q.value <= there ? address : '0;
    end else if (got_i) begin
      // The handle of a map that a map holds; of the others a program sees nothing.
      answer_q.value <= (operation_i.map.kind inside {XdpMapMaps, XdpMapKeyedMaps}) ? 64'(value_i) : '0;
    end

    if (Outside && got_i && got_fault_i) begin
      answer_q.fault <= 1'b1;
      host_error_o   <= host_error(ErrorIo);
    end

    // An error number.
    if (fails_i) begin
      answer_q.value <= error_q;
      host_error_o   <= host_error(error_q);
      host_slot_o    <= '0;
    end
    if (bad_i) begin
      answer_q.fault <= 1'b1;
      host_error_o   <= host_error(ErrorIo);
    end
    // An update whose value may not be read changes nothing.
    if (refuses_i) begin
      answer_q.value <= '0;
      answer_q.fault <= 1'b1;
    end

    if (takes_i) begin
      answer_q       <= '0;
      answer_q.fault <= next_fault_i;
      if (next_index_i) answer_q.value <= 64'(next_verdict_i);
      // Where there is no program.
      if (next_program_i) answer_q.value <= ErrorNoEntry;
      host_error_o <= next_fault_i ? host_error(ErrorInvalid) : '0;
      host_slot_o  <= '0;
      host_chain_o <= '0;
    end
  end

endmodule
