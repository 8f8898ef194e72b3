// CO-RE relocations of every kind against the types of core_there.c: each program returns the answer.
#include <linux/types.h>
#define CORE __attribute__((preserve_access_index))
struct xdp_md { __u32 data, data_end, data_meta, ingress_ifindex, rx_queue_index, egress_ifindex; };
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

struct moved { int a; __u32 b; __u32 many[4]; int gone; } CORE;
struct moved___flavoured { __u32 b; } CORE;
struct wider { __u32 number; int with_sign; struct moved *pointer; } CORE;
struct bits { __u32 low : 3; int high : 9; } CORE;
struct inside { __u32 deep; } CORE;
struct same { __u32 x; struct { __u32 y; } in; } CORE;
struct other { __u32 x; } CORE;
struct more { __u32 y; __u32 x; } CORE;
struct missing { int a; } CORE;
struct open { __u32 count; __u32 items[]; } CORE;
enum choice { FIRST, SECOND, FOURTH = 9 };
enum wide { LARGE = 1ULL << 40 };
typedef __u32 number_t;
typedef __u32 missing_t;

#define PROGRAM(name) SEC("xdp") int name(struct xdp_md *ctx)
#define PACKET(type) type *in = (void *)(long)ctx->data; if ((void *)(long)ctx->data + 64 > (void *)(long)ctx->data_end) return 0
#define OF(type) ((type *)0)

PROGRAM(offset) { return bpf_core_field_offset(OF(struct moved)->b); }
PROGRAM(offset_flavoured) { return bpf_core_field_offset(OF(struct moved___flavoured)->b); }
PROGRAM(element) { return bpf_core_field_offset(OF(struct moved)->many[3]); }
PROGRAM(size) { return bpf_core_field_size(OF(struct moved)->many); }
PROGRAM(deep) { return bpf_core_field_offset(OF(struct inside)->deep); }
PROGRAM(open_element) { return bpf_core_field_offset(OF(struct open)->items[5]); }
PROGRAM(exists) { return bpf_core_field_exists(OF(struct moved)->a); }
PROGRAM(exists_not) { return bpf_core_field_exists(OF(struct moved)->gone); }
PROGRAM(load) { PACKET(struct moved); return in->b; }
PROGRAM(load_wider) { PACKET(struct wider); return in->number; }
PROGRAM(load_pointer) { PACKET(struct wider); return (long)in->pointer & 0xff; }
PROGRAM(has_sign) { return __builtin_preserve_field_info(OF(struct bits)->high, BPF_FIELD_SIGNED); }
PROGRAM(has_no_sign) { return __builtin_preserve_field_info(OF(struct bits)->low, BPF_FIELD_SIGNED); }
PROGRAM(shift_left) { return __builtin_preserve_field_info(OF(struct bits)->low, BPF_FIELD_LSHIFT_U64); }
PROGRAM(shift_right) { return __builtin_preserve_field_info(OF(struct bits)->low, BPF_FIELD_RSHIFT_U64); }
PROGRAM(bit_field) { PACKET(struct bits); return BPF_CORE_READ_BITFIELD(in, low); }
PROGRAM(type_exists) { return bpf_core_type_exists(struct moved); }
PROGRAM(type_exists_not) { return bpf_core_type_exists(struct missing); }
PROGRAM(typedef_exists) { return bpf_core_type_exists(number_t); }
PROGRAM(typedef_exists_not) { return bpf_core_type_exists(missing_t); }
PROGRAM(type_size) { return bpf_core_type_size(struct moved); }
PROGRAM(type_size_not) { return bpf_core_type_size(struct missing); }
PROGRAM(type_id) { return bpf_core_type_id_kernel(struct moved) != 0; }
PROGRAM(type_id_not) { return bpf_core_type_id_kernel(struct missing); }
PROGRAM(matches) { return bpf_core_type_matches(struct same); }
PROGRAM(matches_more) { return bpf_core_type_matches(struct more); }
PROGRAM(matches_not) { return bpf_core_type_matches(struct other); }
PROGRAM(enum_value) { return bpf_core_enum_value(enum choice, SECOND); }
PROGRAM(enum_large) { return bpf_core_enum_value(enum wide, LARGE) >> 32; }
PROGRAM(enum_exists) { return bpf_core_enum_value_exists(enum choice, FIRST); }
PROGRAM(enum_exists_not) { return bpf_core_enum_value_exists(enum choice, FOURTH); }
// What is not there faults, and only where it is executed.
PROGRAM(asks_first) { PACKET(struct moved); return bpf_core_field_exists(in->gone) ? in->gone : 5; }
PROGRAM(poison_load) { PACKET(struct moved); return in->gone; }
PROGRAM(poison_sign) { PACKET(struct wider); return in->with_sign; }
PROGRAM(poison_enum) { return bpf_core_enum_value(enum choice, FOURTH); }
PROGRAM(poison_type) { PACKET(struct missing); return in->a; }
char _license[] SEC("license") = "GPL";
