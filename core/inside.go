package core

import "math"

// inside is which events lie in the ranges of all variables.
type inside struct {
	ranges [MaxVariables][2]float64
	kept   []uint32 // their places, if there are others
	all    bool
}

// lookInside returns it, or the error of the first bad value. A range that is not given is from the lowest to the
// highest value of a variable, whatever values the others have.
func lookInside[T Float](ev Events[T], index []uint32, cfg *Config, sc *scratch) (inside, error) {
	in := inside{all: true}
	sel := newSelection(ev, index, &Config{ScoreRange: cfg.ScoreRange, MassRange: unbounded()}, &sc.arena)
	outside := make([]bool, len(ev.Score))
	for k, mass := range ev.Masses {
		one := cfg.of(k)
		lo, hi := one.massLimits()
		found := make([]extent[T], (len(mass)+insideAtATime-1)/insideAtATime)
		sc.team.Blocks(len(mass), insideAtATime, func(from, to int) {
			found[from/insideAtATime] = extentOf(mass[from:to], outside[from:to], lo, hi, cfg.Missing == MissingIgnore)
		})
		all := noExtent[T]()
		for block, of := range found {
			if of.bad >= 0 {
				i := block*insideAtATime + of.bad
				return in, (&variable[T]{number: k}).named(notFinite("mass", sel.inInput(i), float64(mass[i])))
			}
			all.low, all.high = min(all.low, of.low), max(all.high, of.high)
			in.all = in.all && !of.outside
		}
		in.ranges[k] = [2]float64{lo, hi}
		if math.IsInf(lo, -1) {
			in.ranges[k] = [2]float64{float64(all.low), float64(all.high)}
		}
	}
	if in.all {
		return in, nil
	}
	for i, out := range outside {
		if !out {
			in.kept = append(in.kept, uint32(i))
		} else if err := sel.checkOutside(i); err != nil {
			return in, err
		}
	}
	if len(in.kept) == 0 {
		return in, errorOf(ErrNoEvents, "no event selected: none of the %d selected events has a value of every variable of mass inside its range: "+
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
func (sel *selection[T]) checkOutside(i int) error {
	if _, err := sel.checkEvent(i, float64(sel.Score[i]), 0); err != nil {
		return err
	}
	if sel.Weight != nil && !finite(float64(sel.Weight[i])) {
		return notFinite("weight", sel.inInput(i), float64(sel.Weight[i]))
	}
	return nil
}

// keep returns the events inside, and their places in the input.
func keep[T Float](ev Events[T], index []uint32, kept []uint32) (Events[T], []uint32) {
	chosen := func(from []T) []T {
		if from == nil {
			return nil
		}
		to := make([]T, len(kept))
		pick(to, from, 0, kept)
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
