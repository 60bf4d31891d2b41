package bins

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBinsMergeFromTheLowestMassOn(t *testing.T) {
	four, one, negative := [2]float64{4, 4}, [2]float64{1, 1}, [2]float64{-5, 5}
	below, above := [2]float64{1, 1 / 1.049}, [2]float64{1, 1 / 1.051} // effective events
	for _, c := range []struct {
		functions int
		bins      [][2]float64
		want      []int
	}{
		{1, [][2]float64{four, four, four}, []int{0, 1, 2}},
		{1, [][2]float64{one, one, one, one, four}, []int{0, 0, 1, 1, 2}},
		{1, [][2]float64{below, above, above, above}, []int{0, 0, 1, 2}},
		{1, [][2]float64{four, four, one}, []int{0, 1, 1}},               // the rest joins the last bin
		{0, [][2]float64{four, four, four, negative}, []int{0, 0, 0, 0}}, // and the bins before it, until it is enough
		{1, [][2]float64{{100, 100}, four, four, negative}, []int{0, 1, 1, 1}},
		{1, [][2]float64{one, one}, []int{0, 1}}, // too few are enough if there are no others
		{1, [][2]float64{one, {-1, 1}, one}, []int{0, 0, 0}},
		{1, [][2]float64{one, {-1, 1}, one, one}, []int{0, 1, 1, 1}},
		{4, [][2]float64{four, four, one, one, four}, []int{0, 1, 2, 3, 4}},
	} {
		var sums [][]float64 // W and T
		for k := range c.bins {
			sums = append(sums, c.bins[k][:])
		}
		require.Equal(t, c.want, findMerged(sums, nil, c.functions), c.bins)
	}
}

// The default number counts events, has a limit, and leaves a bin more than parameters.
func TestDefaultNumberOfBins(t *testing.T) {
	for _, c := range []struct {
		o       Options
		n, want int
	}{
		{Options{}, 10_000, 32}, {Options{Most: 16}, 10_000, 16}, {Options{Most: 16}, 100, 12},
		{Options{Order: 16, Most: 16}, 10_000, 18}, {Options{Order: 1, Most: 1, Few: true}, 10_000, 3}, {Options{Order: 1}, 7, 3}, {Options{Order: 1, Asked: 50, Most: 16}, 7, 50},
	} {
		require.Equal(t, c.want, c.o.For(c.n), c)
	}
}
