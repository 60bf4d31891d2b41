package core

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// unbinnedConfig returns that of an unbinned loss.
func unbinnedConfig(order, degree int) Config {
	cfg := DefaultConfig(MoDe)
	cfg.Binning, cfg.Order, cfg.Degree = Unbinned, order, degree
	return cfg
}

// Golden cases of one variable without categories.
func TestUnbinnedGolden(t *testing.T) {
	text, err := os.ReadFile("../tests/golden/variables.json")
	require.NoError(t, err)
	var records []json.RawMessage
	require.NoError(t, json.Unmarshal(text, &records))
	seen := 0
	for _, record := range records {
		var kind struct {
			Name     string
			Mass     []any
			Category []any
		}
		require.NoError(t, json.Unmarshal(record, &kind))
		if !strings.HasPrefix(kind.Name, "unbinned") || kind.Category != nil {
			continue
		}
		if _, several := kind.Mass[0].([]any); several {
			continue
		}
		var g goldenCase
		require.NoError(t, json.Unmarshal(record, &g))
		checkGolden[float64](t, &g, 1e-9)
		checkGolden[float32](t, &g, 1e-4) // the precision of the inputs
		seen++
	}
	require.Equal(t, 4, seen)
}

// bruteUnbinned computes the unbinned loss from its definition, with J counted from
// scratch for every score, in O(n^2).
type bruteUnbinned struct {
	order    int
	unbiased bool
	score    []float64
	u        []float64
	q        [][]float64 // by degree
	squares  []float64   // Q_i
	factor   float64     // g
}

func newBruteUnbinned(ev Events[float64], cfg Config) *bruteUnbinned {
	br := &bruteUnbinned{order: cfg.Order, unbiased: cfg.Unbiased, score: ev.Score}
	br.u = append(br.u, onesIfNil(ev.Weight, len(ev.Score))...)
	floats.Scale(1/floats.Sum(br.u), br.u)
	lo, hi := floats.Min(ev.Mass), floats.Max(ev.Mass)
	for k := range cfg.Degree + 1 {
		column := make([]float64, len(ev.Mass))
		for i, m := range ev.Mass {
			column[i] = math.Cos(float64(k) * math.Acos(2*((m-lo)/(hi-lo))-1)) // of degree k in the mass
		}
		for range 2 {
			for _, q := range br.q {
				floats.AddScaled(column, -br.product(q, column), q)
			}
		}
		floats.Scale(1/math.Sqrt(br.product(column, column)), column)
		br.q = append(br.q, column)
	}
	var all, spread float64
	for i, u := range br.u {
		var square, rest float64
		for _, q := range br.q[cfg.Order+1:] {
			square += u * u * q[i] * q[i]
		}
		for j := range br.u {
			h := br.h(i, j)
			rest += h * h
		}
		br.squares = append(br.squares, square)
		all += square
		spread += square * (1 - 2*br.h(i, i) + rest)
	}
	br.factor = all / spread
	return br
}

func (br *bruteUnbinned) product(a, b []float64) (sum float64) {
	for i, u := range br.u {
		sum += u * a[i] * b[i]
	}
	return sum
}

func (br *bruteUnbinned) h(i, j int) (sum float64) {
	for _, q := range br.q[:br.order+1] {
		sum += br.u[j] * q[i] * q[j]
	}
	return sum
}

// integrand returns J where the events with in[i] are below.
func (br *bruteUnbinned) integrand(in []bool) (j float64) {
	theta, a := make([]float64, len(in)), make([]float64, len(br.q))
	for i := range in {
		if in[i] {
			theta[i] = 1
		}
	}
	for k, q := range br.q {
		a[k] = br.product(q, theta)
		if k > br.order {
			j += a[k] * a[k]
		}
	}
	if !br.unbiased {
		return j
	}
	for i, square := range br.squares {
		f := 0.0
		for l, q := range br.q[:br.order+1] {
			f += a[l] * q[i]
		}
		j -= br.factor * square * (theta[i] - f) * (theta[i] - f)
	}
	return j
}

