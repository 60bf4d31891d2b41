package loss

import (
	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/par"
	"github.com/libmode/libmode/core/internal/walk"
)

// Evaluate returns the loss of events, and sets the derivatives that are wanted. With several labels and categories the loss
// is the sum of the losses of each, times its share of the label's sum of weights. The bias is wanted too, whether or not it is
// subtracted, if it is measured.
func Evaluate[T events.Float](out events.Derivatives[T], ev events.Events[T], p *Plan, measured bool, sc *par.Scratch) (total walk.Result, err error) {
	sc.Team.PartsFor(len(ev.Score)) // few events stay in this goroutine
	out.Clear(sc.Team)
	di, err := events.Divide(ev, p.BackgroundLabel, sc)
	if err != nil {
		return total, err
	}
	if err := di.SetFactors(p.BackgroundLabel); err != nil {
		return total, err
	}
	all := out // the derivatives in the order of the division
	if di.Index != nil {
		all = out.ForEvents(len(di.Index), &sc.Arena)
		all.Clear(sc.Team)
	}
	found := make([]walk.Result, len(di.Subsets))
	failures := di.Each(sc, false, func(k int, sc *par.Scratch) error {
		defer sc.Arena.Release(sc.Arena.Mark())
		sub := &di.Subsets[k]
		ev, index := di.Subset(k)
		prs, err := Prepare(ev, index, p, sc)
		if err != nil {
			return err
		}
		own := all.Cut(sub.Lo, sub.Hi)
		if found[k], err = Integrate(own, prs, measured, sc); sub.Factor != 1 {
			own.Scale(sub.Factor)
		}
		return err
	})
	for k, err := range failures {
		if err != nil {
			return walk.Result{}, di.Named(k, p.BackgroundLabel, err)
		}
		total.Add(found[k], di.Subsets[k].Factor, 1)
	}
	if di.Index != nil {
		di.Scatter(out, all, sc.Team)
	}
	if err := out.Check(sc.Team); err != nil {
		return walk.Result{}, err
	}
	return total, nil
}
