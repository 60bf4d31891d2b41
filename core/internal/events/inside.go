package events

import (
	"math"

	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/par"
)

// Inside is which events lie in the ranges of all variables.
type Inside struct {
	Ranges [MaxVariables][2]float64
	Kept   []uint32 // their places, if there are others
	All    bool
}

// LookInside returns it, or the error of the first bad value. A range that is not given is from the lowest to the
// highest value of a variable, whatever values the others have.
func LookInside[T Float](ev Events[T], index []uint32, limits []Limits, sc *par.Scratch) (Inside, error) {
	in := Inside{All: true}
	sel := newSelection(ev, index, Limits{Score: limits[0].Score, Mass: [2]float64{math.Inf(-1), math.Inf(1)}}, sc)
	outside := make([]bool, len(ev.Score))
	for k, mass := range ev.Masses {
		lo, hi := limits[k].Mass[0], limits[k].Mass[1]
		found := make([]extent[T], (len(mass)+insideAtATime-1)/insideAtATime)
		sc.Team.Blocks(len(mass), insideAtATime, func(from, to int) {
			found[from/insideAtATime] = extentOf(mass[from:to], outside[from:to], lo, hi, limits[k].IgnoreMissing)
		})
		all := noExtent[T]()
		for block, of := range found {
			if of.bad >= 0 {
				i := block*insideAtATime + of.bad
				return in, errs.OfVariable(k, NotFinite("mass", sel.InInput(i), float64(mass[i])))
			}
			all.low, all.high = min(all.low, of.low), max(all.high, of.high)
			in.All = in.All && !of.outside
		}
		in.Ranges[k] = [2]float64{lo, hi}
		if math.IsInf(lo, -1) {
			in.Ranges[k] = [2]float64{float64(all.low), float64(all.high)}
		}
	}
	if in.All {
		return in, nil
	}
	for i, out := range outside {
		if !out {
			in.Kept = append(in.Kept, uint32(i))
		} else if err := sel.checkOutside(i); err != nil {
			return in, err
		}
	}
	if len(in.Kept) == 0 {
		return in, errs.Of(errs.ErrNoEvents, "no event selected: none of the %d selected events has a value of every variable of mass inside its range: "+
			"check mass_range (or edges) and the unit of mass", len(ev.Score))
	}
	return in, nil
}

// insideAtATime is how many masses a goroutine looks at at a time.
const insideAtATime = 1 << 14

// extent is what masses span, the first that is no number or infinite, or -1, and whether some are outside.
type extent[T Float] struct {
	low, high T
	bad       int
	outside   bool
}

func noExtent[T Float]() extent[T] { return extent[T]{T(math.Inf(1)), T(math.Inf(-1)), -1, false} }

// extentOf returns that of masses, of which it marks those outside lo..hi and, if they are to be ignored, those that are NaN.
func extentOf[T Float](mass []T, outside []bool, lo, hi float64, ignoreMissing bool) extent[T] {
	ex := noExtent[T]()
	low, high := ex.low, ex.high // in locals, which stay in registers
	for i, m := range mass {
		if m >= low && m <= high {
			continue
		}
		switch {
		case m != m && ignoreMissing:
			outside[i], ex.outside = true, true
		case m-m != 0:
			ex.bad = i
			return ex
		default:
			low, high = min(low, m), max(high, m)
		}
	}
	ex.low, ex.high = low, high
	if float64(low) >= lo && float64(high) <= hi {
		return ex
	}
	for i, m := range mass {
		if float64(m) < lo || float64(m) > hi {
			outside[i], ex.outside = true, true
		}
	}
	return ex
}

// checkOutside returns an error if the score or the weight of an event outside is bad.
func (sel *Selection[T]) checkOutside(i int) error {
	if _, err := sel.checkEvent(i, float64(sel.Score[i]), 0); err != nil {
		return err
	}
	if sel.Weight != nil && !IsFinite(float64(sel.Weight[i])) {
		return NotFinite("weight", sel.InInput(i), float64(sel.Weight[i]))
	}
	return nil
}

// Keep returns the events inside, and their places in the input.
func Keep[T Float](ev Events[T], index []uint32, kept []uint32) (Events[T], []uint32) {
	chosen := func(from []T) []T {
		if from == nil {
			return nil
		}
		to := make([]T, len(kept))
		Pick(to, from, 0, kept)
		return to
	}
	some := Events[T]{Score: chosen(ev.Score), Weight: chosen(ev.Weight)}
	for _, mass := range ev.Masses {
		some.Masses = append(some.Masses, chosen(mass))
	}
	places := make([]uint32, len(kept))
	for j, i := range kept {
		places[j] = i
		if index != nil {
			places[j] = index[i]
		}
	}
	return some, places
}
