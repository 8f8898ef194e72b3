/// What a bundle asks of units: of a helper, of values, of maps; and what is still to be done when they answer.
///
/// A fifth argument is in r5 always: each context has a copy of it here.
///
/// Latency: none. Throughput: a bundle a cycle. Never stalls.
module sluice_xdp_launch
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_pkg::*;
  import sluice_xdp_stages_pkg::*;
#(
    parameter int unsigned Contexts = 8,
    // Of the core whose contexts they are.
    parameter int unsigned Core = 0,
    localparam int unsigned ContextBits = $clog2(Contexts)
) (
    input logic clk_i,

    // "Bits of signal are not used": of a bundle and its context what units are told.
    // verilator lint_off UNUSEDSIGNAL
    input xdp_second_t                   bundle_i,
    input xdp_fixed_t                    fixed_i,
    // verilator lint_on UNUSEDSIGNAL
    input logic        [ContextBits-1:0] context_i,
    input logic        [  StampBits-1:0] stamp_i,

    // What is written into registers.
    // "Bits of signal are not used": what is written late is marked elsewhere.
    // verilator lint_off UNUSEDSIGNAL
    input xdp_write_t                   write_i,
    // verilator lint_on UNUSEDSIGNAL
    input logic       [ContextBits-1:0] write_context_i,
    input logic       [ContextBits-1:0] late_context_i,

    output xdp_call_t     call_o,
    output xdp_request_t  request_o,
    output xdp_map_call_t map_call_o,
    output xdp_waits_t    waits_o
);

  localparam int unsigned Lanes = XdpLanes;

  logic fifth_write;
  logic [63:0] fifth, kept_fifth;

  always_comb begin
    fifth_write = write_i.clear;
    fifth = '0;
    for (int unsigned l = 0; l < Lanes; l++) begin
      if ((write_i.valid[l] || (write_i.late && l == Lanes - 1)) && write_i.registers[l] == 4'd5) begin
        fifth_write = 1'b1;
        fifth = write_i.data[l];
      end
    end
  end

  sluice_ram_lut #(
      .Width(64),
      .Depth(Contexts)
  ) u_fifth (
      .clk_i,
      .we_i   (fifth_write),
      .waddr_i((write_i.late && write_i.registers[Lanes-1] == 4'd5) ? late_context_i : write_context_i),
      .wdata_i(fifth),
      .raddr_i(context_i),
      .rdata_o(kept_fifth)
  );

  // Of a first bundle it is not cleared yet.
  logic [63:0] fifth_argument;
  assign fifth_argument = bundle_i.start ? '0 : kept_fifth;

  assign call_o = '{
          number: bundle_i.helper,
          first: bundle_i.data,
          second: bundle_i.address,
          third: bundle_i.third,
          fourth: bundle_i.fourth,
          fifth: fifth_argument,
          bounds: bundle_i.kept.bounds,
          most: fixed_i.most,
          low: bundle_i.kept.low,
          base: fixed_i.base,
          module_id: fixed_i.module_id,
          regions: fixed_i.regions,
          written: bundle_i.written,
          processor: 5'(Core * Contexts) + 5'(context_i),
          stamp: stamp_i,
          place: fixed_i.place,
          records: fixed_i.records,
          record: bundle_i.kept.record,
          generation: fixed_i.generation,
          depth: (bundle_i.turn.pass == PassClear) ? bundle_i.turn.depth - depth_t'(1) : bundle_i.turn.depth,
          enters: bundle_i.enters
      };

  // Of a reference: whether its flags lead to one entry or to all.
  logic flags, several;
  assign flags = takes_flags(bundle_i.third, !bundle_i.to_host);
  assign several = flags && bundle_i.third[FlagBroadcast];

  assign waits_o = '{
          late: bundle_i.late,
          ends: bundle_i.ends_late,
          writes: bundle_i.late_writes,
          target: bundle_i.late_register,
          refers: bundle_i.kind == RequestReference && bundle_i.unit == UnitValues,
          to_host: bundle_i.to_host,
          plain: flags && !bundle_i.third[FlagBroadcast],
          several: several,
          excludes: bundle_i.third[FlagExclude],
          verdict: bundle_i.third[1:0]
      };

  // Of a pair the number is the immediate, whose halves are those of a call.
  logic [63:0] number;
  logic swapped;
  assign number = {{32{bundle_i.map[15]}}, bundle_i.map, bundle_i.helper};
  assign swapped = bundle_i.code[0];

  assign request_o = '{
          kind: bundle_i.kind,
          module_id: fixed_i.module_id,
          regions: fixed_i.regions,
          address: bundle_i.address[31:0],
          bytes: bundle_i.bytes,
          span: bundle_i.pair ? 10'd16 : 10'(bundle_i.bytes),
          sign: (bundle_i.kind == RequestReference) ? several : bundle_i.sign,
          code: (bundle_i.kind == RequestReference) ? 3'(bundle_i.to_host) : bundle_i.code,
          data: (bundle_i.pair && !swapped) ? number : bundle_i.data,
          expected: !bundle_i.pair ? bundle_i.third : swapped ? number : bundle_i.data,
          map: bundle_i.map,
          outside: 1'b0
      };

  // Which map it is: the number in the lane, or a handle in the first argument. Other numbers are no map's.
  always_comb begin
    map_call_o = '{
        op: XdpMapOpLookup,
        map: bundle_i.map,
        module_id: fixed_i.module_id,
        key: bundle_i.address,
        value: bundle_i.third,
        flags: bundle_i.fourth,
        regions: fixed_i.regions,
        bounds: bundle_i.kept.bounds,
        base: fixed_i.base,
        written: bundle_i.written,
        depth: bundle_i.turn.depth
    };
    if (bundle_i.handle)
      map_call_o.map = (bundle_i.data[63:16] == 48'(HandleAddress[31:16])) ? bundle_i.data[15:0] : '1;
    case (bundle_i.helper)
      HelperUpdate: map_call_o.op = XdpMapOpUpdate;
      HelperDelete: map_call_o.op = XdpMapOpDelete;
      HelperTailCall: map_call_o.op = XdpMapOpProgram;
      HelperRedirectMap: map_call_o.op = XdpMapOpReference;
      HelperLookupPercpu: map_call_o.op = XdpMapOpLookupPercpu;
      HelperPush: map_call_o.op = XdpMapOpPush;
      HelperPop: map_call_o.op = XdpMapOpPop;
      HelperPeek: map_call_o.op = XdpMapOpPeek;
      default: ;
    endcase
  end

endmodule
