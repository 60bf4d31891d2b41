package sorted

import (
	"math/bits"

	"github.com/libmode/libmode/core/internal/lanes"
	"github.com/libmode/libmode/core/internal/par"
)

const (
	smallCell   = 24 // records of a cell, below which a counting sort does not pay
	crowdedCell = 48 // records of a cell of the counting sort, from which on a radix sort is faster than sortNear
)

// sortCells sorts the records of each cell by key. The starts of the cells, with the end, are places in records. The order of
// equal keys depends only on the records. If there was no room for whole keys, records of equal keys are sorted by their
// numbers, which have the indices of the records.
func sortCells[T lanes.Float](records []uint64, starts []uint32, la *Layout, numbers []T) {
	room := par.Room()
	defer room.Give()
	first := starts[0] // of the small cells that are sorted together
	for c, start := range starts[:len(starts)-1] {
		if end := starts[c+1]; end-start >= smallCell {
			sortNear(records[first:start], records[first:start])
			sortCell(records[start:end], la.keyShift, &room.Arena)
			first = end
		}
	}
	end := starts[len(starts)-1]
	sortNear(records[first:end], records[first:end])
	if la.cut > 0 {
		resolve(records[starts[0]:end], la, numbers, la.cut, &room.Arena)
	}
}

// sortNear sorts records that are nearly in order into dst, which may be the records. They pass through a window of three
// records, which the lowest leaves. That takes no branch, and nearly all records leave in order. An insertion sort does the rest.
func sortNear(dst, records []uint64) {
	if len(records) <= 3 {
		for i, r := range records {
			insert(dst, i, r)
		}
		return
	}
	var a, b, c uint64 // the window, in order
	for _, next := range records[:3] {
		a, b, c = min(b, max(a, next)), min(c, max(b, next)), max(c, next)
	}
	for i, next := range records[3:] {
		lowest := min(a, next)
		a, b, c = min(b, max(a, next)), min(c, max(b, next)), max(c, next)
		insert(dst, i, lowest)
	}
	for i, r := range [...]uint64{a, b, c} {
		insert(dst, len(records)-3+i, r)
	}
}

// insert inserts a record into dst[:i], which is in order.
func insert(dst []uint64, i int, record uint64) {
	for ; i > 0 && dst[i-1] > record; i-- {
		dst[i] = dst[i-1]
	}
	dst[i] = record
}

// sortCell is a counting sort by the leading bits of the distance to the lowest key, with one or two cells a record, and a
// sort by the other bits.
func sortCell(records []uint64, keyShift uint, arena *par.Arena) {
	defer arena.Release(arena.Mark())
	lo, hi := extremes(records)
	lo = lo >> keyShift << keyShift
	top := uint(bits.Len64(hi - lo))
	if top <= keyShift {
		return // there is one key
	}
	width := min(uint(bits.Len(uint(len(records)))-1), 14, top-keyShift)
	shift := top - width
	spare := par.Unset[uint64](arena, len(records))
	if len(records)>>width > crowdedCell {
		sortDigits(records, spare, lo, keyShift, top, arena)
		return
	}
	largest := scatter(spare, records, lo, shift, width, arena)
	switch {
	case shift == keyShift:
		copy(records, spare) // each cell has one key
	case largest > crowdedCell:
		sortDigits(records, spare, lo, keyShift, top, arena)
	default:
		sortNear(records, spare)
	}
}

// extremes returns the lowest and the highest record. It keeps two of each, so that comparisons need not wait for one another.
func extremes(records []uint64) (lo, hi uint64) {
	last := records[len(records)-1]
	lo, hi = last, last
	otherLo, otherHi := last, last
	for i := 1; i < len(records); i += 2 {
		r, other := records[i-1], records[i]
		lo, hi, otherLo, otherHi = min(lo, r), max(hi, r), min(otherLo, other), max(otherHi, other)
	}
	return min(lo, otherLo), max(hi, otherHi)
}

// scatter is a stable counting sort by the width bits from shift on of the distance to lo. It returns the largest count.
func scatter(to, from []uint64, lo uint64, shift, width uint, arena *par.Arena) (largest uint32) {
	mark := arena.Mark()
	counts := par.Make[uint32](arena, 1<<width)
	mask := uint64(len(counts) - 1)
	for _, r := range from {
		counts[(r-lo)>>(shift&63)&mask]++
	}
	var start uint32
	for d, count := range counts {
		largest = max(largest, count)
		counts[d], start = start, start+count
	}
	for _, r := range from {
		slot := &counts[(r-lo)>>(shift&63)&mask]
		to[*slot] = r
		*slot++
	}
	arena.Release(mark)
	return largest
}

// sortDigits is a radix sort by the bits keyShift..top-1 of the distance to lo, from the lowest digit to the highest.
func sortDigits(records, spare []uint64, lo uint64, keyShift, top uint, arena *par.Arena) {
	const digit = 11 // bits
	from, to := records, spare
	for shift := keyShift; shift < top; shift += digit {
		scatter(to, from, lo, shift, min(digit, top-shift), arena)
		from, to = to, from
	}
	if &from[0] != &records[0] {
		copy(records, from)
	}
}

// resolve sorts runs of records of equal keys by the low bits of their numbers' keys, for which there was no room. It leaves these bits
// in the records. Saturated scores have many of one key.
func resolve[T lanes.Float](records []uint64, la *Layout, numbers []T, cut uint, arena *par.Arena) {
	keyShift := la.keyShift & 63
	rest := cut - min(cut, 64-keyShift) // bits for which there is no room again
	for i := 1; i < len(records); i++ {
		first, key := i-1, records[i]>>keyShift
		if records[first]>>keyShift != key {
			continue
		}
		for i < len(records) && records[i]>>keyShift == key {
			i++
		}
		run := records[first:i]
		for k, r := range run {
			low := (keyOf(float64(numbers[la.Index(r)])) - la.base) & (1<<cut - 1) >> rest
			run[k] = low<<keyShift | r&(1<<keyShift-1)
		}
		if len(run) < smallCell {
			sortNear(run, run)
		} else {
			sortCell(run, keyShift, arena)
		}
		if rest > 0 {
			resolve(run, la, numbers, rest, arena)
		}
	}
}
