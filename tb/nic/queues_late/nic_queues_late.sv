/// A sluice_nic_queues whose last destination has an engine with room of its own behind it, by the number of a target, with flat ports.
module nic_queues_late
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_nic_pkg::*;
#(
    parameter int unsigned Target = 1,
    localparam nic_cfg_t Cfg = nic_cfg(Target),
    localparam int unsigned Dests = Cfg.ports + Cfg.hosts,
    localparam int unsigned CellBits = $clog2(Cfg.cells),
    localparam int unsigned ModuleIndexBits = $clog2(Cfg.modules)
) (
    input logic clk_i,
    input logic rst_ni,

    input logic                       clear_i,
    input logic [ModuleIndexBits-1:0] clear_index_i,

    // Packets of one beat for the last destination.
    input logic                  stored_valid_i,
    input logic [  CellBits-1:0] stored_cell_i,
    input logic [ModuleBits-1:0] stored_module_i,

    // Which packets there is room for, by module; `plenty` is never said.
    input logic [ Cfg.modules-1:0] fits_i,
    input logic [             1:0] freed_own_i,
    input logic [2*ModuleBits-1:0] freed_module_i,
    input logic                    freed_all_i,

    output logic                copy_valid_o,
    output logic [CellBits-1:0] copy_cell_o
);

  logic [Dests-1:0] copy_valid;
  logic [Dests-1:0][CellBits-1:0] copy_cell;
  sideband_t [Dests-1:0] unused_meta;
  room_ask_t ask;
  room_take_t unused_take;
  room_t room;
  logic unused_read;
  logic [CellBits-1:0] unused_cell;
  logic [ModuleIndexBits-1:0] unused_weight_index;
  logic [15:0] unused_quantum;
  // "Bits of signal are not used": one destination is looked at.
  // verilator lint_off UNUSEDSIGNAL
  logic unused_others;
  // verilator lint_on UNUSEDSIGNAL

  assign room = '{
          fits: fits_i[ask.module_id[ModuleIndexBits-1:0]],
          own: 1'b1,
          plenty: 1'b0,
          freed_own: freed_own_i,
          freed_module: freed_module_i,
          freed_all: freed_all_i
      };
  assign copy_valid_o = copy_valid[Dests-1];
  assign copy_cell_o = copy_cell[Dests-1];
  assign unused_others = ^{copy_valid, copy_cell, ask};

  sluice_nic_queues #(
      .Cfg (Cfg),
      .Late(Dests - 1)
  ) u_queues (
      .clk_i,
      .rst_ni,
      .clear_i,
      .clear_index_i,
      .stored_valid_i,
      .stored_cell_i,
      .stored_dests_i (DestBits'(1) << (Dests - 1)),
      .stored_module_i,
      .stored_high_i  (1'b0),
      .stored_length_i(14'd14),
      .meta_read_o    (unused_read),
      .meta_cell_o    (unused_cell),
      .meta_i         ('0),
      .copy_valid_o   (copy_valid),
      .copy_ready_i   ('1),
      .copy_cell_o    (copy_cell),
      .copy_meta_o    (unused_meta),
      .ask_o          (ask),
      .take_o         (unused_take),
      .room_i         (room),
      .charge_valid_i (1'b0),
      .charge_module_i('0),
      .charge_i       ('0),
      .weight_index_o (unused_weight_index),
      .weight_i       (16'd16),
      .quantum_write_i(1'b0),
      .quantum_index_i('0),
      .quantum_i      ('0),
      .quantum_o      (unused_quantum)
  );

endmodule
