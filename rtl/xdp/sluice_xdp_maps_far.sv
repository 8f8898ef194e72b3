/// Lookups of programs in hash maps and tries where rows may lie in external memory: one under way for each context.
///
/// `take_i` takes a context's operation with its key. Each has a place in a walk, kept by context, and goes a step when the row comes that it waits for; so one that waits for
/// memory holds up nobody. Rows on the chip are read in cycles without `chip_busy_i`; rows outside are asked for as the context's own
/// (sluice_xdp_outside_front) and come at any time. A row that comes with an error faults.
///
/// Of an entry of an LRU map the row of its bits is read behind it, and the touched bit set if it is not: outside by an atomic operation (`load_touch_o`, `load_bit_o`), on the
/// chip by `mark_*`, one lookup at a time. Where that row comes with an error the bit stays as it is.
///
/// Nobody changes rows of a map meanwhile: `among_o` says whether an operation on the map `whose_i` may be under way, until its answer is taken. Maps
/// are told apart by a few bits, so it may be another one.
///
/// Latency: 5 cycles for each row, and those of memory; of a lookup in a hash map a chain's beginning and one row for each entry and for each further row of a key that is
/// alike, and one of an LRU map's bits; of a trie its state, and each row of each node. Throughput: a row in 2 cycles of the chip, one a cycle of memory. Stall behaviour: requests and answers hold
/// until taken.
module sluice_xdp_maps_far
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_pkg::*;
  import sluice_xdp_walk_pkg::*;
