/// Says how an operation of the map engine goes on: at its beginning, when its entry is there, and when there is none.
///
/// Of an operation by index all is decided without an entry, of one by key or prefix the entry is looked for first.
///
/// Latency: none. Stall behaviour: an update whose entry is there stays until it is sure that its value may be read.
module sluice_xdp_maps_decide
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_pkg::*;
  import sluice_xdp_walk_pkg::*;
#(
    parameter int unsigned Processors = 8,
    parameter bit Outside = 1'b0
) (
    // "Bits of signal are not used": of an operation what it is, on which map.
    // verilator lint_off UNUSEDSIGNAL
    input walk_operation_t operation_i,
    input walk_cursor_t    cursor_i,
    input walk_plan_t      plan_i,
    input xdp_map_state_t  counts_i,
    // verilator lint_on UNUSEDSIGNAL
    input link_t           next_i,       // what the entry leads to
    input logic            sure_i,       // the value may be read

    // Where the operation is.
    input logic begins_i,
    input logic found_i,
    input logic missed_i,

    output walk_go_e                  go_o,
    output logic        [       63:0] error_o,
    output walk_move_t                move_o,
    output walk_look_t                look_o,
    output walk_write_e               write_o,
    output logic        [ChainBits:0] from_o,        // the first chain of those that are gone through
    output logic                      exchanges_o,
    output logic                      deletes_o,
    output logic                      mark_valid_o,
    output map_mark_e                 mark_o,

    // What is answered already: no entry; of a reference the verdict where there is none; the index as a slot.
    output logic       no_entry_o,
    output logic       failed_o,
    output logic       verdict_valid_o,
    output logic [1:0] verdict_o,
    output logic       index_valid_o
);

  xdp_map_op_e op;
  // "Bits of signal are not used": of the flags what concerns this.
  // verilator lint_off UNUSEDSIGNAL
  walk_flags_t flags;
  // verilator lint_on UNUSEDSIGNAL
  logic keyed, indexed, looks, refers, beyond;
  slot_t index;

  assign op = operation_i.call.op;
  assign flags = flags_of(operation_i);
  assign keyed = is_keyed(operation_i.map.kind);
  assign indexed = is_indexed(operation_i.map.kind);
  assign looks = program_looks(operation_i);
  assign refers = op == XdpMapOpReference;
  assign index = slot_in(slot_t'(operation_i.key.first), Outside);
  assign beyond = operation_i.key.first[31:0] >= operation_i.map.entries;

  // ---------------------------------------------------------------------------------------------------------------
  // What is decided without the entry.

  walk_go_e begin_go;
  logic [63:0] begin_error;
  slot_t begin_slot;
  logic begin_no_entry, begin_failed, begin_verdict;
  logic [1:0] verdict;
  logic index_valid;

  always_comb begin
    begin_go = (keyed || op == XdpMapOpNext) ? GoBucket : GoRoot;
    begin_error = '0;
    begin_slot = index;
    begin_no_entry = 1'b0;
    begin_failed = 1'b0;
    begin_verdict = 1'b0;
    verdict = operation_i.call.value[1:0];
    index_valid = 1'b0;
    if (op == XdpMapOpNext && !operation_i.call.flags[0]) begin_go = GoChains;
    if (indexed) begin
      case (op)
        XdpMapOpUpdate: begin
          begin_go = GoFail;
          if (forbidden(operation_i)) begin_error = ErrorPermission;
          else if (flags.bad) begin_error = ErrorInvalid;
          else if (beyond) begin_error = ErrorTooBig;
          else if (flags.is_new) begin_error = ErrorExists;
          else if (flags.lock) begin_error = ErrorInvalid;
          else begin_go = GoValue;
        end
        XdpMapOpDelete: begin
          begin_go = GoFail;
          begin_error = forbidden(operation_i) ? ErrorPermission : ErrorInvalid;
        end
        default: begin
          index_valid = 1'b1;
          begin_go = (operation_i.map.kind != XdpMapArray || operation_i.host) ? GoGet : GoFound;
          if (beyond) begin
            begin_go = GoAnswer;
            begin_no_entry = 1'b1;
            begin_failed = refers;
          end
        end
      endcase
    end
    if (refers) begin
      // The lowest two bits are the verdict where there is no entry.
      begin_verdict = 1'b1;
      if (!takes_flags(operation_i.call.value, operation_i.map.kind != XdpMapReferences)) begin
        verdict = '0;
        begin_failed = 1'b0;
        begin_go = GoAnswer;
      end else if (operation_i.call.value[FlagBroadcast]) begin
        // Where all entries lead to lies behind the last slot.
        begin_failed = 1'b0;
        begin_slot = slot_in(slot_t'(operation_i.map.slots), Outside);
        begin_go = GoGet;
      end
    end
    if (op == XdpMapOpPut) begin
      begin_slot = slot_in(slot_t'(operation_i.call.value[63:32]), Outside);
      begin_error = '0;
      begin_go = GoValue;
      if (operation_i.call.value[63:32] >= 32'(operation_i.map.slots) + 32'(operation_i.map.kind inside {XdpMapDevices, XdpMapKeyedReferences})) begin
        begin_error = ErrorTooBig;
        begin_go = GoFail;
      end
    end
    if (op == XdpMapOpLookupPercpu && operation_i.call.value[31:0] >= 32'(Processors)) begin_go = GoAnswer;
  end

  // ---------------------------------------------------------------------------------------------------------------
  // The entry is there, where the walker stands.

  walk_go_e found_go;
  always_comb begin
    found_go = GoAnswer;
    case (op)
      XdpMapOpLookup, XdpMapOpLookupPercpu:
      if (operation_i.host || operation_i.map.kind == XdpMapKeyedMaps) found_go = GoGet;
      XdpMapOpReference: found_go = GoGet;
      XdpMapOpUpdate: begin
        if (!sure_i) found_go = GoStay;
        else if (flags.is_new) found_go = GoFail;
        else if (operation_i.map.per_cpu) found_go = GoValue;
        else found_go = GoAside;
      end
      XdpMapOpDelete: found_go = GoLinks;
      // Next.
      default: if (next_i == '0) found_go = GoChains;
    endcase
  end
  assign exchanges_o = found_i && found_go == GoAside;
  assign deletes_o   = found_i && op == XdpMapOpDelete;

  // Its bits; the host's 3 touches nothing.
  always_comb begin
    mark_o = MarkTouched;
    mark_valid_o = operation_i.map.lru && keyed && (looks || (refers && !operation_i.host));
    if (op == XdpMapOpUpdate)
      mark_valid_o = operation_i.map.lru && sure_i && operation_i.map.per_cpu && !flags.is_new && flags.touches;
    if (op == XdpMapOpDelete) begin
      mark_valid_o = operation_i.map.lru;
      mark_o = MarkFree;
    end
    if (!found_i) begin
      mark_valid_o = 1'b0;
      mark_o = map_mark_e'('0);
    end
  end

  // Of a value that is exchanged the slot set aside is read.
  logic exchange;
  assign exchange = op == XdpMapOpUpdate && !operation_i.map.per_cpu;

  // ---------------------------------------------------------------------------------------------------------------
  // No entry is there, and no new one is made.

  walk_go_e missed_go;
  logic [63:0] missed_error;
  always_comb begin
    missed_go = GoFail;
    missed_error = ErrorNoEntry;
    case (op)
      XdpMapOpUpdate: if (!flags.is_there) missed_error = plan_i.full ? ErrorTooBig : ErrorNoMemory;
      XdpMapOpDelete: ;
      XdpMapOpNext: missed_go = GoChains;
      default: missed_go = GoAnswer;
    endcase
  end

  // ---------------------------------------------------------------------------------------------------------------

  always_comb begin
    go_o = GoStay;
    error_o = '0;
    move_o = '0;
    look_o = '0;
    write_o = WriteNone;
    from_o = '0;
    no_entry_o = 1'b0;
    failed_o = 1'b0;
    if (begins_i) begin
      go_o = begin_go;
      error_o = begin_error;
      move_o.slot_valid = 1'b1;
      move_o.slot = begin_slot;
      move_o.at_valid = 1'b1;
      move_o.at = index;
      from_o = operation_i.call.value[ChainBits+32:32];
      no_entry_o = begin_no_entry;
      failed_o = begin_failed;
    end
    if (found_i) begin
      go_o = found_go;
      error_o = ErrorExists;
      move_o.slot_valid = 1'b1;
      move_o.slot = cursor_i.at;
      move_o.head_valid = op == XdpMapOpDelete;
      move_o.head = link_in(counts_i.free, Outside);
      look_o.valid = exchange || mark_valid_o;
      look_o.row = exchange ? LookAside : LookMark;
      from_o = {1'b0, operation_i.chain} + (ChainBits + 1)'(1);
      if (op == XdpMapOpDelete) write_o = WriteCounts;
    end
    if (missed_i) begin
      go_o = missed_go;
      error_o = missed_error;
      no_entry_o = missed_go == GoAnswer;
      failed_o = missed_go == GoAnswer && refers;
    end
  end
  assign verdict_valid_o = begins_i && begin_verdict;
  assign verdict_o = verdict;
  assign index_valid_o = begins_i && index_valid;

endmodule
