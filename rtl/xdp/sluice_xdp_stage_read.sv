/// Third stage of a core: the row is there, and its registers are read; the write stage's are written.
///
/// What comes in place of a register, the frame's start or a number, is put in behind the registers' memory.
///
/// Latency: 1 cycle. Throughput: a bundle a cycle. Never stalls.
module sluice_xdp_stage_read
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_pkg::*;
  import sluice_xdp_instructions_pkg::*;
  import sluice_xdp_stages_pkg::*;
#(
    parameter int unsigned Contexts = 8,
    parameter int unsigned Slots = 16,
    localparam int unsigned ContextBits = $clog2(Contexts),
    localparam int unsigned SlotBits = $clog2(Slots)
) (
    input logic clk_i,
    input logic rst_ni,

    input xdp_fetched_t                    bundle_i,
    input logic          [ContextBits-1:0] context_i,
    input xdp_code_row_t                   code_i,
    input xdp_page_row_t                   page_i,
    input xdp_kept_t                       kept_i,
    input xdp_given_t                      given_i,
    input logic          [   SlotBits-1:0] slot_i,

    input xdp_write_t                   write_i,
    input logic       [ContextBits-1:0] write_context_i,
    input logic       [ContextBits-1:0] late_context_i,

    // A register of a packet that waits in a slot.
    input  xdp_set_t set_i,
    output logic     set_ready_o,

    output xdp_read_t                         bundle_o,
    output logic      [ContextBits-1:0]       context_o,
    // Both operands of each lane.
    output logic      [   XdpLanes-1:0][63:0] a_o,
    output logic      [   XdpLanes-1:0][63:0] b_o
);

  localparam int unsigned Lanes = XdpLanes;
  // Reads as the address of the frame's first byte.
  localparam logic [3:0] StartRegister = 4'd15;

  logic foreign;
  assign foreign = !page_i.valid || page_i.module_id != bundle_i.module_id;

  logic [31:0] frame;
  assign frame = PacketAddress | 32'(bundle_i.start ? OffsetBits'(Headroom) : kept_i.bounds.data);

  // The highest bit of the first lane's operation says that the row leaves its flow's section, that of the last one's that it is of that.
  localparam int unsigned FlagBit = 7;
  xdp_lane_t [Lanes-1:0] lanes;
  always_comb begin
    lanes = code_i.lanes;
    for (int unsigned l = 0; l < Lanes; l++) lanes[l].op[FlagBit] = 1'b0;
  end

  // Operations of 32 bits take the lower halves. A negation subtracts what it negates from nothing.
  logic [2*Lanes-1:0][3:0] registers;
  logic [2*Lanes-1:0] none, narrow;
  logic [Lanes-1:0] negates;
  always_comb begin
    for (int unsigned l = 0; l < Lanes; l++) begin
      negates[l] = lanes[l].op == XdpOpNegate;
      narrow[2*l+:2] = {2{takes_halves(lanes[l])}};
      registers[2*l] = lanes[l].a;
      registers[2*l+1] = negates[l] ? lanes[l].a : lanes[l].b;
      none[2*l] = negates[l] || lanes[l].a == StartRegister;
      none[2*l+1] = (lanes[l].immediate && !negates[l]) || registers[2*l+1] == StartRegister ||
          is_constant(lanes[l].op);
    end
  end

  logic [2*Lanes-1:0][63:0] values;
  sluice_xdp_registers #(
      .Contexts(Contexts),
      .Lanes   (Lanes),
      .Slots   (Slots)
  ) u_registers (
      .clk_i,
      .read_context_i  (context_i),
      .read_fresh_i    (bundle_i.start),
      .read_depth_i    (bundle_i.turn.depth),
      .read_register_i (registers),
      .read_none_i     (none),
      .read_narrow_i   (narrow),
      .read_given_i    (given_i.registers),
      .read_slot_i     (slot_i),
      .read_o          (values),
      .write_context_i,
      .write_clear_i   (write_i.clear),
      .write_valid_i   (write_i.valid),
      .write_register_i(write_i.registers),
      .write_data_i    (write_i.data),
      .late_mark_i     (write_i.mark),
      .late_marked_i   (write_i.marked),
      .late_valid_i    (write_i.late),
      .late_context_i,
      .set_i,
      .set_ready_o
  );

  xdp_kept_t fresh;
  assign fresh = '{
          bounds: '{meta: OffsetBits'(Headroom), data: OffsetBits'(Headroom), past: bundle_i.past},
          low: OffsetBits'(Headroom),
          work: bundle_i.work,
          tails: '0,
          record: '0,
          locked: 1'b0,
          redirect: '0
      };

  // What comes in place of a register.
  logic [Lanes-1:0][31:0] start_a_q;
  logic [Lanes-1:0][63:0] other_b_q;

  always_ff @(posedge clk_i) begin
    context_o          <= context_i;
    bundle_o.valid     <= bundle_i.valid && rst_ni;
    bundle_o.start     <= bundle_i.start;
    bundle_o.resume    <= bundle_i.resume;
    bundle_o.row       <= bundle_i.row;
    bundle_o.turn      <= bundle_i.turn;
    bundle_o.kept      <= bundle_i.start ? fresh : kept_i;
    bundle_o.given     <= given_i.words;
    // A pass that restores registers has no bundle.
    bundle_o.foreign   <= foreign && bundle_i.turn.pass == PassBundle;
    bundle_o.enters    <= code_i.lanes[Lanes-1].op[FlagBit] && !foreign && bundle_i.turn.pass == PassBundle;
    bundle_o.leaves    <= code_i.lanes[0].op[FlagBit] && !foreign && bundle_i.turn.pass == PassBundle;
    bundle_o.next_page <= page_i.next;
    for (int unsigned l = 0; l < Lanes; l++) begin
      bundle_o.lanes[l] <= (bundle_i.turn.pass == PassBundle) ? lanes[l] : '0;
      bundle_o.does[l] <= arithmetic_of((bundle_i.turn.pass == PassBundle) ? lanes[l] : '0);
      start_a_q[l] <= (!negates[l] && lanes[l].a == StartRegister) ? frame : '0;
      other_b_q[l] <= '0;
      if (lanes[l].immediate && !negates[l]) other_b_q[l] <= {{32{lanes[l].imm[31]}}, lanes[l].imm};
      else if (registers[2*l+1] == StartRegister) other_b_q[l] <= 64'(frame);
      if (is_constant(lanes[l].op)) other_b_q[l] <= constant_of(lanes[l]);
      if (narrow[2*l]) other_b_q[l][63:32] <= '0;
    end
  end
  always_comb begin
    for (int unsigned l = 0; l < Lanes; l++) begin
      a_o[l] = values[2*l] | 64'(start_a_q[l]);
      b_o[l] = values[2*l+1] | other_b_q[l];
    end
  end

endmodule
