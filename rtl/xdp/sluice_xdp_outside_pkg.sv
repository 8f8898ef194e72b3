/// What travels between the blocks of values outside (docs/decisions/xdp-external-memory.md), and the port to their memory.
package sluice_xdp_outside_pkg;

  // "Parameter is not used": a package serves several blocks, and each uses a part of it.
  // verilator lint_off UNUSEDPARAM

  // Bytes of a line of the cache, of a beat of the port, and of a page that is made zero by its first write, as powers of two.
  localparam int unsigned OutsideLineBits = 6;
  localparam int unsigned OutsideBeatBits = 4;
  localparam int unsigned OutsidePageBits = 10;
  // Of a unit in which outside memory is given to maps.
  localparam int unsigned OutsideUnitBits = 16;
  // A value lies in a block of so many bytes, as a power of two, and no access leaves it.
  localparam int unsigned OutsideBlockBits = 9;
  localparam int unsigned OutsideIdBits = 6;
  // verilator lint_on UNUSEDPARAM

  typedef logic [OutsideIdBits-1:0] outside_id_t;
  // A line's number.
  typedef logic [31-OutsideLineBits:0] outside_line_t;

  // "Bits of function variable are not used": the page's number has more bits than an ID.
  // verilator lint_off UNUSEDSIGNAL
  // ID of writes to a page. Units of maps begin alike, so the unit's number counts too.
  function automatic outside_id_t outside_id_of(logic [31:0] place);
    // verilator lint_on UNUSEDSIGNAL
    return place[OutsidePageBits+:OutsideIdBits] ^ place[OutsideUnitBits+:OutsideIdBits];
  endfunction

  typedef enum logic [1:0] {
    OutsideLoad,
    OutsideStore,
    OutsideAtomic,
    OutsideStoreTwo  // 16 bytes at a multiple of 16: data, then expected
  } outside_op_e;

  // An access that was allowed.
  typedef struct packed {
    outside_op_e op;
    logic [5:0]  module_id;
    logic [31:0] place;
    logic [3:0]  bytes;
    logic        sign;
    logic [2:0]  code;       // of an atomic operation
    logic [63:0] data;
    logic [63:0] expected;   // of a pair: for the second word; of two words the second one
  } outside_request_t;

  // A row of search memory that was asked for, by a context's lookup or by an operation of which there is one at a time.
  typedef struct packed {
    logic         valid;
    logic         lookup;
    logic [3:0]   number;  // of the context
    logic         fault;
    logic [127:0] data;
  } outside_row_t;

  // A write to memory.
  typedef struct packed {
    logic [31:0] place;
    logic [3:0]  bytes;
    logic [63:0] data;
    logic        pair;    // another word is behind it
    logic [63:0] second;
    logic        first;   // the first one of its page: the rest becomes zero
  } outside_write_t;

  // AXI4, 128 bits: what the engine drives, and what the memory does. Sizes are whole beats, bursts go up.
  typedef struct packed {
    logic         aw_valid;
    outside_id_t  aw_id;
    logic [31:0]  aw_addr;
    logic [7:0]   aw_len;
    logic         w_valid;
    logic [127:0] w_data;
    logic [15:0]  w_strb;
    logic         w_last;
    logic         b_ready;
    logic         ar_valid;
    outside_id_t  ar_id;
    logic [31:0]  ar_addr;
    logic [7:0]   ar_len;
    logic         r_ready;
  } outside_master_t;

  typedef struct packed {
    logic         aw_ready;
    logic         w_ready;
    logic         b_valid;
    outside_id_t  b_id;
    logic [1:0]   b_resp;
    logic         ar_ready;
    logic         r_valid;
    outside_id_t  r_id;
    logic [127:0] r_data;
    logic [1:0]   r_resp;
  } outside_slave_t;

endpackage
