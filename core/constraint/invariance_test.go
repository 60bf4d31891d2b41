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

// The push of a constraint, whatever its law is: shared/spec.md lists what changes nothing. Each test pushes several batches,
// so that it sees what the state remembers.

// kindEvents is a multiple of 6*32, so that no rank lies on a border of the cells of the law, where rounding decides.
const kindEvents = 960

// kinds are batches and options of all kinds: one mass or several, weights, labels, categories.
func kinds() map[string]func() (core.Events[float64], core.Config) {
	var rng *rand.Rand
	make := func(change func(ev *core.Events[float64], cfg *core.Config)) func() (core.Events[float64], core.Config) {
		return func() (core.Events[float64], core.Config) {
			rng = rand.New(rand.NewPCG(91, 92))
			ev, cfg := batch(rng, kindEvents), core.DefaultConfig()
			cfg.Order = 1
			change(&ev, &cfg)
			return ev, cfg
		}
	}
	second := func(ev *core.Events[float64]) {
		ev.Masses, ev.Mass = [][]float64{ev.Mass, batch(rng, kindEvents).Mass}, nil
	}
	return map[string]func() (core.Events[float64], core.Config){
		"plain":           make(func(*core.Events[float64], *core.Config) {}),
		"weights":         make(func(ev *core.Events[float64], _ *core.Config) { setWeights(ev, rng, 0.3, 2.5137) }),
		"signed weights":  make(func(ev *core.Events[float64], _ *core.Config) { setWeights(ev, rng, 0.2, -1) }),
		"uniform":         make(func(_ *core.Events[float64], cfg *core.Config) { cfg.Binning = core.Uniform }),
		"bounds":          make(func(_ *core.Events[float64], cfg *core.Config) { cfg.Order, cfg.MaxSlope, cfg.Monotonic = 2, 0.5, true }),
		"two masses":      make(func(ev *core.Events[float64], _ *core.Config) { second(ev) }),
		"masses together": make(func(ev *core.Events[float64], cfg *core.Config) { second(ev); cfg.Joint = true }),
		"labels and categories": make(func(ev *core.Events[float64], cfg *core.Config) {
			labels, categories := []int64{}, []int64{}
			for i := range kindEvents {
				labels, categories = append(labels, labelOf(i)), append(categories, categoryOf(i))
			}
			ev.Label, ev.Category, cfg.BackgroundLabel = core.LabelsOf(labels), core.LabelsOf(categories), []int32{2, 0}
			setWeights(ev, rng, 0.1, 3.3071)
		}),
	}
}

// labelOf and categoryOf are the label and the category of event i.
func labelOf(i int) int64    { return int64(i % 3) }
func categoryOf(i int) int64 { return int64(i / 3 % 2) }

// pushes returns the pushes of three batches of the same events, and after them their multipliers. Each batch has half of the
// distance of each score to 1/2 of the batch before.
func pushes(t *testing.T, ev core.Events[float64], cfg core.Config, st constraint.Steering) []float64 {
	t.Helper()
	n := len(ev.Score)
	var all, multipliers []float64
	if ev.Category != nil {
		st.Categories = 2
	}
	st.State = make([]float64, constraint.StateSize(len(cfg.BackgroundLabel), st.Categories))
	for range batches {
		push, multiplier, slope, given := make([]float64, n), make([]float64, n), make([]float64, n), ev
		if st.Logits {
			given.Score = slices.Clone(ev.Score)
			for i, s := range given.Score {
				given.Score[i] = math.Log(s / (1 - s))
			}
		}
		found, err := constraint.Direction(push, multiplier, slope, given, cfg, st)
		require.NoError(t, err)
		if !st.Logits {
			floats.Mul(push, slope) // by logits
		}
		floats.Scale(found.Size, push)
		all, multipliers = append(all, push...), append(multipliers, multiplier...)
		ev.Score = slices.Clone(ev.Score)
		for i, s := range ev.Score {
			ev.Score[i] = 0.25 + s/2
		}
	}
	return append(all, multipliers...)
}

// batches are how many pushes has of each event.
const batches = 3

