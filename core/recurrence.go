package core

import (
	"math"

	"github.com/libmode/libmode/core/internal/lanes"
	"gonum.org/v1/gonum/floats"
)

// recurrence has the polynomials q_0 = 1, q_1, q_2, ... of events with masses x_i and shares u_i of the
// weights, sum_i u_i = 1, that are orthonormal with respect to them, sum_i u_i q_j(x_i) q_k(x_i) = 1 for
// j = k and 0 otherwise, by
//
//	beta_{k+1} q_{k+1} = (x - alpha_k) q_k - beta_k q_{k-1} - sum_{j <= k} rests_{k+1,j} q_j
//
// The last sum would be 0 without rounding. It matters where few events lie far from all others: there
// the first two terms are nearly equal.
type recurrence struct {
	alpha, beta [MaxOrder + 1]float64   // beta_0 = 0
	rests       [MaxOrder + 1][]float64 // nil: they do not matter
}

// evaluate fills the columns up to a degree.
func (rec *recurrence) evaluate(c *polynomialBlock, degree int) {
	var steps [MaxOrder]lanes.Step
	for c.filled < degree {
		from, k := c.filled, c.filled
		for ; k < degree && rec.rests[k+1] == nil; k++ {
			steps[k] = lanes.Step{Alpha: rec.alpha[k], Beta: rec.beta[k], Factor: 1 / rec.beta[k+1]}
		}
		lanes.Recur(c.all[from:], c.x, steps[from:k])
		if k < degree {
			rec.next(c, k)
			floats.Scale(1/rec.beta[k+1], c.q[k+1])
			k++
		}
		c.filled = k
	}
}

// next sets column k+1 to the right side of the recurrence.
func (rec *recurrence) next(c *polynomialBlock, k int) {
	lanes.Recur(c.all[k:], c.x, []lanes.Step{{Alpha: rec.alpha[k], Beta: rec.beta[k], Factor: 1}})
	for j, rest := range rec.rests[k+1] {
		floats.AddScaled(c.q[k+1], -rest, c.q[j])
	}
}

// adder adds a block of events to sums.
type adder func(c *polynomialBlock, sums []float64)

// measure adds up over events: for each block of them it fills the columns up to a degree and calls add. It
// returns the sums, which are so many.
type measure func(rec *recurrence, degree, size int, add adder) []float64

// newRecurrence finds the polynomials up to a degree by the procedure of Stieltjes (W. Gautschi, Orthogonal
// Polynomials: Computation and Approximation, 2.2.3), with each made orthogonal to those before a second time. found
// is how many there are: at most degree + 1, and fewer where the next one would be made of rounding.
func newRecurrence(degree int, over measure) (rec *recurrence, found int) {
	rec = new(recurrence)
	for k := range degree {
		rec.alpha[k] = over(rec, k, 1, func(c *polynomialBlock, sums []float64) {
			ux := floats.MulTo(c.spare[0], c.u, c.x)
			lanes.Overlaps(sums, ux, c.q[k], c.q[k:k+1])
		})[0]
		overlaps := over(rec, k, k+2, func(c *polynomialBlock, sums []float64) {
			rec.next(c, k)
			lanes.Overlaps(sums, c.u, c.q[k+1], c.q[:k+2])
		})
		if !rec.extend(k, overlaps[:k+1], overlaps[k+1]) {
			return rec, k + 1
		}
	}
	return rec, degree + 1
}

// extend completes what q_{k+1} is made of, given the overlaps of the right side of the recurrence with the
// polynomials before, and the square of its norm. It returns false where that is no more than rounding.
func (rec *recurrence) extend(k int, overlaps []float64, square float64) bool {
	const small = 1e-13 // relative to the norm
	largest := 0.0
	for _, overlap := range overlaps {
		largest = max(largest, math.Abs(overlap))
	}
	if largest > small*math.Sqrt(square) {
		rec.rests[k+1] = overlaps
		square -= floats.Dot(overlaps, overlaps)
	}
	rec.beta[k+1] = math.Sqrt(max(square, 0))
	return rec.independent(k)
}

// independent reports whether that part of x q_k which is orthogonal to q_0, ..., q_k, and has the norm
// beta_{k+1}, is more than rounding.
func (rec *recurrence) independent(k int) bool {
	rest := rec.beta[k+1]
	return rest > roundingFloor*math.Hypot(math.Hypot(rec.alpha[k], rec.beta[k]), rest)
}
