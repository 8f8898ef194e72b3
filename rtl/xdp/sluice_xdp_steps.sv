/// Trace: the order in which packets reach what they share. What is a core's comes on its own channels, what all share on the first core's.
///
/// Latency: none. Never stalls.
module sluice_xdp_steps
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_pkg::*;
#(
    parameter int unsigned Cores = 2,
    parameter int unsigned Contexts = 8,
    parameter int unsigned Slots = 16,
    // Of who asks the map engine.
    parameter int unsigned IdBits = 4,
    localparam int unsigned ContextBits = $clog2(Contexts),
    localparam int unsigned SlotBits = $clog2(Slots),
    localparam int unsigned ProcessorBits = $clog2(Cores * Contexts),
    localparam int unsigned CoreBits = (Cores > 1) ? $clog2(Cores) : 1
) (
    // A packet is in its slot, it is taken by a context, it is given a number.
    input logic [      Cores-1:0]                  slot_valid_i,
    input logic [      Cores-1:0][   SlotBits-1:0] slot_i,
    input logic [      Cores-1:0][           31:0] slot_id_i,
    input logic [      Cores-1:0]                  start_valid_i,
    input logic [      Cores-1:0][   SlotBits-1:0] start_slot_i,
    input logic [      Cores-1:0][ContextBits-1:0] start_context_i,
    input logic [      Cores-1:0]                  number_valid_i,
    input logic [ContextBits-1:0]                  number_context_i,
    input logic [           63:0]                  number_i,

    // A context asks values.
    input logic                   value_valid_i,
    input logic [   CoreBits-1:0] value_core_i,
    input logic [ContextBits-1:0] value_context_i,
    input logic [   CodeBits-1:0] value_row_i,
    // It is asked for a packet that no context has: its slot is the row.
    input logic                   value_early_i,

    // The map engine is done with an operation.
    input logic              map_valid_i,
    input logic              map_host_i,
    input logic [IdBits-1:0] map_id_i,

    output logic                [XdpSteps-1:0] step_valid_o,
    output xdp_step_trace_row_t [XdpSteps-1:0] step_o
);

  logic [XdpSteps/XdpCoreSteps-1:0][XdpCoreSteps-1:0] valid;
  xdp_step_trace_row_t [XdpSteps/XdpCoreSteps-1:0][XdpCoreSteps-1:0] step;
  assign step_valid_o = valid;
  assign step_o = step;

  function automatic logic [4:0] processor_of(int unsigned core, logic [ContextBits-1:0] number);
    return 5'((core << ContextBits) | 32'(number));
  endfunction

  function automatic logic [7:0] slot_of(int unsigned core, logic [SlotBits-1:0] number);
    return 8'((core << SlotBits) | 32'(number));
  endfunction

  always_comb begin
    valid = '0;
    step  = '0;
    for (int unsigned c = 0; c < Cores; c++) begin
      valid[c][XdpStepPacket] = slot_valid_i[c];
      step[c][XdpStepPacket].slot = slot_of(c, slot_i[c]);
      step[c][XdpStepPacket].value = 64'(slot_id_i[c]);
      valid[c][XdpStepStart] = start_valid_i[c];
      step[c][XdpStepStart].processor = processor_of(c, start_context_i[c]);
      step[c][XdpStepStart].slot = slot_of(c, start_slot_i[c]);
      valid[c][XdpStepNumber] = number_valid_i[c];
      step[c][XdpStepNumber].processor = processor_of(c, number_context_i);
      step[c][XdpStepNumber].value = number_i;
    end
    valid[0][XdpStepValue] = value_valid_i;
    step[0][XdpStepValue].processor = processor_of(32'(value_core_i), value_context_i);
    step[0][XdpStepValue].row = value_row_i;
    if (value_early_i) begin
      step[0][XdpStepValue].processor = '0;
      step[0][XdpStepValue].row = '0;
      step[0][XdpStepValue].slot = slot_of(32'(value_core_i), value_row_i[SlotBits-1:0]);
      step[0][XdpStepValue].early = 1'b1;
    end
    valid[0][XdpStepMap] = map_valid_i;
    step[0][XdpStepMap].early = IdBits > ProcessorBits && map_id_i[IdBits-1] && !map_host_i;
    step[0][XdpStepMap].processor = 5'(map_id_i[ProcessorBits-1:0]);
    step[0][XdpStepMap].slot = 8'(map_host_i);
    if (step[0][XdpStepMap].early) begin
      step[0][XdpStepMap].processor = '0;
      step[0][XdpStepMap].slot = 8'(map_id_i[IdBits-2:0]);
    end
  end

endmodule
