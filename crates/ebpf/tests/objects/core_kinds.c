// CO-RE relocations of every kind: those whose answer every kernel gives alike, and those that are the kernel's to say.
#include <linux/types.h>
#define CORE __attribute__((preserve_access_index))
struct xdp_md { __u32 data, data_end, data_meta, ingress_ifindex, rx_queue_index, egress_ifindex; } CORE;
struct iphdr { __u8 ihl : 4, version : 4; __u8 tos; __be16 tot_len, id, frag_off; __u8 ttl, protocol; __sum16 check; __be32 saddr, daddr; } CORE;
struct ipv6hdr { __u8 priority : 4, version : 4; __u8 flow_lbl[3]; __be16 payload_len; __u8 nexthdr, hop_limit; __u32 addresses[8]; } CORE;
union tcp_word_hdr { struct { __u32 bytes[5]; } hdr; __be32 words[5]; } CORE;
union tcp_word_hdr___longer { struct { __u32 bytes[5]; } hdr; __be32 words[6]; } CORE;
// Two fields have changed places, one has another name, one has a sign; all have the bytes of the real one.
struct iphdr___turned { __u8 ihl : 4, version : 4; __u8 tos; __be16 tot_len, id, frag_off; __u8 protocol, ttl; __sum16 check; __be32 saddr, daddr; } CORE;
struct iphdr___named { __u8 ihl : 4, version : 4; __u8 tos; __be16 tot_len, id, frag_off; __u8 hops, protocol; __sum16 check; __be32 saddr, daddr; } CORE;
struct iphdr___signed { __u8 ihl : 4, version : 4; __s8 tos; __be16 tot_len, id, frag_off; __u8 ttl, protocol; __sum16 check; __be32 saddr, daddr; } CORE;
enum xdp_action { XDP_ABORTED = 7, XDP_TX = 9 };
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#define IP(type) HEADER(struct type)
#define HEADER(type) type *ip = (void *)(long)ctx->data; if ((void *)(ip + 1) > (void *)(long)ctx->data_end) return 1
#define PROGRAM(name) SEC("xdp") int name(struct xdp_md *ctx)

// Resolved.
PROGRAM(fields) { IP(iphdr); return ip->ttl + bpf_core_field_exists(ip->ttl) + bpf_core_field_size(ip->saddr) + bpf_core_field_offset(ip->daddr); }
PROGRAM(bits) { IP(iphdr); return BPF_CORE_READ_BITFIELD(ip, ihl); }
PROGRAM(elements) { IP(ipv6hdr); return ip->flow_lbl[1]; }
PROGRAM(words) { HEADER(union tcp_word_hdr); return ip->words[3]; }
PROGRAM(sizes) { return bpf_core_type_size(struct iphdr); }
PROGRAM(has_no_sign) { return __builtin_preserve_field_info(((struct iphdr *)0)->tos, BPF_FIELD_SIGNED); }

// Refused.
PROGRAM(turned) { IP(iphdr___turned); return ip->ttl; }
PROGRAM(named) { return bpf_core_field_exists(struct iphdr___named, hops); }
PROGRAM(addresses) { IP(ipv6hdr); return ip->addresses[3]; }
PROGRAM(longer) { HEADER(union tcp_word_hdr___longer); return ip->words[3]; }
PROGRAM(has_sign) { return __builtin_preserve_field_info(((struct iphdr___signed *)0)->tos, BPF_FIELD_SIGNED); }
PROGRAM(enum_value) { return bpf_core_enum_value(enum xdp_action, XDP_TX); }
PROGRAM(enum_exists) { return bpf_core_enum_value_exists(enum xdp_action, XDP_ABORTED); }
PROGRAM(type_exists) { return bpf_core_type_exists(struct iphdr); }
PROGRAM(type_matches) { return bpf_core_type_matches(struct iphdr); }
PROGRAM(type_id) { return bpf_core_type_id_kernel(struct iphdr); }
PROGRAM(size_of_enum) { return bpf_core_type_size(enum xdp_action); }
char _license[] SEC("license") = "GPL";
