package core

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"sync"
	"unsafe"
)

// layout says how a record packs an event that takes part into one word: from
// the highest bit down, the key of its score, its bin and its index in the
// input. Sorted records are events in order of score, with all that the sweep
// needs beside it.
//
// float32 scores have keys of 32 bits, in the upper half of the record where the
// lower one has room for the rest. Keys of other scores are distances to the
// lowest score's, without the low bits that are 0 in all of them.
//
// All shifts are below 64; where the code says so, with & 63, the compiler
// leaves out what Go needs for larger ones.
type layout struct {
	half      bool   // keys are halfKeys
	base      uint64 // the lowest key
	zeros     uint   // low bits that are 0 in every key's distance to base
	cut       uint   // further low bits for which there is no room
	binShift  uint
	keyShift  uint
	indexMask uint64
	binMask   uint64
}

// scoreKey maps scores onto integers in the same order; -0.0 and 0.0 share one.
// Low bits that are 0 in a score are 0 in its key, so that a score that was
// once float32 has a short key.
func scoreKey(s float64) uint64 {
	b := math.Float64bits(s)
	magnitude := b &^ signBit
	negative := uint64(int64(b) >> 63)
	return (magnitude ^ negative) - negative + signBit
}

// scoreOf is the inverse of scoreKey.
func scoreOf(key uint64) float64 {
	signed := key - signBit
	negative := uint64(int64(signed) >> 63)
	return math.Float64frombits((signed ^ negative) - negative | negative&signBit)
}

const signBit = 1 << 63

// halfKey is scoreKey for float32; halfScore its inverse.
func halfKey(s float32) uint32 {
	b := math.Float32bits(s + 0) // -0.0 + 0 = 0.0
	return b ^ (uint32(int32(b)>>31) | 1<<31)
}

func halfScore(key uint32) float32 {
	return math.Float32frombits(key ^ (uint32(int32(^key)>>31) | 1<<31))
}

func newLayout[T Float](st *stats, events, nbins int) layout {
	var la layout
	indexBits := uint(bitsFor(events))
	la.binShift = indexBits
	la.keyShift = indexBits + uint(bitsFor(nbins))
	la.indexMask = 1<<indexBits - 1
	la.binMask = 1<<(la.keyShift-indexBits) - 1
	if isFloat32[T]() && la.keyShift <= 32 && la.binShift < 32 && !onlyGeneralPaths {
		la.half, la.keyShift = true, 32
		return la
	}

	la.base = scoreKey(st.scoreMin)
	if st.scoreBits&^signBit != 0 {
		la.zeros = uint(bits.TrailingZeros64(st.scoreBits &^ signBit))
	}
	keyBits := uint(bits.Len64((scoreKey(st.scoreMax) - la.base) >> la.zeros))
	if room := 64 - la.keyShift; keyBits > room {
		la.cut = keyBits - room
	}
	return la
}

// isFloat32 is known when the code is compiled.
func isFloat32[T Float]() bool {
	var x T
	return unsafe.Sizeof(x) == 4
}

func (la *layout) record(score float64, bin, index int) uint64 {
	key := (scoreKey(score) - la.base) >> ((la.zeros + la.cut) & 63)
	return key<<(la.keyShift&63) | uint64(bin)<<(la.binShift&63) | uint64(index)
}

// withBin returns the record of the same event in another bin.
func (la *layout) withBin(record uint64, bin int) uint64 {
	return record&^(la.binMask<<(la.binShift&63)) | la.binBits(bin)
}

// binBits returns what a record has for its bin.
func (la *layout) binBits(bin int) uint64 { return uint64(bin) << (la.binShift & 63) }

func (la *layout) index(record uint64) int  { return int(record & la.indexMask) }
func (la *layout) bin(record uint64) int    { return int(record >> (la.binShift & 63) & la.binMask) }
func (la *layout) key(record uint64) uint64 { return record >> (la.keyShift & 63) }

// exact reports whether a record holds its score whole.
func (la *layout) exact() bool { return la.cut == 0 }

