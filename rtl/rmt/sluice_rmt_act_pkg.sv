/// Columns of the action row by the cycle of the stage that uses them, and what the parts of an action share.
package sluice_rmt_act_pkg;

  import sluice_rmt_rows_pkg::*;
  // "Parameter is not used": a package serves several blocks, and each uses a part of it.
  // verilator lint_off UNUSEDPARAM

  // c4: what is picked, where the state access goes. Class 0 to 2: containers of 2, 4, 6 bytes.
  typedef struct packed {
    logic [5:0]           owner;
    logic [2:0][2:0][2:0] pick;
    logic [2:0][1:0][2:0] data;
    logic [5:0]           cross_source;
    logic [1:0]           cross_shift;
    logic [1:0]           cross_cut;
    logic [1:0]           kind;
    logic [2:0]           when;
    logic [1:0]           source;
    logic [11:0]          index_mask;
    logic [11:0]          base;
    logic [5:0]           shift;
  } act_pick_t;

  // c5: rotators, what the ALUs do, numbers of a meter.
  typedef struct packed {
    rmt_alu_t [23:0] alus;
    logic [2:0][5:0] amount;
    logic [15:0]     rotate_mask2;
    logic [31:0]     rotate_mask4;
    logic [47:0]     rotate_mask6;
    logic [31:0]     o_immediate;
    logic [31:0]     t_immediate;
    logic [31:0]     f_immediate;
  } act_early_t;

  // c6, state: operands of the atom.
  typedef struct packed {
    logic [2:0] relation;
    logic [2:0] condition;
    logic [1:0] o_source;
    logic [1:0] t_source;
    logic [1:0] f_source;
    logic       t_old;
    logic       t_negate;
    logic       f_old;
    logic       f_negate;
    logic [3:0] old_to;
    logic [3:0] new_to;
    logic       per_packet;
  } act_atom_t;

  // c6: operands.
  typedef struct packed {
    logic [7:0][15:0] immediate2;
    logic [7:0][31:0] immediate4;
    logic [7:0][47:0] immediate6;
    act_atom_t        atom;
  } act_operand_t;

  // c7: what is written.
  typedef struct packed {
    logic [7:0][15:0]      mask2;
    logic [7:0][31:0]      mask4;
    logic [7:0][47:0]      mask6;
    rmt_word_write_t [6:0] words;
  } act_result_t;

  // Whether something is done; codes without a name mean never.
  function automatic logic act_when(logic [2:0] when, logic [1:0] conditions);
    unique case (when)
      RmtWhenAlways: return 1'b1;
      RmtWhenIf0: return conditions[0];
      RmtWhenUnless0: return !conditions[0];
      RmtWhenIf1: return conditions[1];
      RmtWhenUnless1: return !conditions[1];
      default: return 1'b0;
    endcase
  endfunction

  // "Bits of function variable are not used": the function takes some fields of a whole row or request.
  // verilator lint_off UNUSEDSIGNAL
  function automatic act_pick_t act_pick(rmt_action_row_t row);
    // verilator lint_on UNUSEDSIGNAL
    act_pick = '{
        owner: row.owner,
        pick: {row.class6.pick, row.class4.pick, row.class2.pick},
        data: {row.class6.data, row.class4.data, row.class2.data},
        cross_source: row.cross_source,
        cross_shift: row.cross_shift,
        cross_cut: row.cross_cut,
        kind: row.state.kind,
        when: row.state.when,
        source: row.state.source,
        index_mask: row.state.index_mask,
        base: row.state.base,
        shift: row.state.shift
    };
  endfunction

  // "Bits of function variable are not used": the function takes some fields of a whole row or request.
  // verilator lint_off UNUSEDSIGNAL
  function automatic act_early_t act_early(rmt_action_row_t row);
    // verilator lint_on UNUSEDSIGNAL
    act_early = '{
        alus: row.alus,
        amount: {row.class6.amount, row.class4.amount, row.class2.amount},
        rotate_mask2: row.class2.rotate_mask,
        rotate_mask4: row.class4.rotate_mask,
        rotate_mask6: row.class6.rotate_mask,
        o_immediate: row.state.o_immediate,
        t_immediate: row.state.t_immediate,
        f_immediate: row.state.f_immediate
    };
  endfunction

  // "Bits of function variable are not used": the function takes some fields of a whole row or request.
  // verilator lint_off UNUSEDSIGNAL
  function automatic act_operand_t act_operand(rmt_action_row_t row);
    // verilator lint_on UNUSEDSIGNAL
    act_operand = '{
        immediate2: row.immediate2,
        immediate4: row.immediate4,
        immediate6: row.immediate6,
        atom: '{
            relation: row.state.relation,
            condition: row.state.condition,
            o_source: row.state.o_source,
            t_source: row.state.t_source,
            f_source: row.state.f_source,
            t_old: row.state.t_old,
            t_negate: row.state.t_negate,
            f_old: row.state.f_old,
            f_negate: row.state.f_negate,
            old_to: row.state.old_to,
            new_to: row.state.new_to,
            per_packet: row.state.per_packet
        }
    };
  endfunction

  // "Bits of function variable are not used": the function takes some fields of a whole row or request.
  // verilator lint_off UNUSEDSIGNAL
  function automatic act_result_t act_result(rmt_action_row_t row);
    // verilator lint_on UNUSEDSIGNAL
    return '{mask2: row.mask2, mask4: row.mask4, mask6: row.mask6, words: row.words};
  endfunction

  // The row back from its columns.
  function automatic rmt_action_row_t act_row(act_pick_t pick, act_early_t early, act_operand_t operand,
                                              act_result_t result);
    act_row = '{
        owner: pick.owner,
        class2: '{
            pick: pick.pick[0],
            data: pick.data[0],
            amount: early.amount[0],
            rotate_mask: early.rotate_mask2
        },
        class4: '{
            pick: pick.pick[1],
            data: pick.data[1],
            amount: early.amount[1],
            rotate_mask: early.rotate_mask4
        },
        class6: '{
            pick: pick.pick[2],
            data: pick.data[2],
            amount: early.amount[2],
            rotate_mask: early.rotate_mask6
        },
        cross_source: pick.cross_source,
        cross_shift: pick.cross_shift,
        cross_cut: pick.cross_cut,
        state: '{
            kind: pick.kind,
            when: pick.when,
            source: pick.source,
            index_mask: pick.index_mask,
            base: pick.base,
            relation: operand.atom.relation,
            condition: operand.atom.condition,
            o_source: operand.atom.o_source,
            o_immediate: early.o_immediate,
            t_source: operand.atom.t_source,
            t_immediate: early.t_immediate,
            f_source: operand.atom.f_source,
            f_immediate: early.f_immediate,
            t_old: operand.atom.t_old,
            t_negate: operand.atom.t_negate,
            f_old: operand.atom.f_old,
            f_negate: operand.atom.f_negate,
            old_to: operand.atom.old_to,
            new_to: operand.atom.new_to,
            per_packet: operand.atom.per_packet,
            shift: pick.shift
        },
        alus: early.alus,
        immediate2: operand.immediate2,
        immediate4: operand.immediate4,
        immediate6: operand.immediate6,
        mask2: result.mask2,
        mask4: result.mask4,
        mask6: result.mask6,
        words: result.words
    };
  endfunction

  // verilator lint_on UNUSEDPARAM
endpackage
