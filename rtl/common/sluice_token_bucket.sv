/// Rate policing by token buckets, as the generic cell rate algorithm (GCRA; ITU-T I.371).
///
/// A decision names a bucket, the time and a length; the answer says whether it conforms.
/// Each bucket keeps its theoretical arrival time, TAT. In units of 2^-FracWidth ticks:
///
///   tat'    = max(TAT, now << FracWidth)
///   conform = tat' - (now << FracWidth) <= burst << FracWidth
///   if conform: TAT = tat' + length * cost
///
/// With `PacketInBurst` the packet itself has to fit the burst, so that over any time t no more than burst + t conforms:
///
///   conform = tat' + length * cost - (now << FracWidth) <= burst << FracWidth
///
/// `cost` is in ticks per byte, or whatever length counts, fixed point with FracWidth fraction bits, `burst` in whole
/// ticks. A packet that does not conform changes nothing. Cost 0 is no limit: always conforms.
///
/// Configuration: a write (`cfg_en_i && cfg_we_i`) sets cost and burst of a bucket and makes
/// it full (TAT in the past); it holds for the decisions of later cycles, not for those of
/// its own cycle. A read (`cfg_en_i && !cfg_we_i`) gives both one cycle later. A reset makes
/// all buckets full; the configuration stays (zero, so unlimited, before the first write).
///
/// Time: `now_i` must count freely in every cycle, not only in those that decide: from one cycle
/// to the next it advances by 0 to 2^(TimeWidth-2) ticks and wraps (a reset may set it). Decisions
/// are then exact, also across the wrap and after pauses of any length: a bucket not charged for
/// a whole quarter of the range of `now_i`, counted between the quarters' borders, is full again,
/// since one burst and one packet, which is as far as a TAT gets ahead, are shorter than that.
///
/// An index that is not below `Buckets` answers something unspecified and changes no bucket.
///
/// Latency: 4 cycles, fixed. Throughput: 1 decision per cycle, also for one bucket. Never
/// stalls.
module sluice_token_bucket #(
    parameter  int unsigned Buckets       = 32,
    parameter  int unsigned TimeWidth     = 48,
    parameter  int unsigned LengthWidth   = 14,
    parameter  int unsigned CostIntWidth  = 8,
    parameter  int unsigned FracWidth     = 16,
    parameter  int unsigned BurstWidth    = 32,
    parameter  bit          PacketInBurst = 1'b0,
    localparam int unsigned IndexWidth    = (Buckets > 1) ? $clog2(Buckets) : 1,
    localparam int unsigned CostWidth     = CostIntWidth + FracWidth
) (
    input  logic                   clk_i,
    input  logic                   rst_ni,
    // Decisions.
    input  logic                   valid_i,
    input  logic [ IndexWidth-1:0] index_i,
    input  logic [  TimeWidth-1:0] now_i,
    input  logic [LengthWidth-1:0] length_i,
    output logic                   valid_o,
    output logic                   conform_o,
    // Configuration.
    input  logic                   cfg_en_i,
    input  logic                   cfg_we_i,
    input  logic [ IndexWidth-1:0] cfg_index_i,
    input  logic [  CostWidth-1:0] cfg_cost_i,
    input  logic [ BurstWidth-1:0] cfg_burst_i,
    output logic [  CostWidth-1:0] cfg_cost_o,
    output logic [ BurstWidth-1:0] cfg_burst_o
);

  localparam int unsigned TatWidth = TimeWidth + FracWidth;
  localparam int unsigned ChargeWidth = LengthWidth + CostWidth;

  if (Buckets < 1) begin : gen_bad_buckets
    $fatal(1, "token_bucket: Buckets is %0d, expected at least 1 (%m)", Buckets);
  end
  if (FracWidth < 1 || CostIntWidth < 1 || LengthWidth < 1 || BurstWidth < 1) begin : gen_bad_widths
    $fatal(
        1,
        "token_bucket: FracWidth, CostIntWidth, LengthWidth, BurstWidth are %0d, %0d, %0d, %0d, %s (%m)",
        FracWidth,
        CostIntWidth,
        LengthWidth,
        BurstWidth,
        "expected at least 1 each"
    );
  end
  // The TAT is at most one burst and one packet ahead of now: together less than a quarter of the range.
  if (TimeWidth < BurstWidth + 3 || TatWidth < ChargeWidth + 3) begin : gen_bad_time_width
    $fatal(
        1,
        "token_bucket: TimeWidth is %0d, expected at least BurstWidth + 3 = %0d and %s = %0d (%m)",
        TimeWidth,
        BurstWidth + 3,
        "LengthWidth + CostIntWidth + 3",
        LengthWidth + CostIntWidth + 3
    );
  end

  typedef logic [TatWidth-1:0] tat_t;

  // Read the configuration.
  logic                   cfg_write;
  logic                   mul_valid_q;
  logic [ IndexWidth-1:0] mul_index_q;
  logic [  TimeWidth-1:0] mul_now_q;
  logic [LengthWidth-1:0] mul_length_q;
  logic [  CostWidth-1:0] mul_cost;
  logic [ BurstWidth-1:0] mul_burst;

  assign cfg_write = cfg_en_i && cfg_we_i;

  sluice_ram_dp #(
      .Width   (CostWidth + BurstWidth),
      .Depth   (Buckets),
      .InitZero(1'b0)
  ) u_config (
      .clk_i    (clk_i),
      .a_en_i   (cfg_en_i),
      .a_we_i   (cfg_we_i),
      .a_addr_i (cfg_index_i),
      .a_wdata_i({cfg_cost_i, cfg_burst_i}),
      .a_rdata_o({cfg_cost_o, cfg_burst_o}),
      .b_en_i   (valid_i),
      .b_addr_i (index_i),
      .b_rdata_o({mul_cost, mul_burst})
  );

  // Multiply.
  logic add_valid_q;
  logic [IndexWidth-1:0] add_index_q;
  logic [TimeWidth-1:0] add_now_q;
  logic [TimeWidth-1:0] add_limit_q;
  logic [BurstWidth-1:0] add_burst_q;
  logic [ChargeWidth-1:0] add_charge_q;
  logic add_unlimited_q;

  // Decide: the only stage inside the loop over TAT. All three results are sums of operands
  // known before, so the loop is one carry chain and a choice.
  logic dec_valid_q;
  logic [IndexWidth-1:0] dec_index_q;
  tat_t dec_now_q;
  tat_t dec_limit_q;  // now + burst, and the smallest fraction more; without the packet, if that counts
  logic dec_fits_q;  // the packet fits a full bucket
  tat_t dec_charge_q;
  tat_t dec_now_charged_q;  // now + charge
  logic dec_unlimited_q;
  logic dec_used_q;
  tat_t dec_tat_q;

  tat_t ahead_of_now;
  tat_t ahead_of_limit;
  logic in_past;
  logic conform;
  logic charge;
  tat_t tat_d;

  assign ahead_of_now = dec_tat_q - dec_now_q;
  assign ahead_of_limit = dec_tat_q - dec_limit_q;
  // Signs of the differences modulo 2^TatWidth: right on both sides of the wrap.
  assign in_past = !dec_used_q || ahead_of_now[TatWidth-1];
  assign conform = dec_unlimited_q || (in_past ? dec_fits_q : ahead_of_limit[TatWidth-1]);
  assign charge = dec_valid_q && conform;
  assign tat_d = in_past ? dec_now_charged_q : dec_tat_q + dec_charge_q;

  // A configuration write travels beside the decisions, so that it comes between those of its
  // own cycle and those of the next.
  logic mul_clear_q, add_clear_q, dec_clear_q;
  logic [IndexWidth-1:0] mul_clear_index_q, add_clear_index_q, dec_clear_index_q;

  // Low: the bucket is full, whatever the RAM holds for it: not charged since its last
  // configuration write or reset, or last charged before the quarter of time that went before
  // this one. Charges of this quarter and the one before are less than half the range old.
  logic [Buckets-1:0] used_q;
  // Charged in this quarter of time.
  logic [Buckets-1:0] recent_q;
  // Time enters a quarter in the cycle that is in the stage now; that comes before its decision.
  logic               add_quarter_q;
  logic               add_used;
  tat_t tat_from_ram, add_tat;

  sluice_ram_lut #(
      .Width(TatWidth),
      .Depth(Buckets)
  ) u_tat (
      .clk_i  (clk_i),
      .we_i   (charge),
      .waddr_i(dec_index_q),
      .wdata_i(tat_d),
      .raddr_i(add_index_q),
      .rdata_o(tat_from_ram)
  );

  always_comb begin
    add_used = used_q[add_index_q] && (!add_quarter_q || recent_q[add_index_q]);
    add_tat  = tat_from_ram;
    if (charge && dec_index_q == add_index_q) begin
      add_used = 1'b1;
      add_tat  = tat_d;
    end
    if (dec_clear_q && dec_clear_index_q == add_index_q) add_used = 1'b0;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      mul_valid_q   <= 1'b0;
      add_valid_q   <= 1'b0;
      dec_valid_q   <= 1'b0;
      mul_clear_q   <= 1'b0;
      add_clear_q   <= 1'b0;
      dec_clear_q   <= 1'b0;
      valid_o       <= 1'b0;
      used_q        <= '0;
      recent_q      <= '0;
      add_quarter_q <= 1'b0;
    end else begin
      mul_valid_q   <= valid_i;
      add_valid_q   <= mul_valid_q;
      dec_valid_q   <= add_valid_q;
      mul_clear_q   <= cfg_write;
      add_clear_q   <= mul_clear_q;
      dec_clear_q   <= add_clear_q;
      valid_o       <= dec_valid_q;
      add_quarter_q <= mul_now_q[TimeWidth-1-:2] != add_now_q[TimeWidth-1-:2];
      if (add_quarter_q) begin
        used_q   <= used_q & recent_q;
        recent_q <= '0;
      end
      // This charge is of the cycle before that of add_quarter_q: of the quarter that ends.
      if (charge) begin
        used_q[dec_index_q]   <= 1'b1;
        recent_q[dec_index_q] <= !add_quarter_q;
      end
      if (dec_clear_q) used_q[dec_clear_index_q] <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    mul_index_q       <= index_i;
    mul_now_q         <= now_i;
    mul_length_q      <= length_i;
    mul_clear_index_q <= cfg_index_i;

    add_index_q       <= mul_index_q;
    add_now_q         <= mul_now_q;
    add_limit_q       <= mul_now_q + TimeWidth'(mul_burst);
    add_burst_q       <= mul_burst;
    add_charge_q      <= ChargeWidth'(mul_length_q) * ChargeWidth'(mul_cost);
    add_unlimited_q   <= mul_cost == '0;
    add_clear_index_q <= mul_clear_index_q;

    dec_index_q       <= add_index_q;
    dec_now_q         <= {add_now_q, FracWidth'(0)};
    dec_limit_q       <= {add_limit_q, FracWidth'(1)} - (PacketInBurst ? TatWidth'(add_charge_q) : '0);
    dec_fits_q        <= !PacketInBurst || TatWidth'(add_charge_q) <= TatWidth'({add_burst_q, FracWidth'(0)});
    dec_charge_q      <= TatWidth'(add_charge_q);
    dec_now_charged_q <= {add_now_q, FracWidth'(0)} + TatWidth'(add_charge_q);
    dec_unlimited_q   <= add_unlimited_q;
    dec_used_q        <= add_used;
    dec_tat_q         <= add_tat;
    dec_clear_index_q <= add_clear_index_q;

    conform_o         <= conform;
  end

`ifndef SYNTHESIS
  AnswerFollowsItsDecision_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !$past(rst_ni && dec_valid_q) || valid_o);
  TimeAdvancesByAQuarterAtMost_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !$past(
      rst_ni
  ) || TimeWidth'(now_i - mul_now_q) <= {2'b01, (TimeWidth - 2)'(0)});
`endif

endmodule
