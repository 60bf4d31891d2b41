package constraint

import (
	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/loss"
	"github.com/libmode/libmode/core/internal/par"
	"gonum.org/v1/gonum/floats"
)

// Planing sets dst to weights for a classification loss with which background has nearly the masses of signal: the weight of each
// background event times the start of the push, as from one batch of all events. Each label is planed by itself and keeps its sum of
// weights. Signal keeps its weights. The floor is from 0 to 1, where 1 is no planing. Scores and categories are not read.
func Planing(dst []float64, ev events.Events[float64], cfg loss.Planner, floor float64) error {
	ev.Category, ev.Score = nil, ev.Variables()[0]
	if len(dst) != len(ev.Score) {
		return errs.Of(errs.ErrLength, "weight of planing has length %d, and mass %d", len(dst), len(ev.Score))
	}
	if !(floor >= 0 && floor <= 1) {
		return errs.Of(errs.ErrOption, "floor = %v: must be from 0 to 1", floor)
	}
	ca, err := newCall(ev, cfg, Steering{Logits: true}, events.ArrayOf("weight of planing", dst))
	if err != nil {
		return err
	}
	sc := par.Take()
	defer sc.Give()
	all, di, err := ca.divide(sc)
	if err != nil {
		return err
	}
	ca.setSpectra(all, sc)
	for i := range dst {
		if dst[i] = 1; ev.Weight != nil {
			dst[i] = ev.Weight[i]
		}
	}
	for k, g := range all {
		lesson := ca.cells(&ca.lesson.parts[k])
		if !(floats.Sum(lesson.background[:]) > 0) {
			return di.Named(k, ca.plan.BackgroundLabel, errs.Of(errs.ErrBin, "weight: the sum over background is not positive"))
		}
		starts, before, after := lesson.starts(ca.plan.Order, floor), 0.0, 0.0
		for j, cell := range g.cell {
			if i := g.place(j); cell != none {
				before += dst[i]
				dst[i] *= starts[cell]
				after += dst[i]
			}
		}
		for j, cell := range g.cell {
			if cell != none {
				dst[g.place(j)] *= before / after
			}
		}
	}
	return nil
}
