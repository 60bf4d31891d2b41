package constraint_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/libmode/libmode/core"
	"github.com/libmode/libmode/core/constraint"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
)

// response draws n events whose efficiency at a cut t is (1 - t) (1 + t (line x + bend P_2(x))), with masses x from -1 to 1.
func response(rng *rand.Rand, n int, line, bend float64) (ev core.Events[float64]) {
	for len(ev.Score) < n {
		x, t := 2*rng.Float64()-1, rng.Float64()
		a := line*x + bend*(1.5*x*x-0.5)
		if 3*rng.Float64() < 1-a+2*a*t {
			ev.Score, ev.Mass = append(ev.Score, t), append(ev.Mass, x)
		}
	}
	return ev
}

// A response within a bound is left alone. Beyond the bound the multiplier works against it, and the verdict says so. Back within the
// bound it forgets what it has learned.
func TestBounds(t *testing.T) {
	slope, turn := core.DefaultConfig(), core.DefaultConfig()
	slope.Order, slope.MaxSlope, slope.SlopeOf = 1, 0.5, core.Selected
	turn.Order, turn.Monotonic = 2, true
	for name, c := range map[string]struct {
		cfg            core.Config
		within, beyond [2]float64
		high, low      float64 // masses whose efficiency is too high and too low beyond the bound
	}{
		"slope":   {slope, [2]float64{0.3, 0}, [2]float64{0.9, 0}, 0.8, -0.8},
		"maximum": {turn, [2]float64{0.6, -0.1}, [2]float64{0.1, -0.6}, 0, -0.8},
		"minimum": {turn, [2]float64{-0.6, 0.1}, [2]float64{-0.1, 0.6}, 0.8, 0.2},
	} {
		t.Run(name, func(t *testing.T) {
			rng, state := rand.New(rand.NewPCG(5, 6)), make([]float64, constraint.StateSize(1, 0))
			train := func(of [2]float64, batches int) (atHigh, atLow float64, answer int) {
				st := constraint.Steering{State: state}
				for range batches {
					ev := response(rng, 1000, of[0], of[1])
					multiplier, counts := make([]float64, 1000), [2]float64{}
					_, err := constraint.Direction(make([]float64, 1000), multiplier, nil, ev, c.cfg, st)
					require.NoError(t, err)
					atHigh, atLow = 0, 0
					for i, m := range ev.Mass {
						for k, at := range []float64{c.high, c.low} {
							if math.Abs(m-at) < 0.2 && ev.Score[i] > 0.8 {
								*[]*float64{&atHigh, &atLow}[k] += multiplier[i]
								counts[k]++
							}
						}
					}
					atHigh, atLow = atHigh/counts[0], atLow/counts[1]
				}
				found, err := constraint.Judge(c.cfg, st)
				require.NoError(t, err)
				return atHigh, atLow, found.Answer
			}
			high, low, answer := train(c.within, 400)
			require.InDelta(t, 1, high, 0.15)
			require.InDelta(t, 1, low, 0.15)
			require.NotEqual(t, constraint.NotFlat, answer)
			high, low, answer = train(c.beyond, 200)
			require.Greater(t, high, 1.3)
			require.Less(t, low, 0.8)
			require.Equal(t, constraint.NotFlat, answer)
			high, low, _ = train(c.within, 1500)
			require.InDelta(t, 1, high, 0.2)
			require.InDelta(t, 1, low, 0.2)
		})
	}
}

// Events of one bin have no slope that a bound could limit.
func TestBoundsOfOneBin(t *testing.T) {
	cfg, state := core.DefaultConfig(), make([]float64, constraint.StateSize(1, 0))
	cfg.Order, cfg.Monotonic, cfg.Bins, cfg.Moments = 3, true, 1, core.Quadrature
	ev := core.Events[float64]{Score: []float64{0.8, 0.6, 0.8, 0.2, 0.1}, Mass: []float64{7e-310, 7e-310, 7e-310, 4e-323, 0}}
	push, multiplier := make([]float64, 5), make([]float64, 5)
	for range 3 {
		_, err := constraint.Direction(push, multiplier, nil, ev, cfg, constraint.Steering{State: state})
		require.NoError(t, err)
		for i, x := range state {
			require.True(t, finite(x), "state[%d] = %v", i, x)
		}
	}
}

