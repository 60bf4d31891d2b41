package core

import (
	"slices"

	"github.com/libmode/libmode/core/internal/bins"
	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/loss"
	"github.com/libmode/libmode/core/internal/moments"
	"github.com/libmode/libmode/core/internal/walk"
)

// planFor translates a valid configuration, for events with so many variables of mass, to the options of the packages
// below.
func planFor[T Float](c Config, variables int) (*loss.Plan, error) {
	if err := c.checkCount(variables); err != nil {
		return nil, err
	}
	c.ScoreRange = outwards[T](c.ScoreRange)
	p := &loss.Plan{
		Joint: c.Joint && variables > 1, Labels: c.BackgroundLabel,
		Walk: walk.Options{
			Mean: c.Reduction == Mean, Score: c.ScoreRange,
			Moments: moments.Options{
				Order: c.Order, Quadrature: c.Moments == Quadrature,
				MaxSlope: c.MaxSlope, Selected: c.SlopeOf == Selected, Monotonic: c.Monotonic, Penalty: c.SlopePenalty,
				Unbiased: !c.Biased,
			},
		},
	}
	for k := range variables {
		v := c.variable(k)
		ends := outwards[T](c.massRange(&v))
		if c.Binning == GivenEdges {
			v.Edges = slices.Clone(v.Edges)
			v.Edges[0], v.Edges[len(v.Edges)-1] = ends[0], ends[1]
		}
		p.Variables = append(p.Variables, bins.Axis{
			Limits:  events.Limits{Mass: ends, Score: c.ScoreRange, IgnoreMissing: c.Missing == MissingIgnore},
			Options: bins.Options{Kind: c.Binning, Asked: v.Bins, Edges: v.Edges, Order: c.Order},
		})
	}
	return p, nil
}

// variable returns the options of variable k: its own, or the common ones.
func (c *Config) variable(k int) Variable {
	if len(c.Variables) == 0 {
		return Variable{c.Bins, c.MassRange, c.Edges}
	}
	v := c.Variables[k]
	if v.Bins == 0 {
		v.Bins = c.Bins
	}
	return v
}

// massRange returns the range of the masses of a variable.
func (c *Config) massRange(v *Variable) [2]float64 {
	if c.Binning == GivenEdges {
		return [2]float64{v.Edges[0], v.Edges[len(v.Edges)-1]}
	}
	return v.MassRange
}
