package events

import (
	"math"
	"math/bits"

	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/lanes"
	"github.com/libmode/libmode/core/internal/par"
)

// Limits are the conditions under which an event takes part.
type Limits struct {
	Mass, Score   [2]float64 // (-Inf, Inf): no limit; a score outside is an error
	IgnoreMissing bool       // a NaN mass is outside the range, and no error
}

// Columns are functions of an event. Their means over bins are wanted, beside the mean of the function 1. Fill sets a slice of values for
// each function, for the events from lo on.
type Columns struct {
	Count int
	Fill  func(values [][]float64, lo int)
}

// Selection is the events of one subset. The events that take part have a mass in the mass range.
type Selection[T Float] struct {
	Events[T]        // without labels and categories
	Stats            // of the events that take part
	MassLo, MassHi   float64
	MassCells        lanes.Cells[T]
	ScoreCells       lanes.Cells[T]
	Parts            []Part
	Pairs            []uint32 // of each event the cells of the score and the mass; bins.New writes the bin over the cell of the mass
	cellOf           []uint32 // of each event the cell of several variables, or NoPair; nil: there is one variable
	Exponents        []int    // of the powers of two by which the weights of each bin are multiplied, see Balance; nil: of 1
	given            []T      // the weights without them
	index            []uint32 // of each event the place in the input; nil: the events are the input
	scoreLo, scoreHi float64
	ignoreMissing    bool
}

// A pair has the cell or the bin of the mass in its lower bits, and the cell of the score above them. NoPair is the pair of
// an event that takes no part.
const (
	BinBits = lanes.BinBits
	BinMask = 1<<BinBits - 1
	NoPair  = math.MaxUint32
)

// MaxBins is the highest number of bins for which a pair has room.
const MaxBins = BinMask

// Select checks events, selects the events that take part, and counts them by cell. If there are no scores, only masses and
// weights are checked. If the cells of several variables are given, they replace the masses, and events with NoPair take no
// part. The error of no event comes with the selection.
func Select[T Float](ev Events[T], index, cellOf []uint32, limits Limits, sc *par.Scratch) (*Selection[T], error) {
	sel := &Selection[T]{
		Events: ev, index: index, cellOf: cellOf, ignoreMissing: limits.IgnoreMissing, MassLo: limits.Mass[0], MassHi: limits.Mass[1],
		scoreLo: max(limits.Score[0], -math.MaxFloat64), scoreHi: min(limits.Score[1], math.MaxFloat64),
	}
	n := len(ev.Score)
	if ev.Score == nil {
		n, sel.scoreLo, sel.scoreHi = len(ev.Mass), -math.MaxFloat64, math.MaxFloat64
	} else {
		// A cell of a few records leaves little to sort; a larger cell is sorted in cache.
		cells := powerOfTwo(n/2, 1, 1<<13)
		if n > 1<<14 {
			cells = powerOfTwo(n/1024, 1<<8, 1<<11)
		}
		sel.ScoreCells = NewCells(ev.Score, sel.scoreLo, sel.scoreHi, cells, 1./16)
	}
	if cellOf != nil {
		sel.Mass, sel.MassLo, sel.MassHi = ev.Score, math.Inf(-1), math.Inf(1)
	} else {
		// There are many cells of masses: with a wide margin hardly any mass of a long tail shares the last cell with a quantile.
		sel.MassCells = NewCells(ev.Mass, sel.MassLo, sel.MassHi, powerOfTwo(max(n/8, min(n, 1<<13)), 64, 1<<14), 1./2)
	}
	if err := sel.check(sc); err != nil {
		return nil, err
	}
	switch {
	case sel.N > 0:
		return sel, nil
	case len(sel.Mass) == 0:
		return sel, errs.Of(errs.ErrNoEvents, "no event selected: mass is empty (length 0)")
	case math.IsInf(sel.MassLo, -1):
		return sel, errs.Of(errs.ErrNoEvents, "no event selected: all %d masses of the selected events are NaN, and missing = ignore leaves them out", len(sel.Mass))
	}
	return sel, errs.Of(errs.ErrNoEvents, "no event selected: all %d masses of the selected events lie outside the mass range [%v, %v]: "+
		"check mass_range (or edges) and the unit of mass", len(sel.Mass), sel.MassLo, sel.MassHi)
}

// TakesPart reports whether event i, which has been checked, enters the loss.
func (sel *Selection[T]) TakesPart(i int) bool {
	m := float64(sel.Mass[i])
	return m >= sel.MassLo && m <= sel.MassHi && (sel.cellOf == nil || sel.cellOf[i] != NoPair)
}

// FindBins sets dst to the bins of the events from lo on, or to NoPair.
func (sel *Selection[T]) FindBins(dst []uint32, lo int) {
	for i, pair := range sel.Pairs[lo:][:len(dst)] {
		bin := pair & BinMask
		if pair == NoPair {
			bin = NoPair
		}
		dst[i] = bin
	}
}

// CountMasses returns the number of masses in each cell. It adds the counts of the parts into the memory of the first.
func (sel *Selection[T]) CountMasses() []uint32 {
	counts := sel.Parts[0].MassCounts
	for _, p := range sel.Parts[1:] {
		for c, more := range p.MassCounts {
			counts[c] += more
		}
	}
	return counts
}

// sampleSize is the size of the sample from which cells are made, and sampleTail the number of its values on either side
// that may be outliers.
const (
	sampleSize = 1 << 7
	sampleTail = 4
)

// sampled is the number of values from which on a sample costs little.
const sampled = 1 << 12