#(
    parameter int unsigned Processors = 8,
    localparam int unsigned ProcessorBits = $clog2(Processors)
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic                                   take_i,
    input  logic         [ProcessorBits-1:0]       context_i,
    // "Bits of signal are not used": of a map where its rows and values lie.
    // verilator lint_off UNUSEDSIGNAL
    input  xdp_map_row_t                           map_i,
    // verilator lint_on UNUSEDSIGNAL
    input  logic         [     KeyWords-1:0][63:0] key_i,
    input  chain_t                                 chain_i,
    input  slot_t                                  copy_i,
    output logic                                   idle_o,

    // "Bits of signal are not used": a few are compared.
    // verilator lint_off UNUSEDSIGNAL
    input  logic [15:0] whose_i,
    // verilator lint_on UNUSEDSIGNAL
    output logic        among_o,

    // Rows on the chip: the row comes in the cycle behind its number.
    input  logic                           chip_busy_i,
    output logic                           chip_read_o,
    output logic                           chip_waits_o,
    output row_t                           chip_row_o,
    input  logic [              3:0][31:0] chip_i,
    // Touched bits are written, before the lookup's answer and any other read of the row.
    output logic                           mark_valid_o,
    input  logic                           mark_ready_i,
    output row_t                           mark_row_o,
    output logic [             63:0]       mark_o,
    // Rows outside.
    output logic                           load_valid_o,
    input  logic                           load_ready_i,
    output logic [             31:0]       load_place_o,
    output logic [ProcessorBits-1:0]       load_context_o,
    output logic [              5:0]       load_module_o,
    output logic                           load_touch_o,     // a touched bit of this row is set
    output logic [              5:0]       load_bit_o,
    input  logic                           loaded_valid_i,
    input  logic                           loaded_fault_i,
    input  logic [            127:0]       loaded_i,
    input  logic [ProcessorBits-1:0]       loaded_context_i,

    output logic                                answer_valid_o,
    input  logic                                answer_ready_i,
    output logic            [ProcessorBits-1:0] answer_context_o,
    output xdp_map_answer_t                     answer_o
);

  // Of a map's number what is compared.
  localparam int unsigned StateBits = 8;
  localparam int unsigned OutsideRow = SearchBits - 1;
  localparam int unsigned StepCycles = 5;

  typedef logic [ProcessorBits-1:0] context_t;
  typedef logic [Processors-1:0] set_t;

  function automatic set_t one_of(logic valid, context_t number);
    return set_t'(valid) << number;
  endfunction

  // What is looked for.
  typedef struct packed {
    far_fields_t               fields;
    logic [KeyWords-1:0][63:0] key;
  } operation_t;

  logic
      two_valid_q, two_far_q, two_bad_q, three_valid_q, three_bad_q, three_far_q, four_valid_q, four_bad_q, four_far_q;

  // ---------------------------------------------------------------------------------------------------------------
  // Operations, and who waits for what: a row on the chip, a row outside that is not asked for yet.

  set_t busy_q, fresh_q, chip_q, far_q, marks_q, chip_grant, far_grant;
  logic marking_q, mark_writes, touches;
  logic [Processors-1:0][StateBits-1:0] state_q;
  operation_t taken, operation;
  far_walk_t walk, stepped;
  row_t start, picked_start, picked_row, load_row;
  context_t picked, two_context_q, three_context_q, four_context_q;
  logic chip_any, turn_q, taken_outside, stepped_outside;
  logic four_ends, answered;
  logic [31:0] base;

  assign base = map_i.first + 32'({8'd0, copy_i} << map_i.shift);
  always_comb begin
    start = row_at(map_i.bucket, 1'b1) + row_t'(chain_i[ChainBits-1:2]);
    if (map_i.kind == XdpMapTrie) start = row_at(map_i.state, 1'b1);
    taken = '{
        fields: '{
            trie: map_i.kind == XdpMapTrie,
            lru: map_i.lru,
            fresh: 1'b1,
            entry: map_i.entry,
            entry_shift: map_i.entry_shift,
            clock: map_i.clock,
            slots: map_i.slots,
            key_bytes: map_i.key_bytes,
            base: base,
            shift: map_i.shift,
            of_chain: (map_i.kind == XdpMapTrie) ? 2'd3 : chain_i[1:0],
            length: key_i[0][31:0]
        },
        key: key_i
    };
  end
  assign taken_outside = start[OutsideRow];
  assign idle_o = busy_q == '0 && !mark_valid_o;
  always_comb begin
    among_o = 1'b0;
    for (int unsigned p = 0; p < Processors; p++) begin
      if (busy_q[p] && state_q[p] == whose_i[StateBits-1:0]) among_o = 1'b1;
    end
  end

  sluice_ram_lut #(
      .Width($bits(operation_t)),
      .Depth(Processors)
  ) u_operations (
      .clk_i,
      .we_i   (take_i),
      .waddr_i(context_i),
      .wdata_i(taken),
      .raddr_i(two_context_q),
      .rdata_o(operation)
  );
  // Of operations that have not gone a step, which row they read first.
  // "Signal is not used": whose map it is, and which bit is set, is asked outside.
  // verilator lint_off UNUSEDSIGNAL
  logic [5:0] unused_module;
  logic unused_touch;
  logic [5:0] unused_bit;
  // verilator lint_on UNUSEDSIGNAL
  sluice_ram_lut #(
      .Width    (SearchBits + 6),
      .Depth    (Processors),
      .ReadPorts(2)
  ) u_starts (
      .clk_i,
      .we_i   (take_i),
      .waddr_i(context_i),
      .wdata_i({map_i.module_id, start}),
      .raddr_i({load_context_o, picked}),
      .rdata_o({load_module_o, load_row, unused_module, picked_start})
  );
  row_t load_next, picked_next;
  logic load_touch;
  sluice_ram_lut #(
      .Width    (SearchBits + 7),
      .Depth    (Processors),
      .ReadPorts(2)
  ) u_rows (
      .clk_i,
      .we_i   (four_valid_q),
      .waddr_i(four_context_q),
      .wdata_i({stepped.touches, stepped.at[5:0], stepped.row}),
      .raddr_i({load_context_o, picked}),
      .rdata_o({load_touch, load_bit_o, load_next, unused_touch, unused_bit, picked_next})
  );
  sluice_ram_lut #(
      .Width($bits(far_walk_t)),
      .Depth(Processors)
  ) u_walks (
      .clk_i,
      .we_i   (four_valid_q),
      .waddr_i(four_context_q),
      .wdata_i(stepped),
      .raddr_i(two_context_q),
      .rdata_o(walk)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      busy_q  <= '0;
      fresh_q <= '0;
      chip_q  <= '0;
      far_q   <= '0;
      turn_q  <= 1'b0;
    end else begin
      busy_q <= (busy_q & ~one_of(answered, answer_context_o)) | one_of(take_i, context_i);
      fresh_q <= (fresh_q & ~one_of(four_valid_q, four_context_q)) | one_of(take_i, context_i);
      chip_q <= (chip_q & ~(chip_read_o ? chip_grant : '0)) | one_of(
          take_i && !taken_outside, context_i
      ) | one_of(
          four_valid_q && !four_ends && !stepped_outside, four_context_q
      );
      far_q <= (far_q & ~((load_valid_o && load_ready_i) ? far_grant : '0)) | one_of(
          take_i && taken_outside, context_i
      ) | one_of(
          four_valid_q && !four_ends && stepped_outside, four_context_q
      );
      turn_q <= !turn_q;
    end
    for (int unsigned p = 0; p < Processors; p++) begin
      if (take_i && context_i == context_t'(p)) state_q[p] <= map_i.state[StateBits-1:0];
    end
  end

  // ---------------------------------------------------------------------------------------------------------------
  // 1: a row on the chip is read, if none comes from outside.

  sluice_arb_rr #(
      .Requests(Processors)
  ) u_chip (
      .clk_i,
      .rst_ni,
      .req_i    (chip_q & ~(marking_q ? marks_q : '0)),
      .advance_i(chip_read_o),
      .grant_o  (chip_grant),
      .index_o  (picked),
      .valid_o  (chip_any)
  );
  // Of 2 cycles one is left for what comes.
  assign chip_waits_o = chip_any || mark_valid_o;
  assign chip_read_o  = chip_any && turn_q && !chip_busy_i && !loaded_valid_i;
  assign picked_row   = fresh_q[picked] ? picked_start : picked_next;
  assign chip_row_o   = picked_row;

  logic load_any;
  sluice_arb_rr #(
      .Requests(Processors)
  ) u_far (
      .clk_i,
      .rst_ni,
      .req_i    (far_q),
      .advance_i(load_valid_o && load_ready_i),
      .grant_o  (far_grant),
      .index_o  (load_context_o),
      .valid_o  (load_any)
  );
  // "Bits of signal are not used": it lies outside.
  // verilator lint_off UNUSEDSIGNAL
  row_t load_one;
  // verilator lint_on UNUSEDSIGNAL
  assign load_one = fresh_q[load_context_o] ? load_row : load_next;
  assign load_valid_o = load_any;
  assign load_place_o = {5'd0, load_one[OutsideRow-1:0], 4'd0};
  assign load_touch_o = load_touch && !fresh_q[load_context_o];

  // ---------------------------------------------------------------------------------------------------------------
  // 2: the row is there. What it is compared with.

  logic [127:0] two_loaded_q, three_row_q, three_key_q;
  far_walk_t here, three_q, four_q;
  logic [63:0] key_first;
  logic [127:0] key_rest;
  logic [511:0] key;
  logic two_fresh;

  always_ff @(posedge clk_i) begin
    two_valid_q  <= (chip_read_o || loaded_valid_i) && rst_ni;
    two_far_q    <= loaded_valid_i;
    two_bad_q    <= loaded_valid_i && loaded_fault_i;
    two_loaded_q <= loaded_i;
    two_context_q <= loaded_valid_i ? loaded_context_i : picked;
  end

  assign two_fresh = fresh_q[two_context_q];
  always_comb begin
    here = walk;
    if (two_fresh) here = '0;
  end
  assign key = operation.key;
  assign key_first = operation.fields.trie ? key[95:32] : key[63:0];
  always_comb begin
    case (here.rest)
      3'd1: key_rest = operation.fields.trie ? key[223:96] : key[191:64];
      3'd2: key_rest = operation.fields.trie ? key[351:224] : key[319:192];
      3'd3: key_rest = operation.fields.trie ? key[479:352] : key[447:320];
      3'd4: key_rest = operation.fields.trie ? 128'(key[511:480]) : 128'(key[511:448]);
      default: key_rest = {key_first, 64'd0};
    endcase
  end

  far_fields_t three_fields_q, four_fields_q;
  logic three_far_side_q;  // of a trie: the address' bit behind this row
  logic [479:0] address;
  assign address = key[511:32];

  always_ff @(posedge clk_i) begin
    three_valid_q <= two_valid_q && rst_ni;
    three_bad_q <= two_bad_q;
    three_far_q <= two_far_q;
    three_context_q <= two_context_q;
    three_row_q <= two_far_q ? two_loaded_q : chip_i;
    three_key_q <= key_rest;
    three_q <= here;
    three_fields_q <= operation.fields;
    three_fields_q.fresh <= two_fresh;
    three_far_side_q <= address[{here.rest[1:0], 7'd71}];
  end

  // ---------------------------------------------------------------------------------------------------------------
  // 3: whether it is alike. A node's first row says how much of it counts.

  logic [ 62:0] node;
  logic [  8:0] prefix;
  logic [127:0] mask;
  logic three_first, three_differs, three_side, four_differs_q, four_side_q;
  logic [6:0] behind;
  logic [3:0][31:0] three_words, four_words_q;

  assign three_words = three_row_q;
  assign node = 63'(three_row_q[63:0]);
  assign three_first = three_q.rest == '0;
  assign prefix = three_first ? node[44:36] : three_q.prefix;
  always_comb begin
    for (int unsigned i = 0; i < 16; i++) begin
      for (int unsigned b = 0; b < 8; b++) begin
        mask[8*i+7-b] = !three_first || i >= 8;
        if (three_fields_q.trie && 32'(prefix) + 64 <= 128 * 32'(three_q.rest) + 8 * i + b) mask[8*i+7-b] = 1'b0;
      end
    end
  end
  assign three_differs = ((three_row_q ^ three_key_q) & mask) != '0 ||
      (three_fields_q.trie && 32'(prefix) > three_fields_q.length);
  // The bit behind a prefix that ends in this row: the next row's first one, where it ends with it.
  assign behind = prefix[6:0] + 7'd64;
  assign three_side = (behind == '0) ? three_far_side_q : three_key_q[{behind[6:3], ~behind[2:0]}];

  always_ff @(posedge clk_i) begin
    four_valid_q   <= three_valid_q && rst_ni;
    four_bad_q     <= three_bad_q;
    four_far_q     <= three_far_q;
    four_context_q <= three_context_q;
    four_fields_q  <= three_fields_q;
    four_q         <= three_q;
    four_words_q   <= three_words;
    four_differs_q <= three_differs;
    four_side_q    <= three_side;
    if (three_fields_q.trie && three_first && !three_fields_q.fresh) begin
      four_q.next       <= {node[35:18], node[17:0]};
      four_q.prefix     <= node[44:36];
      four_q.real_node  <= node[45];
      four_q.value_slot <= node[62:46];
    end
  end

  // ---------------------------------------------------------------------------------------------------------------
  // 4: a step.

  logic found, faults;
  slot_t slot;
  sluice_xdp_maps_far_step #(
      .Cycles(StepCycles)
  ) u_step (
      .fields_i (four_fields_q),
      .walk_i   (four_q),
      .words_i  (four_words_q),
      .bad_i    (four_bad_q),
      .differs_i(four_differs_q),
      .side_i   (four_side_q),
      .ends_o   (four_ends),
      .found_o  (found),
      .faults_o (faults),
      .touches_o(touches),
      .slot_o   (slot),
      .walk_o   (stepped)
  );
  assign stepped_outside = stepped.row[OutsideRow];
  assign mark_writes = four_valid_q && touches && !stepped_outside;

  // One row of bits is between its read and its write.
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      marks_q      <= '0;
      marking_q    <= 1'b0;
      mark_valid_o <= 1'b0;
    end else begin
      marks_q <= (marks_q & ~one_of(take_i, context_i)) | one_of(four_valid_q && stepped.marks, four_context_q);
      if (chip_read_o && marks_q[picked]) marking_q <= 1'b1;
      if (four_valid_q && four_q.marks && !four_far_q && !mark_writes) marking_q <= 1'b0;
      if (mark_writes) mark_valid_o <= 1'b1;
      if (mark_valid_o && mark_ready_i) {mark_valid_o, marking_q} <= '0;
    end
    if (mark_writes) begin
      mark_row_o <= stepped.row;
      mark_o     <= four_words_q[3:2] | 64'd1 << four_q.at[5:0];
    end
  end

  // ---------------------------------------------------------------------------------------------------------------
  // What is said. Each context has one answer at most.

  logic fault;
  logic [31:0] value, said;
  steps_t spent;
  logic unused_ready;
  logic [$clog2(Processors+1)-1:0] unused_level;
  assign value = (found && !faults) ? four_fields_q.base + (32'(slot) << four_fields_q.shift) : '0;

  sluice_fifo #(
      .Width(ProcessorBits + 33 + StepBits),
      .Depth(Processors)
  ) u_answers (
      .clk_i,
      .rst_ni,
      .valid_i(four_valid_q && four_ends),
      .ready_o(unused_ready),
      .data_i ({four_context_q, faults, value, stepped.spent}),
      .valid_o(answer_valid_o),
      .ready_i(answer_ready_i),
      .data_o ({answer_context_o, fault, said, spent}),
      .level_o(unused_level)
  );
  assign answered = answer_valid_o && answer_ready_i;
  always_comb begin
    answer_o = '0;
    answer_o.value = 64'(said);
    answer_o.fault = fault;
    answer_o.steps = spent;
  end

`ifndef SYNTHESIS
  OneOperationOfAContext_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !take_i || !busy_q[context_i]);
  WhatComesWasAskedFor_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !loaded_valid_i || busy_q[loaded_context_i]);
  AnswersHaveRoom_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) unused_ready);
`endif

endmodule