// score returns the score that a record holds whole.
func (la *layout) score(record uint64) float64 {
	if la.half {
		return float64(halfScore(uint32(record >> 32)))
	}
	return scoreOf(record>>(la.keyShift&63)<<(la.zeros&63) + la.base)
}

// scoreCellsFor returns the number of buckets into which records go. As long as
// all records fit in a core's cache, they go to cells of a few, which are all but
// sorted; more records go to cells that are sorted by themselves, in cache.
func scoreCellsFor(n int) int {
	if n <= fewRecords {
		return powerOfTwo(n/2, 1, 1<<16)
	}
	return powerOfTwo(n/512, 1, 1<<11)
}

const fewRecords = 1 << 14

// fillRecords sets sc.records to the records of the events that take part, in
// order of score cell and, within a cell, of index, and finishes the binning.
// It returns where the cells start.
func fillRecords[T Float](sel *selection[T], bn *binning, la *layout, sc *scratch) []uint32 {
	sc.records = grown(sc.records, sel.n)
	starts := countsToStarts(sel.parts, sel.scoreCells.cells)
	sc.lefts = grown(sc.lefts, len(sel.parts))
	sc.team.parallel(len(sel.parts), func(k int) {
		sc.lefts[k] = sel.fillPart(sc.lefts[k][:0], &sel.parts[k], bn, la, sc.records)
	})
	bn.settle(sc.records, sc.lefts, la, sel.massLo, sel.massHi, sc.team)
	return starts
}

// fillPart writes the records of a part to where its counts say that the next
// record of each cell goes, and adds to left those whose bins are not known yet.
func (sel *selection[T]) fillPart(left []leftover, p *part, bn *binning, la *layout, records []uint64) []leftover {
	if la.half {
		for lo := p.lo; lo < p.hi; lo += checkBlock {
			left = sel.fillHalves(left, p.scores, lo, min(lo+checkBlock, p.hi), bn, la, records)
		}
		return left
	}
	layout, next := *la, p.scores
	for i := p.lo; i < p.hi; i++ {
		cells := sel.places[i]
		if cells == noPlace {
			continue
		}
		start := &next[cells>>massCellBits]
		bin := bn.table[cells&(1<<massCellBits-1)]
		if bin >= bn.limit {
			left = append(left, leftover{*start, uint32(bin - bn.limit), float64(sel.Mass[i])})
			bin = 0
		}
		records[*start] = layout.record(float64(sel.Score[i]), int(bin), i)
		*start++
	}
	return left
}

// fillHalves is fillPart for the events lo..hi-1 and keys in the upper halves of
// records. Two loops keep what each needs in registers.
func (sel *selection[T]) fillHalves(left []leftover, next []uint32, lo, hi int, bn *binning, la *layout, records []uint64) []leftover {
	var targets [checkBlock]target
	to := targets[:hi-lo]
	places, table := sel.places[lo:hi][:len(to)], bn.table
	for i := range to {
		cells := places[i]
		if cells == noPlace {
			to[i].bin = noPlace
			continue
		}
		cell := cells >> massCellBits
		at := next[cell]
		next[cell] = at + 1
		to[i] = target{at, uint32(table[cells&(1<<massCellBits-1)])}
	}
	binShift, limit := la.binShift&31, uint32(bn.limit)
	for i, s := range sel.Score[lo:hi][:len(to)] {
		bin := to[i].bin
		if bin >= limit {
			if bin == noPlace {
				continue
			}
			left = append(left, leftover{to[i].record, bin - limit, float64(sel.Mass[lo+i])})
			bin = 0
		}
		records[to[i].record] = uint64(halfKey(float32(s)))<<32 | uint64(bin<<binShift|uint32(lo+i))
	}
	return left
}

// target is where an event's record goes, and what the table says of its bin.
type target struct{ record, bin uint32 }

// countsToStarts turns the counts of scores per part and cell into the places
// where each part writes its first record of each cell, and returns the starts
// of the cells, with the total at the end.
func countsToStarts(parts []part, cells int) []uint32 {
	starts := make([]uint32, cells+1)
	var start uint32
	for c := range cells {
		starts[c] = start
		for k := range parts {
			place := &parts[k].scores[c]
			*place, start = start, start+*place
		}
	}
	starts[cells] = start
	return starts
}

