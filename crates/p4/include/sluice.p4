// What the pipeline has beside what v1model declares. A program that names these runs nowhere else.
//
// docs/design/rmt.md says what each does, and with which words.

#ifndef _SLUICE_P4_
#define _SLUICE_P4_

#include <v1model.p4>

// The hash that the stages compute of their keys: CRC-32C, with the data where the compiler has put them. Equal data have equal
// hashes.
@pure
extern void crc32c<D>(out bit<32> result, in D data);

// What an atom may write: the word, the word and an operand, the operand alone.
enum AtomValue {
    old,
    old_plus_operand,
    old_minus_operand,
    operand,
    minus_operand
}

// Words of a stage's memory. A packet makes one access, and packets see each other's in their order. Beyond the last word
// nothing changes, and what is read is zero.
extern atom {
    atom(bit<32> size);
    void read(in bit<32> index, out bit<32> old);
    void write(in bit<32> index, in bit<32> value, out bit<32> old);
    void add(in bit<32> index, in bit<32> value, out bit<32> old, out bit<32> now);
    // `old >= limit ? yes : no`.
    void choose(in bit<32> index,
                in bit<32> limit,
                AtomValue yes,
                in bit<32> yes_operand,
                AtomValue no,
                in bit<32> no_operand,
                out bit<32> old,
                out bit<32> now);
}

// Meters of two colours, which have one rate: `rate` packets a second, of which `burst` may come at once, or bits a second and bytes
// at once. 0 is green, 1 red, which uses nothing; a meter that is not there is green.
extern police {
    police(bit<32> meters, MeterType type, bit<64> rate, bit<32> burst);
    void execute(in bit<32> index, out bit<1> color);
}

// In ingress: a copy to each destination of a group, which the host has set, in place of `egress_spec` and `mcast_grp`; none for
// group 0. The last call counts, and `mark_to_drop` behind it takes it back. A copy carries the tag that its destination has in the
// group (egress_rid); no stage sees it, for the copies are made behind the last one.
extern void multicast(in bit<16> group, bool except_ingress);

// What the system program says of the link that the packet leaves by; zero without one.
struct link_statistics_t {
    bit<16> queue_depth;
    bit<16> use;
}

extern void link_statistics(out link_statistics_t statistics);

// A system program: it serves every packet, in a stage of its own before those of tenants and in one behind them. In each it looks
// once and acts once. Whose packet it is, where it goes and what the queues say are words beside the headers.
struct system_metadata_t {
    // Read only.
    bit<9>  ingress_port;
    bit<16> packet_length;
    bit<12> tenant;
    // Read and written. Bit i is destination i, of which a packet takes those that its tenant is given; 0 as long as nobody has sent it anywhere.
    bit<8>  destinations;
    // No copy to the port of arrival.
    bit<1>  except_ingress;
    bit<1>  discard;
    // Multicast group; 0 for none.
    bit<16> group;
    // What tenants see of the link that the packet leaves by.
    bit<16> queue_depth;
    bit<16> link_use;
}

// H holds the fields that are exchanged with tenants, each with the container that all have it in: `@container("c4[7]")`. A
// tenant that does not share it has zero there.
@pipeline
control SystemStage<H>(inout H shared, inout system_metadata_t metadata);

package System<H>(SystemStage<H> first, SystemStage<H> last);

#endif
