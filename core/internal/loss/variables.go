package loss

import (
	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/par"
	"github.com/libmode/libmode/core/internal/walk"
)

// ofSubset returns the loss of the events of one label and category, of one variable of mass or of several.
func ofSubset[T events.Float](out events.Derivatives[T], ev events.Events[T], index []uint32, p *Plan, sc *par.Scratch) (walk.Result, error) {
	masses := ev.Variables()
	switch {
	case len(masses) == 1:
		ev.Mass, ev.Masses = masses[0], nil
		return ofOneVariable(out, ev, index, p, 0, sc)
	case p.Joint:
		return joint(out, ev, index, p, sc)
	}
	return oneByOne(out, ev, index, p, sc)
}

// ofOneVariable returns the loss of events with one mass, which is variable k.
func ofOneVariable[T events.Float](out events.Derivatives[T], ev events.Events[T], index []uint32, p *Plan, k int, sc *par.Scratch) (walk.Result, error) {
	if p.Kind == DisCo {
		return discoLoss(out, ev, index, p, k, sc)
	}
	return binned(out, ev, index, p, k, sc)
}

// sumBlock is how many derivatives a goroutine adds up at a time.
const sumBlock = 1 << 16

// oneByOne is the mean of the losses of the variables. One of which no event has a value is left out.
func oneByOne[T events.Float](out events.Derivatives[T], ev events.Events[T], index []uint32, p *Plan, sc *par.Scratch) (walk.Result, error) {
	var present []int
	for k, mass := range ev.Masses {
		if occurs(mass, &p.Variables[k].Limits) {
			present = append(present, k)
		}
	}
	if len(present) == 0 {
		return walk.Result{}, errs.Of(errs.ErrNoEvents, "no event selected: none of the %d selected events has a value of any variable of mass inside its range: "+
			"check mass_range (or edges) and the unit of mass", len(ev.Score))
	}
	share := 1 / float64(len(present))
	own := out.ForEvents(len(ev.Score))
	var sums [len(own)][]float64
	for d, of := range own {
		sums[d] = make([]float64, len(of))
	}
	var total walk.Result
	for _, k := range present {
		one := events.Events[T]{Score: ev.Score, Mass: ev.Masses[k], Weight: ev.Weight}
		own.Clear(sc.Team)
		loss, err := ofOneVariable(own, one, index, p, k, sc)
		if err != nil {
			return walk.Result{}, errs.OfVariable(k, err)
		}
		add(&total, loss, share, share)
		for d, of := range own {
			sc.Team.Blocks(len(of), sumBlock, func(lo, hi int) {
				for i, element := range of[lo:hi] {
					sums[d][lo+i] += share * float64(element)
				}
			})
		}
	}
	for d, sum := range sums {
		for i, element := range sum {
			out[d][i] = T(element)
		}
	}
	return total, nil
}

// occurs reports whether some event has a value inside the range, or a bad one, which is an error later.
func occurs[T events.Float](mass []T, li *events.Limits) bool {
	for _, m := range mass {
		x := float64(m)
		switch {
		case x != x:
			if !li.IgnoreMissing {
				return true
			}
		case x >= li.Mass[0] && x <= li.Mass[1] || x-x != 0:
			return true
		}
	}
	return false
}
