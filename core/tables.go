package core

import (
	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/loss"
	"github.com/libmode/libmode/core/internal/par"
)

// Edges returns the edges of the mass bins that the loss of these events would
// use, in units of mass. Scores are not looked at; weights count where the number
// of bins is not asked for. Several background labels, or categories, have several sets
// of bins: they are an error here.
func Edges[T Float](ev Events[T], cfg Config) ([]float64, error) {
	ev.Score = nil
	p, err := planToInspect(ev, &cfg, len(ev.Mass))
	if err != nil {
		return nil, err
	}
	sc := par.Take()
	defer sc.Give()
	return loss.Edges(ev, p, sc)
}

// Table holds, at each of the scores that were asked for, what the loss is
// made of. A row belongs to a score.
type Table = loss.Table

// MomentsAt returns F_b, c_l and c~_l at the given scores, in any order. Several
// background labels, or categories, are an error here.
func MomentsAt[T Float](at []float64, ev Events[T], cfg Config) (*Table, error) {
	for i, s := range at {
		if s != s {
			return nil, errs.Of(ErrNotFinite, "at[%d] = %v: must be a number", i, s)
		}
	}
	if err := ev.CheckLengths(); err != nil {
		return nil, err
	}
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if cfg.Basis == BSpline {
		return nil, errs.OfOption("basis", "bspline", "has no moments, which are those of polynomials: use basis = legendre")
	}
	p, err := planToInspect(ev, &cfg, len(ev.Score))
	if err != nil {
		return nil, err
	}
	sc := par.Take()
	defer sc.Give()
	return loss.MomentsAt(at, ev, p, sc)
}

// planToInspect returns the plan of n events of the one label and the one variable that can be looked at.
func planToInspect[T Float](ev Events[T], cfg *Config, n int) (*loss.Plan, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	labels := cfg.BackgroundLabel
	switch {
	case ev.Label != nil && len(labels) > 1:
		return nil, errs.OfOption("background_label", labels, "names several labels, which have bins of their own: ask for one at a time")
	case ev.Masses != nil:
		return nil, errs.Of(ErrOption, "mass has %d variables, which have bins of their own: ask for one at a time", len(ev.Masses))
	case ev.Category != nil:
		return nil, errs.Of(ErrOption, "category is given, and each category has bins of its own: ask for the events of one at a time, without category")
	case ev.Label != nil && ev.Label.Length() != n:
		return nil, errs.Of(ErrLength, "label has length %d, but mass has length %d", ev.Label.Length(), n)
	case ev.Weight != nil && len(ev.Weight) != n:
		return nil, errs.Of(ErrLength, "weight has length %d, but mass has length %d", len(ev.Weight), n)
	}
	return planFor[T](*cfg, 1)
}
