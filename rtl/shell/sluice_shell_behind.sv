/// Counts the packets whose module's rows an engine behind the queues will still read, by module and generation.
///
/// A packet enters with its verdict, before or when its token goes back (`enter_*`), and leaves once: dispatched (way 0) or dropped at its queue
/// (way 1). So at every instant it is counted here or in sluice_shell_generation, or in both. Ways never wait for each other.
///
/// `some_o[g]`: module `look_module_i` has packets of generation g here, with those that entered up to the cycle before. `count_*_o` says
/// how many, a cycle later.
///
/// Latency: as said. Throughput: a packet in and one out on each way a cycle. Never stalls: at most `MaxPackets` are here.
module sluice_shell_behind #(
    parameter int unsigned Modules = 64,
    parameter int unsigned MaxPackets = 4096,
    localparam int unsigned Ways = 2,
    localparam int unsigned IndexWidth = (Modules > 1) ? $clog2(Modules) : 1,
    localparam int unsigned CountWidth = $clog2(MaxPackets + 1)
) (
    input logic clk_i,
    input logic rst_ni,

    input logic                  enter_valid_i,
    input logic [IndexWidth-1:0] enter_module_i,
    input logic                  enter_generation_i,

    input logic [Ways-1:0]                 leave_valid_i,
    input logic [Ways-1:0][IndexWidth-1:0] leave_module_i,
    input logic [Ways-1:0]                 leave_generation_i,

    input  logic [IndexWidth-1:0] look_module_i,
    output logic [           1:0] some_o,
    output logic [CountWidth-1:0] count_0_o,
    output logic [CountWidth-1:0] count_1_o
);

  // A module's generation.
  typedef logic [IndexWidth:0] pair_t;
  typedef logic [CountWidth-1:0] count_t;

  localparam int unsigned Pairs = 2 ** (IndexWidth + 1);
  // Readers of each count: who enters, who leaves on each way, and both generations of the module that is looked at.
  localparam int unsigned Readers = 1 + Ways + 2;
  localparam int unsigned AtLeave = 1;
  localparam int unsigned AtLook = 1 + Ways;

  logic enter_q;
  logic [Ways-1:0] leave_q;
  pair_t enter_pair_q;
  pair_t [Ways-1:0] leave_pair_q;
  logic [Pairs-1:0] some_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      enter_q <= 1'b0;
      leave_q <= '0;
    end else begin
      enter_q <= enter_valid_i;
      leave_q <= leave_valid_i;
    end
    enter_pair_q <= {enter_generation_i, enter_module_i};
    for (int unsigned w = 0; w < Ways; w++) leave_pair_q[w] <= {leave_generation_i[w], leave_module_i[w]};
  end

  // Numbers that count modulo 2^CountWidth: packets that entered, and those that left on each way. Without packets here the
  // first means nothing, so that the RAMs need no reset.
  pair_t [Readers-1:0] readers;
  count_t [Readers-1:0] entered, here;
  count_t [Ways-1:0][Readers-1:0] left;

  always_comb begin
    readers[0] = enter_pair_q;
    for (int unsigned w = 0; w < Ways; w++) readers[AtLeave+w] = leave_pair_q[w];
    for (int unsigned g = 0; g < 2; g++) readers[AtLook+g] = {g[0], look_module_i};
    for (int unsigned r = 0; r < Readers; r++) here[r] = entered[r] - left[0][r] - left[1][r];
  end

  logic some_at_enter;
  assign some_at_enter = some_q[enter_pair_q];

  sluice_ram_lut #(
      .Width    (CountWidth),
      .Depth    (Pairs),
      .ReadPorts(Readers)
  ) u_entered (
      .clk_i,
      .we_i   (enter_q),
      .waddr_i(enter_pair_q),
      .wdata_i((some_at_enter ? entered[0] : left[0][0] + left[1][0]) + count_t'(1)),
      .raddr_i(readers),
      .rdata_o(entered)
  );
  for (genvar w = 0; w < int'(Ways); w++) begin : gen_way
    sluice_ram_lut #(
        .Width    (CountWidth),
        .Depth    (Pairs),
        .ReadPorts(Readers)
    ) u_left (
        .clk_i,
        .we_i   (leave_q[w]),
        .waddr_i(leave_pair_q[w]),
        .wdata_i(left[w][AtLeave+w] + count_t'(1)),
        .raddr_i(readers),
        .rdata_o(left[w])
    );
  end

  // The last ones of a pair leave.
  logic [Ways-1:0] last;
  logic both;
  assign both = leave_q == '1 && leave_pair_q[0] == leave_pair_q[1];
  always_comb begin
    for (int unsigned w = 0; w < Ways; w++)
    last[w] = leave_q[w] && here[AtLeave+w] == (both ? count_t'(2) : count_t'(1));
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      some_q <= '0;
    end else begin
      for (int unsigned w = 0; w < Ways; w++) if (last[w]) some_q[leave_pair_q[w]] <= 1'b0;
      if (enter_q) some_q[enter_pair_q] <= 1'b1;
    end
    count_0_o <= some_q[readers[AtLook]] ? here[AtLook] : '0;
    count_1_o <= some_q[readers[AtLook+1]] ? here[AtLook+1] : '0;
  end

  always_comb begin
    for (int unsigned g = 0; g < 2; g++) begin
      some_o[g] = some_q[readers[AtLook+g]] || (enter_q && enter_pair_q == readers[AtLook+g]);
    end
  end

`ifndef SYNTHESIS
  // A property would copy the RAMs that it reads in every cycle.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      for (int unsigned w = 0; w < Ways; w++) begin
        OnlyWhatEnteredLeaves_A : assert (!leave_q[w] || some_q[leave_pair_q[w]]);
      end
      CountDoesNotOverflow_A : assert (!(enter_q && some_at_enter) || here[0] != count_t'(MaxPackets));
    end
  end
`endif

endmodule
