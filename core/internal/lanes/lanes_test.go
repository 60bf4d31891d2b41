package lanes

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
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

func numbers(rng *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	return x
}

func randomLinear(seed uint64, bins int) *Linear {
	rng := rand.New(rand.NewPCG(seed, 1))
	li := &Linear{Rows: make([]Row, bins), Y: [4]float64{rng.Float64(), rng.Float64(), rng.Float64(), 1}}
	for b := range li.Rows {
		li.Rows[b] = Row{[4]float64(numbers(rng, 4)), [4]float64(numbers(rng, 4))}
	}
	li.X = [4]float64{-rng.Float64(), -rng.Float64(), -rng.Float64()}
	return li
}

// Crossing events has the same bits with vectors and without, and is what the formula says.
func TestCross(t *testing.T) {
	const nb = 5
	for _, n := range lengths {
		rng := rand.New(rand.NewPCG(uint64(n), 2))
		bins, weights, before := make([]uint32, n), numbers(rng, n), numbers(rng, n)
		for i := range bins {
			bins[i] = rng.Uint32N(nb)
		}
		bothWays(t, func() any {
			li, d := randomLinear(7, nb), append([]float64(nil), before...)
			li.Cross(bins, weights, d)
			return []any{*li, d}
		})
		li, d := randomLinear(7, nb), append([]float64(nil), before...)
		rows, y, x := append([]Row(nil), li.Rows...), li.Y, li.X
		li.Cross(bins, weights, d)
		for i, b := range bins {
			change := rows[b].Y[3]
			for l := range 3 {
				change += rows[b].Y[l]*y[l] + rows[b].X[l]*x[l]
				y[l] += weights[i] * rows[b].Y[l]
				x[l] -= weights[i] * rows[b].X[l]
			}
			rows[b].Y[3] += weights[i] * rows[b].X[3]
			assert.InDelta(t, before[i]+weights[i]*change, d[i], 1e-9*(1+math.Abs(d[i])), "%d of %d", i, n)
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

// Words decode to the scores and bins of which they are made.
func TestWords(t *testing.T) {
	for _, n := range lengths {
		scores, bins := make([]float32, n), make([]uint32, n)
		for i := range scores {
			scores[i], bins[i] = float32(math.Copysign(float64(i/3), float64(i%3-1))), uint32(i%5+8)
		}
		const base = 1<<30 + 7
		bothWays(t, func() any {
			dst, gotScores, gotBins := make([]uint64, n), make([]float64, n), make([]uint32, n)
			Words(dst, scores, bins, 7, base, 17, 100)
			Decode(dst, base, 17, gotScores, gotBins)
			for i, s := range scores {
				require.Equal(t, float64(s), gotScores[i])
				require.Equal(t, bins[i]-8, gotBins[i])
				require.Equal(t, uint64(100+i), dst[i]&(1<<17-1))
			}
			return dst
		})
	}
}
