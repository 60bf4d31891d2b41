package core

import (
	"sync"

	"github.com/libmode/libmode/core/internal/bins"
	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/loss"
	"github.com/libmode/libmode/core/internal/moments"
	"github.com/libmode/libmode/core/internal/walk"
)

// planFor returns what a valid configuration asks for, of events with so many variables of mass.
func planFor[T Float](c Config, variables int) (*loss.Plan, error) {
	if err := c.checkCount(variables); err != nil {
		return nil, err
	}
	c = roundedTo[T](c)
	p := &loss.Plan{
		Kind: loss.Kind(c.Loss), Joint: c.Joint && variables > 1, Labels: c.BackgroundLabel,
		Walk: walk.Options{
			Mean: c.Loss == MoDe && c.Reduction == Mean, Score: c.ScoreRange,
			Moments: moments.Options{
				Order: c.Order, Quadrature: c.Moments == Quadrature, Splines: c.Loss == MoDe && c.Basis == BSpline, Degree: c.splineDegree(),
				MaxSlope: c.MaxSlope, Selected: c.SlopeOf == Selected, Monotonic: c.Monotonic, Penalty: c.SlopePenalty,
				Unbiased: c.Unbiased, Warn: once(c.warn),
			},
		},
	}
	for k := range variables {
		p.Variables = append(p.Variables, c.variable(k, &p.Walk.Moments))
	}
	return p, nil
}

// variable returns how variable k is treated.
func (c *Config) variable(k int, m *moments.Options) loss.Variable {
	v := Variable{c.Bins, c.MassRange, c.Edges, c.Knots}
	if len(c.Variables) > 0 {
		v = c.Variables[k]
		if v.Bins == 0 {
			v.Bins = c.Bins
		}
	}
	if c.Binning == GivenEdges {
		v.MassRange = [2]float64{v.Edges[0], v.Edges[len(v.Edges)-1]}
	}
	of := *m
	of.Knots = v.Knots
	return loss.Variable{
		Axis: bins.Axis{
			Limits: events.Limits{Mass: v.MassRange, Score: c.ScoreRange, IgnoreMissing: c.Missing == MissingIgnore},
			Options: bins.Options{
				Kind: bins.Kind(c.Binning), Asked: v.Bins, Edges: v.Edges,
				Functions: of.Functions(), Response: of.Response(), Simpler: of.Simpler(),
			},
		},
		Knots: v.Knots,
	}
}

// checkCount returns an error where the options are not for so many variables.
func (c *Config) checkCount(variables int) error {
	if len(c.Variables) > 0 && len(c.Variables) != variables {
		return errs.Of(ErrOption, "bins, mass_range, edges or knots have one entry for each of %d variables, but mass has %d variables",
			len(c.Variables), variables)
	}
	if len(c.Variables) > 0 || variables == 1 {
		return nil
	}
	for _, name := range []string{"mass_range", "edges", "knots"} {
		if o := optionOf(name); !o.isDefault(c) {
			return errs.OfOption(name, o.shown(c), "is one for all, but mass has %d variables: give one for each", variables)
		}
	}
	return nil
}

// splineDegree returns the degree of B-splines.
func (c *Config) splineDegree() int {
	if c.Degree == DefaultDegree {
		return 3
	}
	return c.Degree
}

// once returns a function that passes on the first call alone, whichever goroutine makes it.
func once(warn func(string)) func(string) {
	if warn == nil {
		return nil
	}
	var first sync.Once
	return func(says string) { first.Do(func() { warn(says) }) }
}
