/// Makes what comes fit the length that its sideband gives (docs/design/rmt.md, "Entrance").
///
/// Out come `length` bytes (at least 1, at most MaxFrameBytes) in as many beats as they take, with `last_o` on
/// the last and zeros behind the end and where `tkeep` says that there is no byte. A packet that ends before is
/// filled up with zeros; what comes behind the end is taken and thrown away. `side_o` goes with the first beat.
///
/// Whether beats, `tkeep` and `tlast` are those of the length is told a cycle after a beat: `window_valid_o` once
/// a packet, for its first WindowBeats beats together, and `late_o` with the first beat behind them that is not
/// right when they were.
///
/// Latency: 0 cycles for beats. Throughput: a beat a cycle. Stall behaviour: `ready_i` low stalls the input; so do beats
/// filled up. `valid_o` does not depend on `ready_i`.
module sluice_rmt_fit
  import sluice_pkg::*;
#(
    parameter  int unsigned Bytes       = 64,
    parameter  int unsigned WindowBeats = 2,
    localparam int unsigned OffsetBits  = $clog2(Bytes)
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic                    s_axis_tvalid,
    output logic                    s_axis_tready,
    input  logic [     8*Bytes-1:0] s_axis_tdata,
    input  logic [       Bytes-1:0] s_axis_tkeep,
    input  logic                    s_axis_tlast,
    input  logic [SidebandBits-1:0] s_axis_tuser,

    output logic                    valid_o,
    input  logic                    ready_i,
    output logic      [8*Bytes-1:0] data_o,
    output logic                    first_o,
    output logic                    last_o,
    output logic                    window_o,       // one of the first WindowBeats beats
    output logic                    window_last_o,  // and the last of these in the packet
    output sideband_t               side_o,

    output logic window_valid_o,
    output logic window_misfit_o,
    output logic late_o
);

  if (2 ** OffsetBits != Bytes || Bytes < 2) begin : gen_bad_bytes
    $fatal(1, "rmt_fit: Bytes is %0d, expected a power of two from 2 on (%m)", Bytes);
  end
  if (WindowBeats < 1) begin : gen_bad_window
    $fatal(1, "rmt_fit: WindowBeats is %0d, expected at least 1 (%m)", WindowBeats);
  end

  localparam int unsigned CountBits = $clog2(WindowBeats + 1);

  typedef enum logic [1:0] {
    StAwaitFirst,
    StAwaitNext,
    StFillUp,
    StCutOff
  } state_e;

  state_e state_d, state_q;
  sideband_t side;
  logic first, taking, fire, ends, impossible;
  logic [13:0] length, left, left_q;  // bytes from this beat on
  logic [Bytes-1:0] there;
  logic ends_q;  // the beat behind this one is the last
  logic [CountBits-1:0] count_q;  // beats of the packet before this one, up to WindowBeats

  assign side = s_axis_tuser;
  assign first = state_q == StAwaitFirst;
  assign taking = first || state_q == StAwaitNext;

  assign impossible = side.length == '0 || side.length > 14'(MaxFrameBytes);
  always_comb begin
    length = side.length;
    if (side.length == '0) length = 14'd1;
    if (side.length > 14'(MaxFrameBytes)) length = 14'(MaxFrameBytes);
  end

  // Neither limit of the length decides about bytes of a first beat, so that they are not waited for.
  assign left = first ? side.length : left_q;
  assign ends = first ? side.length <= 14'(Bytes) : ends_q;
  assign there[Bytes-1] = left[13:OffsetBits] != '0;
  for (genvar i = 0; i < Bytes - 1; i++) begin : gen_there
    assign there[i] = left[13:OffsetBits] != '0 || left[OffsetBits-1:0] > OffsetBits'(i);
  end
  for (genvar i = 0; i < Bytes; i++) begin : gen_byte
    assign data_o[8*i+:8] = (there[i] && s_axis_tkeep[i] && taking) ? s_axis_tdata[8*i+:8] : 8'd0;
  end

  assign valid_o = taking ? s_axis_tvalid : state_q == StFillUp;
  assign s_axis_tready = taking ? ready_i : state_q == StCutOff;
  assign fire = valid_o && ready_i;
  assign first_o = first;
  assign last_o = ends;
  assign window_o = first || count_q != CountBits'(WindowBeats);
  assign window_last_o = ends || (first ? WindowBeats == 1 : count_q == CountBits'(WindowBeats - 1));
  always_comb begin
    side_o = side;
    side_o.length = length;
  end

  always_comb begin
    state_d = state_q;
    unique case (state_q)
      StAwaitFirst, StAwaitNext: begin
        if (fire) begin
          unique case ({
            ends, s_axis_tlast
          })
            2'b11:   state_d = StAwaitFirst;
            2'b10:   state_d = StCutOff;
            2'b01:   state_d = StFillUp;
            default: state_d = StAwaitNext;
          endcase
        end
      end
      StFillUp: if (fire && ends) state_d = StAwaitFirst;
      StCutOff: if (s_axis_tvalid && s_axis_tlast) state_d = StAwaitFirst;
      default:  state_d = StAwaitFirst;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) state_q <= StAwaitFirst;
    else state_q <= state_d;
  end

  always_ff @(posedge clk_i) begin
    if (fire) begin
      ends_q <= left <= 14'(2 * Bytes);
      left_q <= (first ? length : left_q) - 14'(Bytes);
      if (first) count_q <= CountBits'(1);
      else if (window_o) count_q <= count_q + CountBits'(1);
    end
  end

  // The comparison with what the length says takes a cycle of its own.
  localparam int unsigned Parts = Bytes / 8;
  logic check_q, check_first_q, check_window_q, check_last_q, check_rest_q, misfit, misfit_q;
  logic [Parts-1:0] check_keep_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) check_q <= 1'b0;
    else check_q <= fire;
  end
  always_ff @(posedge clk_i) begin
    check_first_q  <= first;
    check_window_q <= window_o;
    check_last_q   <= window_last_o;
    check_rest_q   <= taking && (s_axis_tlast != ends || (first && impossible));
    for (int unsigned p = 0; p < Parts; p++) check_keep_q[p] <= taking && s_axis_tkeep[8*p+:8] != there[8*p+:8];
    if (check_q) misfit_q <= misfit;
  end

  assign misfit = check_rest_q || |check_keep_q || (!check_first_q && misfit_q);
  assign window_valid_o = check_q && check_window_q && check_last_q;
  assign window_misfit_o = misfit;
  assign late_o = check_q && !check_window_q && misfit && !misfit_q;

`ifndef SYNTHESIS
  logic stalled;
  assign stalled = rst_ni && valid_o && !ready_i;
  // A property would copy what is wide in every cycle.
  localparam int unsigned InBits = $bits({s_axis_tvalid, s_axis_tdata, s_axis_tkeep, s_axis_tlast, s_axis_tuser});
  logic stalled_q;
  logic [InBits-1:0] in_held_q;
  logic [$bits({data_o, last_o})-1:0] out_held_q;
  always_ff @(posedge clk_i) begin
    stalled_q <= stalled;
    if (stalled) begin
      in_held_q  <= {s_axis_tvalid, s_axis_tdata, s_axis_tkeep, s_axis_tlast, s_axis_tuser};
      out_held_q <= {data_o, last_o};
    end
    if (rst_ni && stalled_q && in_held_q == {s_axis_tvalid, s_axis_tdata, s_axis_tkeep, s_axis_tlast, s_axis_tuser}) begin
      OutputHoldsWhenTheInputDoes_A : assert (valid_o && {data_o, last_o} == out_held_q);
    end
  end
`endif

endmodule
