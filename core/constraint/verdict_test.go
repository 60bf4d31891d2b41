package constraint_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/libmode/libmode/core"
	"github.com/libmode/libmode/core/constraint"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// searched draws background whose masses are uniform, and as much signal at 0.6. High scores are more frequent near a mass.
func searched(rng *rand.Rand, n int, at, more float64) (ev core.Events[float64]) {
	label := make([]int32, 2*n)
	for i := range label {
		mass, score := rng.Float64(), rng.Float64()
		if i < n {
			if rng.Float64() < more*math.Exp(-200*(mass-at)*(mass-at)) {
				score = 0.8 + 0.2*score
			}
		} else {
			label[i], mass, score = 1, 0.6+0.05*rng.NormFloat64(), math.Sqrt(score)
		}
		ev.Mass, ev.Score = append(ev.Mass, mass), append(ev.Score, score)
	}
	ev.Label = core.LabelsOf(label)
	return ev
}

func shownBy(t *testing.T, batches int, st constraint.Steering, cfg core.Config, draw func() core.Events[float64]) constraint.Verdict {
	t.Helper()
	st.State = make([]float64, constraint.StateSize(len(cfg.BackgroundLabel), st.Categories))
	for range batches {
		ev := draw()
		push := make([]float64, len(ev.Score))
		_, err := constraint.Direction(push, like(push), nil, ev, cfg, st)
		require.NoError(t, err)
	}
	v, err := constraint.Judge(cfg, st)
	require.NoError(t, err)
	return v
}

// The bump is the signal in the least-squares fit of a line and the signal's spectrum to the efficiency of two million events.
func TestTheBumpIsWhatASearchFinds(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	cfg := core.DefaultConfig()
	cfg.Order = 1
	const bins, many, search = 96, 2_000_000, 500_000.0
	all := searched(rng, many, 0.6, 0.15)
	st := constraint.Steering{RelativeStrength: 1, TrainingEvents: search}
	v := shownBy(t, 500, st, cfg, func() core.Events[float64] { return searched(rng, 1000, 0.6, 0.15) })
	require.Equal(t, constraint.NotFlat, v.Answer)
	require.Equal(t, 500*1000., v.Events)
	for k := range 6 {
		e := v.Efficiency[k]
		low, high := 0.0, 1.0
		for range 40 { // the cut that keeps e
			cut, above := (low+high)/2, 0
			for _, s := range all.Score[:many] {
				if s > cut {
					above++
				}
			}
			if float64(above) > e*many {
				low = cut
			} else {
				high = cut
			}
		}
		rows, values := mat.NewDense(bins, 3, nil), mat.NewVecDense(bins, nil)
		var count, passing, signal [bins]float64
		for i, m := range all.Mass {
			b := int(m * bins)
			switch {
			case b < 0 || b >= bins:
			case i >= many:
				signal[b]++
			default:
				count[b]++
				if all.Score[i] > low {
					passing[b]++
				}
			}
		}
		for b := range bins {
			rows.SetRow(b, []float64{1, (float64(b) + 0.5) / bins, bins * signal[b] / many})
			values.SetVec(b, passing[b]/count[b]/e)
		}
		var solved mat.VecDense
		require.NoError(t, solved.SolveVec(rows, values))
		var normal, inverse mat.Dense
		normal.Mul(rows.T(), rows)
		require.NoError(t, inverse.Inverse(&normal))
		want := solved.AtVec(2) * math.Sqrt(search*e/bins/inverse.At(2, 2))
		require.InDelta(t, want, v.Errors[k], 3.5*v.Doubt[k]+0.03*want, "at %v", e)
		density := rows.ColView(2)
		height := solved.AtVec(2) * mat.Dot(density, density) / mat.Sum(density) // the mean over the signal
		require.InDelta(t, height, v.Height[k], height*(3.5*v.Doubt[k]/v.Errors[k]+0.03), "at %v", e)
		require.InDelta(t, 0.6, v.Mass[k], 0.01)
		require.Greater(t, v.Errors[k], 5.)
	}
}

// Of the same training again and again the errors scatter by the doubt.
func TestDoubtIsTheScatter(t *testing.T) {
	rng, cfg := rand.New(rand.NewPCG(15, 16)), core.DefaultConfig()
	cfg.Order = 1
	const trainings, cuts = 30, 3
	var found [cuts][]float64
	var doubt [cuts]float64
	for range trainings {
		v := shownBy(t, 40, constraint.Steering{RelativeStrength: 1, TrainingEvents: 10_000}, cfg, func() core.Events[float64] { return searched(rng, 500, 0.6, 0.6) })
		for k := range cuts {
			found[k] = append(found[k], v.Errors[k])
			doubt[k] += v.Doubt[k] / trainings
		}
	}
	for k := range cuts {
		require.InEpsilon(t, stat.StdDev(found[k], nil), doubt[k], 0.4)
	}
}

