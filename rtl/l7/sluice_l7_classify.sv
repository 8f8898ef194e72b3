/// What a frame is, from its first 64 bytes (docs/design/l7.md, "Messages on the wire").
///
/// The checks come in the order of that page's table, "What a frame is", up to `l7_updating`; then how the packet comes to its decision.
///
/// `look_i` takes a header; its class stands from the next cycle on until the next look. Latency: 1 cycle. Throughput: a header a
/// cycle. Never stalls. Configuration: as sluice_l7_ports.
module sluice_l7_classify
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_l7_rows_pkg::*;
  import sluice_l7_pkg::*;
#(
    parameter int unsigned Ports = 64,
    parameter int unsigned MessagePackets = 64  // of a message at most
) (
    input logic clk_i,
    input logic rst_ni,

    input logic                  look_i,
    // "Bits of signal are not used": a frame has bytes that nobody asks for, and so has a sideband.
    // verilator lint_off UNUSEDSIGNAL
    input logic      [63:0][7:0] header_i,
    input sideband_t             side_i,
    // verilator lint_on UNUSEDSIGNAL

    output logic              message_o,     // none: it leaves as a frame
    output logic              drop_o,        // for `kind_o`
    output l7_event_e         kind_o,
    output l7_packet_t        packet_o,      // of what is a message and is not dropped
    output l7_ticket_t        ticket_o,
    output logic              has_job_o,
    output l7_job_t           job_o,         // without its tag
    output logic       [15:0] udp_length_o,
    output logic       [16:0] udp_end_o,
    output logic              no_checksum_o, // its UDP checksum is 0

    input  logic     cfg_valid_i,
    input  cfg_req_t cfg_req_i,
    output logic     cfg_valid_o,
    output cfg_rsp_t cfg_rsp_o
);

  if (MessagePackets < 1 || MessagePackets > L7MostPackets) begin : gen_bad_packets
    $fatal(1, "l7_classify: MessagePackets is %0d, expected 1 to %0d (%m)", MessagePackets, L7MostPackets);
  end

  localparam logic [15:0] EthertypeIpv4 = 16'h0800;
  localparam logic [7:0] VersionAndLength = 8'h45;
  localparam logic [7:0] ProtocolUdp = 8'd17;
  localparam int unsigned EthernetBytes = 14;
  localparam int unsigned Ipv4Bytes = 20;
  localparam int unsigned UdpBytes = 8;
  localparam int unsigned QnpBytes = L7HeaderBytes - L7RawHeaderBytes;

  // The first of two, or four, bytes is the highest.
  function automatic logic [15:0] word(logic [1:0][7:0] bytes);
    return {bytes[0], bytes[1]};
  endfunction
  function automatic logic [31:0] long(logic [3:0][7:0] bytes);
    return {bytes[0], bytes[1], bytes[2], bytes[3]};
  endfunction

  // ---------------------------------------------------------------------------------------------------------------
  // First cycle: fields.

  typedef struct packed {
    logic                    udp;
    logic                    lengths;       // they fit into each other
    logic                    contradicts;   // those of a message, whoever it is for
    logic [19:0]             total;         // of the IPv4 header's words
    logic [PositionBits-1:0] bytes;         // of the view of a message with a header, and of a raw one
    logic [PositionBits-1:0] raw_bytes;
    logic [15:0]             udp_length;
    logic [16:0]             udp_end;
    logic [15:0]             udp_checksum;
    logic [7:0]              app_id;
    logic [31:0]             source;
    logic [15:0]             port;
    logic [15:0]             to_port;
    logic [7:0]              msg_type;
    logic [31:0]             msg_id;
    logic [7:0]              packets;
    logic [7:0]              number;
    logic                    flag;
    logic [31:0]             session;
    logic [ModuleBits-1:0]   module_id;
  } fields_t;

  fields_t fields, fields_q;
  logic [15:0] ipv4_length, udp_length, of_message, of_raw;
  logic [PositionBits-1:0] limit;
  logic cut, too_many;

  assign ipv4_length = word(header_i[16+:2]);
  assign udp_length = word(header_i[38+:2]);
  assign of_message = udp_length - 16'(UdpBytes + QnpBytes);
  assign of_raw = udp_length - 16'(UdpBytes);
  assign limit = (header_i[55] == '0 || header_i[55] >= 8'(L7ViewSegments)) ?
      PositionBits'(L7ViewBytes) : PositionBits'(header_i[55]) << $clog2(
      L7SegmentBytes
  );
  assign cut = udp_length < 16'(UdpBytes + QnpBytes);
  // As many as the header can say are never too many.
  if (MessagePackets < L7MostPackets) begin : gen_limit
    assign too_many = header_i[52] > PacketsBits'(MessagePackets);
  end else begin : gen_no_limit
    assign too_many = 1'b0;
  end

  always_comb begin
    fields.contradicts = cut || header_i[52] == '0 || too_many || header_i[53] >= header_i[52] || header_i[54] > 8'd1;
    fields.bytes = (of_message < 16'(limit)) ? of_message[PositionBits-1:0] : limit;
    fields.raw_bytes = (of_raw < 16'(L7ViewBytes)) ? of_raw[PositionBits-1:0] : PositionBits'(L7ViewBytes);
    fields.total = '0;
    for (int unsigned w = 0; w < Ipv4Bytes / 2; w++) fields.total += 20'(word(header_i[EthernetBytes+2*w+:2]));
    fields.udp = side_i.length >= 14'(L7RawHeaderBytes) && word(header_i[12+:2]) == EthertypeIpv4 &&
        header_i[14] == VersionAndLength && (word(header_i[20+:2]) & 16'h3fff) == '0 && header_i[23] == ProtocolUdp;
    fields.lengths = 17'(ipv4_length) + 17'(EthernetBytes) <= 17'(side_i.length) && udp_length >= 16'(UdpBytes) &&
        17'(udp_length) + 17'(Ipv4Bytes) == 17'(ipv4_length);
    fields.udp_length = udp_length;
    fields.udp_end = 17'(udp_length) + 17'(EthernetBytes + Ipv4Bytes);
    fields.udp_checksum = word(header_i[40+:2]);
    fields.source = long(header_i[26+:4]);
    fields.port = word(header_i[34+:2]);
    fields.to_port = word(header_i[36+:2]);
    fields.app_id = header_i[42];
    fields.msg_type = header_i[43];
    fields.msg_id = long(header_i[44+:4]);
    fields.packets = header_i[52];
    fields.number = header_i[53];
    fields.flag = header_i[54][0];
    fields.session = long(header_i[56+:4]);
    fields.module_id = side_i.module_id;
  end

  always_ff @(posedge clk_i) begin
    if (look_i) fields_q <= fields;
  end

  logic known, found;
  // "Bits of signal are not used": the row travels whole.
  // verilator lint_off UNUSEDSIGNAL
  l7_port_row_t row;
  // verilator lint_on UNUSEDSIGNAL

  sluice_l7_ports #(
      .Ports(Ports)
  ) u_ports (
      .clk_i,
      .rst_ni,
      .look_i,
      .module_i    (side_i.module_id),
      .generation_i(side_i.generation),
      .port_i      (word(header_i[36+:2])),
      .id_i        (header_i[42]),
      .known_o     (known),
      .found_o     (found),
      .row_o       (row),
      .cfg_valid_i,
      .cfg_req_i,
      .cfg_valid_o,
      .cfg_rsp_o
  );

  // ---------------------------------------------------------------------------------------------------------------
  // Second cycle: class.

  logic bad_sum, raw, endpoint, contradicts, first;
  logic [15:0] payload;

  // Ten words: the carries are at most 9, so one end-around addition tells; its sum is all ones where no bit meets its like.
  assign bad_sum = fields_q.total[15:0] != ~16'(fields_q.total[19:16]);
  // Where none is found the port has applications, of other IDs.
  assign raw = found && row.kind == L7PortKindRaw;
  assign endpoint = found && row.kind == L7PortKindEndpoint;
  assign contradicts = fields_q.contradicts || (fields_q.flag && !endpoint);

  always_comb begin
    message_o = fields_q.udp && known;
    drop_o = 1'b1;
    kind_o = L7EventL7Malformed;
    if (bad_sum) kind_o = L7EventL7Checksum;
    else if (!fields_q.lengths || (!raw && contradicts)) kind_o = L7EventL7Malformed;
    else if (!found) kind_o = L7EventL7NoApp;
    else if (row.updating) kind_o = L7EventL7Updating;
    else drop_o = 1'b0;
  end

  assign first   = fields_q.number == '0;
  assign payload = raw ? fields_q.udp_length - 16'(UdpBytes) : fields_q.udp_length - 16'(UdpBytes + QnpBytes);

  always_comb begin
    packet_o = '0;
    packet_o.way = raw ? L7WayAlone : first ? L7WayFirst : L7WayLater;
    if (endpoint) begin
      // Its queue is known without looking at the content. A group needs a hash, and what is no goal is a fault: matchers do both.
      packet_o.way = (row.otherwise.kind == L7GoalGroup || row.otherwise.kind > L7GoalRows) ? L7WayAlone : L7WayDirect;
    end
    packet_o.decision = (row.otherwise.kind == L7GoalQueue) ?
    '{drop: 1'b0, kind: L7EventL7Rule, queue_id: row.otherwise.number[7:0]}
    :
    '{drop: 1'b1, kind: L7EventL7Rule, queue_id: '0};
    packet_o.key = '{
        module_id: fields_q.module_id,
        source: fields_q.source,
        port: fields_q.port,
        session: fields_q.session,
        message: fields_q.msg_id
    };
    packet_o.packets = fields_q.packets;
    packet_o.number = fields_q.number;
  end

  // Endpoints and raw applications: a packet is a message.
  logic whole;
  assign whole = raw || endpoint;
  always_comb begin
    ticket_o = '0;
    ticket_o.module_id = fields_q.module_id;
    ticket_o.length = fields_q.udp_end[LengthBits-1:0];
    ticket_o.payload = payload[LengthBits-1:0];
    ticket_o.packets = whole ? PacketsBits'(1) : fields_q.packets;
    ticket_o.number = whole ? '0 : fields_q.number;
    ticket_o.source = fields_q.source;
    ticket_o.port = fields_q.port;
    ticket_o.session = job_o.session;
    ticket_o.message = job_o.message;
    ticket_o.application = raw ? '0 : fields_q.app_id;
    ticket_o.message_type = raw ? '0 : fields_q.msg_type;
    ticket_o.expiry = row.expiry;
  end

  logic [12:0] start;
  assign start = 13'(row.start) + 13'(fields_q.msg_type);
  assign has_job_o = packet_o.way == L7WayAlone || packet_o.way == L7WayFirst;
  assign udp_length_o = fields_q.udp_length;
  assign udp_end_o = fields_q.udp_end;
  assign no_checksum_o = fields_q.udp_checksum == '0;

  always_comb begin
    job_o = '0;
    job_o.module_id = fields_q.module_id;
    job_o.raw = raw;
    job_o.open = raw && payload > 16'(L7ViewBytes);
    job_o.bytes = raw ? fields_q.raw_bytes : fields_q.bytes;
    job_o.started = 16'(fields_q.msg_type) < 16'(row.types);
    // Beyond all rows it is a fault.
    job_o.start = start[12] ? '1 : start[11:0];
    if (raw) begin
      job_o.started = row.types != '0;
      job_o.start   = row.start;
    end
    if (endpoint) begin
      job_o.bytes   = '0;
      job_o.started = 1'b0;
    end
    job_o.stops = row.stops;
    job_o.stop_count = row.stop_count;
    job_o.otherwise = row.otherwise;
    // A raw packet has neither: groups spread them by who sent them.
    job_o.session = raw ? fields_q.source : fields_q.session;
    job_o.message = raw ? {fields_q.port, fields_q.to_port} : fields_q.msg_id;
  end

endmodule
