package core

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// A record is an event that takes part, packed in one word: from the highest
// bit down, the key of its score, its bin, and its index in the input. Sorted
// records are events in order of score, with all that the sweep needs beside it.
type layout struct {
	base      uint64 // the lowest key
	zeros     uint   // low bits that are 0 in every key's distance to base
	cut       uint   // further low bits for which there was no room
	binShift  uint
	keyShift  uint
	keyBits   uint
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

// cutKeyBits is the length to which keys are cut where they cannot be kept
// whole: three passes of the sort. Scores that then share a key are told apart
// afterwards, see resolve.
const cutKeyBits = 33

func newLayout(st *stats, events, nbins int) layout {
	var la layout
	indexBits := uint(bitsFor(events))
	la.binShift = indexBits
	la.keyShift = indexBits + uint(bitsFor(nbins))
	la.indexMask = 1<<indexBits - 1
	la.binMask = 1<<(la.keyShift-indexBits) - 1

	la.base = scoreKey(st.scoreMin)
	if st.scoreBits&^signBit != 0 {
		la.zeros = uint(bits.TrailingZeros64(st.scoreBits &^ signBit))
	}
	la.keyBits = uint(bits.Len64((scoreKey(st.scoreMax) - la.base) >> la.zeros))
	if room := 64 - la.keyShift; la.keyBits > room {
		kept := min(room, cutKeyBits)
		la.cut = la.keyBits - kept
		la.keyBits = kept
	}
	return la
}

func (la *layout) record(score float64, bin, index int) uint64 {
	key := (scoreKey(score) - la.base) >> (la.zeros + la.cut)
	return key<<la.keyShift | uint64(bin)<<la.binShift | uint64(index)
}

func (la *layout) index(record uint64) int  { return int(record & la.indexMask) }
func (la *layout) bin(record uint64) int    { return int(record >> la.binShift & la.binMask) }
func (la *layout) key(record uint64) uint64 { return record >> la.keyShift }

// exact reports whether a record holds its score whole.
func (la *layout) exact() bool { return la.cut == 0 }

// score returns the score that a record holds whole.
func (la *layout) score(record uint64) float64 {
	return scoreOf(record>>la.keyShift<<la.zeros + la.base)
}

// sortRecords sorts by score and returns the sorted half and the spare one.
// Equal scores stand next to each other in an order that depends on the input
// alone.
func sortRecords[T Float](records, spare []uint64, la *layout, scores []T, sc *scratch) (sorted, other []uint64) {
	if len(records) < comparisonSortBelow {
		slices.Sort(records)
	} else {
		records, spare = radixSort(records, spare, la, sc)
	}
	if !la.exact() {
		resolve(records, la, scores)
	}
	return records, spare
}

// comparisonSortBelow is a number of records under which the histograms of a
// radix sort cost more than comparisons do.
const comparisonSortBelow = 192

// radixSort is a stable least-significant-digit sort on the key bits.
func radixSort(from, to []uint64, la *layout, sc *scratch) (sorted, other []uint64) {
	width := uint(11)
	if len(from) < 1<<13 {
		width = 8
	}
	passes := (la.keyBits + width - 1) / width
	if passes == 0 {
		return from, to
	}
	width = (la.keyBits + passes - 1) / passes
	parts := 1
	if len(from) >= 2*blockSize {
		parts = Threads()
	}
	digits := 1 << width
	sc.counts = grown(sc.counts, parts*digits)
	counts := sc.counts
	for pass := range passes {
		shift := la.keyShift + pass*width
		countDigits(from, counts, parts, digits, shift)
		if !countsToStarts(counts, parts, digits, len(from)) {
			continue // one digit only
		}
		src, dst := from, to
		parallel(parts, func(part int) {
			starts := counts[part*digits : (part+1)*digits]
			lo, hi := slicePart(part, parts, len(src))
			mask := uint64(digits - 1)
			for _, r := range src[lo:hi] {
				d := r >> shift & mask
				dst[starts[d]] = r
				starts[d]++
			}
		})
		from, to = to, from
	}
	return from, to
}

func countDigits(records []uint64, counts []uint32, parts, digits int, shift uint) {
	clear(counts)
	parallel(parts, func(part int) {
		own := counts[part*digits : (part+1)*digits]
		lo, hi := slicePart(part, parts, len(records))
		mask := uint64(digits - 1)
		for _, r := range records[lo:hi] {
			own[r>>shift&mask]++
		}
	})
}

// countsToStarts turns counts per part and digit into the places where each
// part writes its first record of each digit. It returns false where all
// records share a digit.
func countsToStarts(counts []uint32, parts, digits, n int) bool {
	var start uint32
	for d := range digits {
		before := start
		for part := range parts {
			k := part*digits + d
			counts[k], start = start, start+counts[k]
		}
		if int(start-before) == n {
			return false
		}
	}
	return true
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