// randomUnbinned draws options and events, with ties in score and mass, weights of 0, and sometimes as few
// events as there are polynomials.
func randomUnbinned(rng *rand.Rand) (Events[float64], Config) {
	order := rng.IntN(4)
	cfg := unbinnedConfig(order, order+1+rng.IntN(5))
	cfg.Unbiased = rng.IntN(3) > 0
	if rng.IntN(2) == 0 {
		cfg.ScoreRange = unbounded()
	}
	n := cfg.Degree + 1 + rng.IntN(80)
	ev := Events[float64]{Score: make([]float64, n), Mass: make([]float64, n)}
	steps := []float64{0, 5, 40}[rng.IntN(3)] // 0: no ties in score
	weighted := rng.IntN(2) == 0
	for i := range n {
		ev.Mass[i] = 50 + 60*rng.ExpFloat64()
		if i > cfg.Degree && rng.IntN(4) == 0 {
			ev.Mass[i] = ev.Mass[rng.IntN(i)]
		}
		ev.Score[i] = 1 / (1 + math.Exp(rng.NormFloat64()-ev.Mass[i]/100))
		if steps > 0 {
			ev.Score[i] = math.Floor(ev.Score[i]*steps) / steps
		}
		if weighted {
			ev.Weight = append(ev.Weight, 0.2+rng.ExpFloat64())
			if i > cfg.Degree && rng.IntN(10) == 0 {
				ev.Weight[i] = 0
			}
		}
	}
	return ev, cfg
}

// The loss and its gradient are those of the definition.
func TestUnbinnedAgainstBruteForce(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	for range 300 {
		ev, cfg := randomUnbinned(rng)
		got := make([]float64, len(ev.Score))
		value, err := LossAndGrad(got, ev, cfg)
		require.NoErrorf(t, err, "%+v", cfg)
		br := newBruteUnbinned(ev, cfg)
		loss, grad := lossAndGradOf(br.integrand, br.score, cfg)
		require.InDeltaf(t, loss, value, 1e-10*(math.Abs(loss)+1e-3), "%+v", cfg)
		for i, g := range grad {
			require.InDeltaf(t, g, got[i], 1e-9*(largestOf(grad)+1e-6), "element %d, %+v", i, cfg)
		}
	}
}

// Events outside the mass range, of other labels or without weight change nothing, wherever their masses are, and the
// map from masses to x does not matter.
func TestUnbinnedWithOtherEvents(t *testing.T) {
	ev := spreadEvents[float64](500, false, 0.1)
	ev.Weight = make([]float64, 500)
	for i := range ev.Weight {
		ev.Weight[i] = 0.5 + ev.Score[i]
	}
	cfg := unbinnedConfig(1, 5)
	want := make([]float64, 500)
	loss, err := LossAndGrad(want, ev, cfg)
	require.NoError(t, err)
	cfg.MassRange = [2]float64{-1e300, 1e300}
	ev.Score = append(ev.Score, 0.5, 0.5, nan)
	ev.Mass = append(ev.Mass, -1e300, 2e300, nan)
	ev.Weight = append(ev.Weight, 0, 3, nan)
	ev.Label = LabelsOf(append(make([]int32, 502), 1))
	grad := make([]float64, 503)
	again, err := LossAndGrad(grad, ev, cfg)
	require.NoError(t, err)
	require.InDelta(t, loss, again, 1e-12)
	requireClose(t, append(want, 0, 0, 0), grad, 1e-11)
}

