package lanes

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// lengths are those of blocks: with and without events beyond whole vectors.
var lengths = []int{0, 1, 2, 3, 4, 5, 7, 8, 9, 31, 512, 515}

// bothWays calls f with vector instructions and without, if there are any.
func bothWays(t *testing.T, f func() any) {
	if !Vectors(false) {
		t.Log("no vector instructions here")
	}
	want := f()
	Vectors(true)
	require.Equal(t, want, f())
}

// Ties are found wherever they are, and an integral has the sum of its terms.
func TestScores(t *testing.T) {
	for _, n := range lengths[1:] {
		rng := rand.New(rand.NewPCG(uint64(n), 3))
		changes := make([]float64, n)
		for i := range changes {
			changes[i] = rng.NormFloat64()
		}
		for at := range n {
			scores := make([]float64, n)
			for i := range scores {
				scores[i] = float64(i)
			}
			if at < n-1 {
				scores[at+1] = scores[at]
			}
			var want float64
			for i, c := range changes {
				want += c * (0.7 - scores[i])
			}
			bothWays(t, func() any {
				require.Equal(t, at, FirstTie(scores), "of %d", n)
				integral := Integrate(changes, scores, 0.7)
				require.InDelta(t, want, integral, 1e-9*float64(n+1))
				return integral
			})
		}
	}
}

// Words that are nearly in order are sorted, and so are those that are not.
func TestSortNear(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 4))
	for n := range 150 {
		for _, off := range []int{0, 1, 3, 4, 5, 9, 150} {
			words := make([]uint64, n)
			for i := range words {
				words[i] = (1<<20+uint64(i+rng.IntN(off+1)))<<40 | rng.Uint64N(1<<40)
			}
			want := slices.Clone(words)
			slices.Sort(want)
			bothWays(t, func() any {
				dst, room := make([]uint64, n), make([]uint64, n+Padding)
				copy(room, words)
				SortNear(dst, room)
				require.Equal(t, want, dst)
				return nil
			})
		}
	}
}

// Look finds the ends, the bits and the cells of events, and NaN wherever they are.
func TestLook(t *testing.T) {
	testLook[float32](t)
	testLook[float64](t)
}

func testLook[T Float](t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	ofScore, ofMass := Cells[T]{0.1, 64, 50}, Cells[T]{-1, 3.7, 20}
	for _, n := range lengths[1:] {
		scores, masses := make([]T, n), make([]T, n)
		for i := range scores {
			scores[i], masses[i] = T(rng.Float64()), T(4*rng.NormFloat64())
		}
		look := func() Seen[T] {
			pairs := make([]uint32, n)
			seen := Look(scores, masses, ofScore, ofMass, pairs)
			for i, pair := range pairs {
				if seen.Number {
					require.Equal(t, ofScore.Of(scores[i])<<BinBits|ofMass.Of(masses[i]), pair)
				}
			}
			return seen
		}
		bothWays(t, func() any {
			seen := look()
			require.Equal(t, []T{slices.Min(scores), slices.Max(scores), slices.Min(masses), slices.Max(masses)},
				[]T{seen.ScoreMin, seen.ScoreMax, seen.MassMin, seen.MassMax})
			return seen
		})
		for i := range n {
			for _, values := range [][]T{scores, masses} {
				kept := values[i]
				values[i] = T(math.NaN())
				bothWays(t, func() any { return look().Number })
				require.False(t, look().Number, "%d of %d", i, n)
				values[i] = kept
			}
		}
	}
}
