package bins

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"

	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/par"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// quantileRule is the rule of quantile.go, taken literally: inner edge k lies midway between
// the sorted masses of rank r-1 and r, r = floor(k n / bins), moved down to the first of
// equal masses; rank 0, repeats and an edge that is not below the highest mass are dropped.
func quantileRule(masses []float64, asked int) []float64 {
	sorted := slices.Clone(masses)
	sort.Float64s(sorted)
	edges := []float64{sorted[0]}
	last := 0
	for k := 1; k < asked; k++ {
		r := sort.SearchFloat64s(sorted, sorted[k*len(sorted)/asked])
		if r > last {
			if edge := midpoint(sorted[r-1], sorted[r]); edge < sorted[len(sorted)-1] {
				edges = append(edges, edge)
			}
			last = r
		}
	}
	return append(edges, sorted[len(sorted)-1])
}

// Quantile edges follow the rule, both the edges of Edges and the edges of the
// loss; and every record has the bin lower <= m < upper of its mass.
func TestQuantileEdges(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	draws := map[string]func() float64{
		"uniform":   rng.Float64,
		"falling":   func() float64 { return 50 + 60*rng.ExpFloat64() },
		"heavy":     func() float64 { return math.Exp(20 * rng.NormFloat64()) },
		"signed":    func() float64 { return rng.NormFloat64() },
		"discrete":  func() float64 { return float64(rng.IntN(50)) },
		"one heavy": func() float64 { return math.Max(0, rng.NormFloat64()) },
		"neighbors": func() float64 {
			return []float64{1, math.Nextafter(1, 2), math.Nextafter(math.Nextafter(1, 2), 2)}[rng.IntN(3)]
		},
		"outliers": func() float64 {
			return []float64{1e9, -999, 50 + 60*rng.ExpFloat64()}[min(rng.IntN(40), 2)]
		},
		"peak":         func() float64 { return []float64{91, 50 + 60*rng.ExpFloat64()}[rng.IntN(2)] },
		"peak of some": func() float64 { return []float64{91, 91 + 1e-9*rng.Float64(), 50 + 60*rng.ExpFloat64()}[rng.IntN(3)] },
		"all but a few": func() float64 {
			return []float64{91, 91 - 1e-9*rng.Float64(), 91 + 1e-9*rng.Float64(), 300 * rng.Float64()}[max(0, rng.IntN(20)-16)]
		},
		"two zeros": func() float64 {
			return []float64{0, math.Copysign(0, -1), rng.NormFloat64()}[rng.IntN(3)]
		},
		"clusters": func() float64 { return float64(rng.IntN(3))*1e6 + rng.Float64() },
		"decades":  func() float64 { return math.Exp(600*rng.Float64() - 300) },
		"huge":     func() float64 { return (rng.Float64() - 0.5) * 1e308 },
	}
	for name, draw := range draws {
		for _, n := range []int{40, 41, 3_000, 100_000} {
			ev := events.Events[float64]{Score: make([]float64, n), Mass: make([]float64, n)}
			for i := range n {
				ev.Mass[i] = draw()
			}
			if slices.Min(ev.Mass) == slices.Max(ev.Mass) {
				continue // such masses are an error
			}
			for _, asked := range []int{1, 2, 7, 32, 40, 300, 40_000} {
				if asked > n {
					continue
				}
				checkBinning(t, ev, Options{Asked: asked}, quantileRule(ev.Mass, asked), name)
			}
		}
	}
}

// checkBinning finds the bins of events: they have these edges, each mass lies in its bin, and no quantile bin is smaller than the one it knows as the smallest.
func checkBinning(t *testing.T, ev events.Events[float64], o Options, edges []float64, name string) {
	t.Helper()
	unlimited := [2]float64{math.Inf(-1), math.Inf(1)}
	limits := events.Limits{Mass: unlimited, Score: unlimited}
	if o.Kind == GivenEdges {
		limits.Mass = [2]float64{edges[0], edges[len(edges)-1]}
	}
	sc := par.Take()
	defer sc.Give()
	sel, err := events.Select(ev, nil, nil, limits, sc)
	require.NoError(t, err)
	bs, err := New(sel, &o, sc)
	require.NoError(t, err)
	require.Equal(t, edges, bs.Edges, "%s, n = %d, %+v", name, len(ev.Mass), o)
	numbers := make([]uint32, len(ev.Mass))
	sel.FindBins(numbers, 0)
	sizes := make([]int, len(edges)-1)
	for i, b := range numbers {
		sizes[b]++
		m, last := ev.Mass[i], int(b) == len(edges)-2
		require.True(t, edges[b] <= m && (m < edges[b+1] || last && m == edges[b+1]), "%s: mass %v in bin %d", name, m, b)
	}
	if o.Kind == Quantile {
		require.LessOrEqual(t, bs.fewest, slices.Min(sizes), "%s, n = %d, %+v", name, len(ev.Mass), o)
	}
}

// Given and uniform edges, with masses on edges and next to them, and where many
// edges share a cell of the grid.
func TestGivenEdges(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for _, edges := range [][]float64{
		{0, 1}, spread(50, 300, 7), spread(50, 300, 40_000), spread(-1e-300, 1e-300, 5), {1, 1 + 1e-15, 2}, {0, 1e-9, 2e-9, 3e-9, 4e-9, 1},
	} {
		lo, hi := edges[0], edges[len(edges)-1]
		masses := []float64{lo, hi}
		for _, e := range edges {
			masses = append(masses, e, math.Nextafter(e, lo), math.Nextafter(e, hi))
		}
		for range 1000 {
			masses = append(masses, lo+(hi-lo)*math.Pow(rng.Float64(), 4))
		}
		checkBinning(t, events.Events[float64]{Score: make([]float64, len(masses)), Mass: masses}, Options{Kind: GivenEdges, Edges: edges}, edges, "given")
	}
}

// A pair of cells has no room for the numbers of more bins.
func TestTooManyBins(t *testing.T) {
	const n = events.MaxBins + 1
	ev := events.Events[float32]{Mass: make([]float32, n)}
	for i := range ev.Mass {
		ev.Mass[i] = float32(i)
	}
	sc := par.Take()
	defer sc.Give()
	sel, err := events.Select(ev, nil, nil, events.Limits{Mass: [2]float64{0, n}}, sc)
	require.NoError(t, err)
	for _, o := range []Options{{Asked: n}, {Kind: Uniform, Asked: n}, {Kind: GivenEdges, Edges: spread(0, n, n)}} {
		_, err = New(sel, &o, sc)
		require.ErrorContains(t, err, "524287 are possible")
	}
}

func spread(lo, hi float64, n int) []float64 {
	edges, _ := uniformEdges(lo, hi, n)
	return edges
}

// Edges lie halfway between masses, also where the sum of the two is beyond float64, and above the lower of neighbors.
func TestEdgesLieHalfway(t *testing.T) {
	for _, sign := range []float64{1, -1} {
		for _, unit := range []float64{1, 1e-300, 1e307} {
			below, at := min(11*sign, 17*sign)*unit, max(11*sign, 17*sign)*unit
			assert.InEpsilon(t, 14*sign*unit, midpoint(below, at), 1e-15)
		}
	}
	assert.Equal(t, 1.0, midpoint(math.Nextafter(1, 0), 1))
}