// Where all scores but some are in ties of more than a chunk, the gradient is that of the definition.
func TestUnbinnedLargeTies(t *testing.T) {
	ev := spreadEvents[float64](20_000, false, 0)
	for _, weighted := range []bool{false, true} {
		for i, s := range ev.Score {
			if s > 0.6 {
				ev.Score[i] = 0.7
			} else if s > 0.3 && s < 0.35 {
				ev.Score[i] = 0.3
			}
			if weighted {
				ev.Weight = append(ev.Weight, ev.Mass[i])
			}
		}
		cfg := unbinnedConfig(1, 4)
		got := make([]float64, len(ev.Score))
		value, err := LossAndGrad(got, ev, cfg)
		require.NoError(t, err)
		require.InDelta(t, floats.Dot(got, ev.Score), value, 1e-12) // see TestUnbinnedIsHomogeneous
		br := newBruteUnbinned(ev, cfg)
		largest := largestOf(got)
		for i := 0; i < len(got); i += 2_000 {
			require.InDelta(t, gradientOf(br.integrand, br.score, i), got[i], 1e-8*largest)
		}
	}
}

// Above the highest score J is 0: all events are below, and a_k = 0 for k > 0. So the loss, over many chunks,
// is the sum of the scores times their derivatives.
func TestUnbinnedIsHomogeneous(t *testing.T) {
	for _, weighted := range []bool{false, true} {
		for _, unbiased := range []bool{false, true} {
			ev := spreadEvents[float64](100_000, weighted, 0.3)
			for i, w := range ev.Weight {
				ev.Weight[i] = math.Abs(w)
			}
			cfg := unbinnedConfig(2, 6)
			cfg.Unbiased = unbiased
			grad := make([]float64, len(ev.Score))
			loss, err := LossAndGrad(grad, ev, cfg)
			require.NoError(t, err)
			require.InEpsilon(t, floats.Dot(grad, ev.Score), loss, 1e-10)
		}
	}
}

// Results do not depend on the number of threads, to the last bit, also where the polynomials have to
// be found from all events.
func TestUnbinnedThreads(t *testing.T) {
	ev := spreadEvents[float32](200_000, false, 0.1)
	far := ev
	far.Mass = slices.Clone(ev.Mass)
	for i := range far.Mass {
		if i%5_000 == 3 {
			far.Mass[i] *= 1e6
		}
	}
	for _, events := range []Events[float32]{ev, far} {
		for _, order := range []int{0, 3} {
			checkThreads(t, events, unbinnedConfig(order, 8), "")
		}
	}
}

// Where score and mass are independent, the mean over batches of the unbiased loss is 0; that of the plain one is
// far from it.
func TestUnbinnedIsUnbiased(t *testing.T) {
	for _, weighted := range []bool{false, true} {
		for _, order := range []int{0, 2} {
			rng := rand.New(rand.NewPCG(25, uint64(order)))
			cfg := unbinnedConfig(order, 6)
			unbiased, plain := make([]float64, 1_500), make([]float64, 1_500)
			for k := range plain {
				ev := Events[float64]{}
				for range 60 {
					ev.Score, ev.Mass = append(ev.Score, rng.Float64()), append(ev.Mass, rng.ExpFloat64())
					if weighted {
						ev.Weight = append(ev.Weight, rng.ExpFloat64())
					}
				}
				var err error
				cfg.Unbiased = true
				unbiased[k], err = Loss(ev, cfg)
				require.NoError(t, err)
				cfg.Unbiased = false
				plain[k], err = Loss(ev, cfg)
				require.NoError(t, err)
			}
			mean, deviation := stat.MeanStdDev(unbiased, nil)
			sigma := deviation / math.Sqrt(1_500)
			require.Less(t, math.Abs(mean), 4*sigma)
			require.Greater(t, stat.Mean(plain, nil), 40*sigma)
		}
	}
}