// Of all events at a mass x the part (1 + line x + bend P_2(x))/2 has a score above the median, and is uniform there: the response at each
// cut is 1 + line x + bend P_2(x), and a bump. What is beyond a bound is no bump, and counts if a search would see it.
func TestVerdictOnBounds(t *testing.T) {
	slope, turn := core.DefaultConfig(), core.DefaultConfig()
	slope.Order, slope.MaxSlope, slope.SlopeOf = 1, 0.5, core.Selected
	turn.Order, turn.Monotonic = 2, true
	both := turn
	both.MaxSlope, both.SlopeOf = 0.5, core.Selected
	for _, c := range []struct {
		cfg              core.Config
		line, bend, bump float64
		slope            float64 // that the verdict names; NaN: none
		turn             float64 // the same, of 3 bend / line
	}{
		{slope, 0.48, 0, 0, math.NaN(), math.NaN()},
		{slope, -0.52, 0, 0, math.NaN(), math.NaN()},
		{slope, 0.9, 0, 0, 0.9, math.NaN()},
		{slope, -0.7, 0, 0, 0.7, math.NaN()},
		{slope, -0.45, 0, 0.9, math.NaN(), math.NaN()},
		{turn, 0.6, 0.19, 0, math.NaN(), math.NaN()},
		{turn, 0.3, 0.5, 0, math.NaN(), 5},
		{both, 0.9, 0.1, 0, 0.9, math.NaN()},
		{both, 0.3, -0.3, 0, math.NaN(), 3},
	} {
		for _, skewed := range []float64{1, 3} { // more events at low masses
			rng := rand.New(rand.NewPCG(7, 8))
			cfg := c.cfg
			cfg.MassRange = [2]float64{100, 300}
			v := shownBy(t, 300, constraint.Steering{RelativeStrength: 1, TrainingEvents: 20_000}, cfg, func() (ev core.Events[float64]) {
				for range 1000 {
					x := 2*math.Pow(rng.Float64(), skewed) - 1
					score := rng.Float64() / 2
					if 2*rng.Float64() < 1+c.line*x+c.bend*(1.5*x*x-0.5)+c.bump*math.Exp(-50*x*x) {
						score += 0.5
					}
					ev.Score, ev.Mass = append(ev.Score, score), append(ev.Mass, 200+100*x)
				}
				return ev
			})
			said := []any{c, skewed, v.Slope, v.SlopeAt, v.Turn, v.TurnAt, v.Errors}
			answer := constraint.NotFlat
			if math.IsNaN(c.slope) && math.IsNaN(c.turn) && c.bump == 0 {
				answer = constraint.Flat
			}
			require.Equal(t, answer, v.Answer, said)
			for _, found := range [][2]float64{{c.slope, v.Slope}, {c.turn, v.Turn}} {
				require.Equal(t, math.IsNaN(found[0]), math.IsNaN(found[1]), said)
				if !math.IsNaN(found[0]) {
					require.InEpsilon(t, found[0], found[1], 0.25, said)
				}
			}
		}
	}
}

// A variable of mass that no event has leaves the other one its place: the verdict names the slope of the other one.
func TestVerdictOnTheBoundOfTheSecondVariable(t *testing.T) {
	cfg := core.DefaultConfig()
	cfg.Order, cfg.MaxSlope, cfg.SlopeOf, cfg.Missing = 1, 0.5, core.Selected, core.MissingIgnore
	rng := rand.New(rand.NewPCG(7, 8))
	v := shownBy(t, 100, constraint.Steering{RelativeStrength: 1, TrainingEvents: 20_000}, cfg, func() core.Events[float64] {
		ev := response(rng, 1000, 0.9, 0)
		ev.Masses, ev.Mass = [][]float64{slices.Repeat([]float64{math.NaN()}, len(ev.Mass)), ev.Mass}, nil
		return ev
	})
	require.Equal(t, constraint.NotFlat, v.Answer)
	require.InEpsilon(t, 0.9, v.Slope, 0.25)
}

// Beyond a bound the push goes more along the gradient of the bounded loss than a push that knows no bound.
func TestPushKnowsTheBound(t *testing.T) {
	ev := response(rand.New(rand.NewPCG(7, 8)), 20_000, 0.9, 0)
	n := len(ev.Score)
	free := core.DefaultConfig()
	free.Order = 1
	bounded := free
	bounded.MaxSlope, bounded.SlopeOf = 0.5, core.Selected
	along := func(cfg core.Config) float64 { // the part of the push along the gradient of the bounded loss, by logits
		grad, push, multiplier, slope := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
		_, err := core.LossAndGrad(grad, ev, bounded)
		require.NoError(t, err)
		_, err = constraint.Direction(push, multiplier, slope, ev, cfg, constraint.Steering{})
		require.NoError(t, err)
		floats.Mul(grad, slope)
		floats.Mul(push, slope)
		return floats.Dot(grad, push) / floats.Norm(grad, 2) / floats.Norm(push, 2)
	}
	require.Greater(t, along(bounded), 1.3*along(free))
}
