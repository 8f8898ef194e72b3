/* What the programs here share: a script of operations that user space sets, and a list of their results. */
#ifndef CORNERS_H
#define CORNERS_H
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#define OPS 24
#ifndef RUN
#define RUN OPS /* of them are run */
#endif
#define ZEROED(type, name) type name; __builtin_memset(&name, 0, sizeof(name))
#ifdef FRAGS
#define SECTION "xdp.frags"
#else
#define SECTION "xdp"
#endif
#define ENTRY(name) SEC(SECTION) int name(struct xdp_md *ctx)
#define MAP(name_, type_, key_, value_, entries_, flags_)	\
	struct {						\
		__uint(type, type_);				\
		__uint(max_entries, entries_);			\
		__uint(map_flags, flags_);			\
		__type(key, key_);				\
		__type(value, value_);				\
	} name_ SEC(".maps")

/* A number below `n` that the verifier sees to be so. */
#define BELOW(x, n) ({ __u64 v_ = (__u32)(x) % (n); asm volatile("" : "+r"(v_)); v_ < (n) ? v_ : 0; })

struct op {
	__u8 code, key, a, b;
	__s32 x;
};

struct script {
	struct op ops[OPS];
};

struct results {
	__s64 r[OPS];
};

MAP(script, BPF_MAP_TYPE_ARRAY, __u32, struct script, 1, 0);
MAP(results, BPF_MAP_TYPE_ARRAY, __u32, struct results, 1, 0);

static const __u32 zero_key = 0;

/* Runs `body` for each operation: it reads `o` and sets `r`. */
#define RUN_SCRIPT(...)							\
	struct script *s_ = bpf_map_lookup_elem(&script, &zero_key);		\
	struct results *res_ = bpf_map_lookup_elem(&results, &zero_key);	\
	if (!s_ || !res_)							\
		return XDP_ABORTED;						\
	for (int i_ = 0; i_ < RUN; i_++) {					\
		struct op *o = &s_->ops[i_];					\
		__s64 r = 0;							\
		switch (o->code) {						\
			__VA_ARGS__						\
		}								\
		res_->r[i_] = r;						\
	}

char _license[] SEC("license") = "GPL";
#endif
