package core

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// basis holds, for each bin, what turns CDFs into moments and moments back
// into CDFs. Rows of p and a are a bin's, one element a moment.
type basis struct {
	size int       // number of moments, order + 1
	p    []float64 // P_l(x_b)
	a    []float64 // A_lb: c_l = sum_b A_lb F_b
	gram []float64 // (P'P)_lm = sum_b P_l(x_b) P_m(x_b)
	// slopeFloor is the |c_1| up to which rounding alone may have made it.
	slopeFloor float64
}

// roundingFloor is the relative size below which c_1, c_0 and 1 - c_0 count as
// 0, so that rounding does not choose a branch of the bounds.
const roundingFloor = 1e-12

func newBasis(edges []float64, order int, kind MomentKind) (*basis, error) {
	nb := len(edges) - 1
	ba := &basis{size: order + 1}
	ba.p = make([]float64, nb*ba.size)
	ba.a = make([]float64, nb*ba.size)
	ba.gram = make([]float64, ba.size*ba.size)

	lo, span := edges[0], edges[nb]-edges[0]
	widths := make([]float64, nb)
	for b := range nb {
		widths[b] = 2 * ((edges[b+1] - edges[b]) / span)
		centre := ((edges[b] - lo) + (edges[b+1] - lo)) / span
		legendre(ba.rowP(b), centre-1)
		for l, p := range ba.rowP(b) {
			for m, other := range ba.rowP(b) {
				ba.gram[l*ba.size+m] += p * other
			}
		}
	}
	switch kind {
	case Quadrature:
		ba.quadrature(widths)
	case Projection:
		if err := ba.project(widths); err != nil {
			return nil, err
		}
	}
	if order >= 1 {
		for b := range nb {
			ba.slopeFloor += roundingFloor * math.Abs(ba.rowA(b)[1])
		}
	}
	return ba, nil
}

func (ba *basis) rowP(b int) []float64 { return ba.p[b*ba.size : (b+1)*ba.size] }
func (ba *basis) rowA(b int) []float64 { return ba.a[b*ba.size : (b+1)*ba.size] }

// quadrature sets A_lb = (2l+1)/2 D_b P_l(x_b), arXiv:2010.09745 eq. (3.3).
func (ba *basis) quadrature(widths []float64) {
	for b, width := range widths {
		for l, p := range ba.rowP(b) {
			ba.rowA(b)[l] = float64(2*l+1) / 2 * width * p
		}
	}
}

// project sets A = (P'DP)^-1 P'D through the QR decomposition of sqrt(D) P by
// modified Gram-Schmidt: with sqrt(D) P = Q R, A = R^-1 Q' sqrt(D).
func (ba *basis) project(widths []float64) error {
	nb, size := len(widths), ba.size
	if nb < size {
		return errorOf(ErrOption, "order = %d with moments = projection fits %d coefficients, but there are only %d bins: "+
			"use more bins, a lower order or moments = quadrature", size-1, size, nb)
	}
	q := make([][]float64, size) // columns
	r := make([]float64, size*size)
	for l := range size {
		q[l] = make([]float64, nb)
		for b, width := range widths {
			q[l][b] = math.Sqrt(width) * ba.rowP(b)[l]
		}
		before := floats.Norm(q[l], 2)
		for range 2 { // twice is enough to be orthogonal to working precision
			for m := range l {
				overlap := floats.Dot(q[m], q[l])
				floats.AddScaled(q[l], -overlap, q[m])
				r[m*size+l] += overlap
			}
		}
		norm := floats.Norm(q[l], 2)
		if !(norm > roundingFloor*before) {
			return errorOf(ErrOption, "order = %d with moments = projection is not determined by these %d bins, "+
				"whose centres nearly coincide: use other bins, a lower order or moments = quadrature", size-1, nb)
		}
		r[l*size+l] = norm
		floats.Scale(1/norm, q[l])
	}
	for b, width := range widths {
		row := ba.rowA(b)
		for l := size - 1; l >= 0; l-- {
			sum := math.Sqrt(width) * q[l][b]
			for m := l + 1; m < size; m++ {
				sum -= r[l*size+m] * row[m]
			}
			row[l] = sum / r[l*size+l]
		}
	}
	return nil
}

// moments sets c to the moments of the CDFs.
func (ba *basis) moments(c, cdf []float64) {
	clear(c)
	for b, f := range cdf {
		floats.AddScaled(c, f, ba.rowA(b))
	}
}

// residual returns F_b - sum_l c_l P_l(x_b).
func (ba *basis) residual(b int, f float64, c []float64) float64 {
	return f - floats.Dot(c, ba.rowP(b))
}
