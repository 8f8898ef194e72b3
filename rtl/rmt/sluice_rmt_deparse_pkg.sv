/// What the parts of the deparser say to each other.
package sluice_rmt_deparse_pkg;

  import sluice_rmt_rows_pkg::*;

  // One beat's time of a packet in the deparser: it takes the packet's next beat, or gives one, or both.
  typedef struct packed {
    logic              first;     // of the packet
    logic              goes;      // of a packet that is not dropped
    logic              ends;      // the packet's last slot
    logic              out;       // gives an outgoing beat
    logic              last;      // the packet's last one
    logic [5:0]        end_byte;  // last byte of the last beat
    logic              window;    // lies in the header window
    logic [1:0]        beat;      // which beat of it
    logic              next;      // the packet's next beat comes behind this slot's
    logic              second;    // and another one behind that
    logic [7:0]        shift;     // 64 - delta: bytes from the oldest beat that may be wanted
    logic              own_all;   // the whole beat lies before the split
    logic [5:0]        own;       // else: how many bytes of it
    rmt_update_t [1:0] updates;
    rmt_adjust_t       adjust;
  } deparse_slot_t;

  // A row without lanes and rotations.
  typedef struct packed {
    rmt_adjust_t       adjust;
    rmt_update_t [1:0] updates;
    logic [7:0]        least;
    logic [7:0]        split;
    logic [7:0]        delta;
  } deparse_head_t;

  // Lanes and rotations of a row.
  typedef struct packed {
    rmt_lane_t [63:0] lanes;
    logic [7:0][2:0]  rotate6;
    logic [7:0][1:0]  rotate4;
    logic [7:0]       rotate2;
  } deparse_lanes_t;

  // The first bytes of a beat, as a code from which each byte's mark is one LUT. (A comparison for each byte becomes a
  // chain of small LUTs.)
  typedef struct packed {
    logic [7:0] eights;  // [g]: more than g times eight bytes
    logic [7:0] rest;    // [i]: more than i bytes of the last eight, which `eights` has not
  } leading_t;

  function automatic leading_t leading(logic all, logic [5:0] count);
    for (int unsigned i = 0; i < 8; i++) begin
      leading.eights[i] = all || 32'(count[5:3]) > i;
      leading.rest[i]   = 32'(count[2:0]) > i;
    end
  endfunction

  function automatic logic [63:0] leading_bytes(leading_t code);
    for (int unsigned i = 0; i < 64; i++) begin
      leading_bytes[i] = code.eights[i/8] || ((i < 8 || code.eights[(i+56)/8%8]) && code.rest[i%8]);
    end
  endfunction

  // A word of a beat of up to 32, as one of eight groups and one of four in it; none without a group.
  typedef struct packed {
    logic [7:0] group;
    logic [3:0] word;
  } deparse_place_t;

  // A packet's sums, and where they go: ones' complement, first byte of a 16-bit word at an even place.
  typedef struct packed {
    logic [1:0][15:0] sum;
    logic [1:0][6:0]  at;
    logic [1:0]       valid;
  } deparse_sums_t;

endpackage