// requireSame fails if pushes or multipliers differ by more than a part of the largest.
func requireSame(t *testing.T, want, got []float64, part float64) {
	t.Helper()
	require.Len(t, got, len(want))
	half := len(want) / 2
	for _, of := range [][2][]float64{{want[:half], got[:half]}, {want[half:], got[half:]}} {
		largest := floats.Norm(of[0], math.Inf(1))
		require.Positive(t, largest)
		require.InDeltaSlice(t, of[0], of[1], part*largest)
	}
	require.NotEqual(t, slices.Min(want[half:]), slices.Max(want[half:]))
}

// forKinds calls f with each kind of events and its pushes.
func forKinds(t *testing.T, f func(t *testing.T, ev core.Events[float64], cfg core.Config, want []float64)) {
	for name, kind := range kinds() {
		t.Run(name, func(t *testing.T) {
			ev, cfg := kind()
			f(t, ev, cfg, pushes(t, ev, cfg, constraint.Steering{}))
		})
	}
}

func TestPushIgnoresTheScaleOfWeights(t *testing.T) {
	forKinds(t, func(t *testing.T, ev core.Events[float64], cfg core.Config, want []float64) {
		if ev.Weight == nil {
			setWeights(&ev, rand.New(rand.NewPCG(1, 2)), 0, 1)
		}
		for _, factor := range []float64{1e-307, 1e-7, 3.7, 5e307} {
			scaled := ev
			scaled.Weight = slices.Clone(ev.Weight)
			floats.Scale(factor, scaled.Weight)
			requireSame(t, want, pushes(t, scaled, cfg, constraint.Steering{}), 1e-9)
		}
	})
}

func TestPushIgnoresTheOrderOfEvents(t *testing.T) {
	forKinds(t, func(t *testing.T, ev core.Events[float64], cfg core.Config, want []float64) {
		n := len(ev.Score)
		order := rand.New(rand.NewPCG(3, 4)).Perm(n)
		pick := func(from []float64) []float64 {
			if from == nil {
				return nil
			}
			to := make([]float64, len(order))
			for k, i := range order {
				to[k] = from[i]
			}
			return to
		}
		pickLabels := func(label func(i int) int64) core.LabelSlice {
			to := make([]int64, n)
			for k, i := range order {
				to[k] = label(i)
			}
			return core.LabelsOf(to)
		}
		other := core.Events[float64]{Score: pick(ev.Score), Mass: pick(ev.Mass), Weight: pick(ev.Weight)}
		for _, mass := range ev.Masses {
			other.Masses = append(other.Masses, pick(mass))
		}
		if ev.Label != nil {
			other.Label, other.Category = pickLabels(labelOf), pickLabels(categoryOf)
		}
		got := pushes(t, other, cfg, constraint.Steering{})
		var picked []float64
		for k := range 2 * batches {
			picked = append(picked, pick(want[k*n:(k+1)*n])...)
		}
		requireSame(t, picked, got, 1e-9)
	})
}

func TestPushIgnoresTheUnitOfMass(t *testing.T) {
	forKinds(t, func(t *testing.T, ev core.Events[float64], cfg core.Config, want []float64) {
		for _, unit := range [][2]float64{{1e-3, 0}, {1, 100}, {7, -300}} {
			changed := ev
			move := func(mass []float64) []float64 {
				moved := slices.Clone(mass)
				floats.Scale(unit[0], moved)
				floats.AddConst(unit[1], moved)
				return moved
			}
			if ev.Mass != nil {
				changed.Mass = move(ev.Mass)
			}
			changed.Masses = nil
			for _, mass := range ev.Masses {
				changed.Masses = append(changed.Masses, move(mass))
			}
			requireSame(t, want, pushes(t, changed, cfg, constraint.Steering{}), 1e-8)
		}
	})
}

