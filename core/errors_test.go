package core

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Errors that random bytes (fuzz_test.go) do not find. tests/helpers/error_cases.py has all, which C and Python raise.
func TestErrors(t *testing.T) {
	const n = 64
	at := func(change func(c *Config)) func(*Events[float64], *Config) {
		return func(_ *Events[float64], c *Config) { change(c) }
	}
	for want, change := range map[string]func(*Events[float64], *Config){
		"mass has length 63, but score has length 64": func(e *Events[float64], _ *Config) { e.Mass = e.Mass[1:] },
		"weight has length 63":                        func(e *Events[float64], _ *Config) { e.Weight = e.Weight[1:] },
		"label has length 63":                         func(e *Events[float64], _ *Config) { e.Label = LabelsOf(make([]int32, n-1)) },
		"category has length 3":                       func(e *Events[float64], _ *Config) { e.Category = LabelsOf(make([]int8, 3)) },
		"background_label = [] must name":             at(func(c *Config) { c.BackgroundLabel = []int32{} }),
		"mass_range = [1, 2] cannot be combined with edges": at(func(c *Config) {
			c.Binning, c.Edges, c.MassRange = GivenEdges, []float64{1, 2}, [2]float64{1, 2}
		}),
		"edges has length 1":                       at(func(c *Config) { c.Binning, c.Edges = GivenEdges, []float64{1} }),
		"has sum of weights 0":                     func(e *Events[float64], _ *Config) { clear(e.Weight) },
		"64 selected events cannot fill bins = 65": at(func(c *Config) { c.Bins = 65 }),
		"3 selected events cannot fill the 4 bins": func(e *Events[float64], c *Config) { *e, c.Order = alone(*e, []int{1, 2, 3}), 2 },
		"whose mean masses nearly coincide": func(e *Events[float64], c *Config) {
			c.Order, c.Binning, c.Edges = 1, GivenEdges, []float64{0, 4, 8, 12}
			*e = Events[float64]{Score: []float64{0.1, 0.4, 0.7, 0.2, 0.5, 0.3}, Mass: []float64{0, 3, 5, 7, 9, 12}, Weight: []float64{-3, 6, 1, 1, 6, -3}}
		},
		"mass = 1e+15 is so far from most others": func(e *Events[float64], c *Config) {
			e.Mass[5], c.Order, c.Bins, c.SlopePenalty = 1e15, 2, 4, 0.1
		},
	} {
		ev := spreadEvents[float64](n, false, 0.1)
		ev.Weight = slices.Repeat([]float64{1}, n)
		for i := range ev.Mass {
			ev.Mass[i] = float64(37 * i % n)
		}
		cfg := DefaultConfig()
		change(&ev, &cfg)
		_, err := Loss(ev, cfg)
		assert.ErrorContains(t, err, want, want)
	}
	_, err := Curvature(nil, make([]float64, 3), 0, spreadEvents[float64](n, false, 0.1), DefaultConfig())
	assert.ErrorContains(t, err, "hess has length 3, but score has length 64")
	many, cfg := spreadEvents[float64](3*5000, false, 0), DefaultConfig()
	cfg.Bins = 5000
	_, err = Curvature(nil, make([]float64, 3*5000), 0, many, cfg)
	assert.ErrorContains(t, err, "hess of 5000 bins")
}

// An error names the first bad event, and its place in the input, not among the selected events.
func TestErrorNamesTheFirstBadEvent(t *testing.T) {
	const n = 100_000
	for name, spoil := range map[string]func(*Events[float32], int){
		"score":  func(ev *Events[float32], i int) { ev.Score[i] = float32(nan) },
		"mass":   func(ev *Events[float32], i int) { ev.Masses[1][i] = float32(inf) },
		"weight": func(ev *Events[float32], i int) { ev.Weight[i] = float32(nan) },
	} {
		for _, joint := range []bool{false, true} {
			for _, first := range []int{0, 1<<14 - 1, 1 << 14, n / 2, n - 2} {
				ev, cfg := severalVariables[float32](n, true, 0), DefaultConfig()
				labels := make([]int32, n)
				for i := range labels {
					labels[i] = int32((n - i) % 2)
				}
				labels[first] = 0
				cfg.Joint, ev.Label = joint, LabelsOf(labels)
				spoil(&ev, first)
				spoil(&ev, n-2)
				_, err := Loss(ev, cfg)
				assert.ErrorContains(t, err, fmt.Sprintf("%s[%d] = ", name, first))
			}
		}
	}
}

// A zero is a value in every Config, so that a sweep of a bound down to 0 does not remove the bound.
func TestAZeroIsAValue(t *testing.T) {
	ev := spreadEvents[float64](500, false, 0.1)
	for _, cfg := range []Config{{}, {Order: 1}, {Order: 1, Variable: Variable{Bins: 7}}} {
		_, err := Loss(ev, cfg)
		assert.ErrorIs(t, err, ErrOption)
		assert.ErrorContains(t, err, "DefaultConfig()")
	}
	_, err := Loss(ev, Config{MaxSlope: inf})
	assert.ErrorContains(t, err, "mass_range = [0, 0]")
	of, cfg := severalVariables[float64](500, false, 0), DefaultConfig()
	cfg.Variables = []Variable{DefaultVariable(), DefaultVariable(), DefaultVariable()}
	cfg.Variables[1].Bins = 4
	_, err = Loss(of, cfg)
	assert.NoError(t, err)
	cfg.Variables[2] = Variable{Bins: 3}
	_, err = Loss(of, cfg)
	assert.ErrorContains(t, err, "mass_range of variable 2 = [0, 0]")
	for name, change := range map[string]func(*Config){
		"score_range = [0, 0]": func(c *Config) { c.ScoreRange = [2]float64{} },
		"mass_range = [0, 0]":  func(c *Config) { c.MassRange = [2]float64{} },
		"max_slope = 0":        func(c *Config) { c.Order, c.MaxSlope = 1, 0 },
		"background_label":     func(c *Config) { c.BackgroundLabel = nil },
	} {
		cfg := DefaultConfig()
		change(&cfg)
		assert.ErrorContains(t, cfg.Validate(), name)
	}
}

// A loss that a float64 holds may have derivatives that no float32 does: an error, and not infinities.
func TestGradientBeyondFloat32(t *testing.T) {
	for name, change := range walkOptions {
		cfg := paperConfig()
		change(&cfg)
		if cfg.Order == 0 {
			continue
		}
		cfg.SlopePenalty = 1e300
		ev := spreadEvents[float32](500, false, 0.1)
		for _, label := range []LabelSlice{nil, LabelsOf(make([]int32, 500))} {
			ev.Label = label
			_, err := Loss(ev, cfg)
			assert.NoError(t, err, name)
			_, err = LossAndGrad(make([]float32, 500), ev, cfg)
			assert.ErrorIs(t, err, ErrOverflow, name)
			assert.ErrorContains(t, err, "grad[", name)
		}
	}
}