// What a response may be is a polynomial in the mass: these are orthonormal for a falling spectrum.
func TestPolynomialsAreOrthonormal(t *testing.T) {
	shares, masses := []float64{0.4, 0.25, 0.15, 0.1, 0.06, 0.04}, make([]float64, 6)
	for c, share := range shares {
		masses[c] = share * float64(60+10*c*c)
	}
	found := constraint.Polynomials(shares, masses, 4)
	require.Len(t, found, 5)
	for k, p := range found {
		for l, q := range found {
			sum := 0.0
			for c, share := range shares {
				sum += share * p[c] * q[c]
			}
			require.InDelta(t, map[bool]float64{true: 1}[k == l], sum, 1e-12)
		}
	}
}

// Of responses that are flat at most one in twenty is called something else.
func TestFlatResponsesAreFlat(t *testing.T) {
	rng, wrong := rand.New(rand.NewPCG(3, 4)), 0
	for range 40 {
		v := shownBy(t, 300, constraint.Steering{RelativeStrength: 1}, core.DefaultConfig(), func() core.Events[float64] { return searched(rng, 500, 0, 0) })
		require.Equal(t, 300*500./32, v.Tolerance)
		if v.Answer != constraint.Flat {
			wrong++
		}
		require.True(t, math.IsNaN(v.Zero) && math.IsNaN(v.Peak))
	}
	require.LessOrEqual(t, wrong, 2)
}

// Few events that come again and again show their own fluctuations, which are no dependence.
func TestFluctuationsOfFewEventsAreNoDependence(t *testing.T) {
	rng, wrong := rand.New(rand.NewPCG(13, 14)), 0
	for range 20 {
		few := searched(rng, 10_000, 0, 0)
		v := shownBy(t, 400, constraint.Steering{RelativeStrength: 1}, core.DefaultConfig(), func() core.Events[float64] {
			ev, label := core.Events[float64]{}, []int32(nil)
			for range 750 {
				i := rng.IntN(len(few.Mass))
				ev.Mass, ev.Score = append(ev.Mass, few.Mass[i]), append(ev.Score, few.Score[i])
				label = append(label, int32(2*i/len(few.Mass))) // background comes first
			}
			ev.Label = core.LabelsOf(label)
			return ev
		})
		if v.Answer == constraint.NotFlat {
			wrong++
		}
	}
	require.LessOrEqual(t, wrong, 1)
}

// A bump far from the signal is seen in a window, and one batch tells nothing.
func TestWindowsSeeWhatTheSignalDoesNot(t *testing.T) {
	rng, st := rand.New(rand.NewPCG(5, 6)), constraint.Steering{RelativeStrength: 1}
	draw := func() core.Events[float64] { return searched(rng, 1000, 0.2, 0.15) }
	v := shownBy(t, 400, st, core.DefaultConfig(), draw)
	require.Equal(t, constraint.NotFlat, v.Answer)
	require.InDelta(t, 0.2, v.Mass[v.Worst], 0.07)
	v = shownBy(t, 100, st, core.DefaultConfig(), func() core.Events[float64] { // in the second mass
		ev := searched(rng, 1000, 0.6, 0.3)
		ev.Masses, ev.Mass = [][]float64{searched(rng, 1000, 0, 0).Mass, ev.Mass}, nil
		floats.Scale(1000, ev.Masses[1])
		return ev
	})
	require.InDelta(t, 600, v.Mass[v.Worst], 30)
	require.Equal(t, constraint.NotKnown, shownBy(t, 1, st, core.DefaultConfig(), func() core.Events[float64] { return searched(rng, 1000, 0, 0) }).Answer)
}