// NewCells returns cells for values inside [lo, hi]. They span this range. If there are many values or the range is infinite,
// they span most of a sample of the values, and a margin on either side: this fraction of the span.
func NewCells[T Float](values []T, lo, hi float64, count int, margin float64) lanes.Cells[T] {
	if len(values) >= sampled || math.IsInf(hi-lo, 0) {
		lo, hi = sampleRange(values, lo, hi, margin)
	}
	scale := T(float64(count) / (hi - lo))
	if scale == 0 || !IsFinite(float64(scale)) {
		lo, scale = 0, 0 // the range is too narrow or infinite: one cell holds all
	}
	return lanes.Cells[T]{Lo: T(lo), Scale: scale, Last: T(count - 1)}
}

// sampleRange returns the range of most values inside [lo, hi], with a margin if there are many.
func sampleRange[T Float](values []T, lo, hi, margin float64) (from, to float64) {
	var low, high lowest // of the sample: its values, and their negatives
	for k := range low {
		low[k], high[k] = math.Inf(1), math.Inf(1)
	}
	count, stride := 0, max(1, len(values)/sampleSize)
	for i := 0; i < len(values) && count < sampleSize; i += stride {
		if v := float64(values[i]); v >= lo && v <= hi && IsFinite(v) {
			low.insert(v)
			high.insert(-v)
			count++
		}
	}
	if count == 0 {
		return lo, hi
	}
	if len(values) < sampled {
		return low[0], -high[0]
	}
	for _, tail := range []int{min(sampleTail, count/4), 0} { // without outliers, or else with them
		if from, to = low[tail], -high[tail]; from < to {
			break
		}
	}
	return max(lo, from-margin*(to-from)), min(hi, to+margin*(to-from))
}

// lowest are the lowest of some values, in order.
type lowest [sampleTail + 1]float64

func (lo *lowest) insert(v float64) {
	k := sampleTail
	if !(v < lo[k]) {
		return
	}
	for ; k > 0 && v < lo[k-1]; k-- {
		lo[k] = lo[k-1]
	}
	lo[k] = v
}

// powerOfTwo returns the smallest power of two that is at least n, within limits.
func powerOfTwo(n, lowest, highest int) int {
	return min(max(1<<bits.Len(uint(n-1)), lowest), highest)
}

// apart is the ratio of two weights below which the square of the smaller weight might underflow next to the square of the larger weight.
const apart = 0x1p-400

// Balance multiplies the weights of each bin by a power of two, so that the largest becomes about 1, if the weights of different bins may be
// so far apart that squares underflow. The loss does not change: only the ratios of the weights in a bin matter.
func (sel *Selection[T]) Balance(bins int, sc *par.Scratch) {
	if lanes.IsFloat32[T]() || sel.LeastWeight >= apart*max(-sel.WeightSpan.Lo, sel.WeightSpan.Hi) {
		return
	}
	if sel.given == nil {
		sel.given, sel.Weight = sel.Weight, par.Unset[T](&sc.Arena, len(sel.Weight))
	}
	largest := make([]float64, bins)
	for i, pair := range sel.Pairs {
		if pair != NoPair {
			b := pair & BinMask
			largest[b] = max(largest[b], math.Abs(float64(sel.given[i])))
		}
	}
	sel.Exponents = make([]int, bins)
	for b, w := range largest {
		_, exponent := math.Frexp(w)
		sel.Exponents[b] = -exponent
	}
	for i, pair := range sel.Pairs {
		if sel.Weight[i] = 0; pair != NoPair {
			sel.Weight[i] = T(math.Ldexp(float64(sel.given[i]), sel.Exponents[pair&BinMask]))
		}
	}
}

// Unit returns the unit of the weights. The loss does not depend on it, to the last bit.
func (sel *Selection[T]) Unit() float64 {
	if sel.Weight == nil || sel.Exponents != nil {
		return 1
	}
	return UnitOf(max(-sel.WeightSpan.Lo, sel.WeightSpan.Hi))
}

// UnitIn returns the factor of the weights of a bin.
func (sel *Selection[T]) UnitIn(b int) float64 {
	if sel.Exponents == nil {
		return sel.Unit()
	}
	return math.Ldexp(1, min(max(-1022, sel.Exponents[b]), 1023))
}

// Effective returns the number of effective events that take part, (sum w)^2 / sum w^2.
func (sel *Selection[T]) Effective() float64 {
	weights, unit := sel.Weight, sel.Unit()
	if weights == nil {
		return float64(sel.N)
	}
	if sel.given != nil {
		weights, unit = sel.given, UnitOf(max(-sel.WeightSpan.Lo, sel.WeightSpan.Hi))
	}
	var sum, squares float64
	for i, pair := range sel.Pairs {
		if pair != NoPair {
			w := float64(weights[i]) * unit
			sum += w
			squares += w * w
		}
	}
	return sum * sum / squares
}

// Average returns an average over 200 batches with a new batch, which is number count of its kind.
func Average(average, batch, count float64) float64 {
	return average + max(1./200, 1/count)*(batch-average)
}

// UnitOfWeights returns the unit of the finite ones of some weights, or other numbers; none: all are 1.
func UnitOfWeights[T Float](weights []T) float64 {
	largest := 0.0
	for _, w := range weights {
		if size := math.Abs(float64(w)); IsFinite(size) {
			largest = max(largest, size)
		}
	}
	return UnitOf(largest)
}

// UnitOf returns a power of two by which numbers up to largest become about 1, so that their squares do not overflow.
func UnitOf(largest float64) float64 {
	if largest == 0 {
		return 1
	}
	_, exponent := math.Frexp(largest)
	return math.Ldexp(1, min(max(-1022, -exponent), 1023))
}
