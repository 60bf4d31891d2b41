package bins

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/par"
	"github.com/stretchr/testify/require"
)

var everything = events.Limits{Mass: [2]float64{math.Inf(-1), math.Inf(1)}, Score: [2]float64{0, 1}}

// drawn returns n events, with weights of either sign if they are wanted.
func drawn(n int, weighted bool) events.Events[float64] {
	rng := rand.New(rand.NewPCG(21, uint64(n)))
	ev := events.Events[float64]{}
	for range n {
		ev.Score, ev.Mass = append(ev.Score, rng.Float64()), append(ev.Mass, 50+60*rng.ExpFloat64())
		if weighted {
			ev.Weight = append(ev.Weight, 1+rng.NormFloat64()/2)
		}
	}
	return ev
}

// The means over the bins are those of a sum over all events, for few functions and for many, of several blocks.
func TestMeansByDefinition(t *testing.T) {
	for _, weighted := range []bool{false, true} {
		for count := range 3 {
			ev := drawn(40_000, weighted)
			functions := func(m float64) []float64 {
				x := (m - 60) * 0x1p-8
				return []float64{1, x, x * (m - 90) * 0x1p-8}[:count+1]
			}
			fill := func(values [][]float64, lo int) {
				for l, to := range values {
					for i := range to {
						to[i] = functions(ev.Mass[lo+i])[l+1]
					}
				}
			}
			{
				columns := events.Columns{Count: count, Fill: fill}
				sc := par.Take()
				limits := everything
				limits.Mass = [2]float64{55, 300} // not all take part
				sel, err := events.Select(ev, nil, nil, limits, sc)
				require.NoError(t, err)
				o := &Options{Asked: 5}
				bs, err := New(sel, o, sc)
				require.NoError(t, err)
				_, err = Settle(bs, sel, o, columns, sc)
				require.NoError(t, err)
				sums, want := make([]float64, 5), make([]float64, 5*(count+1))
				for i, m := range ev.Mass {
					if m < 55 || m > 300 {
						continue
					}
					b, w := 0, 1.0
					for bs.Edges[b+1] <= m && b < 4 {
						b++
					}
					if weighted {
						w = ev.Weight[i]
					}
					sums[b] += w
					for l, f := range functions(m) {
						want[b*(count+1)+l] += w * f
					}
				}
				for i := range want {
					want[i] /= sums[i/(count+1)]
				}
				require.InDeltaSlice(t, want, bs.Means, 1e-12)
				sc.Give()
			}
		}
	}
}

// Bins that are merged hold the events of all of their parts, and edges between them are gone.
func TestMergedBinsKeepTheirEvents(t *testing.T) {
	sc := par.Take()
	defer sc.Give()
	ev := drawn(400, false)
	ev.Weight = make([]float64, 400)
	for i, m := range ev.Mass { // above 90 nearly all of the weight is of few events
		if ev.Weight[i] = 1; m > 90 {
			ev.Weight[i] = math.Pow(10, 60*ev.Score[i])
		}
	}
	sel, err := events.Select(ev, nil, nil, everything, sc)
	require.NoError(t, err)
	o := &Options{Few: true}
	bs, err := New(sel, o, sc)
	require.NoError(t, err)
	before := slices.Clone(bs.Edges)
	settled, err := Settle(bs, sel, o, events.Columns{Fill: func([][]float64, int) {}}, sc)
	require.NoError(t, err)
	require.True(t, settled)
	require.Less(t, bs.Count(), len(before)-1)
	require.Greater(t, bs.Count(), 3)
	numbers, w, squares := make([]uint32, 400), make([]float64, bs.Count()), make([]float64, bs.Count())
	sel.FindBins(numbers, 0)
	for i, b := range numbers {
		require.GreaterOrEqual(t, ev.Mass[i], bs.Edges[b])
		require.True(t, ev.Mass[i] < bs.Edges[b+1] || int(b) == bs.Count()-1)
		w[b] += ev.Weight[i]
		squares[b] += ev.Weight[i] * ev.Weight[i]
	}
	for b := range w {
		require.GreaterOrEqual(t, w[b]*w[b]/squares[b], 1.05)
	}
	for _, edge := range bs.Edges {
		require.Contains(t, before, edge)
	}
}