// Nothing but the masses and relative weights of signal changes what is said.
func TestOfSignalTheMassesAloneCount(t *testing.T) {
	same := func(change func(ev *core.Events[float64])) constraint.Verdict {
		rng := rand.New(rand.NewPCG(7, 8))
		return shownBy(t, 60, constraint.Steering{}, core.DefaultConfig(), func() core.Events[float64] {
			ev := searched(rng, 400, 0.6, 0.1)
			ev.Weight = make([]float64, 800)
			for i := range ev.Weight {
				ev.Weight[i] = 1
			}
			change(&ev)
			return ev
		})
	}
	want := same(func(*core.Events[float64]) {})
	for name, change := range map[string]func(ev *core.Events[float64]){
		"scores": func(ev *core.Events[float64]) { copy(ev.Score[400:], make([]float64, 400)) },
		"a factor of the weights": func(ev *core.Events[float64]) {
			for i := range ev.Weight[400:] {
				ev.Weight[400+i] = 8
			}
		},
		"twice as many": func(ev *core.Events[float64]) {
			ev.Score, ev.Mass, ev.Weight = append(ev.Score, ev.Score[400:]...), append(ev.Mass, ev.Mass[400:]...), append(ev.Weight, ev.Weight[400:]...)
			label := make([]int32, len(ev.Score))
			for i := range label {
				label[i] = int32(min(1, i/400))
			}
			ev.Label = core.LabelsOf(label)
		},
		"masses that are none": func(ev *core.Events[float64]) {
			ev.Score, ev.Mass, ev.Weight = append(ev.Score, 0.5, 0.5), append(ev.Mass, math.NaN(), math.Inf(1)), append(ev.Weight, 1, 1)
			label := make([]int32, len(ev.Score))
			for i := range label {
				label[i] = int32(min(1, i/400))
			}
			ev.Label = core.LabelsOf(label)
		},
	} {
		got := same(change)
		for k := range want.Errors {
			if !math.IsNaN(want.Errors[k]) {
				require.InDelta(t, want.Errors[k], got.Errors[k], 1e-9*math.Abs(want.Errors[k]), name)
			}
		}
	}
}

// An efficiency in proportion to the mass reaches 0 at its end, and turns a falling spectrum into one with a maximum.
func TestALineThatReachesZero(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	cfg := core.DefaultConfig()
	cfg.Order = 1
	draw := func() (ev core.Events[float64]) {
		for range 1000 {
			mass, score := -math.Log1p(-rng.Float64()*(1-math.Exp(-5))), 0.5*rng.Float64()
			if 5*rng.Float64() < mass {
				score += 0.5
			}
			ev.Mass, ev.Score = append(ev.Mass, mass), append(ev.Score, score)
		}
		return ev
	}
	v := shownBy(t, 400, constraint.Steering{RelativeStrength: 1}, cfg, draw)
	require.InDelta(t, 0, v.Zero, 0.1)
	require.InDelta(t, 1, v.Peak, 0.35) // of m exp(-m)
}

// Of each category the events count, from which follows the number for which a response is to be flat.
func TestEventsOfAllCategoriesCount(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	cfg := core.DefaultConfig()
	cfg.Order = 1
	v := shownBy(t, 4, constraint.Steering{RelativeStrength: 1, Categories: 2}, cfg, func() core.Events[float64] {
		ev := searched(rng, 1000, 0.6, 0)
		category := make([]int32, len(ev.Score))
		for i := range category {
			category[i] = int32(i % 2)
		}
		ev.Category = core.LabelsOf(category)
		return ev
	})
	require.Equal(t, 4*1000., v.Events)
	require.Equal(t, 4*1000./32, v.Tolerance)

	// Reference events come after the batch, and are none of it.
	st := constraint.Steering{State: make([]float64, constraint.StateSize(1, 0)), Batch: 700}
	push := make([]float64, st.Batch)
	_, err := constraint.Direction(push, like(push), nil, searched(rng, 1000, 0.6, 0), cfg, st)
	require.NoError(t, err)
	v, err = constraint.Judge(cfg, st)
	require.NoError(t, err)
	require.Equal(t, 700., v.Events)
}

func TestJudgeErrors(t *testing.T) {
	_, err := constraint.Judge(core.DefaultConfig(), constraint.Steering{})
	require.ErrorContains(t, err, "there is no state")
	state := make([]float64, constraint.StateSize(1, 0))
	_, err = constraint.Judge(core.DefaultConfig(), constraint.Steering{State: state[:9]})
	require.ErrorContains(t, err, "state has length 9")
	v, err := constraint.Judge(core.DefaultConfig(), constraint.Steering{State: state, TrainingEvents: 500})
	require.NoError(t, err)
	require.Equal(t, constraint.NotKnown, v.Answer)
	require.Equal(t, 500., v.Tolerance)
	ev, push := searched(rand.New(rand.NewPCG(1, 1)), 300, 0, 0), make([]float64, 600)
	_, err = constraint.Direction(push, like(push), nil, ev, core.DefaultConfig(), constraint.Steering{State: state, TrainingEvents: 299})
	require.ErrorContains(t, err, "training_events = 299: this batch has 300 background events")
	require.Equal(t, make([]float64, len(state)), state)
	_, err = constraint.Direction(push, like(push), nil, ev, core.DefaultConfig(), constraint.Steering{State: state, TrainingEvents: math.NaN()})
	require.ErrorContains(t, err, "training_events = NaN")
}
