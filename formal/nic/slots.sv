/// Proof about sluice_nic_slots: who has the slot is granted, ports and host queues have their part, and nobody waits longer.
///
/// By k-induction, for runs of any length, with resets at any time. One destination is chosen at the first reset: what holds
/// for any one holds for all. Whose slot each cycle is comes from a number of the cycle, not from the block's registers.
module slots #(
    parameter  int unsigned Ports  = 2,
    parameter  int unsigned Hosts  = 2,
    parameter  int unsigned Period = 4,
    localparam int unsigned Dests  = Ports + Hosts,
    localparam int unsigned Index  = $clog2(Dests)
) (
    input logic clk_i,
    input logic rst_ni,
    input logic [Index-1:0] choose_i,
    input logic [Dests-1:0] req_i
);

  // Everything comes again after so many cycles; a port has Period - 1 slots in each window.
  localparam int unsigned Cycles = Period * Ports * Hosts;
  localparam int unsigned Window = Period * Ports;
  localparam int unsigned Bits = $clog2(Cycles + 1);

  logic [Dests-1:0] grant;
  logic [Index-1:0] index;
  logic valid;

  sluice_nic_slots #(
      .Ports (Ports),
      .Hosts (Hosts),
      .Period(Period)
  ) u_dut (
      .clk_i,
      .rst_ni,
      .req_i,
      .grant_o(grant),
      .index_o(index),
      .valid_o(valid)
  );

  logic init_q = 1'b1;
  logic [Index-1:0] chosen_q;
  // The number of the cycle; after a reset comes the last one.
  logic [Bits-1:0] cycle_q;
  logic [Index-1:0] owner;
  // Cycles for which the chosen one has waited, and slots that others took that are nobody's.
  logic [Bits-1:0] waited_q;
  logic [Index+1:0] turns_q;
  logic [Window-1:0] asked_q, granted_q;
  logic [Bits-1:0] grants;

  always_comb if (init_q) assume (!rst_ni && choose_i < Dests);

  always_comb begin
    if (cycle_q % Period == Period - 1) owner = Index'(Ports + (cycle_q / Period) % Hosts);
    else owner = Index'((cycle_q - cycle_q / Period) % Ports);
    grants = '0;
    for (int unsigned i = 0; i < Window; i++) grants = grants + Bits'(granted_q[i]);
  end

  always_ff @(posedge clk_i) begin
    init_q <= 1'b0;
    if (init_q) chosen_q <= choose_i;
    if (!rst_ni) cycle_q <= Bits'(Cycles - 1);
    else cycle_q <= (cycle_q == Bits'(Cycles - 1)) ? '0 : cycle_q + 1'b1;
    if (!rst_ni || !req_i[chosen_q] || grant[chosen_q]) begin
      waited_q <= '0;
      turns_q  <= '0;
    end else begin
      waited_q <= waited_q + 1'b1;
      if (valid && !req_i[owner]) turns_q <= turns_q + 1'b1;
    end
    asked_q   <= rst_ni ? {asked_q[Window-2:0], req_i[chosen_q]} : '0;
    granted_q <= rst_ni ? {granted_q[Window-2:0], grant[chosen_q]} : '0;
  end

  GrantIsOnehot_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) $onehot0(grant));
  GrantWheneverRequested_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) valid == |req_i && valid == |grant);
  OnlyRequestersAreGranted_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) (grant & ~req_i) == '0);
  IndexNamesTheGrant_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !valid || (index < Dests && grant[index]));
  OwnerIsGranted_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !req_i[owner] || grant[owner]);
  PortWaits_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) chosen_q >= Ports || waited_q <= Ports);
  PortIsGrantedThen_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) chosen_q >= Ports || waited_q != Ports || !req_i[chosen_q] ||
                                                          grant[chosen_q]);
  HostQueueWaits_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) waited_q < Period * Hosts);
  PortHasItsPart_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) chosen_q >= Ports || asked_q != '1 || grants >= Period - 1);
  // Of what no owner wants everybody has turns.
  OthersTakeTurns_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) turns_q < Dests);

  PortWaitsSoLong_C :
  cover property (@(posedge clk_i) rst_ni && chosen_q < Ports && waited_q == Ports);
  HostQueueWaitsSoLong_C :
  cover property (@(posedge clk_i) rst_ni && waited_q == Period * Hosts - 1);
  PortHasNoMore_C :
  cover property (@(posedge clk_i) rst_ni && chosen_q < Ports && asked_q == '1 && grants == Period - 1);

  // Strengthening for the induction
  logic [Bits-1:0] round, place, port, host, slot_in;

  always_comb begin
    round = cycle_q / Period;
    place = cycle_q % Period;
    // Cycles until the chosen one has its slot.
    slot_in = '0;
    port = '0;
    host = '0;
    if (chosen_q != owner && chosen_q < Ports) begin
      // So many ports' slots come first, and a host queue's where it comes before.
      port = Bits'((Bits'(chosen_q) + Bits'(Cycles) - (cycle_q - round) - Bits'(place != Period - 1)) % Ports);
      slot_in = port + 1'b1 + Bits'(place != Period - 1 && port + place + 1'b1 >= Period - 1);
    end else if (chosen_q != owner) begin
      host = Bits'((Bits'(chosen_q) - Bits'(Ports) + Bits'(Cycles) - round - Bits'(place == Period - 1)) % Hosts);
      slot_in = Bits'(Period) * host + ((place == Period - 1) ? Bits'(Period) : Bits'(Period - 1) - place);
    end
  end

  CycleIsInRange_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) cycle_q < Cycles);
  SlotIsTheOwners_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) u_dut.slot_q == owner);
  NextSlot_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) u_dut.cycle_q == (cycle_q + 1) % Period);
  NextPort_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) u_dut.port_q ==
                                                          (cycle_q - round + (place != Period - 1)) % Ports);
  NextHost_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) u_dut.host_q == Ports +
                                                          (round + (place == Period - 1)) % Hosts);
  ChosenIsInRange_A :
  assert property (@(posedge clk_i) init_q || chosen_q < Dests);
  PortsSlotComesNearer_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) chosen_q >= Ports || waited_q + slot_in <= Ports);
  HostsSlotComesNearer_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) chosen_q < Ports || waited_q + slot_in < Period * Hosts);

  logic [Index+1:0] start, distance;

  if (Dests <= 4) begin : gen_few
    assign start = (Index + 2)'(u_dut.u_turns.gen_few.start_q);
    StartIsInRange_A :
    assert property (@(posedge clk_i) disable iff (!rst_ni) start < Dests);
  end else begin : gen_many
    logic [Dests-1:0] mask;
    assign mask = u_dut.u_turns.gen_many.first_q;
    always_comb begin
      start = '0;
      for (int unsigned i = 0; i < Dests; i++) start = start + (Index + 2)'(!mask[i]);
      if (start == (Index + 2)'(Dests)) start = '0;
    end
    MaskIsAThermometer_A :
    assert property (@(posedge clk_i) disable iff (!rst_ni) (~mask & (~mask + 1'b1)) == '0);
  end

  always_comb begin
    distance = (Index + 2)'(chosen_q) - start;
    if ((Index + 2)'(chosen_q) < start) distance = distance + (Index + 2)'(Dests);
  end
  TurnsBringItNearer_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) turns_q + distance < Dests);
endmodule
