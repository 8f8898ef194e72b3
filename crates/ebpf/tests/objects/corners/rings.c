/* Ring buffers with records outstanding, given back in any order. */
#define RUN 12 /* the verifier follows more of them for too long */
#include "corners.h"
#define SIZE 200

struct { __uint(type, BPF_MAP_TYPE_RINGBUF); __uint(max_entries, 4096); } ring SEC(".maps");
struct { __uint(type, BPF_MAP_TYPE_RINGBUF); __uint(max_entries, 8192); } other SEC(".maps");

struct big { __u64 n[SIZE]; };

ENTRY(rings)
{
	struct big *b = 0;
	__u64 *w = 0;
	__u8 bytes[48] = {};
	RUN_SCRIPT(
	case 0: case 1:
		/* All of it is written: in the kernel a record begins with what the ring had there. */
		if (!b) {
			b = bpf_ringbuf_reserve(&ring, sizeof(*b), 0);
			r = b ? 1 : 2;
			if (b && bpf_xdp_load_bytes(ctx, 0, b, sizeof(*b))) {
				bpf_ringbuf_discard(b, 0);
				b = 0;
			}
		}
		if (b)
			b->n[SIZE / 2] += o->a;
		break;
	case 2:
		if (!w) { w = bpf_ringbuf_reserve(&ring, 8, 0); r = w ? 1 : 2; }
		if (w) *w = o->x;
		break;
	case 3: if (b) { bpf_ringbuf_discard(b, 0); b = 0; } break;
	case 4: if (b) { bpf_ringbuf_submit(b, 0); b = 0; } break;
	case 5: if (w) { bpf_ringbuf_submit(w, BPF_RB_NO_WAKEUP); w = 0; } break;
	case 6: if (w) { bpf_ringbuf_discard(w, BPF_RB_FORCE_WAKEUP); w = 0; } break;
	case 7: case 8: {
		__u64 n = BELOW(o->b, 48) + 1;
		bytes[0] = o->x;
		r = bpf_ringbuf_output(&ring, bytes, n, o->key % 4);
		break;
	}
	case 9: r = bpf_ringbuf_output(&ring, s_, sizeof(*s_), 0); break;
	case 10: r = bpf_ringbuf_query(&ring, o->a % 6) + bpf_ringbuf_query(&other, o->b % 4) * 100000; break;
	case 11: r = bpf_ringbuf_output(&other, s_, sizeof(*s_), 0); break;
	)
	if (w) bpf_ringbuf_submit(w, 0);
	if (b) bpf_ringbuf_discard(b, 0);
	return XDP_PASS;
}
