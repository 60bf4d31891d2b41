package core

import (
	"math"

	"github.com/libmode/libmode/core/internal/lanes"
	"gonum.org/v1/gonum/floats"
)

// gram is the matrix G_kj = sum_i u_i q_j(x_i) q_k(x_i), j <= k, of polynomials that are meant to be orthonormal.
type gram struct {
	size int                                 // degree + 1
	g    [MaxOrder + 1][MaxOrder + 1]float64 // its lower triangle
}

// triangle returns where element (k, j), j <= k, of a symmetric matrix stands of which only these are stored.
func triangle(k, j int) int { return k*(k+1)/2 + j }

// addOverlaps adds a block of events to the lower triangle of G.
func addOverlaps(c *polynomialBlock, sums []float64) {
	for k, q := range c.q {
		lanes.Overlaps(sums[triangle(k, 0):], c.u, q, c.q[:k+1])
	}
}

func newGram(degree int, sums []float64) *gram {
	gr := &gram{size: degree + 1}
	for k := range gr.size {
		copy(gr.g[k][:k+1], sums[triangle(k, 0):])
	}
	return gr
}

// isUnit reports whether the polynomials are orthonormal.
func (gr *gram) isUnit() bool {
	for k := range gr.size {
		for j, g := range gr.g[k][:k+1] {
			if j == k {
				g--
			}
			if !(math.Abs(g) <= roundingFloor) {
				return false
			}
		}
	}
	return true
}

// correct makes the polynomials orthonormal. With G = L L' (Cholesky) these are L^-1 q, and since x q_k is made
// of q_{k-1}, q_k and q_{k+1} alone,
//
//	beta_{k+1} becomes beta_{k+1} L_{k+1,k+1} / L_kk
//	alpha_k    becomes alpha_k + beta_{k+1} L_{k+1,k} / L_kk - beta_k L_{k,k-1} / L_{k-1,k-1}
//
// with the beta of before. It returns false where the polynomials depend on each other too nearly for that.
func (gr *gram) correct(rec *recurrence) bool {
	if !gr.factorise() {
		return false
	}
	l, before := &gr.g, rec.beta
	rec.rests = [MaxOrder + 1][]float64{}
	for k := range gr.size - 1 {
		rec.alpha[k] += before[k+1] * l[k+1][k] / l[k][k]
		if k > 0 {
			rec.alpha[k] -= before[k] * l[k][k-1] / l[k-1][k-1]
		}
		rec.beta[k+1] = before[k+1] * l[k+1][k+1] / l[k][k]
		if !rec.independent(k) {
			return false
		}
	}
	return true
}

// factorise puts L in the place of G, unless G is singular in double precision.
func (gr *gram) factorise() bool {
	l := &gr.g
	for k := range gr.size {
		for j := range k {
			l[k][j] = (l[k][j] - floats.Dot(l[k][:j], l[j][:j])) / l[j][j]
		}
		pivot := l[k][k] - floats.Dot(l[k][:k], l[k][:k])
		if !(pivot > roundingFloor*l[k][k]) {
			return false
		}
		l[k][k] = math.Sqrt(pivot)
	}
	return true
}
