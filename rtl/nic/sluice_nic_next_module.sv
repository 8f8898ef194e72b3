/// The first module with packets behind module `after_i`, in cyclic order; `after_i` comes last.
///
/// Latency: 0 cycles (combinational).
module sluice_nic_next_module #(
    parameter  int unsigned Modules   = 64,
    localparam int unsigned IndexBits = $clog2(Modules)
) (
    input  logic [  Modules-1:0] queued_i,
    input  logic [IndexBits-1:0] after_i,
    output logic                 valid_o,
    output logic [IndexBits-1:0] module_o
);

  logic [Modules-1:0] behind, unused_behind_onehot, unused_any_onehot;
  logic behind_valid;
  logic [IndexBits-1:0] behind_index, any_index;

  always_comb begin
    for (int unsigned m = 0; m < Modules; m++) behind[m] = queued_i[m] && m > 32'(after_i);
  end

  sluice_prio_enc #(
      .Width(Modules)
  ) u_behind (
      .req_i   (behind),
      .valid_o (behind_valid),
      .index_o (behind_index),
      .onehot_o(unused_behind_onehot)
  );
  sluice_prio_enc #(
      .Width(Modules)
  ) u_any (
      .req_i   (queued_i),
      .valid_o (valid_o),
      .index_o (any_index),
      .onehot_o(unused_any_onehot)
  );

  assign module_o = behind_valid ? behind_index : any_index;

endmodule
