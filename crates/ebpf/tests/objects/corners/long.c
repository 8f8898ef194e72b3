/* Thousands of instructions in a row: hashes over the packet, unrolled. */
#include "corners.h"

#define ROL(x, n) ((x) << (n) | (x) >> (sizeof(x) * 8 - (n)))
#define SIP do { \
	v0 += v1; v1 = ROL(v1, 13); v1 ^= v0; v0 = ROL(v0, 32); \
	v2 += v3; v3 = ROL(v3, 16); v3 ^= v2; \
	v0 += v3; v3 = ROL(v3, 21); v3 ^= v0; \
	v2 += v1; v1 = ROL(v1, 17); v1 ^= v2; v2 = ROL(v2, 32); } while (0)

ENTRY(hashes)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	struct results *res = bpf_map_lookup_elem(&results, &zero_key);
	__u64 v0 = 0x736f6d6570736575, v1 = 0x646f72616e646f6d, v2 = 0x6c7967656e657261, v3 = 0x7465646279746573;
	__u32 a = 0x67452301, b = 0xefcdab89, c = 0x98badcfe, d = 0x10325476, h = 0xc3d2e1f0, w[16];
	__u64 *q = data;
	if (!res)
		return XDP_ABORTED;
	if (data + 320 > end)
		return XDP_DROP;
#pragma clang loop unroll(full)
	for (int i = 0; i < 40; i++) {
		v3 ^= q[i];
		SIP; SIP;
		v0 ^= q[i];
	}
	res->r[0] = v0 ^ v1 ^ v2 ^ v3;
#pragma clang loop unroll(full)
	for (int i = 0; i < 16; i++)
		w[i] = __builtin_bswap32(((__u32 *)data)[i]);
	/* This one stays a loop: the verifier follows it round by round. */
	for (int i = 0; i < 80; i++) {
		__u32 f, k, x;
		if (i >= 16)
			w[i & 15] = ROL(w[(i + 13) & 15] ^ w[(i + 8) & 15] ^ w[(i + 2) & 15] ^ w[i & 15], 1);
		if (i < 20) { f = (b & c) | (~b & d); k = 0x5a827999; }
		else if (i < 40) { f = b ^ c ^ d; k = 0x6ed9eba1; }
		else if (i < 60) { f = (b & c) | (b & d) | (c & d); k = 0x8f1bbcdc; }
		else { f = b ^ c ^ d; k = 0xca62c1d6; }
		x = ROL(a, 5) + f + h + k + w[i & 15];
		h = d; d = c; c = ROL(b, 30); b = a; a = x;
	}
	res->r[1] = (__u64)a << 32 | b;
	res->r[2] = (__u64)c << 32 | d;
	res->r[3] = h;
	((__u32 *)data)[15] ^= a;
	return a;
}
