package radix

import (
	"cmp"
	"math/bits"
	"slices"
	"sync"

	"github.com/libmode/libmode/core/internal/lanes"
	"github.com/libmode/libmode/core/internal/par"
)

// sorter sorts records by key, with memory of its own.
type sorter struct {
	spare           []uint64
	keys, spareKeys []uint64 // see resolveMany
	counts          []uint32
}

var sorters = sync.Pool{New: func() any { return new(sorter) }}

// nearBelow is a number of records under which histograms cost more than they save.
const nearBelow = 24

// crowded is a number of records in one cell of the counting sort from which
// on the sort that follows it would cost more than a radix sort.
const crowded = 48

// Sort sorts the records of cells, which begin and end at starts, each by itself: by key, and
// equal keys in an order that depends on the records alone. Numbers are those that the
// indices of the records are of; where they are equal, records are in order of index if
// there was no room for whole keys.
func Sort[T Float](records []uint64, starts []uint32, la *Layout, numbers []T) {
	so := sorters.Get().(*sorter)
	defer sorters.Put(so)
	first := starts[0] // of the cells that wait to be sorted together
	for c, start := range starts[:len(starts)-1] {
		if end := starts[c+1]; end-start >= nearBelow {
			so.sortNear(records[first:start])
			so.sortKeys(records[start:end], la.keyShift)
			first = end
		}
	}
	end := starts[len(starts)-1]
	so.sortNear(records[first:end])
	if !la.Exact() {
		resolve(so, records[starts[0]:end], la, numbers)
	}
}

// sortNear sorts the records of cells of a few.
func (so *sorter) sortNear(records []uint64) {
	so.grow(len(records))
	copy(so.spare, records)
	lanes.SortNear(records, so.spare)
}

func (so *sorter) grow(n int) { so.spare = par.Grown(so.spare, n+lanes.Padding) }

// sortKeys is a counting sort on the leading bits of the distance to the lowest key, with
// one or two cells a record, and a sort of what is left.
func (so *sorter) sortKeys(records []uint64, keyShift uint) {
	lo, hi := lanes.Extremes(records)
	lo = lo >> keyShift << keyShift
	top := uint(bits.Len64(hi - lo))
	if top <= keyShift {
		return // one number
	}
	width := min(uint(bits.Len(uint(len(records)))), 14, top-keyShift)
	shift := top - width
	so.grow(len(records))
	so.counts = par.Grown(so.counts, 1<<width)
	largest := so.scatter(records, so.spare, lo, shift, width)
	switch {
	case shift == keyShift:
		copy(records, so.spare) // in each cell there is one key, of however many records
	case largest > crowded:
		so.radixSort(records, lo, keyShift, top)
	default:
		lanes.SortNear(records, so.spare)
	}
}

// scatter is one stable counting sort on width bits, from shift on, of the
// distance to lo. It returns the largest count.
func (so *sorter) scatter(from, to []uint64, lo uint64, shift, width uint) (largest uint32) {
	counts := so.counts[:1<<width]
	clear(counts)
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
	return largest
}

// digit is how many bits a pass of a radix sort looks at.
const digit = 11

// radixSort sorts on the bits keyShift..top-1 of the distance to lo, least
// significant digits first.
func (so *sorter) radixSort(records []uint64, lo uint64, keyShift, top uint) {
	so.counts = par.Grown(so.counts, 1<<digit)
	from, to := records, so.spare[:len(records)]
	for shift := keyShift; shift < top; shift += digit {
		so.scatter(from, to, lo, shift, min(digit, top-shift))
		from, to = to, from
	}
	if &from[0] != &records[0] {
		copy(records, from)
	}
}

// resolve sorts, by their whole numbers, records that share a cut key.
func resolve[T Float](so *sorter, records []uint64, la *Layout, numbers []T) {
	mask, keyShift := la.IndexMask, la.keyShift
	byNumber := func(a, b uint64) int {
		sa, sb := numbers[a&mask], numbers[b&mask]
		switch {
		case sa < sb:
			return -1
		case sa > sb:
			return 1
		}
		return cmp.Compare(a&mask, b&mask)
	}
	for lo := 0; lo < len(records); {
		hi := lo + 1
		for hi < len(records) && records[hi]>>(keyShift&63) == records[lo]>>(keyShift&63) {
			hi++
		}
		switch {
		case hi-lo > crowded:
			resolveMany(so, records[lo:hi], la, numbers)
		case hi-lo > 1:
			slices.SortFunc(records[lo:hi], byNumber)
		}
		lo = hi
	}
}

// resolveMany is resolve for many records that share a cut key: a radix sort on what else their keys have,
// after one on the indices where these are not in order.
func resolveMany[T Float](so *sorter, records []uint64, la *Layout, numbers []T) {
	so.keys, so.spareKeys = par.Grown(so.keys, len(records)), par.Grown(so.spareKeys, len(records))
	so.grow(len(records))
	inOrder := true
	for i, r := range records {
		so.keys[i] = uint64(la.Index(r))
		inOrder = inOrder && (i == 0 || so.keys[i] > so.keys[i-1])
	}
	if !inOrder {
		so.sortByKeys(records)
	}
	for i, r := range records {
		so.keys[i] = Key(float64(numbers[la.Index(r)]))
	}
	so.sortByKeys(records)
}

// sortByKeys is a stable sort of records by keys that stand beside them.
func (so *sorter) sortByKeys(records []uint64) {
	lo, hi := slices.Min(so.keys), slices.Max(so.keys)
	so.counts = par.Grown(so.counts, 1<<digit)
	from, to, keys, toKeys := records, so.spare[:len(records)], so.keys, so.spareKeys
	for shift := uint(0); shift < uint(bits.Len64(hi-lo)); shift += digit {
		counts := so.counts[:1<<digit]
		clear(counts)
		for _, k := range keys {
			counts[(k-lo)>>shift&(1<<digit-1)]++
		}
		var start uint32
		for d, count := range counts {
			counts[d], start = start, start+count
		}
		for i, k := range keys {
			slot := &counts[(k-lo)>>shift&(1<<digit-1)]
			to[*slot], toKeys[*slot] = from[i], k
			*slot++
		}
		from, to, keys, toKeys = to, from, toKeys, keys
	}
	if &from[0] != &records[0] {
		copy(records, from)
	}
}
