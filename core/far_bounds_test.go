package core

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// One mass that is far from all others makes the moments so large that they all but cancel, and the loss keeps its digits: it
// was wrong in the first one, or negative. The definition adds up residuals, whose digits suffice here.
func TestOneMassFarFromTheOthers(t *testing.T) {
	bounds := map[string]func(*Config){
		"max slope":           func(c *Config) { c.MaxSlope = 0.3 },
		"of selected":         func(c *Config) { c.MaxSlope, c.SlopeOf = 0.3, Selected },
		"unbiased":            func(c *Config) { c.MaxSlope, c.Unbiased = 0.3, true },
		"penalty":             func(c *Config) { c.MaxSlope, c.SlopePenalty = 0.3, 0.1 },
		"monotonic":           func(c *Config) { c.Monotonic = true },
		"monotonic, unbiased": func(c *Config) { c.Monotonic, c.Unbiased, c.MaxSlope = true, true, 0.2 },
		"order 1":             func(c *Config) { c.Order, c.MaxSlope = 1, 0.3 },
		"order 3":             func(c *Config) { c.Order, c.Monotonic = 3, true },
	}
	for name, change := range bounds {
		for _, far := range []float64{1e5, 1e6, 1e8, 4e9} {
			for _, weighted := range []bool{false, true} {
				t.Run(fmt.Sprint(name, " ", far, " ", weighted), func(t *testing.T) {
					cfg := paperConfig()
					cfg.Order, cfg.Bins, cfg.Moments = 2, 6, Projection
					change(&cfg)
					ev := spreadEvents[float64](120, weighted, 0.2)
					for i, w := range ev.Weight {
						ev.Weight[i] = 0.1 + math.Abs(w)
					}
					ev.Mass[7] = far
					got := make([]float64, len(ev.Score))
					value, err := LossAndGrad(got, ev, cfg)
					if errors.Is(err, ErrOverflow) { // squares of moments multiply what rounding leaves of the variances
						require.True(t, cfg.Unbiased && far > 1e9)
						return
					}
					require.NoError(t, err)
					if cfg.Order == 3 && far > 1e6 {
						return // the P of the definition here have no digits left
					}
					loss, grad := newBrute(t, ev, cfg).lossAndGrad()
					tolerance := 1e-9 + 1e-16*far
					switch { // the squares of the moments leave something of the rounding of F_b, and a third column of that of P
					case cfg.Unbiased:
						tolerance += 1e-22 * far * far
					case cfg.Order == 3:
						tolerance += 1e-18 * far * far
					}
					require.InEpsilon(t, loss, value, tolerance)
					requireClose(t, grad, got, tolerance)
				})
			}
		}
	}
}

// Where weights cancel below a score, F_b and its slope are 0 there but V_b is not: what monotonic takes away from the
// derivatives of every moment counts in the bias.
func TestFarKernelWithoutSlope(t *testing.T) {
	cfg := paperConfig()
	cfg.Order, cfg.Bins, cfg.Moments, cfg.Monotonic, cfg.Unbiased = 2, 6, Projection, true, true
	cfg.ScoreRange = unbounded()
	ev := spreadEvents[float64](120, true, 0)
	ev.Mass[7] = 1e6
	for k, w := range []float64{4, -2, -2} {
		ev.Score[3*k], ev.Mass[3*k], ev.Weight[3*k] = 0.001*float64(k+1)-0.01, 0.5, w
	}
	got := make([]float64, len(ev.Score))
	value, err := LossAndGrad(got, ev, cfg)
	require.NoError(t, err)
	loss, grad := newBrute(t, ev, cfg).lossAndGrad()
	require.InEpsilon(t, loss, value, 1e-9)
	requireClose(t, grad, got, 1e-9)
}
