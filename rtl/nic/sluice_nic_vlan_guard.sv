/// Judges frames as they will leave each port: a tenant sends in VLANs of his own (docs/design/nic.md, "Leaving").
///
/// A packet's verdict comes with bytes 12 to 15 of its first beat. For each port the frame is looked at as ingress there would:
/// with its outer 0x8100 tag by the owner of the VLAN, without by the owner of untagged frames. Where that is not the
/// packet's module, the port is denied. Where it is nobody, the VLAN with which the frame came passes, and with the module's bit of
/// `any_vids_i` any, and no tag. Host queues are not judged.
///
/// `lookup_*`: a read of the ports' owners, answered by `owner_i` one cycle later; `untagged_i` is a register of each port.
/// Latency: 1 cycle, as the FIFO that it has in it. Throughput: a packet a cycle. Stall behaviour: `ready_o` falls when
/// `Depth` verdicts wait. What is offered stays until it is taken.
module sluice_nic_vlan_guard
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_nic_pkg::*;
#(
    parameter int unsigned Ports   = NicCfgDefault.ports,
    parameter int unsigned Modules = NicCfgDefault.modules,
    parameter int unsigned Depth   = 16
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic            valid_i,
    output logic            ready_o,
    input  verdict_t        verdict_i,
    // Bytes 12 to 15, the first one highest.
    // "Bits of signal are not used": priorities decide nothing.
    // verilator lint_off UNUSEDSIGNAL
    input  logic     [31:0] outer_i,
    // verilator lint_on UNUSEDSIGNAL

    output logic                      lookup_o,
    output logic        [       11:0] lookup_vlan_o,
    input  vlan_owner_t [  Ports-1:0] owner_i,
    input  vlan_owner_t [  Ports-1:0] untagged_i,
    // Held while packets of the module are on their way.
    input  logic        [Modules-1:0] any_vids_i,

    output logic                    valid_o,
    input  logic                    ready_i,
    output verdict_t                verdict_o,
    output logic     [DestBits-1:0] denied_o
);

  localparam int unsigned TagEnd = 16;

  if (Ports < 1 || Ports > DestBits) begin : gen_bad_ports
    $fatal(1, "nic_vlan_guard: Ports is %0d, expected 1 to %0d (%m)", Ports, DestBits);
  end

  localparam int unsigned IndexBits = (Modules > 1) ? $clog2(Modules) : 1;

  logic push, has_tag, came;
  assign push = valid_i && ready_o;
  assign has_tag = verdict_i.sideband.tag_off ||
      (outer_i[31:16] == VlanEthertype && 32'(verdict_i.sideband.length) >= TagEnd);
  assign lookup_o = push;
  assign lookup_vlan_o = verdict_i.sideband.tag_off ? verdict_i.sideband.tci[11:0] : outer_i[11:0];

  // The tag put back is that of the frame as it came; so is one that stayed and was not written, but for a priority tag.
  assign came = verdict_i.sideband.tag_off || (has_tag && outer_i[11:0] == verdict_i.sideband.tci[11:0] && outer_i[11:0] != '0);

  // "Signal is not used": assertions look at them.
  // verilator lint_off UNUSEDSIGNAL
  logic [$clog2(Depth+1)-1:0] level, late_level;
  // verilator lint_on UNUSEDSIGNAL
  sluice_fifo #(
      .Width($bits(verdict_t)),
      .Depth(Depth)
  ) u_verdicts (
      .clk_i,
      .rst_ni,
      .valid_i,
      .ready_o,
      .data_i (verdict_i),
      .valid_o,
      .ready_i,
      .data_o (verdict_o),
      .level_o(level)
  );

  // The answer is there when the verdict is first at the head; what is not taken then waits beside the verdicts.
  logic judged_q, has_tag_q, free_q, late_valid, late_push, unused_late_ready;
  logic [ModuleBits-1:0] module_q;
  logic [Ports-1:0] foreign, late;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) judged_q <= 1'b0;
    else judged_q <= push;
  end
  always_ff @(posedge clk_i) begin
    has_tag_q <= has_tag;
    module_q  <= verdict_i.sideband.module_id;
    free_q    <= came || any_vids_i[verdict_i.sideband.module_id[IndexBits-1:0]];
  end

  always_comb begin
    for (int unsigned p = 0; p < Ports; p++) begin
      vlan_owner_t owner;
      owner = has_tag_q ? owner_i[p] : untagged_i[p];
      foreign[p] = owner.valid ? owner.module_id != module_q : !free_q;
    end
  end

  assign late_push = judged_q && (late_valid || !ready_i);
  sluice_fifo #(
      .Width(Ports),
      .Depth(Depth)
  ) u_late (
      .clk_i,
      .rst_ni,
      .valid_i(late_push),
      .ready_o(unused_late_ready),
      .data_i (foreign),
      .valid_o(late_valid),
      .ready_i(valid_o && ready_i),
      .data_o (late),
      .level_o(late_level)
  );
  assign denied_o = DestBits'(late_valid ? late : foreign);

`ifndef SYNTHESIS
  AnswersKeepUp_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) 32'(level) == 32'(late_level) + 32'(judged_q));
  LateHasRoom_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !late_push || unused_late_ready);
`endif

endmodule
