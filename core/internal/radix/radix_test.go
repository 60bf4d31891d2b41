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

// sets are distributions that a sort by leading bits may find hard.
func sets(n int) map[string][]float64 {
	rng := rand.New(rand.NewPCG(5, 6))
	draw := func(f func() float64) []float64 {
		s := make([]float64, n)
		for i := range s {
			s[i] = f()
		}
		return s
	}
	outlier := draw(func() float64 { return 0.5 + 1e-14*rng.Float64() })
	outlier[n/2] = -1e300
	return map[string][]float64{
		"uniform":         draw(rng.Float64),
		"float32":         draw(func() float64 { return float64(rng.Float32()) }),
		"one value":       draw(func() float64 { return 0.25 }),
		"two values":      draw(func() float64 { return float64(rng.IntN(2)) }),
		"two neighbors":   draw(func() float64 { return 0.5 + float64(rng.IntN(2))*0x1p-23 }),
		"few values":      draw(func() float64 { return float64(rng.IntN(20)) / 20 }),
		"both signs":      draw(rng.NormFloat64),
		"many magnitudes": draw(func() float64 { return math.Exp(40 * rng.NormFloat64()) }),
		"one far away":    outlier,
		"near 1":          draw(func() float64 { return 1 - math.Exp(-15*rng.Float64()) }),
		"zeros among":     draw(func() float64 { return math.Max(0, rng.NormFloat64()) }),
	}
}

// Records come out in order of their numbers, whatever the cells; ties of one bin in order of
// index.
func TestSort(t *testing.T) {
	for _, n := range []int{1, 2, 7, 8, 23, 24, 1_000, 100_000} {
		for name, numbers := range sets(n) {
			for _, bins := range []int{1, 3} {
				lowest, highest := slices.Min(numbers), slices.Max(numbers)
				want := make([]int, n)
				for i := range numbers {
					want[i] = i
				}
				slices.SortStableFunc(want, func(a, b int) int { return cmp.Compare(numbers[a], numbers[b]) })
				la := NewLayout[float64](lowest, highest, n, bins)
				words := make([]uint64, n)
				for i, x := range numbers {
					words[i] = la.record(x, i%bins, i)
				}
				Sort(words, []uint32{0, uint32(n)}, &la, numbers)
				seen := make([]bool, n)
				for k, i := range want {
					index := la.Index(words[k])
					require.False(t, seen[index], "%s, n = %d: event %d twice", name, n, index)
					seen[index] = true
					require.Equal(t, numbers[i], numbers[index], "%s, n = %d", name, n)
					require.True(t, bins > 1 || index == i, "%s, n = %d", name, n)
					require.Equal(t, index%bins, la.Bin(words[k]))
				}
			}
		}
	}
}

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
