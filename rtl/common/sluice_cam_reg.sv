/// Exact-match CAM in registers: all entries compared in one cycle.
///
/// A lookup (`lookup_valid_i`) is answered one cycle later by `lookup_valid_o`, `hit_o` and
/// `index_o`. If several entries match, the lowest index wins; without a match `index_o` is 0.
/// A write sets key and valid bit of one entry and holds for lookups of later cycles, not for
/// that of its own. Reset makes all entries invalid. A write to an index that is not below
/// `Entries` changes nothing.
///
/// Latency: 1 cycle, fixed. Throughput: 1 lookup and 1 write per cycle. Never stalls.
module sluice_cam_reg #(
    parameter  int unsigned Entries    = 16,
    parameter  int unsigned KeyWidth   = 48,
    localparam int unsigned IndexWidth = (Entries > 1) ? $clog2(Entries) : 1
) (
    input  logic                  clk_i,
    input  logic                  rst_ni,
    // Write port.
    input  logic                  wr_en_i,
    input  logic [IndexWidth-1:0] wr_index_i,
    input  logic                  wr_valid_i,
    input  logic [  KeyWidth-1:0] wr_key_i,
    // Lookups.
    input  logic                  lookup_valid_i,
    input  logic [  KeyWidth-1:0] lookup_key_i,
    output logic                  lookup_valid_o,
    output logic                  hit_o,
    output logic [IndexWidth-1:0] index_o
);

  if (Entries < 1) begin : gen_bad_entries
    $fatal(1, "cam_reg: Entries is %0d, expected at least 1 (%m)", Entries);
  end
  if (KeyWidth < 1) begin : gen_bad_key_width
    $fatal(1, "cam_reg: KeyWidth is %0d, expected at least 1 (%m)", KeyWidth);
  end

  logic [Entries-1:0] valid_q;
  logic [KeyWidth-1:0] key_q[Entries];
  logic [Entries-1:0] match;
  logic hit;
  logic [Entries-1:0] unused_onehot;
  logic [IndexWidth-1:0] index;

  for (genvar e = 0; e < int'(Entries); e++) begin : gen_entry
    logic wr_this;
    assign wr_this  = wr_en_i && wr_index_i == IndexWidth'(e);
    assign match[e] = valid_q[e] && key_q[e] == lookup_key_i;

    always_ff @(posedge clk_i) begin
      if (!rst_ni) valid_q[e] <= 1'b0;
      else if (wr_this) valid_q[e] <= wr_valid_i;
      if (wr_this) key_q[e] <= wr_key_i;
    end
  end

  sluice_prio_enc #(
      .Width(Entries)
  ) u_prio (
      .req_i   (match),
      .valid_o (hit),
      .index_o (index),
      .onehot_o(unused_onehot)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) lookup_valid_o <= 1'b0;
    else lookup_valid_o <= lookup_valid_i;
    hit_o   <= hit;
    index_o <= index;
  end

endmodule
