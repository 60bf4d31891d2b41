package core

import (
	"math"

	"github.com/libmode/libmode/core/internal/par"
)

// inside is which events lie in the ranges of all variables.
type inside struct {
	ranges [MaxVariables][2]float64
	kept   []uint32 // their places, if there are others
	all    bool
}

// lookInside returns it, or the error of the first bad value. A range that is not given is from the lowest to the
// highest value of a variable, whatever values the others have.
func lookInside[T Float](ev Events[T], index []uint32, cfg *Config) (inside, error) {
	in := inside{all: true}
	outside := make([]bool, len(ev.Score))
	for k, mass := range ev.Masses {
		one := cfg.of(k)
		lo, hi := one.massLimits()
		low, high := T(math.Inf(1)), T(math.Inf(-1))
		for i, m := range mass {
			if m >= low && m <= high {
				continue
			}
			switch {
			case m != m && cfg.Missing == MissingIgnore:
				outside[i], in.all = true, false
			case m-m != 0:
				return in, (&variable[T]{number: k}).named(notFinite("mass", placeOf(index, i), float64(m)))
			default:
				low, high = min(low, m), max(high, m)
			}
		}
		in.ranges[k] = [2]float64{lo, hi}
		if math.IsInf(lo, -1) {
			in.ranges[k] = [2]float64{float64(low), float64(high)}
			continue
		}
		for i, m := range mass {
			if float64(m) < lo || float64(m) > hi {
				outside[i], in.all = true, false
			}
		}
	}
	if in.all {
		return in, nil
	}
	for i, out := range outside {
		if !out {
			in.kept = append(in.kept, uint32(i))
		} else if err := ev.checkOne(i, placeOf(index, i), cfg); err != nil {
			return in, err
		}
	}
	if len(in.kept) == 0 {
		return in, errorOf(ErrNoEvents, "no event selected: none of the %d selected events has a value of every variable of mass inside its range: "+
			"check mass_range (or edges) and the unit of mass", len(ev.Score))
	}
	return in, nil
}

// placeOf returns where event i stands in the input.
func placeOf(index []uint32, i int) int {
	if index == nil {
		return i
	}
	return int(index[i])
}

// checkOne returns an error if the score or the weight of an event is bad. In errors it stands at this place.
func (ev *Events[T]) checkOne(i, place int, cfg *Config) error {
	sel := newSelection(*ev, nil, cfg, new(par.Arena))
	if s := float64(ev.Score[i]); !(s >= sel.scoreLo && s <= sel.scoreHi) {
		return sel.badScore(place, s)
	}
	if ev.Weight != nil && !finite(float64(ev.Weight[i])) {
		return notFinite("weight", place, float64(ev.Weight[i]))
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
		places[j] = uint32(placeOf(index, int(i)))
	}
	return some, places
}
