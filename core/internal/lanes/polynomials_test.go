package lanes

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

var longer = append([]int{15, 16, 17, 20, 35, 256}, lengths...)

func TestRecur(t *testing.T) {
	steps := []Step{{0.3, 0.7, 1.9}, {-0.2, 0.4, 1.1}, {0.6, 0.8, -2}}
	for _, n := range longer {
		rng := rand.New(rand.NewPCG(uint64(n), 5))
		x, q := numbers(rng, n), [][]float64{numbers(rng, n), numbers(rng, n), nil, nil, nil}
		bothWays(t, func() any {
			q[2], q[3], q[4] = make([]float64, n), make([]float64, n), make([]float64, n)
			Recur(q, x, steps)
			return append([][]float64(nil), q...)
		})
		for k, step := range steps {
			for i, v := range q[k+2] {
				assert.InDelta(t, step.Factor*((x[i]-step.Alpha)*q[k+1][i]-step.Beta*q[k][i]), v, 1e-12)
			}
		}
	}
}

func TestOverlaps(t *testing.T) {
	for _, n := range longer {
		for count := range 10 {
			rng := rand.New(rand.NewPCG(uint64(n), 6))
			u, q, others := numbers(rng, n), numbers(rng, n), make([][]float64, count)
			for j := range others {
				others[j] = numbers(rng, n)
			}
			var sums []float64
			bothWays(t, func() any {
				sums = numbers(rand.New(rand.NewPCG(1, 7)), count+1)
				Overlaps(sums, u, q, others)
				return sums
			})
			want := numbers(rand.New(rand.NewPCG(1, 7)), count+1)
			for j, of := range others {
				for i := range of {
					want[j] += u[i] * q[i] * of[i]
				}
			}
			assert.InDeltaSlice(t, want, sums, 1e-12*float64(n+1))
		}
	}
}

func TestCombineAndSumSquares(t *testing.T) {
	for _, n := range longer {
		rng := rand.New(rand.NewPCG(uint64(n), 8))
		columns, dst, u := [][]float64{numbers(rng, n), numbers(rng, n), numbers(rng, n)}, numbers(rng, n), numbers(rng, n)
		for count := range 4 {
			bothWays(t, func() any {
				Combine(dst, []float64{2, -3, 5}, columns[:count])
				return append([]float64(nil), dst...)
			})
			for i, v := range dst {
				var want float64
				for j, column := range columns[:count] {
					want += []float64{2, -3, 5}[j] * column[i]
				}
				assert.InDelta(t, want, v, 1e-13)
			}
			bothWays(t, func() any {
				SumSquares(dst, u, columns[:count])
				return append([]float64(nil), dst...)
			})
			for i, v := range dst {
				var want float64
				for _, column := range columns[:count] {
					want += u[i] * u[i] * column[i] * column[i]
				}
				assert.InDelta(t, want, v, 1e-13*(1+want))
			}
		}
	}
}
