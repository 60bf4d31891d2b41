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

// leaking returns logits that are higher at one mass, and masses.
func leaking[T float32 | float64](n int) core.Events[T] {
	rng, ev := rand.New(rand.NewPCG(11, 12)), core.Events[T]{}
	for range n {
		m := rng.Float64()
		ev.Mass = append(ev.Mass, T(m))
		ev.Score = append(ev.Score, T(rng.NormFloat64()+2*math.Exp(-50*(m-.5)*(m-.5))))
	}
	return ev
}

// logitPushes returns push and multiplier of three batches.
func logitPushes[T float32 | float64](t *testing.T, ev core.Events[T], st constraint.Steering, cfg core.Config) []float64 {
	t.Helper()
	var all []float64
	st.State = make([]float64, constraint.StateSize(1, 0))
	for range 3 {
		push, multiplier := make([]T, len(ev.Score)), make([]T, len(ev.Score))
		found, err := constraint.Direction(push, multiplier, nil, ev, cfg, st)
		require.NoError(t, err)
		require.True(t, finite(found.Loss) && found.Size > 0, "%+v", found)
		for i := range push {
			all = append(all, float64(push[i]), float64(multiplier[i]))
		}
	}
	return all
}

// The order of the logits makes the push, wherever they are: also where a probability in any precision is 0 or 1.
func TestThePushOfLogitsFollowsTheirOrder(t *testing.T) {
	const n = 1500
	ev, cfg := leaking[float64](n), core.DefaultConfig()
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, k int) int { return int(math.Copysign(1, ev.Score[i]-ev.Score[k])) })
	ranked := ev
	ranked.Score = make([]float64, n)
	for place, i := range order {
		ranked.Score[i] = (float64(place) + 0.5) / n // scores, whose push by logits is the push of any logits of this order
	}
	var want []float64
	state := make([]float64, constraint.StateSize(1, 0))
	for range 3 {
		push, multiplier, slope := make([]float64, n), make([]float64, n), make([]float64, n)
		_, err := constraint.Direction(push, multiplier, slope, ranked, cfg, constraint.Steering{State: state})
		require.NoError(t, err)
		floats.Mul(push, slope)
		for i := range push {
			want = append(want, push[i], multiplier[i])
		}
	}
	size := floats.Norm(want, math.Inf(1))
	for name, f := range map[string]func(z float64) float64{
		"as they are":  func(z float64) float64 { return z },
		"ten times":    func(z float64) float64 { return 10 * z },
		"at -20":       func(z float64) float64 { return z - 20 },
		"at 20":        func(z float64) float64 { return z + 20 },
		"at 30":        func(z float64) float64 { return z + 30 },
		"at 300":       func(z float64) float64 { return z + 300 },
		"at -3000":     func(z float64) float64 { return 10*z - 3000 },
		"at 1e5":       func(z float64) float64 { return 100*z + 1e5 },
		"exponentials": math.Exp,
	} {
		moved, narrow := ev, core.Events[float32]{}
		moved.Score = slices.Clone(ev.Score)
		for i := range moved.Score {
			moved.Score[i] = f(moved.Score[i])
			narrow.Score, narrow.Mass = append(narrow.Score, float32(moved.Score[i])), append(narrow.Mass, float32(ev.Mass[i]))
		}
		require.InDeltaSlice(t, want, logitPushes(t, moved, constraint.Steering{Logits: true}, cfg), 1e-9*size, name)
		// Logits that are equal in float32 share the mean of their ranks.
		require.InDeltaSlice(t, want, logitPushes(t, narrow, constraint.Steering{Logits: true}, cfg), 0.1*size, name)
	}
}

// The loss of logits is the loss of their probabilities, and logits are no place for limits of scores.
func TestTheLossOfLogits(t *testing.T) {
	for _, change := range []func(cfg *core.Config){
		func(*core.Config) {}, func(cfg *core.Config) { cfg.Biased = true },
		func(cfg *core.Config) { cfg.Moments, cfg.Order = core.Quadrature, 2 },
		func(cfg *core.Config) { cfg.Order, cfg.Monotonic, cfg.MaxSlope = 2, true, 0.3 },
	} {
		ev, cfg := leaking[float64](700), core.DefaultConfig()
		change(&cfg)
		cfg.Bins = 12
		for i := range ev.Score {
			ev.Score[i] = math.Round(8*ev.Score[i]) / 4 // with ties
		}
		scores := ev
		scores.Score = slices.Clone(ev.Score)
		for i, z := range ev.Score {
			scores.Score[i] = 1 / (1 + math.Exp(-z))
		}
		want, err := core.Evaluate(nil, scores, cfg)
		require.NoError(t, err)
		if cfg.Biased {
			want.Loss -= want.Bias
		}
		push := make([]float64, 700)
		found, err := constraint.Direction(push, like(push), nil, ev, cfg, constraint.Steering{Logits: true})
		require.NoError(t, err)
		require.InEpsilon(t, want.Loss, found.Loss, 1e-10)
		require.InEpsilon(t, want.Bias, found.Bias, 1e-10)
		for _, limits := range [][2]float64{{0, 2}, {math.Inf(-1), inf}} {
			cfg.ScoreRange = limits
			_, err = constraint.Direction(push, like(push), nil, ev, cfg, constraint.Steering{Logits: true})
			require.ErrorContains(t, err, "leave it out for logits")
		}
		cfg.ScoreRange = core.DefaultConfig().ScoreRange
		for _, bad := range []float64{inf, math.Inf(-1), nan} {
			ev.Score[13] = bad
			_, err = constraint.Direction(push, like(push), nil, ev, cfg, constraint.Steering{Logits: true})
			require.ErrorIs(t, err, core.ErrNotFinite)
			require.ErrorContains(t, err, "score[13] = ")
		}
	}
}
