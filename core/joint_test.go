package core

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// naiveCells returns the cell of each event, by sorting the events of each slice.
func naiveCells(ev Events[float64], cfg Config, ranges [][2]float64) []int {
	cell := make([]int, len(ev.Score))
	for k, mass := range ev.Masses {
		one := cfg.of(k)
		members := make(map[int][]int)
		for i, c := range cell {
			members[c] = append(members[c], i)
		}
		for c, events := range members {
			edges := uniformEdges(ranges[k][0], ranges[k][1], one.Bins)
			switch cfg.Binning {
			case GivenEdges:
				edges = one.Edges
			case Quantile:
				edges = naiveQuantiles(mass, events, min(one.Bins, len(events)), ranges[k])
			}
			for _, i := range events {
				b := sort.Search(len(edges)-2, func(j int) bool { return edges[j+1] > mass[i] })
				cell[i] = c*1000 + b
			}
		}
	}
	return cell
}

// naiveQuantiles follows the words of the definition.
func naiveQuantiles(mass []float64, events []int, bins int, ends [2]float64) []float64 {
	var sorted []float64
	for _, i := range events {
		sorted = append(sorted, mass[i])
	}
	sort.Float64s(sorted)
	edges := []float64{ends[0]}
	for k := 1; k < bins; k++ {
		rank := k * len(sorted) / bins
		for rank > 0 && sorted[rank-1] == sorted[rank] {
			rank--
		}
		if rank == 0 {
			continue
		}
		middle := (sorted[rank-1] + sorted[rank]) / 2
		if middle <= sorted[rank-1] {
			middle = sorted[rank]
		}
		if middle > edges[len(edges)-1] && middle < ends[1] {
			edges = append(edges, middle)
		}
	}
	return append(edges, ends[1])
}

// newJointBrute is newBrute for cells.
func newJointBrute(ev Events[float64], cfg Config) *brute {
	ranges := make([][2]float64, len(ev.Masses))
	for k, mass := range ev.Masses {
		ranges[k] = [2]float64{slices.Min(mass), slices.Max(mass)}
		if one := cfg.of(k); cfg.Binning == GivenEdges {
			ranges[k] = [2]float64{one.Edges[0], one.Edges[len(one.Edges)-1]}
		}
	}
	number := make(map[int]int)
	br := &brute{cfg: cfg, scores: ev.Score}
	for i, c := range naiveCells(ev, cfg, ranges) {
		if _, known := number[c]; !known {
			number[c] = len(number)
			br.sums = append(br.sums, 0)
		}
		w := 1.0
		if ev.Weight != nil {
			w = ev.Weight[i]
		}
		br.bin, br.weight = append(br.bin, number[c]), append(br.weight, w)
		br.sums[number[c]] += w
	}
	br.nb = len(number)
	degrees := degreesUpTo(len(ev.Masses), cfg.Order)
	br.cfg.Order = len(degrees) - 1
	br.p, br.a = make([][]float64, br.nb), make([][]float64, br.nb)
	for b := range br.nb {
		br.p[b], br.a[b] = make([]float64, len(degrees)), make([]float64, len(degrees))
	}
	for i, b := range br.bin {
		for j, of := range degrees {
			product := br.weight[i] / br.sums[b]
			for k, mass := range ev.Masses {
				x := 2*(mass[i]-ranges[k][0])/(ranges[k][1]-ranges[k][0]) - 1
				product *= polynomials(cfg.Order, x)[of[k]]
			}
			br.p[b][j] += product
		}
	}
	br.fitProjection()
	return br
}

// degreesUpTo returns all degrees of products up to a total degree, in any order.
func degreesUpTo(variables, order int) (all [][]int) {
	var count func(prefix []int, left int)
	count = func(prefix []int, left int) {
		if len(prefix) == variables {
			all = append(all, slices.Clone(prefix))
			return
		}
		for d := range left + 1 {
			count(append(prefix, d), left-d)
		}
	}
	count(nil, order)
	return all
}