// A factor that is constant in each bin changes no push and no v, as F_b does not see it. The multiplier is lifted where weights
// are small, by the root of the mean weight over that in the bin. The bins are given, or quantile bins by default.
func TestPushIgnoresAFactorOfEachBin(t *testing.T) {
	forKinds(t, func(t *testing.T, ev core.Events[float64], cfg core.Config, _ []float64) {
		if len(ev.Variables()) > 1 || ev.Label != nil || slices.ContainsFunc(ev.Weight, func(w float64) bool { return w < 0 }) {
			return // one set of bins, none of which is merged
		}
		cfg.Bins = constraint.MostBins // the bins of the push are those of Edges
		if cfg.Binning == core.Uniform {
			cfg.MassRange = [2]float64{0, 150}
		}
		edges, err := core.Edges(ev, cfg)
		require.NoError(t, err)
		if cfg.Binning != core.Uniform {
			cfg.Bins = 0 // as many by default
		}
		want := pushes(t, ev, cfg, constraint.Steering{})
		weighted, before, lift := ev, slices.Repeat([]float64{1}, kindEvents), make([]float64, kindEvents)
		if ev.Weight != nil {
			before = ev.Weight
		}
		weighted.Weight = slices.Clone(before)
		for i, m := range ev.Mass {
			b := 0
			for b < len(edges)-2 && m >= edges[b+1] {
				b++
			}
			weighted.Weight[i] *= math.Pow(0.65, float64(b)) // 4 orders of magnitude
			lift[i] = math.Pow(0.65, -float64(b))
		}
		var sumBefore, sum float64
		for i, m := range ev.Mass {
			if m <= edges[len(edges)-1] {
				sumBefore, sum = sumBefore+before[i], sum+weighted.Weight[i]
			}
		}
		for i, m := range ev.Mass {
			lift[i] = math.Sqrt(lift[i] * sum / sumBefore)
			if m > edges[len(edges)-1] {
				lift[i] = 1
			}
		}
		got := pushes(t, weighted, cfg, constraint.Steering{})
		for multipliers := got[len(got)/2:]; len(multipliers) > 0; multipliers = multipliers[kindEvents:] {
			floats.Div(multipliers[:kindEvents], lift)
		}
		requireSame(t, want, got, 1e-9)
	})
}

// A batch may have any number of signal events, of any weights, masses and scores.
func TestPushIgnoresSignal(t *testing.T) {
	ev, cfg := batch(rand.New(rand.NewPCG(93, 94)), 900), core.DefaultConfig()
	setWeights(&ev, rand.New(rand.NewPCG(95, 96)), 0.3, 2)
	want := pushes(t, ev, cfg, constraint.Steering{})
	for _, signal := range []int{1, 900, 5000} {
		both, labels := core.Events[float64]{}, make([]int32, 900+signal)
		for i := range labels {
			if i < signal {
				labels[i] = 1
			}
		}
		nowhere := slices.Repeat([]float64{nan}, signal)
		both.Mass = append(slices.Clone(nowhere), ev.Mass...)
		both.Weight, both.Label = append(slices.Repeat([]float64{1e9}, signal), ev.Weight...), core.LabelsOf(labels)
		both.Score = slices.Concat(slices.Repeat([]float64{0.9}, signal), ev.Score)
		got, n := pushes(t, both, cfg, constraint.Steering{}), len(labels)
		var background []float64
		for k := range 2 * batches {
			of := got[k*n : (k+1)*n]
			background = append(background, of[signal:]...)
			take := 0.0 // the push of signal, and its multiplier
			if k >= batches {
				take = 1
			}
			require.Equal(t, slices.Repeat([]float64{take}, signal), of[:signal])
		}
		requireSame(t, want, background, 1e-9)
	}
}

