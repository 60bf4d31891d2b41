package radix

import (
	"math/bits"

	"github.com/libmode/libmode/core/internal/lanes"
)

// splitBits is how many bits of the keys Split looks at.
const splitBits = 11

// SplitPart is how many records a part of Split has at least.
const SplitPart = 1 << 15

// Split puts records into the order of the leading bits of their keys, in parts that run, as par.Team does, shares
// among goroutines. It returns where the cells of equal leading bits begin that have records, and the end; and nil, where
// all records have one key. Records of one cell stay in their order. Spare is memory for as many records.
func Split(records, spare []uint64, la *Layout, run func(parts int, f func(part int))) (starts []uint32) {
	parts := min(max(1, len(records)/SplitPart), 64)
	part := func(of []uint64, k int) []uint64 { return of[len(of)*k/parts : len(of)*(k+1)/parts] }

	lowest, highest := make([]uint64, parts), make([]uint64, parts)
	run(parts, func(k int) { lowest[k], highest[k] = lanes.Extremes(part(records, k)) })
	lo, hi := lowest[0], highest[0]
	for k := range parts {
		lo, hi = min(lo, lowest[k]), max(hi, highest[k])
	}
	lo = lo >> la.keyShift << la.keyShift
	top := uint(bits.Len64(hi - lo))
	if top <= la.keyShift {
		return nil
	}
	width := min(splitBits, top-la.keyShift)
	shift := top - width

	next := make([][1 << splitBits]uint32, parts) // first the counts of cells in each part, then where its next record goes
	run(parts, func(k int) {
		counts := &next[k]
		for _, r := range part(records, k) {
			counts[(r-lo)>>(shift&63)%(1<<splitBits)]++
		}
	})
	var start uint32
	for c := range 1 << width {
		first := start
		for k := range parts {
			slot := &next[k][c]
			*slot, start = start, start+*slot
		}
		if start > first {
			starts = append(starts, first)
		}
	}
	run(parts, func(k int) {
		to := &next[k]
		for _, r := range part(records, k) {
			slot := &to[(r-lo)>>(shift&63)%(1<<splitBits)]
			spare[*slot] = r
			*slot++
		}
	})
	run(parts, func(k int) { copy(part(records, k), part(spare[:len(records)], k)) })
	return append(starts, start)
}
