package events

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/libmode/libmode/core/internal/par"
	"github.com/stretchr/testify/require"
)

var inf, nan = math.Inf(1), math.NaN()

func limitsOf(lo, hi float64, ignore bool) Limits {
	return Limits{Mass: [2]float64{lo, hi}, Score: [2]float64{0, 1}, IgnoreMissing: ignore}
}

// Events inside the mass range take part, and the statistics are theirs.
func TestSelect(t *testing.T) {
	sc := par.Take()
	defer sc.Give()
	ev := Events[float64]{
		Score: []float64{0.1, 0.9, 0.5, 0.3, 1}, Mass: []float64{5, 20, 10, nan, 7}, Weight: []float64{2, 1000, -1, 50, 3},
	}
	sel, err := Select(ev, nil, nil, limitsOf(5, 10, true), sc)
	require.NoError(t, err)
	require.Equal(t, Stats{N: 3, MassSpan: Span{5, 10}, ScoreSpan: Span{0.1, 1}, WeightSpan: Span{-1, 3}, LeastWeight: 1}, sel.Stats)
	for i, takesPart := range []bool{true, false, true, false, true} {
		require.Equal(t, takesPart, sel.TakesPart(i))
		require.Equal(t, takesPart, sel.Pairs[i] != NoPair)
	}
	require.Equal(t, 0.25, sel.Unit())
	ev.Weight = []float64{3, 7, 3, 9, 3} // equal where it matters
	sel, err = Select(ev, nil, nil, limitsOf(5, 10, true), sc)
	require.NoError(t, err)
	require.Nil(t, sel.Weight)
	require.Equal(t, 1., sel.Unit())

	minus := math.Copysign(0, -1) // the same number as 0, of which the last comparison would choose one
	for _, mass := range [][]float64{{-1, minus}, {minus, 1}} {
		sel, err = Select(Events[float64]{Score: []float64{minus, minus}, Mass: mass}, nil, nil, limitsOf(-1, 1, false), sc)
		require.NoError(t, err)
		for _, end := range []float64{sel.MassSpan.Lo, sel.MassSpan.Hi, sel.ScoreSpan.Lo, sel.ScoreSpan.Hi} {
			require.Equal(t, end < 0, math.Signbit(end))
		}
	}
}

// The first bad event has the error, whatever is wrong with later ones in other parts, and of its numbers the score before the mass and
// the weight.
func TestTheFirstBadEvent(t *testing.T) {
	sc := par.Take()
	defer sc.Give()
	defer par.SetThreads(0)
	const n = 100_000
	score, mass, weight := slices.Repeat([]float64{0.5}, n), slices.Repeat([]float64{1}, n), slices.Repeat([]float64{1}, n)
	index := make([]uint32, n)
	for i := range n {
		mass[i] += float64(i)
		index[i] = uint32(2 * i)
	}
	fails := func(want string) {
		for _, threads := range []int{1, 8, 8, 8, 8} { // goroutines do not always take turns alike
			par.SetThreads(threads)
			_, err := Select(Events[float64]{Score: score, Mass: mass, Weight: weight}, index, nil, limitsOf(-inf, inf, false), sc)
			require.ErrorContains(t, err, want)
		}
	}
	weight[90_000] = inf
	fails("weight[180000] = +Inf: every weight of a selected event must be finite; leave such events out")
	mass[90_000] = nan
	fails("mass[180000] = NaN: every mass of a selected event must be finite; leave such events out, or set missing = ignore and give NaN")
	score[90_000] = 2
	fails("score[180000] = 2 lies outside score_range = [0, 1]: apply a sigmoid to raw outputs, or set it to [-Inf, +Inf]")
	score[89_999] = -inf
	fails("score[179998] = -Inf: every score of a selected event must be finite")
	weight[17] = nan
	fails("weight[34] = NaN")
}

// A division has the events of each label and category together, in their order, and scatters derivatives back: of one label or
// several, in one part or in several.
func TestDivide(t *testing.T) {
	defer par.SetThreads(0)
	par.SetThreads(3)
	for _, n := range []int{3_000, 150_001} {
		for _, wanted := range [][]int32{nil, {0}, {2}, {2, 0}} { // nil: events without labels
			for _, categories := range [][]int64{{math.MinInt64, 0, math.MaxInt64}, nil}[:1+min(1, len(wanted))] {
				checkDivision(t, n, wanted, categories)
			}
		}
	}
}

func checkDivision(t *testing.T, n int, wanted []int32, categories []int64) {
	t.Helper()
	sc := par.Take()
	defer sc.Give()
	rng := rand.New(rand.NewPCG(1, 2))
	labels, of, score, weight := make([]int32, n), make([]int64, n), make([]float64, n), make([]float64, n)
	for i := range n {
		labels[i], score[i], weight[i] = int32(rng.IntN(3)*min(1, len(wanted))), float64(i), rng.Float64()
		if categories != nil {
			of[i] = categories[rng.IntN(3)]
		}
	}
	ev := Events[float64]{Score: score, Mass: score, Weight: weight, Label: LabelsOf(labels)}
	if wanted == nil {
		ev.Label, wanted = nil, []int32{0}
	}
	if categories != nil {
		ev.Category = LabelsOf(of)
	}
	subs, err := Divide(ev, wanted, sc)
	require.NoError(t, err)
	require.NoError(t, SetFactors(subs, ev.Weight))
	require.Len(t, subs, len(wanted)*max(1, len(categories)))
	sums, shares, grad := make([]float64, 3), make([]float64, len(wanted)), make([]float64, n)
	for i, label := range labels {
		sums[label] += weight[i]
	}
	factor := make(map[[2]int64]float64) // by label and category
	for _, su := range subs {
		factor[[2]int64{int64(wanted[su.Label]), su.Category}] = su.Factor
		var sum float64
		own := ev.Of(&su, sc)
		for j, i := range su.Index {
			if labels[i] != wanted[su.Label] || of[i] != su.Category || own.Score[j] != score[i] || j > 0 && i <= su.Index[j-1] {
				require.Failf(t, "an event is wrong", "event %d of a subset of %v", j, su.Category)
			}
			sum += weight[i]
		}
		require.InEpsilon(t, sum/sums[wanted[su.Label]], su.Factor, 1e-9)
		shares[su.Label] += su.Factor
		Derivatives[float64]{Grad: grad}.Scatter(Derivatives[float64]{Grad: slices.Clone(own.Score)}, &su, sc)
	}
	require.InDeltaSlice(t, slices.Repeat([]float64{1}, len(wanted)), shares, 1e-9)
	for i, label := range labels {
		if want := score[i] * factor[[2]int64{int64(label), of[i]}]; slices.Contains(wanted, label) && grad[i] != want || !slices.Contains(wanted, label) && grad[i] != 0 {
			require.Failf(t, "a derivative is wrong", "event %d: %v", i, grad[i])
		}
	}
}

// A unit is a power of two that makes the largest weight about 1, also at the ends of double precision.
func TestUnits(t *testing.T) {
	for largest, want := range map[float64]float64{0: 1, 1: 0.5, 0.75: 1, 2e308 / 4: 0x1p-1022, 5e-324: 0x1p1023} {
		require.Equal(t, want, UnitOf(largest), largest)
	}
}
