package events

import (
	"math"
	"slices"

	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/lanes"
	"github.com/libmode/libmode/core/internal/par"
)

// Limits says which events take part.
type Limits struct {
	Mass, Score   [2]float64 // (-Inf, Inf): no limit; a score outside is an error
	IgnoreMissing bool       // a NaN mass is outside the range, and no error
}

// Selection is the events of one subset, with what is known about those that take part: their mass is in the mass range.
type Selection[T Float] struct {
	Events[T]        // without labels and categories
	Stats            // of the events that take part
	MassLo, MassHi   float64
	MassCells        Cells[T]
	ScoreCells       Cells[T]
	Parts            []Part
	Pairs            []uint32 // of each event the cells of the score and the mass; later the bin replaces the cell of the mass
	cellOf           []uint32 // of each event the cell of several variables, or NoPair; nil: there is one variable
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

// memory is kept between calls.
type memory struct {
	pairs, counts []uint32
	parts         []Part
}

// Select checks events, selects those that take part, and counts them by cell.
func Select[T Float](ev Events[T], index []uint32, li Limits, sc *par.Scratch) (*Selection[T], error) {
	sel := newSelection(ev, index, li)
	sel.setScoreCells()
	sel.setMassCells()
	return sel.checked(sc)
}

// SelectMasses is Select without the scores.
func SelectMasses[T Float](ev Events[T], index []uint32, li Limits, sc *par.Scratch) (*Selection[T], error) {
	return selectMasses(ev, index, li).checked(sc)
}

// SelectScores is Select for events whose cells of several variables are known: those with NoPair take no part.
func SelectScores[T Float](ev Events[T], index, cellOf []uint32, score [2]float64, sc *par.Scratch) (*Selection[T], error) {
	ev.Mass, ev.Masses = ev.Score, nil // which are inside the infinite range
	sel := newSelection(ev, index, Limits{Score: score, Mass: [2]float64{math.Inf(-1), math.Inf(1)}})
	sel.cellOf, sel.MassCells = cellOf, Cells[T]{Count: 1}
	sel.setScoreCells()
	return sel.checked(sc)
}

func newSelection[T Float](ev Events[T], index []uint32, li Limits) *Selection[T] {
	return &Selection[T]{
		Events: ev, index: index, ignoreMissing: li.IgnoreMissing, MassLo: li.Mass[0], MassHi: li.Mass[1],
		scoreLo: max(li.Score[0], -math.MaxFloat64), scoreHi: min(li.Score[1], math.MaxFloat64),
	}
}

func selectMasses[T Float](ev Events[T], index []uint32, li Limits) *Selection[T] {
	ev.Score, li.Score = nil, [2]float64{math.Inf(-1), math.Inf(1)}
	sel := newSelection(ev, index, li)
	sel.ScoreCells = Cells[T]{Count: 1}
	sel.setMassCells()
	return sel
}

// checked returns the selection, or an error if an event is bad or none takes part.
func (sel *Selection[T]) checked(sc *par.Scratch) (*Selection[T], error) {
	if err := sel.check(sc); err != nil {
		return nil, err
	}
	if sel.N > 0 {
		return sel, nil
	}
	switch {
	case len(sel.Mass) == 0:
		return nil, errs.Of(errs.ErrNoEvents, "no event selected: mass is empty (length 0)")
	case math.IsInf(sel.MassLo, -1):
		return nil, errs.Of(errs.ErrNoEvents, "no event selected: all %d masses of the selected events are NaN, and missing = ignore leaves these out", len(sel.Mass))
	}
	return nil, errs.Of(errs.ErrNoEvents, "no event selected: all %d masses of the selected events lie outside the mass range [%v, %v]: "+
		"check mass_range (or edges) and the unit of mass", len(sel.Mass), sel.MassLo, sel.MassHi)
}

// setScoreCells sets the cells into which records are put. A few records are all but sorted by a small cell each; many are
// put into larger cells, each of which is sorted in cache.
func (sel *Selection[T]) setScoreCells() {
	n := len(sel.Score)
	count := powerOfTwo(n/1024, 1<<8, 1<<11)
	if n <= 1<<14 {
		count = powerOfTwo(n/2, 1, 1<<13)
	}
	sel.ScoreCells = newCells(sel.Score, sel.scoreLo, sel.scoreHi, count)
}

// setMassCells sets the cells by which masses find their bins. They are so many that edges divide only a few of them.
func (sel *Selection[T]) setMassCells() {
	n := len(sel.Mass)
	count := powerOfTwo(max(n/8, min(n, 1<<13)), 64, 1<<14)
	sel.MassCells = newCells(sel.Mass, sel.MassLo, sel.MassHi, count)
}

// TakesPart reports whether event i, which has been checked, enters the loss.
func (sel *Selection[T]) TakesPart(i int) bool {
	m := float64(sel.Mass[i])
	return m >= sel.MassLo && m <= sel.MassHi && (sel.cellOf == nil || sel.cellOf[i] != NoPair)
}

// placeOf returns the place of event i in the input.
func (sel *Selection[T]) placeOf(i int) int {
	if sel.index == nil {
		return i
	}
	return int(sel.index[i])
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

// CountMasses returns the number of masses in each cell. It overwrites the counts of the parts.
func (sel *Selection[T]) CountMasses() []uint32 {
	counts := sel.Parts[0].Masses
	for _, p := range sel.Parts[1:] {
		for c, more := range p.Masses {
			counts[c] += more
		}
	}
	return counts
}

// Unit returns the unit of the weights. The loss does not depend on it, to the last bit.
func (sel *Selection[T]) Unit() float64 {
	if sel.Weight == nil {
		return 1
	}
	return UnitOf(max(math.Abs(sel.WeightMin), math.Abs(sel.WeightMax)))
}

// UnitOf returns a power of two by which numbers up to largest become about 1, so that their squares do not overflow.
func UnitOf(largest float64) float64 {
	if largest == 0 {
		return 1
	}
	_, exponent := math.Frexp(largest)
	return math.Ldexp(1, min(max(-1022, -exponent), 1023))
}

// CheckMassRange returns an error if the mass range cannot be divided into bins.
func (sel *Selection[T]) CheckMassRange() error {
	if sel.MassLo == sel.MassHi {
		return errs.Of(errs.ErrBin, "mass: all %d selected events have the same mass %v, so no range of masses can be binned: "+
			"give mass_range or edges, or a mass that varies", sel.N, sel.MassLo)
	}
	if !IsFinite(sel.MassHi - sel.MassLo) {
		return errs.Of(errs.ErrOverflow, "mass: the selected events span [%v, %v], which is too wide for double precision", sel.MassLo, sel.MassHi)
	}
	return nil
}

// isTidy reports whether the fast check may be tried: all events have a cell of several variables, or there is one.
func (sel *Selection[T]) isTidy() bool { return !slices.Contains(sel.cellOf, NoPair) }
