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
	require.Equal(t, Stats{N: 3, MassMin: 5, MassMax: 10, ScoreMin: 0.1, ScoreMax: 1, WeightMin: -1, WeightMax: 3}, sel.Stats)
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
}

// The first bad event has the error, and of its numbers the score before the mass and the weight.
func TestTheFirstBadEvent(t *testing.T) {
	sc := par.Take()
	defer sc.Give()
	const n = 5000
	score, mass, weight := slices.Repeat([]float64{0.5}, n), slices.Repeat([]float64{1}, n), slices.Repeat([]float64{1}, n)
	index := make([]uint32, n)
	for i := range n {
		mass[i] += float64(i)
		index[i] = uint32(2 * i)
	}
	fails := func(want string) {
		_, err := Select(Events[float64]{Score: score, Mass: mass, Weight: weight}, index, nil, limitsOf(-inf, inf, false), sc)
		require.ErrorContains(t, err, want)
	}
	weight[4000] = inf
	fails("weight[8000] = +Inf: every weight of a selected event must be finite; leave such events out")
	mass[4000] = nan
	fails("mass[8000] = NaN: every mass of a selected event must be finite; leave such events out, or set missing = ignore and give NaN")
	score[4000] = 2
	fails("score[8000] = 2 lies outside score_range = [0, 1]: apply a sigmoid to raw outputs, or set it to [-Inf, +Inf]")
	score[3999] = -inf
	fails("score[7998] = -Inf: every score of a selected event must be finite")
	weight[17] = nan
	fails("weight[34] = NaN")
}

// A division has the events of each label and category together, in their order, and scatters derivatives back.
func TestDivide(t *testing.T) {
	sc := par.Take()
	defer sc.Give()
	rng := rand.New(rand.NewPCG(1, 2))
	const n = 3000
	labels, categories, score, weight := make([]int32, n), make([]int64, n), make([]float64, n), make([]float64, n)
	for i := range n {
		labels[i], categories[i] = int32(rng.IntN(3)), int64(rng.IntN(3)-1)*1e15
		score[i], weight[i] = float64(i), rng.Float64()
	}
	ev := Events[float64]{Score: score, Mass: score, Weight: weight, Label: LabelsOf(labels), Category: LabelsOf(categories)}
	wanted := []int32{2, 0}
	di, err := Divide(ev, wanted, sc)
	require.NoError(t, err)
	require.NoError(t, di.SetFactors(wanted))
	require.Len(t, di.Subsets, 6)
	seen, shares := 0, [2]float64{}
	for k, su := range di.Subsets {
		own, index := di.Subset(k)
		require.True(t, slices.IsSorted(index))
		var sum float64
		for j, i := range index {
			require.Equal(t, wanted[su.Label], labels[i])
			require.Equal(t, su.Category, categories[i])
			require.Equal(t, score[i], own.Score[j])
			sum += weight[i]
		}
		seen += len(index)
		shares[su.Label] += su.Factor
		var ofLabel float64
		for i, label := range labels {
			if label == wanted[su.Label] {
				ofLabel += weight[i]
			}
		}
		require.InEpsilon(t, sum/ofLabel, su.Factor, 1e-12)
	}
	require.Equal(t, len(di.Index), seen)
	require.InDeltaSlice(t, []float64{1, 1}, shares[:], 1e-12)
	grad := make([]float64, n)
	di.Scatter(Derivatives[float64]{grad}, Derivatives[float64]{di.Events.Score}, sc.Team)
	for i, label := range labels {
		require.Equal(t, label == 1 && grad[i] == 0 || label != 1 && grad[i] == score[i], true)
	}
}

// A unit is a power of two that makes the largest weight about 1, also at the ends of double precision.
func TestUnits(t *testing.T) {
	for largest, want := range map[float64]float64{0: 1, 1: 0.5, 0.75: 1, 2e308 / 4: 0x1p-1022, 5e-324: 0x1p1023} {
		require.Equal(t, want, UnitOf(largest), largest)
	}
}
