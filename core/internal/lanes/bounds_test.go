package lanes

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// randomLanes returns lanes with numbers of any size and sign.
func randomLanes(seed uint64, count int) []Lane {
	rng := rand.New(rand.NewPCG(seed, 8))
	lanes := make([]Lane, count)
	for l := range lanes {
		for i := range lanes[l] {
			lanes[l][i] = rng.NormFloat64() * math.Exp(4*rng.NormFloat64())
		}
	}
	return lanes
}

// points returns the first n points of lanes, without what vectors leave after them.
func points(lanes []Lane, n int) (all [][]float64) {
	for l := range lanes {
		all = append(all, append([]float64(nil), lanes[l][:n+1]...))
	}
	return all
}

// Sums along steps, and what each adds, are what the rows say.
func TestFollow(t *testing.T) {
	const nb = 3
	for _, n := range []int{0, 1, 3, 4, 9, Points} {
		rng := rand.New(rand.NewPCG(uint64(n), 8))
		rows, bins, weights := make([][4]float64, nb), make([]uint32, n), numbers(rng, n)
		for b := range rows {
			rows[b] = [4]float64(numbers(rng, 4))
		}
		for i := range bins {
			bins[i] = rng.Uint32N(nb)
		}
		var lanes []Lane
		bothWays(t, func() any {
			lanes = make([]Lane, 8)
			sums := [4]float64{1, 2, 3, 4}
			Follow(lanes, lanes[4:], &sums, rows, bins, weights)
			without := make([]Lane, 4)
			again := [4]float64{1, 2, 3, 4}
			Follow(without, nil, &again, rows, bins, weights)
			require.Equal(t, without, lanes[:4])
			return []any{points(lanes, Points), sums, again}
		})
		for k := range 4 {
			sum := float64(k + 1)
			for i, b := range bins {
				sum += weights[i] * rows[b][k]
				require.InDelta(t, sum, lanes[k][1+i], 1e-12)
				require.InDelta(t, weights[i]*rows[b][k], lanes[4+k][1+i], 1e-15)
			}
		}
	}
}

// A bound is what the formula says, and its derivatives are those of it.
func TestBound(t *testing.T) {
	for _, li := range []Limit{{0.4, 0, 1e-12, 1e-12}, {1.5, 1, 0, -1}, {1e100, 0, 0, 0}, {1e-100, 0, 0, 0}} {
		var lanes []Lane
		bothWays(t, func() any {
			lanes = randomLanes(3, 5)
			lanes[0][1], lanes[0][2], lanes[1][3], lanes[1][4] = 0, 1e-13, li.Offset, li.Offset+1e-13
			li.Bound(lanes, 0, 1, Bounded{2, 3, 4}, Points)
			return points(lanes, Points)
		})
		for i := 1; i <= Points; i++ {
			c, base, value := lanes[0][i], lanes[1][i]-li.Offset, lanes[2][i]
			limit := li.Factor * base
			if math.Abs(base) <= li.BaseFloor || limit == 0 {
				require.Equal(t, []float64{0, 1, 0}, []float64{value, lanes[3][i], lanes[4][i]})
				continue
			}
			if math.Abs(c) <= li.Floor {
				c = 0
			}
			u := c / limit
			require.InEpsilon(t, limit*math.Tanh(u)+1, value+1, 1e-14)
			sech := 1 / math.Cosh(u)
			require.InDelta(t, math.Tanh(u)*math.Tanh(u), lanes[3][i], 1e-14)
			if math.Abs(u) < 300 {
				require.InDelta(t, math.Tanh(u)-u*sech*sech, lanes[4][i]/li.Factor, 1e-13)
			}
		}
	}
}

// Sums of products, and comparisons with the point before, have the same bits with vectors and without.
func TestSumAndCompare(t *testing.T) {
	terms := []Term{{2, 0, 1}, {-0.5, 1, 1}, {1, 2, 0}}
	for _, n := range []int{1, 3, 4, 7, 8, 13, Points} {
		var lanes []Lane
		bothWays(t, func() any {
			lanes = randomLanes(uint64(n), 6)
			Sum(lanes, 3, terms, n)
			Compare(lanes, 0, 1, 2, 4, 5, n)
			return points(lanes, n)
		})
		for i := 1; i <= n; i++ {
			a, b, c := lanes[0][i], lanes[1][i], lanes[2][i]
			assert.InEpsilon(t, 2*a*b-0.5*b*b+c*a, lanes[3][i], 1e-9)
			assert.InDelta(t, b-(c-lanes[2][i-1]), lanes[4][i], 1e-12*(1+math.Abs(c)))
			assert.InDelta(t, a-c+lanes[0][i-1]-lanes[2][i-1], lanes[5][i], 1e-12*(1+math.Abs(c)+math.Abs(a)))
		}
	}
}