// Every error that events can make of this loss says what is wrong, and where.
func TestUnbinnedErrors(t *testing.T) {
	good := func() Events[float64] {
		ev := spreadEvents[float64](40, false, 0)
		ev.Weight = slices.Repeat([]float64{1, 2}, 20)
		ev.Label = LabelsOf(append([]int32{1}, make([]int32, 39)...))
		return ev
	}
	for _, test := range []struct {
		want   string
		kind   error
		events func(*Events[float64])
	}{
		{"weight[7] = -0.5 is negative, and binning = none needs weights >= 0", ErrOption, func(e *Events[float64]) { e.Weight[7] = -0.5 }},
		{"weight[7] = NaN", ErrNotFinite, func(e *Events[float64]) { e.Weight[7] = nan }},
		{"degree = 4 needs 5 distinct masses, of events with weights above 0, and there are 4:", ErrNoEvents, func(e *Events[float64]) {
			for i := range e.Mass {
				e.Mass[i] = float64(i % 4)
			}
			e.Mass[5], e.Weight[5] = 17, 0
		}},
		{"and there are 1:", ErrNoEvents, func(e *Events[float64]) { fill(e.Mass, 7) }},
		{"and there are 0:", ErrNoEvents, func(e *Events[float64]) { fill(e.Weight, 0) }},
		{"and there are 3 that differ by more than rounding", ErrNoEvents, func(e *Events[float64]) {
			for i := range e.Mass {
				e.Mass[i] = 100*float64(i%3) + 1e-13*float64(i)
			}
		}},
		{"and there are 1:", ErrNoEvents, func(e *Events[float64]) { *e = Events[float64]{Score: []float64{0.5}, Mass: []float64{5}} }},
		{"too wide for double precision", ErrOverflow, func(e *Events[float64]) { e.Mass[1], e.Mass[2] = -1e308, 1e308 }},
		{"mass is empty", ErrNoEvents, func(e *Events[float64]) { *e = Events[float64]{} }},
	} {
		ev := good()
		test.events(&ev)
		_, err := Loss(ev, unbinnedConfig(1, 4))
		assert.ErrorIs(t, err, test.kind, test.want)
		assert.ErrorContains(t, err, test.want)
	}
	cfg := unbinnedConfig(1, 4)
	_, err := Edges(good(), cfg)
	assert.ErrorContains(t, err, "binning = none has no bins")
	_, err = MomentsAt([]float64{0.5}, good(), cfg)
	assert.ErrorContains(t, err, "binning = none has no bins")
	bi := unbinnedBias{size: 1, equal: 1, m: make([]float64, 1)}
	assert.ErrorContains(t, bi.set([]float64{2}), "too few effective events")
}

// below returns which scores are below s.
func below(scores []float64, s float64, orEqual bool) []bool {
	in := make([]bool, len(scores))
	for i, other := range scores {
		in[i] = other < s || orEqual && other == s
	}
	return in
}

// gradientOf returns the mean of what moving event i up and down does to the integral of J, given as a function
// of which events are below.
func gradientOf(integrand func(in []bool) float64, scores []float64, i int) float64 {
	plus, minus := below(scores, scores[i], false), below(scores, scores[i], true)
	lower, upper := integrand(plus), integrand(minus)
	plus[i], minus[i] = true, false
	return (lower - integrand(plus) + integrand(minus) - upper) / 2
}

// lossAndGradOf integrates such a J.
func lossAndGradOf(integrand func(in []bool) float64, scores []float64, cfg Config) (loss float64, grad []float64) {
	lo, hi := floats.Min(scores), floats.Max(scores)
	open := cfg.ScoreRange == unbounded()
	if !open {
		lo, hi = cfg.ScoreRange[0], cfg.ScoreRange[1]
	}
	distinct := append([]float64{lo, hi}, scores...)
	slices.Sort(distinct)
	for k := 1; k < len(distinct); k++ {
		loss += integrand(below(scores, distinct[k-1], true)) * (distinct[k] - distinct[k-1])
	}
	top := 0.0
	for _, s := range scores {
		if s == hi {
			top++
		}
	}
	for i, s := range scores {
		g := gradientOf(integrand, scores, i)
		if open && s == hi { // the end of the integral moves along
			g += integrand(below(scores, s, true)) / min(top, 2)
		}
		grad = append(grad, g)
	}
	return loss, grad
}
