// One program for each reason that refuses a single program, and one that is fine.
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

extern int bpf_kfunc_of_tests(struct xdp_md *ctx) __ksym;
extern const int symbol_of_tests __ksym;
extern int LINUX_KERNEL_VERSION __kconfig;
extern unsigned short CONFIG_NEVER __kconfig __weak;
unsigned long long load_byte(void *skb, unsigned long long off) asm("llvm.bpf.load.byte");

struct { __uint(type, BPF_MAP_TYPE_SOCKMAP); __uint(max_entries, 1); __type(key, __u32); __type(value, __u32); } sockets SEC(".maps");
struct { __uint(type, BPF_MAP_TYPE_ARRAY); __uint(max_entries, 1); __type(key, __u32); __uint(key_size, 8); __type(value, __u32); } bad_size SEC(".maps");
struct { __uint(type, BPF_MAP_TYPE_ARRAY); __uint(max_entries, 1); __type(key, __u32); __type(value, __u32); } good SEC(".maps");
int unknown_helper(struct xdp_md *ctx);
struct { __uint(type, BPF_MAP_TYPE_PROG_ARRAY); __uint(max_entries, 1); __uint(key_size, 4);
	__array(values, int (struct xdp_md *)); } tails SEC(".maps") = { .values = { [0] = (void *)&unknown_helper } };
struct { __uint(type, BPF_MAP_TYPE_PROG_ARRAY); __uint(max_entries, 1); __uint(key_size, 4);
	__array(values, int (struct xdp_md *)); } beyond SEC(".maps") = { .values = { [1] = (void *)&unknown_helper } };

static __u32 key;
static __attribute__((noinline)) int deep(struct xdp_md *ctx) { return bpf_kfunc_of_tests(ctx) + 1; }

SEC("xdp") int fine(struct xdp_md *ctx) { __u32 k = 0; return bpf_map_lookup_elem(&good, &k) ? XDP_DROP : XDP_PASS; }
SEC("xdp") int kfunc(struct xdp_md *ctx) { return bpf_kfunc_of_tests(ctx); }
SEC("xdp") int kfunc_below(struct xdp_md *ctx) { return deep(ctx); }
SEC("xdp") int ksym(struct xdp_md *ctx) { return symbol_of_tests; }
SEC("xdp") int kconfig(struct xdp_md *ctx) { return LINUX_KERNEL_VERSION > 5; }
SEC("xdp") int weak_kconfig(struct xdp_md *ctx) { return CONFIG_NEVER; }
SEC("xdp") int packet_access(struct xdp_md *ctx) { return load_byte(ctx, 12); }
SEC("xdp") int unknown_helper(struct xdp_md *ctx) { return bpf_get_current_pid_tgid(); }
SEC("xdp") int unknown_map(struct xdp_md *ctx) { return bpf_map_delete_elem(&sockets, &key); }
SEC("xdp") int wrong_map(struct xdp_md *ctx) { return bpf_map_delete_elem(&bad_size, &key); }
SEC("xdp") int wrong_tail(struct xdp_md *ctx) { bpf_tail_call(ctx, &tails, 0); return XDP_PASS; }
SEC("tc") int other_hook(struct __sk_buff *skb) { return 0; }
char _license[] SEC("license") = "GPL";
