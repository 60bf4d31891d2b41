package constraint

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/par"
	"github.com/stretchr/testify/require"
)

// ranksOf returns the ranks of values.
func ranksOf[T events.Float](values []T, weights []float64) []float64 {
	sc := par.Take()
	defer sc.Give()
	sc.Team.PartsFor(len(values))
	found := make([]float64, len(values))
	ranks(found, values, weights, sc)
	return found
}

// A rank is the part of all sizes of weights below, and half of the part that is equal, for any distribution of values. Goroutines
// share the cells of many values.
func TestRanks(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for name, draw := range map[string]func() float64{
		"normal":         rng.NormFloat64,
		"ties":           func() float64 { return math.Round(3 * rng.NormFloat64()) },
		"one value":      func() float64 { return -2.5 },
		"both zeros":     func() float64 { return math.Copysign(0, rng.NormFloat64()) },
		"orders":         func() float64 { return math.Exp(200 * rng.NormFloat64()) },
		"an outlier":     func() float64 { return 1e300 * math.Floor(rng.Float64()+1e-4) },
		"some are NaN":   func() float64 { return math.Sqrt(rng.NormFloat64()) },
		"all are NaN":    math.NaN,
		"almost all NaN": func() float64 { return math.Log(rng.Float64() - 0.9999) },
	} {
		for _, n := range []int{300, 3 * par.AloneCall} {
			values, singles, weights := make([]float64, n), make([]float32, n), make([]float64, n)
			for i := range n {
				values[i], weights[i] = draw(), rng.NormFloat64()
				singles[i] = float32(values[i])
			}
			requireRanks(t, name, values, weights)
			requireRanks(t, name, singles, weights)
		}
	}
}

// requireRanks compares with ranks from one sort.
func requireRanks[T events.Float](t *testing.T, name string, values []T, weights []float64) {
	t.Helper()
	var order []int
	total := 0.0
	for i, v := range values {
		if v == v {
			order = append(order, i)
			total += math.Abs(weights[i])
		}
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(values[i], values[j]) })
	want := slices.Repeat([]float64{math.NaN()}, len(values))
	below := 0.0
	for lo := 0; lo < len(order); {
		hi, tied := lo, 0.0
		for ; hi < len(order) && values[order[hi]] == values[order[lo]]; hi++ {
			tied += math.Abs(weights[order[hi]])
		}
		for _, i := range order[lo:hi] {
			want[i] = (below + tied/2) / total
		}
		below += tied
		lo = hi
	}
	for i, q := range ranksOf(values, weights) {
		if want[i] != want[i] {
			require.True(t, math.IsNaN(q), name)
		} else {
			require.InDelta(t, want[i], q, 1e-11, name)
		}
	}
}

// Ranks lie inside (0, 1), even of events of almost no weight.
func TestRanksAreInside(t *testing.T) {
	values := []float64{1, 2, 3}
	for _, weights := range [][]float64{{1e-300, 1, 1e-300}, {1, 0, 0}, {1e300, -1e-300, 1}} {
		found := ranksOf(values, weights)
		for _, q := range found {
			require.True(t, q > 0 && q < 1, "%v: %v", weights, found)
		}
		require.True(t, slices.IsSorted(found))
	}
}

// The functions are orthonormal over the cells of one mass that have a value, and of the score.
func TestBasesAreOrthonormal(t *testing.T) {
	for _, ba := range []basis{ofScore, {32, 24, ofMasses[1].values[:32*24], nil}} {
		for k := range ba.functions {
			for l := range ba.functions {
				var overlap, want float64
				for c := range ba.cells {
					overlap += ba.values[c*ba.functions+k] * ba.values[c*ba.functions+l] / float64(ba.cells)
				}
				if k == l {
					want = 1
				}
				require.InDelta(t, want, overlap, 1e-13)
			}
		}
	}
	for variables, ba := range ofMasses {
		for c := range ba.cells {
			for k := range ba.functions {
				require.Equal(t, ba.values[c*ba.functions+k], ba.transposed[k*ba.cells+c])
			}
		}
		if variables > 0 { // the last cell has the events without any value, and the function 1 alone
			last := ba.values[(ba.cells-1)*ba.functions:]
			require.Equal(t, append([]float64{1}, make([]float64, ba.functions-1)...), last)
		}
	}
}

