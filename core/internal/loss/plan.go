package loss

import (
	"math"
	"slices"

	"github.com/libmode/libmode/core/internal/bins"
	"github.com/libmode/libmode/core/internal/config"
	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/lanes"
)

// Plan is what a call is to compute.
type Plan struct {
	config.Config                // with limits that are rounded to the type of the events
	Masses        []bins.Options // one for each variable of mass
	Flat          bool           // the flatness loss, not MoDe
	Logits        bool           // the scores are logits, and the integral is over their probabilities; ScoreRange is open
	Smoothing     float64        // of the bound of the curvature
}

// NewPlan returns the plan of a valid configuration, for events with so many variables of mass.
func NewPlan[T events.Float](c config.Config, variables int) (*Plan, error) {
	if err := config.CheckCount(&c, variables); err != nil {
		return nil, err
	}
	c.ScoreRange = outwards[T](c.ScoreRange)
	c.Joint = c.Joint && variables > 1
	p := &Plan{Config: c}
	for k := range variables {
		v := c.OfVariable(k)
		ends := outwards[T](v.MassRange)
		if c.Binning == config.GivenEdges {
			v.Edges = slices.Clone(v.Edges)
			v.Edges[0], v.Edges[len(v.Edges)-1] = ends[0], ends[1]
		}
		p.Masses = append(p.Masses, bins.Options{
			Limits: events.Limits{Mass: ends, Score: c.ScoreRange, IgnoreMissing: c.Missing == config.MissingIgnore},
			Kind:   c.Binning, Asked: v.Bins, Edges: v.Edges, Order: c.Order,
		})
	}
	return p, nil
}

// outwards rounds a range outwards to the type of the events, if the type reaches its ends. So a mass or a score that equals
// a limit stays inside after both are rounded.
func outwards[T events.Float](r [2]float64) [2]float64 {
	if !lanes.IsFloat32[T]() {
		return r
	}
	lo, hi := float32(r[0]), float32(r[1])
	if float64(lo) > r[0] {
		lo = math.Nextafter32(lo, float32(math.Inf(-1)))
	}
	if float64(hi) < r[1] {
		hi = math.Nextafter32(hi, float32(math.Inf(1)))
	}
	if !events.IsFinite(float64(lo)) || !events.IsFinite(float64(hi)) {
		return r
	}
	return [2]float64{float64(lo), float64(hi)}
}
