package cliffs

import (
	"math"
	"strings"

	"github.com/libmode/libmode/core"
	"github.com/libmode/libmode/core/disco"
)

// loss is one that adversaries are tried on.
type loss struct {
	name      string
	variables int
	weighted  bool
	change    func(*core.Config) // nil: the defaults
	call      string             // "": LossAndGrad
}

var losses = []loss{
	{name: "order 0"},
	{name: "order 1", change: func(c *core.Config) { c.Order = 1 }},
	{name: "order 2, float64", change: func(c *core.Config) { c.Order = 2 }},
	{name: "order 5", change: func(c *core.Config) { c.Order = 5 }},
	{name: "the paper's", change: func(c *core.Config) { c.Order, c.Quadrature, c.Biased, c.Bins = 2, true, true, 32 }},
	{name: "uniform bins", change: func(c *core.Config) { c.Order, c.Binning = 1, core.Uniform }},
	{name: "weights, order 1", weighted: true, change: func(c *core.Config) { c.Order = 1 }},
	{name: "weights, order 2, float64", weighted: true, change: func(c *core.Config) { c.Order = 2 }},
	{name: "max_slope, order 1", change: func(c *core.Config) { c.Order, c.MaxSlope = 1, 0.5 }},
	{name: "max_slope", change: func(c *core.Config) { c.Order, c.MaxSlope = 2, 0.5 }},
	{name: "monotonic", change: func(c *core.Config) { c.Order, c.Monotonic = 2, true }},
	{name: "max_slope, monotonic, weights, float64", weighted: true, change: func(c *core.Config) { c.Order, c.MaxSlope, c.Monotonic = 2, 0.5, true }},
	{name: "two variables", variables: 2, change: func(c *core.Config) { c.Order = 1 }},
	{name: "two jointly", variables: 2, change: func(c *core.Config) { c.Order, c.Joint = 1, true }},
	{name: "DisCo", call: "Correlation"},
	{name: "DisCo, weights, float64", weighted: true, call: "Correlation"},
	{name: "curvature", call: "hess", change: func(c *core.Config) { c.Order = 1 }},
	{name: "evaluate", call: "Evaluate", change: func(c *core.Config) { c.Order = 1 }},
}

// takes reports whether an adversary changes anything for the loss.
func (l *loss) takes(of adversary) bool { return l.weighted || !strings.HasPrefix(of.name, "weights") }

// of returns a call of the loss with n events of an adversary.
func (l *loss) of(of adversary, n int) func() (float64, error) {
	ev := eventsOf(of, n, max(1, l.variables), l.weighted)
	cfg := core.DefaultConfig()
	if l.change != nil {
		l.change(&cfg)
	}
	if of.open {
		cfg.ScoreRange = [2]float64{math.Inf(-1), math.Inf(1)}
	}
	if strings.HasSuffix(l.name, "float64") {
		return callOf(l.call, rounded[float64](ev), cfg)
	}
	return callOf(l.call, rounded[float32](ev), cfg)
}

func callOf[T core.Float](name string, ev core.Events[T], cfg core.Config) func() (float64, error) {
	grad, hess := make([]T, len(ev.Score)), make([]T, len(ev.Score))
	return func() (float64, error) {
		switch name {
		case "hess":
			found, err := core.Curvature(grad, hess, 0, ev, cfg)
			return found.Loss, err
		case "Evaluate":
			found, err := core.Evaluate(grad, ev, cfg)
			return found.Loss, err
		case "Correlation":
			return disco.Correlation(nil, grad, ev.Mass, ev.Score, ev.Weight, false)
		}
		return core.LossAndGrad(grad, ev, cfg)
	}
}
