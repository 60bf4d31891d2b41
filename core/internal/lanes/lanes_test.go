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
			require.Equal(t, at, FirstTie(scores), "of %d", n)
			require.InDelta(t, want, Integrate(changes, scores, 0.7), 1e-9*float64(n+1))
		}
	}
}

// A word has what Words packs: the distance of the score's key to the base, the bin and the place. Decode unpacks it.
func TestWords(t *testing.T) {
	const mask, binShift, first = 1<<5 - 1, 20, 1000
	rng := rand.New(rand.NewPCG(6, 7))
	for _, n := range lengths {
		scores, bins := make([]float32, n), make([]uint32, n)
		for i := range scores {
			scores[i], bins[i] = float32(rng.NormFloat64()), rng.Uint32()
		}
		special := []float32{0, float32(math.Copysign(0, -1)), math.MaxFloat32, -math.MaxFloat32, math.SmallestNonzeroFloat32, -math.SmallestNonzeroFloat32}
		for i := range min(n, len(special)) {
			scores[n-1-i] = special[i]
		}
		for _, lowest := range []float32{0, -1, -math.MaxFloat32} {
			base := HalfKey(lowest)
			bothWays(t, func() any {
				words := make([]uint64, n)
				Words(words, scores, bins, mask, base, binShift, first)
				for i, word := range words {
					want := uint64(HalfKey(scores[i])-base)<<32 | uint64(bins[i]&mask)<<binShift | uint64(first+i)
					require.Equal(t, want, word, "%d of %d, score %v", i, n, scores[i])
					words[i] &^= 1<<binShift - 1 // as Decode shifts them out
				}
				decoded, numbers := make([]float64, n), make([]uint32, n)
				Decode(words, base, binShift, decoded, numbers)
				for i := range words {
					require.Equal(t, math.Float64bits(float64(scores[i]+0)), math.Float64bits(decoded[i]), "%d of %d, score %v", i, n, scores[i])
					require.Equal(t, bins[i]&mask, numbers[i], "%d of %d", i, n)
				}
				return words
			})
		}
	}
}

// Crossed events change the form by w (f_b + y_b.Y - x_b.X), whose bits do not depend on vectors.
func TestCross(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	some := func() (four [4]float64) {
		for k := range four {
			four[k] = rng.NormFloat64()
		}
		return four
	}
	for _, n := range lengths {
		for _, count := range []int{1, 2, 31} {
			rows, bins, weights := make([]Row, count), make([]uint32, n), make([]float64, n)
			for b := range rows {
				rows[b] = Row{some(), some()}
			}
			for i := range bins {
				bins[i], weights[i] = rng.Uint32N(uint32(count)), rng.NormFloat64()
			}
			y, x, d := some(), some(), make([]float64, n)
			y[3], x[3] = 1, 0
			for i := range d {
				d[i] = rng.NormFloat64()
			}
			want, f := slices.Clone(d), slices.Clone(rows)
			toY, toX := y, x
			for i, b := range bins {
				row, w, change := &f[b], weights[i], f[b].Y[3]
				for k := range 3 {
					change += row.Y[k]*toY[k] + row.X[k]*toX[k]
				}
				want[i] += w * change
				row.Y[3] += w * row.X[3]
				for k := range 3 {
					toY[k] += w * row.Y[k]
					toX[k] -= w * row.X[k]
				}
			}
			bothWays(t, func() any {
				li, changes := Linear{slices.Clone(rows), y, x}, slices.Clone(d)
				Cross(&li, bins, weights, changes)
				require.InDeltaSlice(t, want, changes, 1e-9)
				require.InDeltaSlice(t, toY[:], li.Y[:], 1e-9)
				require.InDeltaSlice(t, toX[:], li.X[:], 1e-9)
				for b := range rows {
					require.InDelta(t, f[b].Y[3], li.Rows[b].Y[3], 1e-9)
					require.Equal(t, [2]any{[3]float64(rows[b].Y[:]), rows[b].X}, [2]any{[3]float64(li.Rows[b].Y[:]), li.Rows[b].X})
				}
				return []any{li, changes}
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
