package constraint

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/loss"
	"github.com/libmode/libmode/core/internal/par"
	"github.com/libmode/libmode/core/internal/radix"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
)

// ranksOf returns the ranks of values.
func ranksOf[T events.Float](values []T, weights []float64) []float64 {
	sc := par.Take()
	defer sc.Give()
	sc.Team.Expect(len(values))
	found := make([]float64, len(values))
	for i, v := range values {
		if v != v {
			found[i] = math.NaN()
		}
	}
	sorted, s := radix.SortValues(values, sc), group[T]{sc: sc}
	for _, word := range sorted.Words {
		i := sorted.Index(word)
		s.score, s.weight = append(s.score, float64(values[i])), append(s.weight, weights[i])
		s.size += math.Abs(weights[i])
	}
	s.setRanks()
	for k, word := range sorted.Words {
		found[sorted.Index(word)] = s.rank[k]
	}
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
			requireCells(t, name, values, weights)
			requireCells(t, name, singles, weights)
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

// requireCells compares the cells of masses, some of them outside the limits, with those of the ranks inside.
func requireCells[T events.Float](t *testing.T, name string, masses []T, weights []float64) {
	t.Helper()
	sc := par.Take()
	defer sc.Give()
	sc.Team.Expect(len(masses))
	for _, limits := range [][2]float64{{math.Inf(-1), math.Inf(1)}, {-1, 2}} {
		inside := make([]T, len(masses))
		for i, m := range masses {
			if inside[i] = m; !(float64(m) >= limits[0] && float64(m) <= limits[1]) {
				inside[i] = T(math.NaN())
			}
		}
		s := group[T]{cell: make([]uint8, len(masses)), weight: weights, sc: sc}
		s.addCells(masses, limits, 32)
		for i, q := range ranksOf(inside, weights) {
			want := 32
			if q == q {
				want = cellOf(q, 32)
			}
			if above := q*32 + nearBorder; q != q || math.Abs(above-math.Round(above)) > 1e-8 {
				require.EqualValues(t, want, s.cell[i], "%v: %v at %v", name, masses[i], q)
			}
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
	s, ca := &group[float64]{total: n, size: n}, &call[float64]{plan: &loss.Plan{ScoreRange: [2]float64{0, 1}}}
	for range n {
		s.score, s.weight = append(s.score, 1/(1+math.Exp(-0.1*rng.NormFloat64()))), append(s.weight, 1)
	}
	slices.Sort(s.score)
	all, score := []*group[float64]{s}, s.score
	want := ca.spread(all, n)
	require.InEpsilon(t, 0.1, want, 0.03)
	floats.Scale(2, s.weight) // in another unit, of which total knows nothing
	s.size *= 2
	require.InEpsilon(t, want, ca.spread(all, n), 1e-12)
	for i, s := range score {
		score[i] = math.Log(s / (1 - s))
	}
	ca.Logits = true
	require.InEpsilon(t, want, ca.spread(all, n), 1e-12)
	for _, far := range []float64{-3000, -700, -20, 20, 700, 3000, -6000} { // also where a probability is 0 or 1 as a number
		for i := range score {
			score[i] += far
		}
		require.InEpsilon(t, 0.1, ca.spread(all, n), 0.03, far)
		for i := range score {
			score[i] -= far
		}
	}
	for i := range score {
		score[i] = 0 // where the slope of a score is 0
	}
	require.Zero(t, ca.spread(all, n))
	ca.Logits = false
	require.Zero(t, ca.spread(all, n))
}

// A length has room for any number of masses, and is 0 where an int has none for it.
func TestStateSize(t *testing.T) {
	require.Equal(t, 1+27*12+5*27*16+1+3+2+125+32+1+2*125+3*16*17, lengthOfPart)
	for _, of := range []struct{ labels, categories, want int }{
		{-1, 0, 0}, {0, 0, 0}, {0, 3, 0}, {1, -1, 0}, {1, 0, 10 + 3715}, {1, 1, 10 + 3715}, {2, 0, 10 + 2*3715}, {2, 3, 10 + 6*3715},
		{math.MaxInt, 0, 0}, {1, math.MaxInt, 0}, {math.MaxInt, math.MaxInt, 0}, {math.MaxInt/3715 + 1, 0, 0}, {1 << 32, 1 << 31, 0},
	} {
		require.Equal(t, of.want, StateSize(of.labels, of.categories), of)
	}
	require.Positive(t, StateSize(math.MaxInt/3715-1, 1))
}

// The fields of all parts share the state without a gap, and none of them overlaps another. Every mass has room.
func TestPlacesInTheState(t *testing.T) {
	for variables := 1; variables <= 3; variables++ {
		require.LessOrEqual(t, ofMasses[variables].functions, mostFunctions)
		require.LessOrEqual(t, ofMasses[variables].cells, mostCells)
		require.LessOrEqual(t, variables*massCells[variables], mostOwnCells)
	}
	numbers := make([]float64, StateSize(2, 3))
	for _, f := range Layout {
		for at := f.At; at < len(numbers); at += max(f.Stride, len(numbers)) {
			for i := range f.Rows * f.Columns {
				numbers[at+i]++
			}
		}
	}
	for i := range numbers[:lengthOfTotals+lengthOfPart] {
		require.Equal(t, 1., numbers[i], i)
	}
	for i := range numbers {
		numbers[i] = float64(i)
	}
	s := stateOf(numbers)
	require.Len(t, s.parts, 6)
	for name, got := range map[string]float64{"version": s.version, "categories": s.categories} {
		require.Equal(t, float64(field(name).At), got, name)
	}
	for k := range s.parts {
		p := &s.parts[k]
		for name, got := range map[string]float64{
			"batches": p.batches, "sum": p.sum[0][0], "level": p.level[0][0], "now": p.now[0][0], "recent": p.recent[0][0], "mean": p.mean[0][0],
			"allowed": p.allowed[0][0], "known": p.known, "noise": p.noise[0], "seen": p.seen, "each": p.each, "shares": p.shares[0],
			"mass": p.mass[0], "signals": p.signals, "background": p.background[0], "signal": p.signal[0], "moments": p.moments[0],
		} {
			f := field(name)
			require.Equal(t, float64(f.At+k*f.Stride), got, name)
		}
	}
}

// field returns a field of the layout.
func field(name string) Field {
	return Layout[slices.IndexFunc(Layout, func(f Field) bool { return f.Name == name })]
}
