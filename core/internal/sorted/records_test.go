package sorted

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

// spread returns n events of which no two scores are equal, with weights of either sign.
func spread[T events.Float](n int) (ev events.Events[T]) {
	rng := rand.New(rand.NewPCG(11, uint64(n)))
	for range n {
		m := rng.ExpFloat64()
		ev.Score = append(ev.Score, T(1/(1+math.Exp(rng.NormFloat64()-m))))
		ev.Mass = append(ev.Mass, T(50+60*m))
		ev.Weight = append(ev.Weight, T(rng.NormFloat64()+1))
	}
	return ev
}

// crowds are scores of which many share a cell, from a number between 0 and 1.
var crowds = map[string]func(i int, u float64) float64{
	"spread":                  func(_ int, u float64) float64 { return u },
	"equal":                   func(int, float64) float64 { return 0.5 },
	"equal but the first":     func(i int, _ float64) float64 { return 0.5 - 0.25*float64(max(0, 1-i)) },
	"equal but a few":         func(i int, _ float64) float64 { return 0.5 + 1e-3*float64(i%40_000/39_999) },
	"0 or 1":                  func(_ int, u float64) float64 { return math.Round(u) },
	"two neighbors":           func(_ int, u float64) float64 { return 0.5 + math.Round(u)*0x1p-23 },
	"half 0":                  func(_ int, u float64) float64 { return max(0, u-0.5) },
	"half 0 or -0":            func(i int, u float64) float64 { return cmp.Or(max(0, u-0.5), math.Copysign(0, float64(i%2)-0.5)) },
	"half 0, half near it":    func(_ int, u float64) float64 { return max(0, u-0.5) * 1e-9 },
	"both signs":              func(_ int, u float64) float64 { return math.Log(u / (1 - u)) },
	"many magnitudes":         func(_ int, u float64) float64 { return math.Exp(6 * math.Log(u/(1-u))) },
	"one far away":            func(i int, u float64) float64 { return cmp.Or(-1e30*float64(max(0, 1-i)), 0.5+1e-14*u) },
	"half the least above 0":  func(i int, u float64) float64 { return max(5e-324*float64(i%2), u-0.5) },
	"ties of chunks":          func(_ int, u float64) float64 { return math.Round(20*u) / 20 },
	"large and small ties":    func(_ int, u float64) float64 { return math.Round(30*u*u*u) / 30 },
	"saturated":               func(_ int, u float64) float64 { return 1 / (1 + math.Exp(60*(u-0.4))) },
	"a tie among decades":     func(i int, u float64) float64 { return cmp.Or(float64(i%2)*math.Exp(-200*u), 1e-30) },
	"one cell of many values": func(i int, u float64) float64 { return (0.5 + 1e-13*u) * (1 - float64(max(0, 1-i))) },
}

// Where many scores share a cell, or are equal, records come out in order, in chunks of less than twice the usual size,
// so that many goroutines have work. A chunk ends within a tie only if all of its records are of that tie.
func TestCrowdedScores(t *testing.T) {
	for name, of := range crowds {
		t.Run(name, func(t *testing.T) {
			for _, n := range []int{7, 8, 23, 24, 1_000, 80_000} {
				checkCrowd[float64](t, n, of)
				checkCrowd[float32](t, n, of)
			}
		})
	}
}

func checkCrowd[T events.Float](t *testing.T, n int, of func(i int, u float64) float64) {
	t.Helper()
	ev := spread[T](n)
	rng := rand.New(rand.NewPCG(3, uint64(n)))
	for i := range ev.Score {
		ev.Score[i] = T(of(i, rng.Float64()))
	}
	sc, unlimited := par.Take(), [2]float64{math.Inf(-1), math.Inf(1)}
	sel, err := events.Select(ev, nil, nil, events.Limits{Mass: unlimited, Score: unlimited}, sc)
	require.NoError(t, err)
	for i, pair := range sel.Pairs {
		sel.Pairs[i] = pair&^events.BinMask | uint32(i%3)
	}
	rs := Sort(sel, 3, sc)

	unit, seen := events.UnitOf(float64(max(slices.Max(ev.Weight), -slices.Min(ev.Weight)))), make([]bool, n)
	for k, r := range rs.Words {
		i, before := rs.Index(r), rs.Index(rs.Words[max(0, k-1)])
		itself := !seen[i] && float64(ev.Score[i]) == rs.Score(k) && rs.Weights[k] == float64(ev.Weight[i])*unit
		inOrder := ev.Score[before] < ev.Score[i] || ev.Score[before] == ev.Score[i]
		if seen[i] = true; !itself || k > 0 && !inOrder {
			require.Failf(t, "a record is wrong", "record %d: %v, %v", k, itself, inOrder)
		}
	}
	size, sums := chunkSize(3), make([]float64, 3)
	require.Equal(t, 0, rs.Chunks[0])
	require.Equal(t, n, rs.Chunks[len(rs.Chunks)-1])
	for k, lo := range rs.Chunks[:len(rs.Chunks)-1] {
		require.InDeltaSlice(t, sums, rs.Row(rs.Sums, k), 1e-9*float64(n))
		hi := rs.Chunks[k+1]
		require.Less(t, lo, hi)
		require.Less(t, hi-lo, 2*size)
		for i, r := range rs.Words[lo:hi] {
			sums[rs.Bin(r)] += rs.Weights[lo+i]
		}
		first, last := rs.TieAt(lo, 0, n)
		if first < lo || last > hi { // a part of a tie, of which others are of nothing else too
			require.True(t, rs.Tied(lo, hi-1))
			require.GreaterOrEqual(t, hi-lo, size)
			from, to := rs.ChunksOfTie(k)
			require.Equal(t, []int{first, last}, []int{rs.Chunks[from], rs.Chunks[to]})
		} else if hi < n {
			require.False(t, rs.Tied(hi-1, hi))
		}
	}
}
