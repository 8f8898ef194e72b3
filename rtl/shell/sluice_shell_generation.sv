/// Current generation of each module and how many packets of each generation are in flight.
///
/// `enter_*` stamps a packet: `generation_o` is the module's current generation in the same
/// cycle, and the packet counts until `leave_*` gives it back behind the last table that reads
/// its generation. A commit (`commit_valid_i`) to the current generation changes nothing; to
/// the other one it takes effect for the next cycle's packets, unless packets of that
/// generation were in flight in this cycle or the one before, or `commit_some_i` says that it is read elsewhere: then
/// `commit_busy_o` is set in the same cycle and nothing changes. At most `MaxInFlight` packets may be in flight.
///
/// With `System` each packet also gets the present generation of module 0, the system module, and module 0's
/// counts are those of all packets by that generation.
///
/// Latency: 0 cycles for the stamp and `current_o`, 1 for commits; `in_flight_*` is of the cycle before, with what entered
/// and left up to the cycle before that. Never stalls.
module sluice_shell_generation #(
    parameter int unsigned Modules = 64,
    parameter int unsigned MaxInFlight = 32,
    parameter bit System = 1'b0,
    localparam int unsigned IndexWidth = (Modules > 1) ? $clog2(Modules) : 1,
    localparam int unsigned CountWidth = $clog2(MaxInFlight + 1)
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic                  enter_valid_i,
    input  logic [IndexWidth-1:0] enter_module_i,
    output logic                  generation_o,
    output logic                  system_generation_o,

    input logic                  leave_valid_i,
    input logic [IndexWidth-1:0] leave_module_i,
    input logic                  leave_generation_i,
    input logic                  leave_system_generation_i, // with System

    input  logic                  commit_valid_i,
    input  logic [IndexWidth-1:0] commit_module_i,
    input  logic                  commit_generation_i,
    // Generations of `commit_module_i` that somebody reads elsewhere.
    input  logic [           1:0] commit_some_i,
    output logic                  commit_busy_o,
    // State of the module `commit_module_i`; the counts a cycle later.
    output logic                  current_o,
    output logic [CountWidth-1:0] in_flight_0_o,
    output logic [CountWidth-1:0] in_flight_1_o
);

  typedef logic [CountWidth-1:0] count_t;

  // Bits of modules, with room for every index.
  localparam int unsigned Bits = 2 ** IndexWidth;

  logic [Bits-1:0] current_q;
  logic [1:0][Bits-1:0] some_q;

  function automatic logic [Bits-1:0] one_hot(logic [IndexWidth-1:0] index);
    logic [Bits-1:0] bits;
    for (int unsigned m = 0; m < Bits; m++) bits[m] = 32'(index) == m;
    return bits;
  endfunction

  sluice_mux #(
      .Inputs(Bits),
      .Width (1)
  ) u_current (
      .data_i (current_q),
      .index_i(enter_module_i),
      .data_o (generation_o)
  );
  assign system_generation_o = current_q[0];

  // Packets that enter and leave count a cycle later.
  logic enter_q, leave_q;
  logic [IndexWidth-1:0] enter_module_q, leave_module_q;
  logic enter_generation_q, enter_system_q, leave_generation_q, leave_system_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      enter_q <= 1'b0;
      leave_q <= 1'b0;
    end else begin
      enter_q <= enter_valid_i;
      leave_q <= leave_valid_i;
    end
    enter_module_q     <= enter_module_i;
    enter_generation_q <= generation_o;
    enter_system_q     <= system_generation_o;
    leave_module_q     <= leave_module_i;
    leave_generation_q <= leave_generation_i;
    leave_system_q     <= leave_system_generation_i;
  end

  // Of each generation: modules with packets in flight, and two numbers that count modulo 2^CountWidth, that of the
  // packet that entered last and that of the one that leaves next. Without packets in flight the first means nothing,
  // so that the RAMs need no reset.
  logic [1:0] some, some_at_enter, system_some;
  count_t [1:0] in_flight, system_in_flight;
  logic pending;
  logic [Bits-1:0] enter_at, leave_at, commit_at;
  logic [Bits-1:0][1:0] enter_bits;
  logic [Bits-1:0][2:0] look_bits;

  assign enter_at  = one_hot(enter_module_q);
  assign leave_at  = one_hot(leave_module_q);
  assign commit_at = one_hot(commit_module_i);
  for (genvar m = 0; m < Bits; m++) begin : gen_bits
    assign enter_bits[m] = {some_q[1][m], some_q[0][m]};
    assign look_bits[m]  = {current_q[m], some_q[1][m], some_q[0][m]};
  end

  sluice_mux #(
      .Inputs(Bits),
      .Width (2)
  ) u_some (
      .data_i (enter_bits),
      .index_i(enter_module_q),
      .data_o (some_at_enter)
  );

  sluice_mux #(
      .Inputs(Bits),
      .Width (3)
  ) u_look (
      .data_i (look_bits),
      .index_i(commit_module_i),
      .data_o ({current_o, some})
  );

  for (genvar g = 0; g < 2; g++) begin : gen_generation
    logic enters, leaves, last;
    count_t entered, entered_at_leave, entered_at_look, leaving, leaving_at_enter, leaving_at_look;

    assign enters = enter_q && enter_generation_q == g[0];
    assign leaves = leave_q && leave_generation_q == g[0];
    assign last   = entered_at_leave == leaving;

    sluice_ram_lut #(
        .Width    (CountWidth),
        .Depth    (Modules),
        .ReadPorts(3)
    ) u_entered (
        .clk_i,
        .we_i   (enters),
        .waddr_i(enter_module_q),
        .wdata_i(some_at_enter[g] ? entered + count_t'(1) : leaving_at_enter),
        .raddr_i({enter_module_q, leave_module_q, commit_module_i}),
        .rdata_o({entered, entered_at_leave, entered_at_look})
    );

    sluice_ram_lut #(
        .Width    (CountWidth),
        .Depth    (Modules),
        .ReadPorts(3)
    ) u_leaving (
        .clk_i,
        .we_i   (leaves),
        .waddr_i(leave_module_q),
        .wdata_i(leaving + count_t'(1)),
        .raddr_i({leave_module_q, enter_module_q, commit_module_i}),
        .rdata_o({leaving, leaving_at_enter, leaving_at_look})
    );

    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        some_q[g] <= '0;
      end else begin
        some_q[g] <= (some_q[g] & ~(leave_at &{Bits{leaves && last}})) | (enter_at & {Bits{enters}});
      end
    end

    assign in_flight[g] = entered_at_look - leaving_at_look + count_t'(1);

`ifndef SYNTHESIS
    OnlyWhatEnteredLeaves_A :
    assert property (@(posedge clk_i) disable iff (!rst_ni) !leaves || some_q[g][leave_module_q]);
    // A property would copy the RAMs that it reads in every cycle.
    always_ff @(posedge clk_i) begin
      if (rst_ni) begin
        CountDoesNotOverflow_A :
        assert (!(enters && some_at_enter[g]) ||
                     count_t'(entered - leaving_at_enter) != count_t'(MaxInFlight - 1) ||
                     (leaves && leave_module_q == enter_module_q));
      end
    end
`endif
  end

  // Module 0 stands for all packets with System.
  if (System) begin : gen_system
    count_t [1:0] count_q;
    logic   [1:0] nonzero_q;

    for (genvar g = 0; g < 2; g++) begin : gen_generation
      logic enters, leaves;
      assign enters = enter_q && enter_system_q == g[0];
      assign leaves = leave_q && leave_system_q == g[0];

      always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
          count_q[g]   <= '0;
          nonzero_q[g] <= 1'b0;
        end else if (enters && !leaves) begin
          count_q[g]   <= count_q[g] + count_t'(1);
          nonzero_q[g] <= 1'b1;
        end else if (leaves && !enters) begin
          count_q[g]   <= count_q[g] - count_t'(1);
          nonzero_q[g] <= count_q[g] != count_t'(1);
        end
      end
    end
    assign system_some = nonzero_q;
    assign system_in_flight = count_q;
  end else begin : gen_no_system
    logic unused_system;
    assign unused_system = enter_system_q ^ leave_system_q;
    assign system_some = '0;
    assign system_in_flight = '0;
  end

  logic is_system, some_in_flight;
  assign is_system = System && 32'(commit_module_i) == 0;

  always_comb begin
    pending = enter_q && enter_module_q == commit_module_i && enter_generation_q == commit_generation_i;
    some_in_flight = some[commit_generation_i];
    if (is_system) begin
      pending = enter_q && enter_system_q == commit_generation_i;
      some_in_flight = system_some[commit_generation_i];
    end
  end
  assign commit_busy_o = commit_generation_i != current_o &&
      (some_in_flight || pending || commit_some_i[commit_generation_i]);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) current_q <= '0;
    else if (commit_valid_i && !commit_busy_o) begin
      current_q <= (current_q & ~commit_at) | (commit_at & {Bits{commit_generation_i}});
    end
    in_flight_0_o <= is_system ? system_in_flight[0] : some[0] ? in_flight[0] : '0;
    in_flight_1_o <= is_system ? system_in_flight[1] : some[1] ? in_flight[1] : '0;
  end

endmodule
