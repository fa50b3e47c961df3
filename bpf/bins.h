/*
 * Bins of durations, each twice as wide as the one before. crates/observe/src/ebpf/sums.rs has their bounds.
 */
#pragma once

/* The bin of a duration: 0 is 0 ns, n is from 2^(n-1) to below 2^n. */
static __always_inline __u8 bits_of(__u64 value)
{
	__u8 bits = 0;

	if (value >> 32) {
		bits += 32;
		value >>= 32;
	}
	if (value >> 16) {
		bits += 16;
		value >>= 16;
	}
	if (value >> 8) {
		bits += 8;
		value >>= 8;
	}
	if (value >> 4) {
		bits += 4;
		value >>= 4;
	}
	if (value >> 2) {
		bits += 2;
		value >>= 2;
	}
	if (value >> 1) {
		bits += 1;
		value >>= 1;
	}
	return bits + (value ? 1 : 0);
}