// randomJoint draws options and events in several variables.
func randomJoint(rng *rand.Rand) (Events[float64], Config) {
	cfg := DefaultConfig(MoDe)
	cfg.Joint, cfg.Order, cfg.Unbiased = true, rng.IntN(3), rng.IntN(2) == 0
	cfg.Binning, cfg.Reduction = Binning(rng.IntN(3)), Reduction(rng.IntN(2))
	if rng.IntN(2) == 0 {
		cfg.ScoreRange = unbounded()
	}
	d := 2 + rng.IntN(2)
	n := 60 + rng.IntN(400)
	ev := Events[float64]{Score: make([]float64, n)}
	for k := range d {
		mass := make([]float64, n)
		for i := range mass {
			mass[i] = rng.ExpFloat64()
			if k == 1 && rng.IntN(3) == 0 {
				mass[i] = math.Floor(mass[i]*4) / 4
			}
		}
		ev.Masses = append(ev.Masses, mass)
		v := Variable{Bins: 2 + rng.IntN(3), MassRange: unbounded()}
		if cfg.Binning == GivenEdges {
			v.Bins, v.Edges = 0, []float64{0, 0.4, 1, 1.1, 20}[:3+rng.IntN(2)]
			v.Edges = append(slices.Clone(v.Edges[:len(v.Edges)-1]), 20)
		}
		cfg.Variables = append(cfg.Variables, v)
	}
	steps := []float64{0, 10}[rng.IntN(2)]
	for i := range n {
		ev.Score[i] = 1 / (1 + math.Exp(rng.NormFloat64()-ev.Masses[0][i]*ev.Masses[1][i]))
		if steps > 0 {
			ev.Score[i] = math.Floor(ev.Score[i]*steps) / steps
		}
	}
	if rng.IntN(2) == 0 {
		ev.Weight = make([]float64, n)
		for i := range n {
			ev.Weight[i] = 0.2 + rng.Float64()
		}
	}
	return ev, cfg
}

// TestJointAgainstBruteForce compares with the definition over random options.
func TestJointAgainstBruteForce(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for compared := 0; compared < 100; {
		ev, cfg := randomJoint(rng)
		got := make([]float64, len(ev.Score))
		value, err := LossAndGrad(got, ev, cfg)
		if err != nil && (errors.Is(err, ErrOption) || errors.Is(err, ErrBin)) {
			// There are as many functions as cells, or a cell has one event and no bias.
			continue
		}
		require.NoErrorf(t, err, "%+v", cfg)
		br := newJointBrute(ev, cfg)
		if br.determined() < 1e-3 {
			continue // columns that depend on others, nearly or wholly, which the normal equations cannot take
		}
		compared++
		loss, grad := br.lossAndGrad()
		require.InDeltaf(t, loss, value, 1e-9*(math.Abs(loss)+1e-3), "%+v", cfg)
		requireAlike(t, grad, got, 1e-8)
	}
}

// requireAlike compares gradients relative to the largest element.
func requireAlike[T Float](t *testing.T, want, got []T, tolerance float64) {
	t.Helper()
	var largest float64
	for _, g := range want {
		largest = max(largest, math.Abs(float64(g)))
	}
	for i := range want {
		require.InDeltaf(t, want[i], got[i], tolerance*largest, "element %d", i)
	}
}

// An error about a cell says where it is, in each variable.
func TestJointErrorNamesTheCell(t *testing.T) {
	cfg := DefaultConfig(MoDe)
	cfg.Joint, cfg.Binning, cfg.Unbiased = true, GivenEdges, false
	cfg.Variables = []Variable{{MassRange: unbounded(), Edges: []float64{0, 1, 2}}, {MassRange: unbounded(), Edges: []float64{10, 20, 30}}}
	ev := Events[float64]{Score: []float64{0.1, 0.2, 0.3, 0.4, 0.5}, Weight: []float64{1, 1, 1, 1, -2}}
	ev.Masses = [][]float64{{0.5, 0.5, 1.5, 1.5, 1.5}, {15, 25, 15, 25, 15}}
	_, err := Loss(ev, cfg)
	require.ErrorIs(t, err, ErrBin)
	require.ErrorContains(t, err, "mass in [1, 2] x [10, 20], has sum of weights -1")
}

