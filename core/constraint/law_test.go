package constraint_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"

	"github.com/libmode/libmode/core"
	"github.com/libmode/libmode/core/constraint"
	"github.com/stretchr/testify/require"
)

// sample has events as plain slices, so that a test can change them.
type sample struct {
	score, mass, weight []float64
	label               []int32
}

func sampleOf(n int, seed uint64) (s sample) {
	r := rand.New(rand.NewPCG(seed, 7))
	for range n {
		label, m := int32(r.IntN(2)), 50+60*r.ExpFloat64()
		if label == 1 {
			m = 125 + 10*r.NormFloat64()
		}
		s.label, s.mass = append(s.label, label), append(s.mass, m)
		s.score = append(s.score, math.Round(8*(r.NormFloat64()+float64(label)-math.Abs(m-125)/50))/8) // some are tied
		s.weight = append(s.weight, r.ExpFloat64()-0.1)
	}
	return s
}

func (s sample) events() core.Events[float64] {
	return core.Events[float64]{Score: s.score, Mass: s.mass, Weight: s.weight, Label: core.LabelsOf(s.label)}
}

// found is what Direction finds.
type found struct {
	constraint.Rows[float64]
	lesson []float64
}

func direction(t *testing.T, ev core.Events[float64], cfg core.Config, state []float64) found {
	t.Helper()
	n := len(ev.Score)
	f := found{constraint.Rows[float64]{Push: make([]float64, n), Multiplier: make([]float64, n), Slope: make([]float64, n), Part: make([]float64, n)},
		make([]float64, constraint.StateSize(len(cfg.BackgroundLabel), cfg.Categories))}
	require.NoError(t, constraint.Direction(f.Rows, f.lesson, ev, cfg, constraint.Steering{State: state}))
	return f
}

func config(order int) core.Config {
	cfg := core.DefaultConfig()
	cfg.Order, cfg.FromLogits, cfg.Strength, cfg.Floor = order, true, 10, 0.1
	return cfg
}

// The definition, for one batch without a state: u from the gradient of the loss of the ranks, and the start without a tilt.
func TestDirectionIsTheLaw(t *testing.T) {
	for seed := range uint64(10) {
		s := sampleOf(600, seed)
		bounded := config(1)
		bounded.MaxSlope = 0.5
		for _, cfg := range []core.Config{config(0), config(2), bounded} {
			got := direction(t, s.events(), cfg, nil)
			var q, m, w []float64
			var at []int
			total, sum, signal := 0.0, 0.0, 0.0
			for i, label := range s.label {
				if label == 0 {
					at, m, w = append(at, i), append(m, s.mass[i]), append(w, s.weight[i])
					total, sum = total+math.Abs(s.weight[i]), sum+s.weight[i]
				} else {
					signal += s.weight[i]
				}
			}
			for _, i := range at {
				below, tied := 0.0, 0.0
				for _, j := range at {
					if s.score[j] < s.score[i] {
						below += math.Abs(s.weight[j])
					} else if s.score[j] == s.score[i] {
						tied += math.Abs(s.weight[j])
					}
				}
				q = append(q, (below+tied/2)/total)
			}
			grad, norm := make([]float64, len(q)), 0.0
			_, err := core.LossAndGrad(grad, core.Events[float64]{Score: q, Mass: m, Weight: w}, cfg)
			require.NoError(t, err)
			for k := range grad {
				grad[k] /= math.Sqrt(max(q[k]*(1-q[k]), 3/float64(len(q))))
				norm += grad[k] * grad[k]
			}
			for k, i := range at {
				require.InDelta(t, 10*grad[k]/math.Sqrt(norm), got.Push[i], 1e-10)
			}
			if cfg.Order > 0 {
				continue
			}
			ends := got.lesson[constraint.PlaceOfEnds:][:63]
			cell := func(m float64) int { return sort.Search(63, func(k int) bool { return ends[k] > m }) }
			var spectra, squares [2][64]float64
			for i, label := range s.label {
				c := cell(s.mass[i])
				spectra[label][c] += s.weight[i]
				squares[label][c] += s.weight[i] * s.weight[i]
			}
			used := 0
			for c, sum := range spectra[0] {
				if squares[0][c] > 0 {
					used++
					require.GreaterOrEqual(t, sum*sum, 9.999*squares[0][c])
					require.GreaterOrEqual(t, spectra[1][c], 0.0)
				}
			}
			require.Greater(t, used, 5)
			for _, i := range at {
				c := cell(s.mass[i])
				want := max(0.1, 0.1+0.9*max(0, spectra[1][c]/signal)/(spectra[0][c]/sum))
				if spectra[0][c] <= 0 {
					want = 1
				}
				require.InDelta(t, want, got.Multiplier[i], 1e-9*want)
			}
		}
	}
}