// Of signal the masses alone matter: not the scores, the number, a common factor of the weights, events of no known mass.
func TestPushReadsTheMassesOfSignalAlone(t *testing.T) {
	const signal = 300
	rng := rand.New(rand.NewPCG(109, 110))
	for _, divided := range []bool{false, true} {
		ev, cfg := batch(rng, 900), core.DefaultConfig()
		cfg.MassRange, cfg.Missing = [2]float64{10, 150}, core.MissingIgnore
		masses, weights := make([]float64, signal), make([]float64, signal)
		for i := range masses {
			masses[i], weights[i] = 60+20*rng.NormFloat64(), rng.ExpFloat64()-0.1
		}
		with := func(copies int, factor, score float64, more ...float64) []float64 {
			both := core.Events[float64]{Score: slices.Clone(ev.Score), Mass: slices.Clone(ev.Mass), Weight: slices.Repeat([]float64{2}, 900)}
			labels, categories := make([]int8, 900), make([]int8, 900)
			add := func(mass, weight float64, category int) {
				both.Score, both.Mass, both.Weight = append(both.Score, score), append(both.Mass, mass), append(both.Weight, weight)
				labels, categories = append(labels, 1), append(categories, int8(category))
			}
			for i := range 900 {
				categories[i] = int8(i % 2)
			}
			for range copies {
				for i, m := range masses {
					add(m, factor*weights[i], i/20%2)
				}
			}
			for _, m := range more {
				add(m, 1e9, 0)
			}
			if both.Label = core.LabelsOf(labels); divided {
				both.Category = core.LabelsOf(categories)
			}
			all := pushes(t, both, cfg, constraint.Steering{})
			var background []float64
			for k := range 2 * batches {
				background = append(background, all[k*len(labels):][:900]...)
			}
			return background
		}
		want := with(1, 1, 0.5)
		require.NotEqual(t, want, with(0, 1, 0.5)) // so signal matters
		requireSame(t, want, with(4, 1, 0.5), 1e-9)
		requireSame(t, want, with(1, 1e-300, 0.5), 1e-9)
		requireSame(t, want, with(1, 1e300, 0.9), 1e-9)
		requireSame(t, want, with(1, 1, 0.5, nan, math.Inf(1), math.Inf(-1), 9, 151), 1e-9)
	}
}

func TestPushByLogitsOrScoresIsTheSame(t *testing.T) {
	forKinds(t, func(t *testing.T, ev core.Events[float64], cfg core.Config, want []float64) {
		requireSame(t, want, pushes(t, ev, cfg, constraint.Steering{Logits: true}), 1e-12)
	})
}

// The bits of push, multiplier, state and result are those of one thread.
func TestPushForAnyNumberOfThreads(t *testing.T) {
	const n = 100_000
	rng := rand.New(rand.NewPCG(97, 98))
	for name, change := range map[string]func(ev *core.Events[float64], cfg *core.Config){
		"plain":   func(*core.Events[float64], *core.Config) {},
		"weights": func(ev *core.Events[float64], _ *core.Config) { setWeights(ev, rng, 0.2, -0.7) },
		"joint": func(ev *core.Events[float64], cfg *core.Config) {
			ev.Masses, ev.Mass, cfg.Joint = [][]float64{ev.Mass, batch(rng, n).Mass}, nil, true
		},
		"categories": func(ev *core.Events[float64], _ *core.Config) {
			ev.Category = core.LabelsOf(slices.Repeat([]int64{1, 2, 3, 4}, n/4)) // and none of category 0
		},
		"labels and categories": func(ev *core.Events[float64], cfg *core.Config) {
			ev.Category, cfg.BackgroundLabel = core.LabelsOf(slices.Repeat([]int64{1, 4, 1, 4}, n/4)), []int32{2, 0}
			ev.Label = core.LabelsOf(slices.Repeat([]int32{0, 1, 2, 2, 0}, n/5))
		},
	} {
		ev, cfg, divided := batch(rng, n), core.DefaultConfig(), 0
		change(&ev, &cfg)
		if ev.Category != nil {
			divided = 5
		}
		var want []float64
		forThreads(func(threads int) {
			push, multiplier, state := make([]float64, n), make([]float64, n), make([]float64, constraint.StateSize(len(cfg.BackgroundLabel), divided))
			var got []float64
			for range 2 {
				found, err := constraint.Direction(push, multiplier, nil, ev, cfg, constraint.Steering{State: state, Categories: divided})
				require.NoError(t, err)
				got = slices.Concat(got, push, multiplier, state, []float64{found.Loss, found.Bias, found.Events, found.Size})
			}
			if want == nil {
				want = got
			}
			require.True(t, slices.Equal(want, got), "%s: %d threads", name, threads)
		})
	}
}

