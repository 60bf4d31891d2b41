package core

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// unsortedOf goes through the stages up to the records, which are not sorted yet.
func unsortedOf[T Float](t *testing.T, ev Events[T], cfg Config) (*bins, *records[T], *scratch) {
	t.Helper()
	sc := takeScratch()
	sel, err := selectEvents(ev, nil, &cfg, true, sc)
	require.NoError(t, err)
	bs, err := newBins(sel, &cfg, 1, sc)
	require.NoError(t, err)
	return bs, newRecords(sel, bs, sc), sc
}

// recordsOf goes through the stages up to the sums.
func recordsOf[T Float](t *testing.T, ev Events[T], cfg Config) (*bins, *records[T], *sums) {
	t.Helper()
	bs, rs, sc := unsortedOf(t, ev, cfg)
	return bs, rs, rs.sortAndSum(ev.Weight, 1, bs.count(), sc)
}

// The records of a selection come out in order of score, those of equal scores in order
// of index, in the bins of their masses, with chunks that divide no tie.
func TestRecords(t *testing.T) {
	cfg := paperConfig()
	for _, n := range []int{100, 3_000, 100_000} {
		for _, tied := range []float64{0, 0.1, 1} {
			ev := spreadEvents[float64](n, true, tied)
			cfg.Bins = 3
			bs, rs, su := recordsOf(t, ev, cfg)
			require.Len(t, rs.words, n)
			all := make([]float64, bs.count())
			for k, r := range rs.words {
				i := rs.Index(r)
				require.Equal(t, searchBin(bs.edges, ev.Mass[i]), rs.Bin(r))
				require.Equal(t, ev.Score[i], rs.score(k))
				require.Equal(t, ev.Weight[i], rs.weight(k))
				all[rs.Bin(r)] += ev.Weight[i]
				if k > 0 {
					before := rs.Index(rs.words[k-1])
					require.True(t, ev.Score[before] < ev.Score[i] || ev.Score[before] == ev.Score[i] && before < i)
				}
			}
			require.InDeltaSlice(t, all, su.all(), 1e-10*float64(n))
			for _, start := range rs.chunks[1 : len(rs.chunks)-1] {
				require.False(t, start < n && rs.tied(start-1, start))
			}
		}
	}
}

// The gradient of many events is the one of few, written another way.
func TestScatter(t *testing.T) {
	defer func(from int) { scatterFrom = from }(scatterFrom)
	for _, weighted := range []bool{false, true} {
		for name, change := range walkOptions {
			cfg := paperConfig()
			change(&cfg)
			ev := spreadEvents[float32](300_000, weighted, 0.1)
			ev.Mass[7] = 40 // outside the range: its gradient stays 0
			cfg.MassRange = [2]float64{50, 1000}
			var grads [][]float32
			for _, scatterFrom = range []int{1 << 30, 1000} {
				grad := make([]float32, len(ev.Score))
				_, err := LossAndGrad(grad, ev, cfg)
				require.NoError(t, err, name)
				grads = append(grads, grad)
			}
			require.Equal(t, grads[0], grads[1], name)
		}
	}
}
