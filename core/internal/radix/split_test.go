package radix

import (
	"cmp"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// together runs all parts at once.
func together(parts int, f func(part int)) {
	var all sync.WaitGroup
	all.Add(parts)
	for k := range parts {
		go func() {
			defer all.Done()
			f(k)
		}()
	}
	all.Wait()
}

// A split puts cells in order of their keys, loses no record, and leaves those of each cell in their order. Sizes are
// on both sides of where there are two parts, and most.
func TestSplit(t *testing.T) {
	for _, n := range []int{1, 2, 1_000, 2*SplitPart - 1, 2 * SplitPart, 65 * SplitPart} {
		for name, numbers := range sets(n) {
			if n > 2*SplitPart && name != "both signs" && name != "one value" {
				continue
			}
			lowest, highest, set := slices.Min(numbers), slices.Max(numbers), uint64(0)
			for _, x := range numbers {
				set |= math.Float64bits(x)
			}
			la := NewLayout[float64](lowest, highest, set, n, 3)
			words := make([]uint64, n)
			for i, x := range numbers {
				words[i] = la.Record(x, i%3, i)
			}
			all := slices.Clone(words)
			same := la.Key(slices.Min(words)) == la.Key(slices.Max(words))
			starts := Split(words, make([]uint64, n), &la, together)
			require.Equal(t, same, starts == nil, "%s, n = %d", name, n)
			if same {
				continue
			}
			require.Equal(t, []uint32{0, uint32(n)}, []uint32{starts[0], starts[len(starts)-1]})
			require.Greater(t, len(starts), 2, "%s, n = %d", name, n)
			for c, lo := range starts[:len(starts)-1] {
				cell := words[lo:starts[c+1]]
				require.NotEmpty(t, cell)
				if lo > 0 {
					require.Greater(t, la.Key(slices.Min(cell)), la.Key(slices.Max(words[starts[c-1]:lo])), "%s, n = %d", name, n)
				}
				require.True(t, slices.IsSortedFunc(cell, func(a, b uint64) int { return cmp.Compare(la.Index(a), la.Index(b)) }), "%s, n = %d", name, n)
			}
			slices.Sort(words)
			slices.Sort(all)
			require.Equal(t, all, words, "%s, n = %d: records are lost", name, n)
		}
	}
}