// sorter sorts records by score, with memory of its own.
type sorter struct {
	spare  []uint64
	counts []uint32
}

var sorters = sync.Pool{New: func() any { return new(sorter) }}

// insertionBelow is a number of records under which histograms cost more than
// they save.
const insertionBelow = 24

// crowded is a number of records in one cell of the counting sort from which
// on the insertion sort that follows it would cost more than a radix sort.
const crowded = 48

// sortCells sorts the records of cells, which begin and end at starts. Equal
// scores keep their order.
func sortCells[T Float](so *sorter, records []uint64, starts []uint32, la *layout, scores []T) {
	first := starts[0] // of the cells that wait for one insertion sort together
	for c, start := range starts[:len(starts)-1] {
		if end := starts[c+1]; end-start >= insertionBelow {
			insertionSort(records[first:start], records[first:start], la.keyShift)
			so.sortKeys(records[start:end], la.keyShift)
			first = end
		}
	}
	end := starts[len(starts)-1]
	insertionSort(records[first:end], records[first:end], la.keyShift)
	if !la.exact() {
		resolve(records[starts[0]:end], la, scores)
	}
}

// sortKeys sorts by key: a counting sort on the leading bits of the distance to
// the lowest, with one or two cells a record, and an insertion sort of what is
// left.
func (so *sorter) sortKeys(records []uint64, keyShift uint) {
	lo, hi := records[0], records[0]
	for _, r := range records {
		lo, hi = min(lo, r), max(hi, r)
	}
	lo = lo >> keyShift << keyShift
	top := uint(bits.Len64(hi - lo))
	if top <= keyShift {
		return // one score
	}
	width := min(uint(bits.Len(uint(len(records)))), 14, top-keyShift)
	shift := top - width
	so.spare = grown(so.spare, len(records))
	so.counts = grown(so.counts, 1<<width)
	if so.scatter(records, so.spare, lo, shift, width) > crowded && shift > keyShift {
		so.radixSort(records, lo, keyShift, top)
		return
	}
	insertionSort(records, so.spare, keyShift)
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
		place := &counts[(r-lo)>>(shift&63)&mask]
		to[*place] = r
		*place++
	}
	return largest
}

// radixSort sorts on the bits keyShift..top-1 of the distance to lo, least
// significant digits first.
func (so *sorter) radixSort(records []uint64, lo uint64, keyShift, top uint) {
	const digit = 11
	so.counts = grown(so.counts, 1<<digit)
	from, to := records, so.spare
	for shift := keyShift; shift < top; shift += digit {
		so.scatter(from, to, lo, shift, min(digit, top-shift))
		from, to = to, from
	}
	if &from[0] != &records[0] {
		copy(records, from)
	}
}

// insertionSort writes the records of from, in order of key, to dst, which may
// be from itself.
func insertionSort(dst, from []uint64, keyShift uint) {
	belowKey := uint64(1)<<(keyShift&63) - 1
	for i, r := range from {
		last := r | belowKey // the largest record of this key
		j := i
		for j > 0 && dst[j-1] > last {
			dst[j] = dst[j-1]
			j--
		}
		dst[j] = r
	}
}

// resolve sorts, by their whole scores, records that share a cut key.
func resolve[T Float](records []uint64, la *layout, scores []T) {
	byScore := func(a, b uint64) int {
		sa, sb := scores[la.index(a)], scores[la.index(b)]
		switch {
		case sa < sb:
			return -1
		case sa > sb:
			return 1
		}
		return cmp.Compare(a, b)
	}
	for lo := 0; lo < len(records); {
		hi := lo + 1
		for hi < len(records) && la.key(records[hi]) == la.key(records[lo]) {
			hi++
		}
		if hi-lo > 1 {
			slices.SortFunc(records[lo:hi], byScore)
		}
		lo = hi
	}
}
