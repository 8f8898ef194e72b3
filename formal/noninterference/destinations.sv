/// Proof about two copies of sluice_rmt_destinations: where a module's packet goes, with which tags, is the same in both,
/// whatever other modules' packets, groups and grants there are in each; so are its events counted.
///
/// By k-induction, for runs of any length, at two modules and two groups. A chosen module's packets and events are common
/// to both copies and come in the same cycle; its groups, those of the system module that have a destination, its names of
/// groups and its grant are equal and stand; all else is free in each, requests of the host among it. Assumed of what is written, as the
/// linker's check does (crates/object/src/linker/rmt/check.rs, `Group`, `GroupName`, `Granted`): a group of another module has that
/// module's number or is zero, and nobody else writes over the chosen module's or the system's groups, or its names or its grant. A
/// packet may name any group: it learns nothing of those in which it has no part.
///
/// What waits to be counted as a misfit is counted when no event comes, so that its cycle is not claimed.
module destinations
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_rmt_rows_pkg::*;
  import sluice_rmt_pkg::*;
#(
    parameter int unsigned Modules = 2,
    parameter int unsigned Groups  = 2
) (
    input logic clk_i,
    input logic rst_ni,
    input logic choose_i,

    // [2] is the chosen module's.
    input logic           ours_i,
    input logic     [1:0] ctl_valid_i,
    input rmt_ctl_t [2:0] ctl_i,
    input rmt_phv_t [2:0] phv_i,

    input logic                  event_ours_i,
    input logic       [1:0]      event_valid_i,
    input logic       [1:0]      event_module_i,
    input rmt_event_e [2:0]      event_kind_i,
    input logic       [2:0][3:0] event_amount_i,
    input logic       [1:0]      misfit_valid_i,
    input logic       [1:0]      misfit_module_i,

    input logic         [1:0]                             cfg_valid_i,
    input rmt_cfg_req_t [1:0]                             cfg_req_i,
    input logic         [1:0][32*RmtPatternsRowWords-1:0] cfg_row_i
);

  localparam rmt_cfg_t Cfg = '{
      bus_bytes: 32,
      modules: Modules,
      stages: 1,
      system_stages: 0,
      sets: 2,
      ternary: 2,
      actions: 2,
      words: 128,
      groups: Groups,
      target_hash: 0
  };

  logic init_q = 1'b1;
  logic chosen_q, chosen;
  logic [1:0] ours_q;

  assign chosen = init_q ? choose_i : chosen_q;

  logic [1:0] valid;
  rmt_ctl_t [1:0] ctl;
  rmt_phv_t [1:0] phv;
  route_t [1:0] route;
  rmt_group_row_t [1:0][Groups-1:0] groups;
  rmt_granted_row_t [1:0] granted;
  rmt_group_name_row_t [1:0] names;

  // A group that a packet of the chosen module may use.
  function automatic logic concerns(rmt_group_row_t row, logic module_bit);
    return row.owner == ModuleBits'(module_bit) || (row.owner == '0 && row.destinations != '0);
  endfunction

  for (genvar k = 0; k < 2; k++) begin : gen_copy
    logic unused_valid;
    cfg_rsp_t unused_rsp;
    rmt_group_row_t written;
    sluice_rmt_destinations #(
        .Cfg(Cfg)
    ) u_dut (
        .clk_i,
        .rst_ni,
        .ctl_valid_i    (ours_i || ctl_valid_i[k]),
        .ctl_i          (ctl_i[ours_i?2 : k]),
        .phv_i          (phv_i[ours_q[0]?2 : k]),
        .valid_o        (valid[k]),
        .ctl_o          (ctl[k]),
        .phv_o          (phv[k]),
        .route_o        (route[k]),
        .epoch_i        ('0),
        .event_valid_i  (event_ours_i || event_valid_i[k]),
        .event_module_i (ModuleBits'(event_ours_i ? chosen : event_module_i[k])),
        .event_kind_i   (event_kind_i[event_ours_i?2 : k]),
        .event_amount_i (event_amount_i[event_ours_i?2 : k]),
        .misfit_valid_i (misfit_valid_i[k]),
        .misfit_module_i(ModuleBits'(misfit_module_i[k])),
        .cfg_valid_i    (cfg_valid_i[k]),
        .cfg_req_i      (cfg_req_i[k]),
        .cfg_row_i      (cfg_row_i[k]),
        .cfg_valid_o    (unused_valid),
        .cfg_rsp_o      (unused_rsp)
    );
    for (genvar g = 0; g < int'(Groups); g++) begin : gen_group
      assign groups[k][g] = u_dut.u_groups.mem[g];
    end
    assign granted[k] = u_dut.u_granted.mem[chosen];
    assign names[k] = u_dut.u_names.mem[chosen];
    assign written = u_dut.u_groups.a_wdata_i;
    always_comb begin
      assume (!(ours_i && 32'(ctl_i[2].module_id) != 32'(chosen)));
      assume (!cfg_req_i[k].clear);
      assume (!(u_dut.u_groups.a_en_i && u_dut.u_groups.a_we_i) || (!concerns(
          written, chosen
      ) && !concerns(
          groups[k][u_dut.u_groups.a_addr_i], chosen
      )) || (chosen == 1'b0 && written == '0 && groups[k][u_dut.u_groups.a_addr_i] == '0));
      assume (!(u_dut.u_granted.a_en_i && u_dut.u_granted.a_we_i) || u_dut.u_granted.a_addr_i != chosen);
      assume (!(u_dut.u_names.a_en_i && u_dut.u_names.a_we_i) || u_dut.u_names.a_addr_i != chosen);
      assume (event_ours_i || !event_valid_i[k] || event_module_i[k] != chosen);
    end
  end

  always_ff @(posedge clk_i) begin
    init_q   <= 1'b0;
    chosen_q <= chosen;
    ours_q   <= rst_ni && !init_q ? {ours_q[0], ours_i} : '0;
  end

  always_comb begin
    if (init_q) assume (!rst_ni);
    assume (rst_ni || !(ours_i || event_ours_i));
  end

  OutIsInBoth_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) init_q || !ours_q[1] || valid == 2'b11);
  ThePacketIsTheSame_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) init_q || !ours_q[1] || (phv[0] == phv[1] &&
      ctl[0].module_id == ctl[1].module_id && ctl[0].generation == ctl[1].generation &&
      ctl[0].system_generation == ctl[1].system_generation));
  ItGoesTheSameWay_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) init_q || !ours_q[1] ||
                   (ctl[0].dropped == ctl[1].dropped && route[0] == route[1]));
  TheReasonIsTheSame_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) init_q || !ours_q[1] || ctl[0].reason == ctl[1].reason);
  for (genvar k = 0; k < 2; k++) begin : gen_event
    EventsCountInTheirCycle_A :
    assert property (@(posedge clk_i) disable iff (!rst_ni) init_q || !event_ours_i ||
        (gen_copy[k].u_dut.u_events.u_counters.inc_valid_i &&
         gen_copy[k].u_dut.u_events.u_counters.inc_index_i == {chosen, 4'(event_kind_i[2])} &&
         gen_copy[k].u_dut.u_events.u_counters.inc_amount_i == event_amount_i[2]));
    OthersEventsCountAsTheirs_A :
    assert property (@(posedge clk_i) disable iff (!rst_ni) init_q || event_ours_i || !event_valid_i[k] ||
        gen_copy[k].u_dut.u_events.u_counters.inc_index_i[4] != chosen);
  end

  // Strengthening for the induction.
  logic good;
  always_comb begin
    good = granted[0] == granted[1] && names[0] == names[1];
    for (int unsigned g = 0; g < Groups; g++) begin
      good &= groups[0][g] == groups[1][g] || !(concerns(groups[0][g], chosen) || concerns(groups[1][g], chosen));
    end
    if (init_q) assume (good);
  end
  PlacesAreTheSame_A :
  assert property (@(posedge clk_i) good);
endmodule
