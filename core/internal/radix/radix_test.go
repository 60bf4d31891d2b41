package radix

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Many records of one cut key, in cells of a few, come out in order of their numbers: they are first
// in order of their bins.
func TestManyOfOneCutKey(t *testing.T) {
	const n, few = 1_000, 10
	rng := rand.New(rand.NewPCG(7, 8))
	numbers, starts := make([]float64, n), []uint32{0}
	numbers[0] = -1e300 // makes keys long
	for i := 1; i < n; i++ {
		numbers[i] = 0.5 + float64(i/few*few+rng.IntN(few))*0x1p-53
	}
	la := NewLayout[float64](slices.Min(numbers), slices.Max(numbers), 1<<20, 32)
	words, want := make([]uint64, n), make([]int, n)
	for i, x := range numbers {
		words[i], want[i] = la.record(x, rng.IntN(32), i), i
		if (i+1)%few == 0 {
			starts = append(starts, uint32(i+1))
		}
	}
	require.Equal(t, la.Key(words[1]), la.Key(words[n-1]))
	slices.SortStableFunc(want, func(a, b int) int { return cmp.Compare(numbers[a], numbers[b]) })
	Sort(words, starts, &la, numbers)
	for k, i := range want {
		require.Equal(t, numbers[i], numbers[la.Index(words[k])])
	}
}

// Words are numbers of type float64 in the same order, whatever they are made of: with keys
// that fill the record, and with scores from the lowest to the highest float32.
func TestWordsAreNumbers(t *testing.T) {
	check := func(word uint64) {
		x := math.Float64frombits(word)
		assert.True(t, x >= 0x1p-1022 && x < math.MaxFloat64, "%x", word)
	}
	for _, ends := range [][2]float32{{0, 1}, {0.5, 0.5}, {-1, 1}, {-math.MaxFloat32, math.MaxFloat32}, {0, math.MaxFloat32}} {
		la := NewLayout[float32](float64(ends[0]), float64(ends[1]), 1<<20, 32)
		for _, s := range ends {
			check(Pack(&la, s, 1<<20-1))
			assert.True(t, !la.Half || la.Number(Pack(&la, s, 0)) == float64(s))
		}
	}
	la := NewLayout[float64](-math.MaxFloat64, math.MaxFloat64, 1<<20, 32)
	check(la.record(-math.MaxFloat64, 0, 0))
	check(la.record(math.MaxFloat64, 31, 1<<20-1))
}

// With one bin and more than 2^31 events the index alone fills the lower half of a
// record, from which no bin can be shifted out.
func TestHalfRecordsHaveRoomForTheBin(t *testing.T) {
	for _, c := range []struct {
		events, bins int
		half         bool
	}{{1 << 31, 1, true}, {1<<31 + 1, 1, false}, {math.MaxUint32, 1, false}, {1 << 27, 32, true}, {1<<27 + 1, 32, false}} {
		la := NewLayout[float32](0, 1, c.events, c.bins)
		assert.Equal(t, c.half, la.Half, "%d events, %d bins", c.events, c.bins)
	}
}
