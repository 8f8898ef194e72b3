/// Part of the NIC's top: the l7 engine behind destination `Dest`, if it is there; else the destination is as the others are.
///
/// Packets that leave have `m_axis_message_o` and their queue on `m_axis_queue_o` beside every beat; those of messages whose queue has a
/// ring go into host memory (`*_axis_dma_*`: docs/design/l7.md, "Receive"). Nothing of an engine that is not there is elaborated: its
/// outputs are 0, and its node answers StatusBadAddress.
///
/// Latency, throughput and stalls: as sluice_l7; without it what comes leaves in the same cycle.
module sluice_nic_top_l7
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_l7_rows_pkg::*;
  import sluice_l7_pkg::*;
#(
    parameter l7_cfg_t Cfg = l7_cfg(0),
    parameter bit Present = 1'b1,
    parameter int unsigned Dest = 7,
    localparam int unsigned Bytes = Cfg.bus_bytes,
    localparam int unsigned IndexBits = $clog2(Cfg.modules),
    localparam int unsigned RowBits = 32 * L7MatchRowWords
) (
    input logic clk_i,
    input logic rst_ni,

    input logic [31:0] epoch_i,

    input  logic                    s_axis_tvalid,
    output logic                    s_axis_tready,
    input  logic      [8*Bytes-1:0] s_axis_tdata,
    input  logic      [  Bytes-1:0] s_axis_tkeep,
    input  logic                    s_axis_tlast,
    input  sideband_t               s_axis_tuser,

    output logic                    m_axis_tvalid,
    input  logic                    m_axis_tready,
    output logic      [8*Bytes-1:0] m_axis_tdata,
    output logic      [  Bytes-1:0] m_axis_tkeep,
    output logic                    m_axis_tlast,
    output sideband_t               m_axis_tuser,
    output logic                    m_axis_message_o,
    output logic      [        7:0] m_axis_queue_o,

    // Verdicts of the last engine in line, and a packet that finds no room in this destination's queue, with whose it is.
    input logic           verdict_valid_i,
    input verdict_trace_t verdict_i,
    input logic           verdict_generation_i,
    input logic           tail_drop_i,
    input token_t         admitted_i,

    output logic         behind_enter_valid_o,
    output token_t       behind_enter_o,
    output logic   [1:0] behind_leave_valid_o,
    output token_t [1:0] behind_leave_o,

    input  room_ask_t                   ask_i,
    input  room_take_t                  take_i,
    output room_t                       room_o,
    output logic                        charge_valid_o,
    output logic       [ModuleBits-1:0] charge_module_o,
    output logic       [           9:0] charge_o,
    input  logic       [ IndexBits-1:0] weight_index_i,
    output logic       [          15:0] weight_o,

    output logic                  m_axis_dma_read_desc_tvalid,
    input  logic                  m_axis_dma_read_desc_tready,
    output logic [          63:0] m_axis_dma_read_desc_addr,
    output logic [          15:0] m_axis_dma_read_desc_len,
    output logic [DmaTagBits-1:0] m_axis_dma_read_desc_tag,
    input  logic                  s_axis_dma_read_data_tvalid,
    input  logic [DmaTagBits-1:0] s_axis_dma_read_data_tag,
    input  logic [   8*Bytes-1:0] s_axis_dma_read_data_tdata,
    output logic                  m_axis_dma_write_desc_tvalid,
    input  logic                  m_axis_dma_write_desc_tready,
    output logic [          63:0] m_axis_dma_write_desc_addr,
    output logic [          15:0] m_axis_dma_write_desc_len,
    output logic [DmaTagBits-1:0] m_axis_dma_write_desc_tag,
    output logic                  m_axis_dma_write_data_tvalid,
    input  logic                  m_axis_dma_write_data_tready,
    output logic [   8*Bytes-1:0] m_axis_dma_write_data_tdata,
    output logic [     Bytes-1:0] m_axis_dma_write_data_tkeep,
    output logic                  m_axis_dma_write_data_tlast,
    input  logic                  s_axis_dma_write_status_tvalid,
    input  logic [DmaTagBits-1:0] s_axis_dma_write_status_tag,

    input  logic                    cfg_valid_i,
    input  wide_req_t               cfg_req_i,
    input  logic      [RowBits-1:0] cfg_row_i,
    output logic                    cfg_valid_o,
    output cfg_rsp_t                cfg_rsp_o,

    // Decisions, what happens at rings, and what the message table forgets.
    output logic [                 2:0] trace_step_valid_o,
    output logic [3*L7TraceRowBits-1:0] trace_step_o,
    output logic                        waiting_o,
    output logic                        progress_o
);

  // "Bits of signal are not used": of a verdict, whose it is and where to is what counts here.
  // verilator lint_off UNUSEDSIGNAL
  logic unused_verdict;
  // verilator lint_on UNUSEDSIGNAL
  assign unused_verdict = ^verdict_i;

  if (Present) begin : gen_l7
    // A packet for the l7 engine keeps its module's generation in use from its verdict on, until it is dispatched or dropped at its queue.
    logic   l7_leave_valid;
    token_t l7_leave;
    assign behind_enter_valid_o = verdict_valid_i && !verdict_i.dropped && verdict_i.destinations[Dest];
    assign behind_enter_o = '{
            module_id: verdict_i.module_id,
            generation: verdict_generation_i,
            system_generation: 1'b0
        };
    assign behind_leave_valid_o = {tail_drop_i, l7_leave_valid};
    assign behind_leave_o[0] = l7_leave;
    assign behind_leave_o[1] = admitted_i;

    // Messages. The order of decisions is in the trace.
    l7_dma_t read_desc, write_desc;
    assign {m_axis_dma_read_desc_tag, m_axis_dma_read_desc_len, m_axis_dma_read_desc_addr} = read_desc;
    assign {m_axis_dma_write_desc_tag, m_axis_dma_write_desc_len, m_axis_dma_write_desc_addr} = write_desc;

    logic decision_valid, ring_event_valid, forgot_valid;
    l7_trace_row_t decision;
    l7_ring_trace_row_t ring_event;
    l7_forget_trace_row_t forgot;
    verdict_trace_t unused_l7_verdict;
    assign trace_step_valid_o = {forgot_valid, ring_event_valid, decision_valid};
    assign trace_step_o = {L7TraceRowBits'(forgot), L7TraceRowBits'(ring_event), decision};

    sluice_l7 #(
        .Cfg(Cfg)
    ) u_l7 (
        .clk_i,
        .rst_ni,
        .epoch_i,
        .s_axis_tvalid,
        .s_axis_tready,
        .s_axis_tdata,
        .s_axis_tkeep,
        .s_axis_tlast,
        .s_axis_side(s_axis_tuser),
        .token_i('{module_id: s_axis_tuser.module_id, generation: s_axis_tuser.generation, system_generation: 1'b0}),
        .m_axis_tvalid,
        .m_axis_tready,
        .m_axis_tdata,
        .m_axis_tkeep,
        .m_axis_tlast,
        .m_axis_side(m_axis_tuser),
        .m_axis_message(m_axis_message_o),
        .m_axis_queue(m_axis_queue_o),
        .leave_valid_o(l7_leave_valid),
        .leave_o(l7_leave),
        .ask_i,
        .take_i,
        .room_o,
        .charge_valid_o,
        .charge_module_o,
        .charge_o,
        .weight_index_i,
        .weight_o,
        .verdict_valid_o(decision_valid),
        .verdict_o(unused_l7_verdict),
        .trace_o(decision),
        .read_desc_valid_o(m_axis_dma_read_desc_tvalid),
        .read_desc_ready_i(m_axis_dma_read_desc_tready),
        .read_desc_o(read_desc),
        .read_data_valid_i(s_axis_dma_read_data_tvalid),
        .read_data_tag_i(s_axis_dma_read_data_tag),
        .read_data_i(s_axis_dma_read_data_tdata),
        .write_desc_valid_o(m_axis_dma_write_desc_tvalid),
        .write_desc_ready_i(m_axis_dma_write_desc_tready),
        .write_desc_o(write_desc),
        .write_data_valid_o(m_axis_dma_write_data_tvalid),
        .write_data_ready_i(m_axis_dma_write_data_tready),
        .write_data_o(m_axis_dma_write_data_tdata),
        .write_keep_o(m_axis_dma_write_data_tkeep),
        .write_last_o(m_axis_dma_write_data_tlast),
        .write_status_valid_i(s_axis_dma_write_status_tvalid),
        .write_status_tag_i(s_axis_dma_write_status_tag),
        .event_valid_o(ring_event_valid),
        .event_o(ring_event),
        .forgot_valid_o(forgot_valid),
        .forgot_o(forgot),
        .cfg_valid_i,
        .cfg_req_i,
        .cfg_row_i,
        .cfg_valid_o,
        .cfg_rsp_o,
        .waiting_o,
        .progress_o
    );
  end else begin : gen_no_l7
    sluice_nic_absent u_absent (
        .clk_i,
        .rst_ni,
        .cfg_valid_i,
        .cfg_valid_o,
        .cfg_rsp_o
    );

    // The last destination is as the others are.
    assign m_axis_tvalid = s_axis_tvalid;
    assign s_axis_tready = m_axis_tready;
    assign m_axis_tdata = s_axis_tdata;
    assign m_axis_tkeep = s_axis_tkeep;
    assign m_axis_tlast = s_axis_tlast;
    assign m_axis_tuser = s_axis_tuser;
    assign m_axis_message_o = 1'b0;
    assign m_axis_queue_o = '0;

    assign {room_o, charge_valid_o, charge_module_o, charge_o, weight_o} = '0;
    assign {behind_enter_valid_o, behind_enter_o, behind_leave_valid_o, behind_leave_o} = '0;
    assign m_axis_dma_read_desc_tvalid = 1'b0;
    assign {m_axis_dma_read_desc_tag, m_axis_dma_read_desc_len, m_axis_dma_read_desc_addr} = '0;
    assign m_axis_dma_write_desc_tvalid = 1'b0;
    assign {m_axis_dma_write_desc_tag, m_axis_dma_write_desc_len, m_axis_dma_write_desc_addr} = '0;
    assign m_axis_dma_write_data_tvalid = 1'b0;
    assign {m_axis_dma_write_data_tdata, m_axis_dma_write_data_tkeep, m_axis_dma_write_data_tlast} = '0;
    assign {trace_step_valid_o, trace_step_o} = '0;
    assign waiting_o = 1'b0;
    assign progress_o = 1'b0;
    // "Signal is not used": there is nobody to take it.
    // verilator lint_off UNUSEDSIGNAL
    logic unused;
    // verilator lint_on UNUSEDSIGNAL
    assign unused = ^{
      epoch_i,
      tail_drop_i,
      admitted_i,
      verdict_valid_i,
      verdict_generation_i,
      ask_i,
      take_i,
      weight_index_i,
      cfg_req_i,
      cfg_row_i,
      m_axis_dma_read_desc_tready,
      s_axis_dma_read_data_tvalid,
      s_axis_dma_read_data_tag,
      s_axis_dma_read_data_tdata,
      m_axis_dma_write_desc_tready,
      m_axis_dma_write_data_tready,
      s_axis_dma_write_status_tvalid,
      s_axis_dma_write_status_tag
    };
  end

endmodule
