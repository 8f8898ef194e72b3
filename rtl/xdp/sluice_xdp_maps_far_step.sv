/// A step of a lookup of which there is one a context (sluice_xdp_maps_far): what its row says, and which row is next.
///
/// A row of a chain's beginning leads to an entry, an entry to the next one or to its further rows, a node of a trie to the side that the address takes. An entry of an
/// LRU map that is the one leads to the row of its bits: `touches_o` says that its touched bit is not set.
///
/// Latency: none. Never stalls.
module sluice_xdp_maps_far_step
  import sluice_xdp_pkg::*;
  import sluice_xdp_walk_pkg::*;
#(
    parameter int unsigned Cycles = 5  // that a step is charged
) (
    // "Bits of signal are not used": where values lie is not asked here.
    // verilator lint_off UNUSEDSIGNAL
    input far_fields_t             fields_i,
    // verilator lint_on UNUSEDSIGNAL
    input far_walk_t               walk_i,
    input logic        [3:0][31:0] words_i,
    input logic                    bad_i,      // the row came with an error
    input logic                    differs_i,  // the key is another one
    input logic                    side_i,     // of a node: the address' bit behind it

    output logic      ends_o,
    output logic      found_o,
    output logic      faults_o,
    output logic      touches_o,
    output slot_t     slot_o,
    output far_walk_t walk_o
);

  localparam int unsigned OutsideRow = SearchBits - 1;

  logic too_far, covered, covers, ends;
  logic [2:0] rests;
  link_t link;
  row_t row;

  assign too_far = walk_i.steps > walk_steps_t'(fields_i.slots);
  assign covered = 32'(walk_i.prefix) <= 64 + 128 * 32'(walk_i.rest);
  assign covers = !differs_i && walk_i.real_node;
  assign ends = differs_i || 32'(walk_i.prefix) == fields_i.length || walk_i.next[side_i] == '0 || too_far;
  assign rests = (fields_i.key_bytes <= 7'd8) ? 3'd0 : 3'((fields_i.key_bytes + 7'd7) >> 4);
  assign touches_o = walk_i.marks && !walk_i.touches && !bad_i && !words_i[{1'b1, walk_i.at[5]}][walk_i.at[4:0]];

  always_comb begin
    walk_o = walk_i;
    walk_o.spent = (walk_i.spent > steps_t'(2 ** StepBits - 1 - Cycles)) ? '1 : walk_i.spent + steps_t'(Cycles);
    ends_o = 1'b0;
    found_o = 1'b0;
    faults_o = 1'b0;
    slot_o = walk_i.at;
    // What leads on: of an entry in its first row, and kept for those behind.
    link = (walk_i.rest == '0) ? words_i[0][LinkBits-1:0] : link_t'(36'(walk_i.next));
    if (walk_i.marks) begin
      // On the chip it is written behind this.
      found_o = 1'b1;
      ends_o = !(touches_o && walk_i.row[OutsideRow]);
      walk_o.touches = 1'b1;
    end else if (bad_i) begin
      faults_o = 1'b1;
      ends_o   = 1'b1;
    end else if (fields_i.fresh) begin
      // The chain's beginning, or the map's state with its root.
      link = words_i[fields_i.of_chain][LinkBits-1:0];
      walk_o.at = slot_of(link);
      walk_o.steps = walk_steps_t'(fields_i.trie);
      ends_o = link == '0 || (fields_i.trie && fields_i.length > {22'd0, fields_i.key_bytes, 3'd0} - 32'd32);
    end else if (fields_i.trie) begin
      if (!differs_i && !covered) begin
        walk_o.rest = walk_i.rest + 3'd1;
      end else begin
        if (covers) {walk_o.best_valid, walk_o.best} = {1'b1, walk_i.value_slot};
        walk_o.at = slot_of(link_t'(walk_i.next[side_i]));
        walk_o.rest = '0;
        walk_o.steps = walk_i.steps + walk_steps_t'(1);
        ends_o = ends;
        found_o = ends && (covers || walk_i.best_valid);
        slot_o = covers ? slot_t'(walk_i.value_slot) : slot_t'(walk_i.best);
      end
    end else begin
      walk_o.next = 36'(link);
      if (walk_i.rest == '0 && too_far) begin
        faults_o = 1'b1;
        ends_o   = 1'b1;
      end else if (differs_i) begin
        walk_o.at = slot_of(link);
        walk_o.rest = '0;
        walk_o.steps = walk_i.steps + walk_steps_t'(1);
        ends_o = link == '0;
      end else if (walk_i.rest == rests) begin
        found_o = 1'b1;
        ends_o = !fields_i.lru;
        walk_o.marks = fields_i.lru;
      end else begin
        walk_o.rest = walk_i.rest + 3'd1;
      end
    end
    row = row_at(walk_o.marks ? fields_i.clock : fields_i.entry, 1'b1);
    if (walk_o.marks) row += row_t'(walk_o.at[SlotNumberBits-1:6]);
    else row += row_t'({3'd0, walk_o.at} << fields_i.entry_shift) + row_t'(walk_o.rest);
    walk_o.row = row;
  end

endmodule