// What changes neither push nor start.
func TestDirectionDoesNotChange(t *testing.T) {
	s := sampleOf(800, 3)
	want := direction(t, s.events(), config(1), nil)
	for name, change := range map[string]func(s *sample){
		"weights": func(s *sample) { scale(s.weight, 1e-60) },
		"mass":    func(s *sample) { scale(s.mass, 1000) },
		"score":   func(s *sample) { scale(s.score, 1e-300) },
		"score^3": func(s *sample) { each(s.score, func(x float64) float64 { return x * x * x }) },
		"of signal": func(s *sample) {
			for i, label := range s.label {
				if label == 1 {
					s.weight[i] *= 1e3
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			other := sample{slices.Clone(s.score), slices.Clone(s.mass), slices.Clone(s.weight), s.label}
			change(&other)
			got := direction(t, other.events(), config(1), nil)
			require.InDeltaSlice(t, want.Push, got.Push, 1e-9)
			require.InDeltaSlice(t, want.Multiplier, got.Multiplier, 1e-9)
		})
	}
}

func scale(x []float64, by float64) { each(x, func(x float64) float64 { return x * by }) }

func each(x []float64, f func(float64) float64) {
	for i := range x {
		x[i] = f(x[i])
	}
}

// The tilted background keeps its means of the polynomials, at the power 1, and its size at any.
func TestStartKeepsTheSize(t *testing.T) {
	s := sampleOf(4_000, 5)
	s.weight = nil
	for order := range 3 {
		got := direction(t, s.events(), config(order), nil)
		sum, count := 0.0, 0.0
		for i, label := range s.label {
			if label == 0 {
				sum, count = sum+got.Multiplier[i], count+1
			}
		}
		require.InDelta(t, 1, sum/count, 0.02, "order %d", order)
	}
}

func TestApplyAveragesBothNorms(t *testing.T) {
	state := make([]float64, constraint.StateSize(1, 0))
	var gradients, pushes []float64
	mean := func(all []float64) (sum float64) {
		for _, x := range all {
			sum += x / float64(len(all))
		}
		return sum
	}
	r, seen := rand.New(rand.NewPCG(1, 2)), 0.0
	for step := range 5 {
		s := sampleOf(500, uint64(step))
		got := direction(t, s.events(), config(0), state)
		alone := direction(t, s.events(), config(0), nil)
		grad, out := make([]float64, len(s.score)), make([]float64, len(s.score))
		square := 0.0
		for i := range grad {
			grad[i] = r.NormFloat64()
			x := got.Multiplier[i] * grad[i] * got.Slope[i]
			square += x * x
			if s.label[i] == 0 {
				seen++
			}
		}
		before := slices.Clone(state)
		require.NoError(t, constraint.Apply(out, grad, got.Rows, got.lesson, state, nil))
		require.NotEqual(t, before, state)
		gradients, pushes = append(gradients, math.Sqrt(square)), append(pushes, got.lesson[constraint.PlaceOfPush])
		for i := range out {
			want := got.Multiplier[i]*grad[i] + mean(gradients)*alone.Push[i]*pushes[step]/mean(pushes)*-math.Expm1(-max(seen/512_000, float64(step+1)/1000))
			require.InDelta(t, want, out[i], 1e-9)
		}
	}
	require.EqualValues(t, 5, state[1])
}

// A loss that is scaled by another power of two scales its gradient, and nothing else; one that is infinite changes nothing.
func TestApplyFollowsTheScaleOfTheLoss(t *testing.T) {
	run := func(scales ...float64) (last []float64) {
		state := make([]float64, constraint.StateSize(1, 0))
		for step, scale := range scales {
			s := sampleOf(500, uint64(step))
			got := direction(t, s.events(), config(1), state)
			grad, before := slices.Repeat([]float64{scale}, len(s.score)), slices.Clone(state)
			require.NoError(t, constraint.Apply(grad, grad, got.Rows, got.lesson, state, nil))
			last = grad
			if math.IsInf(scale, 0) {
				require.Equal(t, before, state)
				continue
			}
			for i := range last {
				last[i] /= scale
			}
		}
		return last
	}
	want := run(1, 1, 1, 1)
	require.InDeltaSlice(t, want, run(1, 1, 1, 65536), 1e-10)
	require.InDeltaSlice(t, want, run(65536, 65536, 32768, 16384), 1e-10)
	require.InDeltaSlice(t, want, run(1e-300, 1e-300, 1e-300, 1e-300), 1e-10)
	require.InDeltaSlice(t, run(1, 1, 1), run(1, 1, math.Inf(1))[:0:0], 1e300) // the infinite one has no result
}

// Few events, and weights of either sign, get fewer bins, and no error.
func TestBinsOfFewEvents(t *testing.T) {
	given, edges, joint := config(1), config(1), config(1)
	given.Bins = 32
	edges.Binning, edges.Edges, edges.MassRange = core.GivenEdges, []float64{0, 1, 2, 60, 90, 1000}, [2]float64{math.Inf(-1), math.Inf(1)}
	joint.Joint, joint.Bins = true, 20
	for seed := range uint64(30) {
		for k, cfg := range []core.Config{given, edges, joint} {
			s := sampleOf([]int{100, 100, 400}[k], seed)
			each(s.weight, func(w float64) float64 { return w - 0.2 })
			ev := s.events()
			if k == 2 {
				ev.Mass, ev.Masses = nil, [][]float64{s.mass, s.score}
			}
			got := direction(t, ev, cfg, nil)
			require.True(t, slices.ContainsFunc(got.Push, func(u float64) bool { return u != 0 }), "seed %d", seed)
		}
	}
}

func TestCategoriesAreApart(t *testing.T) {
	s, other := sampleOf(600, 1), sampleOf(400, 2)
	both := sample{slices.Concat(s.score, other.score), slices.Concat(s.mass, other.mass), slices.Concat(s.weight, other.weight), slices.Concat(s.label, other.label)}
	ev, cfg := both.events(), config(1)
	ev.Category, cfg.Categories = core.LabelsOf(append(make([]int32, 600), slices.Repeat([]int32{1}, 400)...)), 2
	got := direction(t, ev, cfg, nil)
	first, second := direction(t, s.events(), config(1), nil), direction(t, other.events(), config(1), nil)
	require.InDeltaSlice(t, slices.Concat(first.Push, second.Push), got.Push, 1e-12)
	require.InDeltaSlice(t, slices.Concat(first.Multiplier, second.Multiplier), got.Multiplier, 1e-12)
	for i, part := range got.Part {
		require.EqualValues(t, map[bool]int{true: 1}[i >= 600 && both.label[i] == 0], part)
	}
}

func TestErrors(t *testing.T) {
	s := sampleOf(100, 1)
	state := make([]float64, constraint.StateSize(1, 0))
	old := slices.Clone(state)
	old[0] = 1
	none := func(*core.Config) {}
	for want, given := range map[string]struct {
		change func(*core.Config)
		constraint.Steering
	}{
		"strength = -2":                       {change: func(c *core.Config) { c.Strength = -2 }},
		"floor = 2":                           {change: func(c *core.Config) { c.Floor = 2 }},
		"floor = NaN":                         {change: func(c *core.Config) { c.Floor = math.NaN() }},
		"training_events = -1":                {change: func(c *core.Config) { c.TrainingEvents = -1 }},
		"training_events = 3: this batch has": {change: func(c *core.Config) { c.TrainingEvents = 3 }},
		"categories = 2, and no category":     {change: func(c *core.Config) { c.Categories = 2 }},
		"score_range = [0, 2]: leave it out":  {change: func(c *core.Config) { c.ScoreRange[1] = 2 }},
		"lies outside score_range":            {change: func(c *core.Config) { c.FromLogits = false }},
		"batch = 101":                         {none, constraint.Steering{Batch: 101}},
		"state has length 7":                  {none, constraint.Steering{State: make([]float64, 7)}},
		"state[0] = 1: the version":           {none, constraint.Steering{State: old}},
	} {
		cfg := config(1)
		given.change(&cfg)
		rows := constraint.Rows[float64]{Push: make([]float64, 100), Multiplier: make([]float64, 100), Slope: make([]float64, 100), Part: make([]float64, 100)}
		err := constraint.Direction(rows, make([]float64, len(state)), s.events(), cfg, given.Steering)
		require.ErrorContains(t, err, want)
	}
	got := direction(t, s.events(), config(1), nil)
	require.ErrorContains(t, constraint.Apply(s.score[:5], s.score[:5], got.Rows, got.lesson, state, nil), "gradient has length 5")
	require.ErrorContains(t, constraint.Apply(nil, nil, got.Rows, got.lesson[:9], state, nil), "lesson has 9 numbers")
	got.Part[3] = 1
	require.ErrorContains(t, constraint.Apply(nil, nil, got.Rows, got.lesson, state, nil), "part[3] = 1: must be from 0 to 0")
}
