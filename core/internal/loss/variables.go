package loss

import (
	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/par"
	"github.com/libmode/libmode/core/internal/walk"
)

// part has the events of one label and category, and the derivatives to be set.
type part[T events.Float] struct {
	out   events.Derivatives[T]
	ev    events.Events[T]
	index []uint32 // places of the events in the input; nil: they are the input
	plan  *Plan
	sc    *par.Scratch
	// subset is the number of the events' subset, for Plan.Watch.
	subset int
	views  *[]View
}

// loss returns the loss of the events by the plan, or by its other plan if there is none.
func (pt part[T]) loss() (found walk.Result, err error) {
	for {
		var views []View
		pt.views = &views
		if found, err = pt.byPlan(); err == nil {
			for _, v := range views {
				pt.plan.Watch(v)
			}
			return found, nil
		}
		if pt.plan.Else == nil {
			return found, err
		}
		pt.plan = pt.plan.Else
		pt.out.Clear(pt.sc.Team)
	}
}

// byPlan returns the loss of the events, of one variable of mass or of several.
func (pt part[T]) byPlan() (walk.Result, error) {
	defer pt.sc.Arena.Release(pt.sc.Arena.Mark())
	masses := pt.ev.Variables()
	switch {
	case len(masses) == 1:
		pt.ev.Mass, pt.ev.Masses = masses[0], nil
		return pt.binned(0)
	case pt.plan.Joint:
		return pt.joint()
	}
	return pt.oneByOne()
}

// sumBlock is the number of derivatives that a goroutine adds at a time.
const sumBlock = 1 << 16

// oneByOne returns the mean of the losses of the variables. It leaves out a variable of which no event has a value.
func (pt part[T]) oneByOne() (total walk.Result, err error) {
	var present []int
	for k, mass := range pt.ev.Masses {
		if occurs(mass, &pt.plan.Masses[k].Limits) {
			present = append(present, k)
		}
	}
	if len(present) == 0 {
		return walk.Result{}, errs.Of(errs.ErrNoEvents, "no event selected: none of the %d selected events has any variable of mass inside its range: "+
			"check mass_range (or edges) and the unit of mass", len(pt.ev.Score))
	}
	share := 1 / float64(len(present))
	one := pt
	one.out = pt.out.ForEvents(len(pt.ev.Score), &pt.sc.Arena)
	var sums [len(one.out)][]float64
	for d, of := range one.out {
		sums[d] = par.Make[float64](&pt.sc.Arena, len(of))
	}
	for _, k := range present {
		one.ev.Mass, one.ev.Masses = pt.ev.Masses[k], nil
		one.out.Clear(pt.sc.Team)
		loss, err := one.binned(k)
		if err != nil {
			return walk.Result{}, errs.OfVariable(k, err)
		}
		add(&total, loss, share, share)
		for d, of := range one.out {
			pt.sc.Team.Blocks(len(of), sumBlock, func(lo, hi int) {
				for i, element := range of[lo:hi] {
					sums[d][lo+i] += share * float64(element)
				}
			})
		}
	}
	for d, sum := range sums {
		for i, element := range sum {
			pt.out[d][i] = T(element)
		}
	}
	return total, nil
}

// occurs reports whether some event has a value inside the range, or a bad one, which is an error later.
func occurs[T events.Float](mass []T, limits *events.Limits) bool {
	for _, m := range mass {
		x := float64(m)
		if x != x && limits.IgnoreMissing {
			continue
		}
		if !events.IsFinite(x) || x >= limits.Mass[0] && x <= limits.Mass[1] {
			return true
		}
	}
	return false
}
