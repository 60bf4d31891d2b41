package sorted

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
	la := newLayout[float64](slices.Min(numbers), slices.Max(numbers), 1<<20, 32)
	words, want := make([]uint64, n), make([]int, n)
	for i, x := range numbers {
		words[i], want[i] = la.record(x, rng.IntN(32), i), i
		if (i+1)%few == 0 {
			starts = append(starts, uint32(i+1))
		}
	}
	require.Equal(t, words[1]>>la.keyShift, words[n-1]>>la.keyShift)
	slices.SortStableFunc(want, func(a, b int) int { return cmp.Compare(numbers[a], numbers[b]) })
	sortCells(words, starts, &la, numbers)
	for k, i := range want {
		require.Equal(t, numbers[i], numbers[la.Index(words[k])])
	}
}

// Keys without their last bit are resolved too.
func TestKeysWithoutOneBit(t *testing.T) {
	numbers := []float64{1, math.Nextafter(0.75, 1), 0.75, 0.5}
	la := newLayout[float64](0.5, 1, 1<<7, 1<<5)
	require.Equal(t, uint(1), la.cut)
	words := make([]uint64, len(numbers))
	for i, x := range numbers {
		words[i] = la.record(x, i, i) // of the two that share a key, the larger has the lower bin
	}
	sortCells(words, []uint32{0, 4}, &la, numbers)
	for k, word := range words {
		require.Equal(t, 3-k, la.Index(word))
	}
}

// Records in any order are sorted, nearly in order or not, into other memory and in place.
func TestSortNear(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 4))
	for n := range 150 {
		for _, off := range []int{0, 1, 3, 4, 5, 9, 150} {
			records := make([]uint64, n)
			for i := range records {
				records[i] = uint64(i+rng.IntN(off+1))<<40 | rng.Uint64N(1<<40)
			}
			want := slices.Clone(records)
			slices.Sort(want)
			dst := make([]uint64, n)
			sortNear(dst, records)
			require.Equal(t, want, dst)
			sortNear(records, records)
			require.Equal(t, want, records)
		}
	}
}

// A record has the number, the bin and the place that were packed into it, at the ends of the ranges of all three.
func TestRecordsHoldWhatIsPacked(t *testing.T) {
	const n, bins = 1 << 20, 32
	for _, ends := range [][2]float32{{0, 1}, {0.5, 0.5}, {-1, 1}, {-math.MaxFloat32, math.MaxFloat32}, {0, math.MaxFloat32}} {
		la := newLayout[float32](float64(ends[0]), float64(ends[1]), n, bins)
		require.True(t, la.half)
		wide := newLayout[float64](float64(ends[0]), float64(ends[1]), n, bins)
		for _, s := range ends {
			packed := make([]uint64, 1)
			pack(packed, la, []float32{s}, []uint32{0}, bins-1, n-1)
			record := packed[0]
			assert.Equal(t, []any{float64(s), n - 1, 0}, []any{(&Records{Layout: la, Words: packed}).Score(0), la.Index(record), la.Bin(record)})
			record = wide.record(float64(s), bins-1, n-1)
			key := (keyOf(float64(s)) - keyOf(float64(ends[0]))) >> wide.cut
			assert.Equal(t, []any{key, n - 1, bins - 1}, []any{record >> wide.keyShift, wide.Index(record), wide.Bin(record)})
		}
	}
}

// With one bin and more than 2^31 events the index alone fills the lower half of a
// record, from which no bin can be shifted out.
func TestHalfRecordsHaveRoomForTheBin(t *testing.T) {
	for _, c := range []struct {
		events, bins int
		half         bool
	}{{1 << 31, 1, true}, {1<<31 + 1, 1, false}, {math.MaxUint32, 1, false}, {1 << 27, 32, true}, {1<<27 + 1, 32, false}} {
		la := newLayout[float32](0, 1, c.events, c.bins)
		assert.Equal(t, c.half, la.half, "%d events, %d bins", c.events, c.bins)
	}
}

// Records of one cut key come out in order of their numbers: as saturated scores, of which the range is wide and nearly all lie near 1.
// Also where a word has no room for all bits that were cut.
func TestCrowdsOfOneCutKey(t *testing.T) {
	for _, n := range []int{2, 23, 24, 100, 3_000} {
		for _, cut := range []uint{0, 62} { // 0: by the layout
			rng := rand.New(rand.NewPCG(11, uint64(n)))
			numbers := make([]float64, n)
			for i := range numbers {
				numbers[i] = 1 - float64(rng.IntN(n/2+1))*0x1p-53
			}
			la := newLayout[float64](-1e300, 1, 1<<20, 32)
			if cut > 0 {
				la.cut = cut
			}
			records := make([]uint64, n)
			for i, x := range numbers {
				records[i] = la.record(x, rng.IntN(32), i)
			}
			rng.Shuffle(n, func(i, j int) { records[i], records[j] = records[j], records[i] })
			want, seen := slices.Sorted(slices.Values(numbers)), make([]bool, n)
			sortCells(records, []uint32{0, uint32(n)}, &la, numbers)
			for k, r := range records {
				require.Equal(t, want[k], numbers[la.Index(r)])
				require.False(t, seen[la.Index(r)])
				seen[la.Index(r)] = true
			}
		}
	}
}
