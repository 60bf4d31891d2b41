package bins

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// sumsOf returns the sums W and T of bins.
func sumsOf(bins ...[2]float64) *sums {
	su := &sums{width: 2}
	for _, row := range bins {
		su.rows = append(su.rows, row[:]...)
	}
	return su
}

func TestBinsMergeFromTheLowestMassOn(t *testing.T) {
	four, one, negative := [2]float64{4, 4}, [2]float64{1, 1}, [2]float64{-5, 5}
	for _, c := range []struct {
		functions int
		bins      [][2]float64
		want      []int
	}{
		{1, [][2]float64{four, four, four}, []int{0, 1, 2}},
		{1, [][2]float64{one, one, one, one, four}, []int{0, 0, 0, 0, 1}},
		{1, [][2]float64{four, four, one}, []int{0, 1, 1}},               // the rest joins the last bin
		{0, [][2]float64{four, four, four, negative}, []int{0, 0, 0, 0}}, // and the bins before it, until it is enough
		{1, [][2]float64{{100, 100}, four, four, negative}, []int{0, 1, 1, 1}},
		{1, [][2]float64{one, one, one}, []int{0, 1, 2}}, // too few are enough if there are no others
		{1, [][2]float64{one, {-1, 1}, one, one}, []int{0, 1, 1, 1}},
		{3, [][2]float64{four, four, one, one, four}, []int{0, 1, 2, 3, 4}},
	} {
		require.Equal(t, c.want, sumsOf(c.bins...).findMerged(len(c.bins), c.functions), c.bins)
	}
}

// Merged bins have a positive sum of weights and enough effective events, or are all of the events.
func TestMergedBinsHaveEnough(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	alone, several := 0, 0
	for range 2000 {
		nb := 1 + rng.IntN(12)
		rows := make([][2]float64, nb)
		for b := range rows {
			for range rng.IntN(8) {
				w := rng.NormFloat64() + 0.7
				rows[b][0] += w
				rows[b][1] += w * w
			}
		}
		to := sumsOf(rows...).mergeUntil(nb, enough)
		merged := make([][2]float64, to[nb-1]+1)
		for b, row := range rows {
			require.True(t, b == 0 && to[b] == 0 || b > 0 && (to[b] == to[b-1] || to[b] == to[b-1]+1))
			merged[to[b]][0] += row[0]
			merged[to[b]][1] += row[1]
		}
		if len(merged) == 1 {
			alone++
			continue
		}
		several++
		for _, row := range merged {
			require.True(t, row[0] > 0 && row[0]*row[0] >= enough*row[1]*(1-1e-12), "%v of %v", merged, rows)
		}
	}
	require.Greater(t, min(alone, several), 100)
}

// The default number counts events, has a limit, and leaves a bin more than parameters.
func TestDefaultNumberOfBins(t *testing.T) {
	for _, c := range []struct {
		o       Options
		n, want int
	}{
		{Options{}, 10_000, 32}, {Options{Most: 16}, 10_000, 16}, {Options{Most: 16}, 100, 12},
		{Options{Order: 16, Most: 16}, 10_000, 18}, {Options{Order: 1}, 7, 3}, {Options{Order: 1, Asked: 50, Most: 16}, 7, 50},
	} {
		require.Equal(t, c.want, c.o.For(c.n), c)
	}
}
