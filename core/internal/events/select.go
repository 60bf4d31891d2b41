// Package events holds the events of a call: it checks them, selects those that take part, and divides them by label and
// category.
package events

import (
	"math"

	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/par"
)

// Limits says which events take part, and how finely they are counted.
type Limits struct {
	Mass, Score   [2]float64 // (-Inf, Inf): no limit; a score outside is an error
	IgnoreMissing bool       // a mass that is NaN is one outside the range, not an error
	Bins          int        // a number that the bins of masses do not exceed
	Ranked        bool       // few masses find their bins by rank
}

// Selection is the events of one subset and what is known of those that take part: they have a mass inside the range.
type Selection[T Float] struct {
	Events[T]                 // without labels and categories
	Stats                     // of the events that take part
	MassLo, MassHi   float64  // the mass range
	MassCells        Cells[T] // none: events are checked and not counted
	ScoreCells       Cells[T]
	Parts            []Part
	Pairs            []uint32 // of each event: its cells of score and mass, see Pair; then its bin in place of that of mass
	cellOf           []uint32 // of each event: its cell of several variables, in place of a mass; nil: there is none
	index            []uint32 // places of the events in the input; nil: they are the input
	scoreLo, scoreHi float64  // the lowest and the highest score that are no error
	ignoreMissing    bool
}

// memory is that of the selection of a call.
type memory struct {
	pairs, counts []uint32
	parts         []Part
}

// Select returns the selection of events of one label, counted by cell, or the error of the first bad event.
func Select[T Float](ev Events[T], index []uint32, li Limits, sc *par.Scratch) (*Selection[T], error) {
	sel := newSelection(ev, index, li, sc)
	sel.ScoreCells = cellsFor(sel.Score, li.Score[0], li.Score[1], scoreCellsFor(len(sel.Score)))
	sel.MassCells = cellsOfMasses(sel, li)
	return sel, sel.check(sc)
}

// SelectUncounted is Select for what needs no cells.
func SelectUncounted[T Float](ev Events[T], index []uint32, li Limits, sc *par.Scratch) (*Selection[T], error) {
	sel := newSelection(ev, index, li, sc)
	return sel, sel.check(sc)
}

// SelectMasses is Select for the bins of one of several variables: scores are not looked at.
func SelectMasses[T Float](ev Events[T], index []uint32, li Limits, sc *par.Scratch) (*Selection[T], error) {
	sel := newSelection(ev, index, li, sc)
	sel.Score, sel.scoreLo, sel.scoreHi = nil, -math.MaxFloat64, math.MaxFloat64
	sel.ScoreCells, sel.MassCells = oneCell[T](), cellsOfMasses(sel, li)
	return sel, sel.check(sc)
}

// SelectScores is Select for events that all take part, and whose cells of several variables are known: masses are not
// looked at.
func SelectScores[T Float](ev Events[T], index, cellOf []uint32, score [2]float64, sc *par.Scratch) (*Selection[T], error) {
	ev.Mass, ev.Masses = ev.Score, nil // which lie in the infinite range
	sel := newSelection(ev, index, Limits{Score: score, Mass: [2]float64{math.Inf(-1), math.Inf(1)}}, sc)
	sel.cellOf = cellOf
	sel.ScoreCells = cellsFor(sel.Score, score[0], score[1], scoreCellsFor(len(sel.Score)))
	sel.MassCells = oneCell[T]()
	return sel, sel.check(sc)
}

func newSelection[T Float](ev Events[T], index []uint32, li Limits, sc *par.Scratch) *Selection[T] {
	return par.New(&sc.Arena, Selection[T]{
		Events: ev, index: index, ignoreMissing: li.IgnoreMissing, MassLo: li.Mass[0], MassHi: li.Mass[1],
		scoreLo: max(li.Score[0], -math.MaxFloat64), scoreHi: min(li.Score[1], math.MaxFloat64),
	})
}

// scoreCellsFor returns the number of cells into which records go. As long as all records fit in a core's cache, they go
// to cells of a few, which are all but sorted; more records go to cells that are sorted by themselves, in cache.
func scoreCellsFor(n int) int {
	if n <= fewRecords {
		return PowerOfTwo(n/2, 1, 1<<13)
	}
	return PowerOfTwo(n/1024, 1<<8, 1<<11)
}

const fewRecords = 1 << 14

// FewMasses is a number of events below which quantile bins sort all masses.
const FewMasses = 1 << 11

// cellsOfMasses returns the cells by which masses find their bins: few of n masses lie in cells that an edge divides.
func cellsOfMasses[T Float](sel *Selection[T], li Limits) Cells[T] {
	n := len(sel.Mass)
	if li.Ranked && n < FewMasses {
		return oneCell[T]()
	}
	return cellsFor(sel.Mass, sel.MassLo, sel.MassHi, PowerOfTwo(max(n/8, min(n, 1<<13), 16*li.Bins), 64, 1<<15))
}

// TakesPart reports whether event i, once checked, enters the loss.
func (sel *Selection[T]) TakesPart(i int) bool {
	m := float64(sel.Mass[i])
	return m >= sel.MassLo && m <= sel.MassHi
}

// InInput returns where event i stands in the input.
func (sel *Selection[T]) InInput(i int) int {
	if sel.index == nil {
		return i
	}
	return int(sel.index[i])
}

// CountMasses returns how many masses lie in each cell. It uses up the counts of the parts.
func (sel *Selection[T]) CountMasses(team *par.Team) []uint32 {
	counts := sel.Parts[0].Masses
	const block = 1 << 11
	team.Blocks(len(counts), block, func(lo, hi int) {
		for _, p := range sel.Parts[1:] {
			sums := counts[lo:hi]
			for c, more := range p.Masses[lo:hi] {
				sums[c] += more
			}
		}
	})
	return counts
}

// Unit is the unit of the weights. The loss does not depend on it, to the last bit.
func (sel *Selection[T]) Unit() float64 {
	if sel.Weight == nil {
		return 1
	}
	return UnitOf(max(math.Abs(sel.WeightMin), math.Abs(sel.WeightMax)))
}

// UnitOf returns a power of two that brings numbers up to largest near 1, where neither they nor their squares overflow.
func UnitOf(largest float64) float64 {
	if largest == 0 {
		return 1
	}
	_, exponent := math.Frexp(largest)
	return math.Ldexp(1, min(max(-1022, -exponent), 1023))
}

// CheckMassRange returns an error where no range of masses can be divided into bins.
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

// IsFinite reports whether x is a number that is not infinite.
func IsFinite(x float64) bool { return x-x == 0 }