// A batch that fails, at whatever step, leaves the state as it was.
func TestAFailedBatchLeavesTheState(t *testing.T) {
	state, push := make([]float64, constraint.StateSize(1, 0)), make([]float64, 300)
	rng := rand.New(rand.NewPCG(99, 100))
	_, err := constraint.Direction(push, like(push), nil, batch(rng, 300), core.DefaultConfig(), constraint.Steering{State: state})
	require.NoError(t, err)
	before := slices.Clone(state)
	for name, spoil := range map[string]func(ev *core.Events[float64], cfg *core.Config){
		"a score that is NaN": func(ev *core.Events[float64], _ *core.Config) { ev.Score[7] = nan },
		"no background": func(ev *core.Events[float64], _ *core.Config) {
			ev.Label = core.LabelsOf(slices.Repeat([]int8{1}, 300))
		},
		"equal masses": func(ev *core.Events[float64], _ *core.Config) { ev.Mass = slices.Repeat([]float64{1}, 300) },
		"no weight":    func(ev *core.Events[float64], _ *core.Config) { ev.Weight = make([]float64, 300) },
		"a huge loss":  func(_ *core.Events[float64], cfg *core.Config) { cfg.Order, cfg.SlopePenalty = 1, 1e300 },
		"an overflow": func(ev *core.Events[float64], cfg *core.Config) {
			cfg.ScoreRange = [2]float64{0, 2e-307}
			floats.Scale(2e-307, ev.Score)
		},
		"few events": func(_ *core.Events[float64], cfg *core.Config) { cfg.MassRange = [2]float64{1e5, 2e5} },
	} {
		ev, cfg := batch(rng, 300), core.DefaultConfig()
		spoil(&ev, &cfg)
		_, err := constraint.Direction(push, like(push), nil, ev, cfg, constraint.Steering{State: state})
		require.Error(t, err, name)
		require.Equal(t, before, state, name)
	}
}

// Events outside a mass range, of other labels, without a mass or without a weight get exactly 0.
func TestEventsThatTakeNoPartAreNotPushed(t *testing.T) {
	for _, joint := range []bool{false, true} {
		ev, cfg := batch(rand.New(rand.NewPCG(101, 102)), 900), core.DefaultConfig()
		setWeights(&ev, rand.New(rand.NewPCG(103, 104)), 0.3, 0)
		ev.Masses, ev.Mass = [][]float64{ev.Mass, slices.Clone(ev.Mass)}, nil
		labels, takesPart := make([]int32, 900), make([]bool, 900)
		for i := range labels {
			labels[i] = int32(i % 3 / 2)
			ev.Masses[0][i] += 30 * float64(i%2)
			if i%5 == 0 {
				ev.Masses[1][i] = nan
			}
			inFirst, inSecond := ev.Masses[0][i] >= 20 && ev.Masses[0][i] <= 90, ev.Masses[1][i] <= 100
			takesPart[i] = labels[i] == 0 && ev.Weight[i] != 0 && (inFirst && inSecond || !joint && (inFirst || inSecond))
		}
		ev.Label, cfg.Joint, cfg.Missing = core.LabelsOf(labels), joint, core.MissingIgnore
		cfg.Variables = []core.Variable{{MassRange: [2]float64{20, 90}}, {MassRange: [2]float64{0, 100}}}
		found := pushes(t, ev, cfg, constraint.Steering{})
		for k, u := range found[:batches*900] {
			require.Equal(t, takesPart[k%900], u != 0, "event %d: %v", k, u)
		}
		for k, by := range found[batches*900:] {
			require.True(t, takesPart[k%900] || by == 1, "event %d: %v", k, by)
		}
	}
}

// A fixed strength has no multiplier, and neither a sum nor v. It knows the residuals of the tail, so that users can be told.
func TestAFixedStrengthMultipliesNothing(t *testing.T) {
	ev, state := batch(rand.New(rand.NewPCG(105, 106)), 900), make([]float64, constraint.StateSize(1, 0))
	push, multiplier := make([]float64, 900), make([]float64, 900)
	for range 3 {
		_, err := constraint.Direction(push, multiplier, nil, ev, core.DefaultConfig(), constraint.Steering{State: state, RelativeStrength: 5})
		require.NoError(t, err)
		require.Equal(t, slices.Repeat([]float64{1}, 900), multiplier)
	}
	for _, f := range constraint.Layout {
		switch of := state[f.At:][:f.Rows*f.Columns]; f.Name {
		case "steps", "batches":
			require.Equal(t, []float64{3}, of)
		case "sum", "level":
			require.Equal(t, make([]float64, len(of)), of)
		case "now", "recent", "mean":
			require.NotZero(t, floats.Norm(of, 2))
		}
	}
}
