package constraint

import (
	"math"

	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/loss"
	"github.com/libmode/libmode/core/internal/par"
	"gonum.org/v1/gonum/floats"
)

// inCell is the number of effective background events of each cell of Planing, at least.
const inCell = 10

// Planing sets dst to weights for a classification loss with which background has nearly the masses of signal: the weight of each
// background event times the start of the push, as from one batch of all events. Each label is planed by itself and keeps its sum of
// weights. Signal keeps its weights. The floor is from 0 to 1, where 1 is no planing. Scores and categories are not read.
func Planing(dst []float64, ev events.Events[float64], cfg loss.Planner, floor float64) error {
	ev.Category, ev.Score = nil, ev.Variables()[0] // any numbers, since no score counts
	if len(dst) != len(ev.Score) {
		return errs.Of(errs.ErrLength, "weight of planing has length %d, and mass %d", len(dst), len(ev.Score))
	}
	if !(floor >= 0 && floor <= 1) {
		return errs.Of(errs.ErrOption, "floor = %v: must be from 0 to 1", floor)
	}
	p, err := loss.PlanOf(cfg, &ev, events.ArrayOf("weight of planing", dst))
	if err != nil {
		return err
	}
	p.TakeLogits()
	sc := par.Take()
	defer sc.Give()
	di, err := events.Divide(ev, p.BackgroundLabel, sc)
	if err != nil {
		return err
	}
	labels := len(di.Subsets)
	size := StateSize(labels, 0)
	ca := &call[float64]{Events: ev, plan: p, whole: true, known: stateOf(make([]float64, size)), lesson: stateOf(make([]float64, size))}
	for v := range p.Masses {
		ca.limits = append(ca.limits, p.Masses[v].Mass)
	}
	var all []*group
	for k := range di.Subsets {
		own, index := di.Subset(k)
		g, err := newGroup(di.Subsets[k], own, index, p, sc)
		if err != nil {
			return di.Named(k, p.BackgroundLabel, err)
		}
		all = append(all, g)
	}
	ca.setSpectra(all)
	for i := range dst {
		if dst[i] = 1; ev.Weight != nil {
			dst[i] = ev.Weight[i]
		}
	}
	for k, g := range all {
		lesson := ca.lesson.parts[k].cells(len(ca.limits))
		if total := floats.Sum(lesson.background[:]); len(g.place) > 0 && !(total > 1e-9) {
			return di.Named(k, p.BackgroundLabel, errs.Of(errs.ErrBin, "weight: the sum over background is not positive"))
		}
		starts := lesson.starts(p.Order, floor)
		before, after := 0.0, 0.0
		for j, i := range g.place {
			before += dst[i]
			dst[i] *= starts[g.cell[j]]
			after += dst[i]
		}
		for _, i := range g.place {
			dst[i] *= before / after
		}
	}
	return nil
}

// most returns the number of cells of each variable for events with these weights, at most so many.
func most(weight []float64, n, variables, each int) int {
	effective := float64(n)
	if weight != nil {
		sum := floats.Sum(weight)
		effective = sum * sum / floats.Dot(weight, weight)
	}
	return max(1, min(each, int(math.Pow(effective/inCell*(1+1e-9), 1/float64(variables)))))
}
