/// Registers of all contexts: block RAM, a bank for each lane that writes, in a copy for each port that reads.
///
/// `state_t` says of each register of a context whether it was written since the context began, and which lane wrote
/// it last. A context has one bundle under way, so its state travels with that bundle: it is read with the bundle
/// (`read_context_i`), and written with its results (`write_context_i`, `write_valid_i`). `write_clear_i` forgets all
/// registers of the context, before it writes in that cycle.
///
/// A register may be written *late*: `late_mark_i` says with the bundle's other results that it will be, and `late_valid_i`
/// writes it in a later cycle in which the last lane writes nothing, by that lane's register and data.
///
/// A packet may begin with registers that the warp engine has made (`read_given_i`): they were written for its slot (`set_i`, by the last lane's port, in a cycle in which nobody else
/// writes there) and are read from there until they are written.
///
/// r10 is the frame's address, by depth; r1 that was not written is the address of the program's context; another register that
/// was not written is 0. A port of which nothing is wanted (`read_none_i`) reads 0, and so does the upper half of one that wants 32 bits
/// (`read_narrow_i`).
///
/// Latency: 1 cycle to read; what is written in a cycle is read from the next one on. Throughput: 2 reads and a write
/// a lane and cycle. Never stalls.
module sluice_xdp_registers
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_pkg::*;
#(
    parameter int unsigned Contexts = 8,
    parameter int unsigned Lanes = XdpLanes,
    parameter int unsigned Slots = 16,
    localparam int unsigned ContextBits = $clog2(Contexts),
    localparam int unsigned SlotBits = $clog2(Slots)
) (
    input logic clk_i,

    input  logic   [ContextBits-1:0]       read_context_i,
    // Nothing was written in its context yet.
    input  logic                           read_fresh_i,
    input  depth_t                         read_depth_i,
    input  logic   [    2*Lanes-1:0][ 3:0] read_register_i,
    input  logic   [    2*Lanes-1:0]       read_none_i,
    input  logic   [    2*Lanes-1:0]       read_narrow_i,
    input  logic   [           15:0]       read_given_i,
    input  logic   [   SlotBits-1:0]       read_slot_i,
    output logic   [    2*Lanes-1:0][63:0] read_o,

    input logic [ContextBits-1:0]       write_context_i,
    input logic                         write_clear_i,
    input logic [      Lanes-1:0]       write_valid_i,
    input logic [      Lanes-1:0][ 3:0] write_register_i,
    input logic [      Lanes-1:0][63:0] write_data_i,

    input logic                   late_mark_i,
    input logic [            3:0] late_marked_i,
    input logic                   late_valid_i,
    input logic [ContextBits-1:0] late_context_i,

    // "Bits of signal are not used": slots are numbered as for the largest memory.
    // verilator lint_off UNUSEDSIGNAL
    input  xdp_set_t set_i,
    // verilator lint_on UNUSEDSIGNAL
    output logic     set_ready_o
);

  localparam int unsigned Registers = 16;
  localparam int unsigned BankBits = (Lanes > 1) ? $clog2(Lanes) : 1;
  // Of a context's registers, or of those of a slot.
  localparam int unsigned PlaceBits = (SlotBits > ContextBits) ? SlotBits : ContextBits;

  if (Contexts < 2 || 2 ** ContextBits != Contexts) begin : gen_bad_contexts
    $fatal(1, "xdp_registers: Contexts is %0d, expected a power of two from 2 on (%m)", Contexts);
  end
  if (Lanes != 1 && Lanes != 2 && Lanes != 4) begin : gen_bad_lanes
    $fatal(1, "xdp_registers: Lanes is %0d, expected 1, 2 or 4 (%m)", Lanes);
  end

  typedef struct packed {
    logic [Registers-1:0]               valid;
    logic [Registers-1:0][BankBits-1:0] bank;
  } state_t;

  state_t read_state, write_state, new_state;
  logic sets;
  assign set_ready_o = !write_valid_i[Lanes-1] && !late_valid_i;
  assign sets = set_i.valid && set_ready_o;
  logic [2*Lanes-1:0][Lanes-1:0][63:0] banks;

  for (genvar p = 0; p < int'(2 * Lanes); p++) begin : gen_read
    logic [3:0] register;
    // Whose bank is read, for the lower and upper half; what no bank has: addresses, which are below 2^32.
    logic is_frame, valid, given;
    logic [1:0][Lanes-1:0] from, from_q;
    logic [31:0] address, address_q;
    assign register = read_register_i[p];
    assign is_frame = register == 4'd10;
    assign valid = read_state.valid[register] && !read_fresh_i;
    assign given = read_given_i[register] && !valid;
    always_comb begin
      for (int unsigned l = 0; l < Lanes; l++) begin
        from[0][l] = !is_frame && !read_none_i[p] &&
            ((valid && read_state.bank[register] == BankBits'(l)) || (given && l == Lanes - 1));
      end
      from[1] = read_narrow_i[p] ? '0 : from[0];
      address = '0;
      if (is_frame) address = FrameAddress + {19'd0, read_depth_i, 10'd0};
      else if (register == 4'd1 && !valid && !given) address = ContextAddress;
      if (read_none_i[p]) address = '0;
    end
    always_ff @(posedge clk_i) begin
      from_q    <= from;
      address_q <= address;
    end
    always_comb begin
      read_o[p] = 64'(address_q);
      for (int unsigned l = 0; l < Lanes; l++) begin
        read_o[p] = read_o[p] | ({{32{from_q[1][l]}}, {32{from_q[0][l]}}} & banks[p][l]);
      end
    end

    for (genvar l = 0; l < int'(Lanes); l++) begin : gen_bank
      if (l == int'(Lanes) - 1) begin : gen_last
        logic [PlaceBits-1:0] write_place, read_place;
        assign write_place = sets ? PlaceBits'(set_i.slot[SlotBits-1:0]) : PlaceBits'(late_valid_i ? late_context_i : write_context_i);
        assign read_place = given ? PlaceBits'(read_slot_i) : PlaceBits'(read_context_i);
        sluice_ram_1r1w #(
            .Width   (64),
            .Depth   (2 * Registers * 2 ** PlaceBits),
            .InitZero(1'b0),
            .Style   ("block")
        ) u_bank (
            .clk_i,
            .wr_en_i  (write_valid_i[l] || late_valid_i || sets),
            .wr_addr_i({sets, write_place, sets ? set_i.number : write_register_i[l]}),
            .wr_data_i(sets ? set_i.data : write_data_i[l]),
            .rd_en_i  (1'b1),
            .rd_addr_i({given, read_place, register}),
            .rd_data_o(banks[p][l])
        );
      end else begin : gen_others
        sluice_ram_1r1w #(
            .Width   (64),
            .Depth   (Registers * Contexts),
            .InitZero(1'b0),
            .Style   ("block")
        ) u_bank (
            .clk_i,
            .wr_en_i  (write_valid_i[l]),
            .wr_addr_i({write_context_i, write_register_i[l]}),
            .wr_data_i(write_data_i[l]),
            .rd_en_i  (1'b1),
            .rd_addr_i({read_context_i, register}),
            .rd_data_o(banks[p][l])
        );
      end
    end
  end

  sluice_ram_lut #(
      .Width    ($bits(state_t)),
      .Depth    (Contexts),
      .ReadPorts(2)
  ) u_state (
      .clk_i,
      .we_i   (write_clear_i || late_mark_i || write_valid_i != '0),
      .waddr_i(write_context_i),
      .wdata_i(new_state),
      .raddr_i({write_context_i, read_context_i}),
      .rdata_o({write_state, read_state})
  );

  always_comb begin
    new_state = write_state;
    if (write_clear_i) new_state.valid = '0;
    for (int unsigned l = 0; l < Lanes; l++) begin
      if (write_valid_i[l]) begin
        new_state.valid[write_register_i[l]] = 1'b1;
        new_state.bank[write_register_i[l]]  = BankBits'(l);
      end
    end
    if (late_mark_i) begin
      new_state.valid[late_marked_i] = 1'b1;
      new_state.bank[late_marked_i]  = BankBits'(Lanes - 1);
    end
  end

endmodule