// The spread is the standard deviation of logits in units in which the mean slope is 1.
func TestSpreadOfLogits(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const n = 20_000
	sc := par.Take()
	defer sc.Give()
	g := group[float64]{place: make([]uint32, n), sc: sc}
	for range n {
		g.score = append(g.score, 1/(1+math.Exp(-0.1*rng.NormFloat64())))
		g.weight = append(g.weight, 1)
	}
	all := []group[float64]{g}
	ofScores := func(s float64) (place, slope float64) { return s, s * (1 - s) }
	want := spreadOf(all, n, ofScores)
	require.InEpsilon(t, 0.1, want, 0.03)
	for i, s := range g.score {
		g.score[i] = math.Log(s / (1 - s))
	}
	require.InEpsilon(t, want, spreadOf(all, n, probabilities(all)), 1e-12)
	for _, far := range []float64{-3000, -700, -20, 20, 700, 3000, -6000} { // also where a probability is 0 or 1 as a number
		for i := range g.score {
			g.score[i] += far
		}
		require.InEpsilon(t, 0.1, spreadOf(all, n, probabilities(all)), 0.03, far)
		for i := range g.score {
			g.score[i] -= far
		}
	}
	for i := range g.score {
		g.score[i] = 0 // where the slope of a score is 0
	}
	require.Zero(t, spreadOf(all, n, ofScores))
	require.Zero(t, spreadOf(all, n, probabilities(all)))
}

// A length has room for any number of masses, and is 0 where an int has none for it.
func TestStateSize(t *testing.T) {
	require.Equal(t, 1+27*12+5*27*16+1+3+2+125+32+1+2*125+3*16*17, ofPart)
	for _, of := range []struct{ labels, categories, want int }{
		{-1, 0, 0}, {0, 0, 0}, {0, 3, 0}, {1, -1, 0}, {1, 0, 10 + 3715}, {1, 1, 10 + 3715}, {2, 0, 10 + 2*3715}, {2, 3, 10 + 6*3715},
		{math.MaxInt, 0, 0}, {1, math.MaxInt, 0}, {math.MaxInt, math.MaxInt, 0}, {math.MaxInt/3715 + 1, 0, 0}, {1 << 32, 1 << 31, 0},
	} {
		require.Equal(t, of.want, StateSize(of.labels, of.categories), of)
	}
	require.Positive(t, StateSize(math.MaxInt/3715-1, 1))
}

// The fields of all parts share the state without a gap, and none of them overlaps another.
func TestPlacesInTheState(t *testing.T) {
	const parts = 6
	s := make(state, StateSize(2, 3))
	for part := range parts {
		tail := s.tail(part, mostFunctions, 0)
		for _, table := range [][]float64{
			s.field(part, ofBatches), s.sum(part, mostFunctions), tail.level, tail.now, tail.recent, tail.mean, tail.allowed, tail.noise,
			s.field(part, ofSeen), s.field(part, ofEach), s.field(part, ofShares), s.field(part, ofMeanMass),
			s.field(part, ofSignals), s.start(part, mostCells).background, s.start(part, mostCells).signal, tail.moments,
		} {
			for i := range table {
				table[i]++
			}
		}
		*tail.known++
	}
	require.Equal(t, append(make(state, numbers), slices.Repeat(state{1}, parts*ofPart)...), s)
	var named []float64
	for _, f := range Layout {
		named = append(named, make([]float64, f.Rows*f.Columns)...)
	}
	require.Len(t, named, StateSize(1, 0))
}
