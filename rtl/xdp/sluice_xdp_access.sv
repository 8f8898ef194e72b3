/// Says of the one access of a bundle, or its helper, what it is, where it lies and whether it may.
///
/// Where it lies in values their unit judges it. A lookup in an array and a reference to an entry of a devmap, or of a map of destinations, (`spare`) are the unit of values',
/// other operations on maps are the map engine's. So is a lookup in an array whose key lies in a value: values would be asked twice.
///
/// Latency: none. Throughput: an access a cycle. Never stalls.
module sluice_xdp_access
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_pkg::*;
  import sluice_xdp_instructions_pkg::*;
  import sluice_xdp_stages_pkg::*;
(
    // "Bits of signal are not used": of a bundle what concerns its access.
    // verilator lint_off UNUSEDSIGNAL
    input xdp_first_t bundle_i,
    // verilator lint_on UNUSEDSIGNAL

    output xdp_access_t access_o
);

  logic [ 7:0] op;
  logic [15:0] helper;
  logic [31:0] address;
  assign op = bundle_i.access.op;
  assign helper = bundle_i.access.imm[15:0];
  assign address = bundle_i.address[31:0];

  logic quiet, pair, helps, redirects, is_reference, is_lookup, is_lock, is_map, touches;
  logic is_atomic_op, is_store_op;
  logic high, in_context, in_packet, in_stack, in_record, in_values, misaligned, allowed;
  logic [OffsetBits-1:0] offset;
  logic [8:0] stack_offset;
  xdp_place_t place;

  assign pair = is_pair(op);
  // An atomic operation that does nothing where it may not.
  assign quiet = is_atomic_op && bundle_i.access.wide && !in_values;
  assign helps = op == XdpOpHelper;
  assign redirects = helps && helper == HelperRedirectMap;
  assign is_reference = redirects && bundle_i.access.spare;
  assign is_lookup = helps && helper == HelperLookup && bundle_i.access.spare && !in_values;
  assign is_lock = helps && helper inside {HelperLock, HelperUnlock};
  assign is_map = helps && !is_lookup && !is_reference && helper inside {HelperLookup, HelperUpdate, HelperDelete, HelperTailCall,
      HelperRedirectMap, HelperLookupPercpu, HelperPush, HelperPop, HelperPeek};
  assign is_atomic_op = is_atomic(op);
  assign is_store_op = is_store(op);
  assign touches = is_access(op) || is_atomic_op || is_lookup;

  assign high = bundle_i.address[63:32] != '0;
  assign offset = address[OffsetBits-1:0];
  assign stack_offset = address[8:0];
  assign in_context = !high && address[31:5] == ContextAddress[31:5] && address[4:0] <= 5'd20 && address[1:0] == '0 && op == XdpOpLoad4;
  assign in_packet = !high && address[31:OffsetBits] == PacketAddress[31:OffsetBits] && offset >= bundle_i.kept.bounds.meta && $signed(
      {2'd0, offset}
  ) <= bundle_i.last;
  assign in_stack = !high && on_stack(
      address, bundle_i.turn.depth
  ) && {1'b0, stack_offset} + 10'(bundle_i.bytes) <= 10'd512;
  assign in_record = !high && bundle_i.kept.record.held && address[31:RecordBits] == RecordAddress[31:RecordBits] &&
      {1'b0, address[RecordBits-1:0]} + (RecordBits + 1)'(bundle_i.bytes) <= {1'b0, bundle_i.kept.record.bytes};
  assign in_values = !high && address[31:28] inside {[4'd4 : 4'd8]};
  // Both words of a pair lie in one row of values.
  assign misaligned = is_atomic_op && (address[1:0] != '0 || (op[3] && address[2]) || (pair && address[3]));
  assign allowed = (in_packet && !is_atomic_op) || ((in_stack || in_record) && !pair) || in_context || in_values;

  // The record lies before the stack, which lies before the buffer.
  always_comb begin
    place = place_of(bundle_i.base, offset);
    if (in_stack) place = '{row: stack_row(bundle_i.base, address), word: stack_offset[5:3]};
    if (in_record) place = '{row: bundle_i.place + RowBits'(address[RecordBits-1:6]), word: address[5:3]};
  end

  // Frames of functions have no unwritten words: they are cleared when they are entered.
  logic in_first, faults, waits;
  assign in_first = in_stack && frame_of(address) == '0;
  assign faults = (touches && (!allowed || misaligned) && !quiet) || (is_lock && !in_values);
  // Those that lie there, lookups, and the read of an atomic operation on the stack.
  assign waits = (touches && in_values) || is_lookup || is_reference || is_lock || (is_atomic_op && !quiet);

  assign access_o = '{
          redirects: redirects,
          is_reference: is_reference,
          gives_verdict: redirects || (helps && helper == HelperRedirect),
          is_pair: pair,
          is_lookup: is_lookup,
          is_lock: is_lock,
          is_map: is_map,
          is_tail: helps && helper == HelperTailCall,
          is_atomic: is_atomic_op,
          is_store: is_store_op,
          is_load: is_access(op) && !is_store_op,
          in_values: in_values,
          in_context: in_context,
          in_first: in_first,
          allowed: allowed,
          faults: faults,
          waits: waits,
          place: place
      };

endmodule
