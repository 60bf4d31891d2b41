package core

import (
	"slices"

	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/lanes"
	"github.com/libmode/libmode/core/internal/loss"
	"github.com/libmode/libmode/core/internal/par"
)

// Table has the parts of the loss at given scores. Each score has a row.
type Table = loss.Table

// Edges returns the edges of the mass bins of the loss, in units of mass. Scores have no effect; weights have one where
// the number of bins is not given. Several background labels, or categories, have bins of their own: an error.
func Edges[T Float](ev Events[T], cfg Config) ([]float64, error) {
	ev.Score = nil
	sc := par.Take()
	defer sc.Give()
	pr, err := inspect(ev, cfg, len(ev.Mass), sc)
	if err != nil {
		return nil, err
	}
	return slices.Clone(pr.Bins.Edges), nil
}

// MomentsAt returns F_b, c_l and c~_l at the given scores, in any order. Several background labels, or categories, are an
// error.
func MomentsAt[T Float](at []float64, ev Events[T], cfg Config) (*Table, error) {
	for i, s := range at {
		if s != s {
			return nil, errs.Of(ErrNotFinite, "at[%d] = %v: must be a number", i, s)
		}
	}
	if err := ev.CheckLengths(); err != nil {
		return nil, err
	}
	sc := par.Take()
	defer sc.Give()
	pr, err := inspect(ev, cfg, len(ev.Score), sc)
	if err != nil {
		return nil, err
	}
	return pr.MomentsAt(at)
}

// inspect prepares n events of one label and one variable.
func inspect[T Float](ev Events[T], cfg Config, n int, sc *par.Scratch) (*loss.Prepared[T], error) {
	p, err := cfg.Plan(len(ev.Variables()), lanes.IsFloat32[T]())
	labels := cfg.BackgroundLabel
	switch {
	case err != nil:
		return nil, err
	case ev.Label != nil && len(labels) > 1:
		return nil, errs.OfOption("background_label", labels, "names several labels, and each has its own bins: ask for one at a time")
	case ev.Masses != nil:
		return nil, errs.Of(ErrOption, "mass has %d variables, and each has its own bins: ask for one at a time", len(ev.Masses))
	case ev.Category != nil:
		return nil, errs.Of(ErrOption, "category is given, and each category has its own bins: give the events of one category, without category")
	case ev.Label != nil && ev.Label.Length() != n:
		return nil, errs.Of(ErrLength, "label has length %d, but mass has length %d", ev.Label.Length(), n)
	case ev.Weight != nil && len(ev.Weight) != n:
		return nil, errs.Of(ErrLength, "weight has length %d, but mass has length %d", len(ev.Weight), n)
	}
	subs, err := events.Divide(ev, p.BackgroundLabel, sc)
	if err != nil {
		return nil, err
	}
	prs, err := loss.Prepare(ev.Of(&subs[0], sc), subs[0].Index, p, sc)
	if err != nil {
		return nil, err
	}
	return prs[0], nil
}