// A bin has no mean if its sum of weights is 0, negative or too small for an inverse.
func TestSumsThatHaveNoInverse(t *testing.T) {
	bs, sel := &Bins{Edges: []float64{1, 2, 3}}, &events.Selection[float64]{Events: events.Events[float64]{Weight: []float64{1}}}
	sel.WeightSpan.Hi = 1 // a unit of 1/2
	for want, sum := range map[string]float64{
		"bin 1 of 2, mass in [2, 3], has sum of weights 0: it is empty": 0,
		"has sum of weights -4, which must be positive and finite":      -2,
		"has sum of weights +Inf":                                       math.Inf(1), "has sum of weights 1e-323": 5e-324,
	} {
		require.ErrorContains(t, CheckSums(bs, []float64{1, sum}, sel), want)
	}
	require.NoError(t, CheckSums(bs, []float64{1, 1e-300}, sel))
	require.ErrorContains(t, CheckSums(bs, []float64{-1, -1}, sel), "bin 0 of 2, mass in [1, 2), has")
}

// Cells of two variables: quantiles of the second within each bin of the first, or a grid. A cell without events is left out.
func TestJointCells(t *testing.T) {
	sc := par.Take()
	defer sc.Give()
	const n = 600
	x, y := make([]float64, n), make([]float64, n)
	for i := range n {
		x[i], y[i] = float64(i), float64(7*i%n)+1000*float64(i/(n/2)) // y of the upper half of x is far above
	}
	masses := [][]float64{x, y}
	limits := []events.Limits{everything, everything}
	limits[0].Mass = [2]float64{0, 549}
	ranges, inside, err := LookInside(masses, nil, []Options{{Limits: limits[0]}, {Limits: limits[1]}}, sc)
	require.NoError(t, err)
	require.Len(t, inside, 550)
	cells := func(kind Binning, bins ...int) (*Bins, []uint32) {
		var axes []Options
		for k, asked := range bins {
			axes = append(axes, Options{Limits: limits[k], Kind: kind, Asked: asked})
			axes[k].Mass = ranges[k]
		}
		bs, of, err := JointCells(masses, nil, axes, inside, sc)
		require.NoError(t, err)
		count := make([]int, bs.Count())
		for i, c := range of {
			if i >= 550 {
				require.Equal(t, uint32(events.NoPair), c)
				continue
			}
			count[c]++
			for k, mass := range masses {
				require.True(t, mass[i] >= bs.Bounds[c][k][0] && mass[i] <= bs.Bounds[c][k][1], "event %d in %v", i, bs.Bounds[c])
			}
		}
		require.NotContains(t, count, 0)
		if kind == Quantile {
			require.LessOrEqual(t, slices.Max(count)-slices.Min(count), 1)
		}
		return bs, of
	}
	nested, _ := cells(Quantile, 2, 5)
	require.Equal(t, 10, nested.Count())
	grid, _ := cells(Uniform, 4, 3)
	require.Less(t, grid.Count(), 12) // some are empty
	require.Greater(t, grid.Count(), 5)
	require.ErrorContains(t, grid.Error(0, "has a flaw"), "cell 0 of ")
	_, _, err = JointCells(masses, nil, []Options{{Limits: limits[0], Kind: Uniform, Asked: 400}, {Limits: limits[1], Kind: Uniform, Asked: 400}}, inside, sc)
	require.ErrorContains(t, err, "160000 cells, and 65536 are possible")
}

// An event is inside if each of its masses is. A bad mass names its variable.
func TestLookInside(t *testing.T) {
	sc := par.Take()
	defer sc.Give()
	within := func(lo, hi float64, ignore bool) events.Limits {
		return events.Limits{Mass: [2]float64{lo, hi}, Score: everything.Score, IgnoreMissing: ignore}
	}
	masses := [][]float64{{1, 2, 3, 4}, {math.NaN(), 20, 30, 99}}
	axes := []Options{{Limits: everything}, {Limits: within(10, 40, true)}}
	ranges, inside, err := LookInside(masses, []uint32{5, 6, 7, 8}, axes, sc)
	require.NoError(t, err)
	require.Equal(t, []uint32{1, 2}, inside)
	require.Equal(t, [2]float64{1, 4}, ranges[0])
	require.Equal(t, [2]float64{10, 40}, ranges[1])
	axes[1].IgnoreMissing = false
	_, _, err = LookInside(masses, []uint32{5, 6, 7, 8}, axes, sc)
	require.ErrorContains(t, err, "variable 1 of mass: mass[5] = NaN")
	_, _, err = LookInside(masses, nil, []Options{{Limits: within(3, 9, false)}, {Limits: within(0, 25, true)}}, sc)
	require.ErrorContains(t, err, "none of the 4 selected events has every variable")
}