// Events outside the edges of a variable take no part jointly, but bad ones among them are errors.
func TestJointEventsOutsideEdges(t *testing.T) {
	ev := severalVariables[float64](2000, true, 0)
	ev.Masses = ev.Masses[:2]
	cfg := DefaultConfig(MoDe)
	cfg.Joint, cfg.Binning, cfg.Unbiased = true, GivenEdges, false
	cfg.Variables = []Variable{
		{MassRange: unbounded(), Edges: []float64{60, 80, 120}}, {MassRange: unbounded(), Edges: []float64{-1, 0, 1}},
	}
	got := make([]float64, 2000)
	loss, err := LossAndGrad(got, ev, cfg)
	require.NoError(t, err)
	some, at := Events[float64]{Masses: make([][]float64, 2)}, []int{}
	for i, m := range ev.Masses[0] {
		if other := ev.Masses[1][i]; m <= 120 && other >= -1 && other <= 1 {
			some.Score, some.Weight, at = append(some.Score, ev.Score[i]), append(some.Weight, ev.Weight[i]), append(at, i)
			some.Masses[0], some.Masses[1] = append(some.Masses[0], m), append(some.Masses[1], other)
		}
	}
	grad, want := make([]float64, len(at)), make([]float64, 2000)
	alone, err := LossAndGrad(grad, some, cfg)
	require.NoError(t, err)
	for j, i := range at {
		want[i] = grad[j]
	}
	assert.Equal(t, alone, loss)
	assert.Equal(t, want, got)
	ev.Masses[0][7], ev.Weight[7] = 1e6, math.Inf(1)
	_, err = Loss(ev, cfg)
	assert.ErrorContains(t, err, "weight[7] = +Inf")
	ev.Weight[7], ev.Score[7] = 1, 2
	_, err = Loss(ev, cfg)
	assert.ErrorContains(t, err, "score[7] = 2 lies outside score_range")
}

// Events of several blocks have the same loss with any number of threads, and an error names the first of two bad masses.
func TestJointBlocks(t *testing.T) {
	for _, n := range []int{1<<14 - 1, 1<<14 + 1, 3*(1<<14) + 5} {
		ev := severalVariables[float32](n, false, 0)
		cfg := DefaultConfig(MoDe)
		cfg.Order, cfg.Joint, cfg.Unbiased = 1, true, false
		checkThreads(t, ev, cfg, "joint")
		for _, bad := range []int{0, n / 2, min(n-1, 1<<14) - 1, n - 2} {
			spoilt := slices.Clone(ev.Masses[1])
			spoilt[bad], spoilt[n-1] = float32(nan), float32(inf)
			_, err := Loss(Events[float32]{Score: ev.Score, Masses: [][]float32{ev.Masses[0], spoilt}}, cfg)
			require.ErrorContains(t, err, fmt.Sprintf("variable 1 of mass: mass[%d] = NaN", bad))
		}
	}
}

// of returns the configuration of the loss of variable k alone.
func (c *Config) of(k int) Config {
	one := *c
	one.Joint, one.Variables = false, nil
	if len(c.Variables) > 0 {
		v := c.Variables[k]
		one.MassRange, one.Edges, one.Knots = v.MassRange, v.Edges, v.Knots
		if v.Bins > 0 {
			one.Bins = v.Bins
		}
	}
	return one
}

// bounded reports whether moments are bounded, so that c~ is not linear in F.
func (c *Config) bounded() bool { return !math.IsInf(c.MaxSlope, 1) || c.Monotonic }
