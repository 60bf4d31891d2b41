package core

import (
	"math"

	"github.com/libmode/libmode/core/internal/par"
	"gonum.org/v1/gonum/floats"
)

// basis holds, for each bin, what turns CDFs into moments and moments back
// into CDFs. Rows of p and a are a bin's, one element a moment.
type basis struct {
	size int       // number of moments, order + 1
	p    []float64 // P_bl: P_l at the bin's centre (quadrature) or its mean over the bin's events (projection)
	a    []float64 // A_lb: c_l = sum_b A_lb F_b; with projection set by fit
	gram []float64 // (P'P)_lm = sum_b P_bl P_bm
	// slopeFloor is the |c_1| up to which rounding alone may have made it.
	slopeFloor float64
	// slope.c is c_1.
	slope []float64
	// orthonormal spans the same polynomials with the same P A, for projection
	// moments; its c are not Legendre moments. The columns of P can be nearly
	// dependent, which would cost digits of P A.
	orthonormal *basis
	// isOrthonormal says that P = A has orthonormal columns.
	isOrthonormal bool
}

// roundingFloor is the relative size below which c_1, c_0 and 1 - c_0 count as
// 0, so that rounding does not choose a branch of the bounds.
const roundingFloor = 1e-12

// newBasis returns the basis of the moments that a configuration asks for.
// Projection is made of the bins' mean functions, see means.go.
func newBasis(bs *bins, cfg *Config, arena *par.Arena) (*basis, error) {
	nb, means := bs.count(), bs.means
	if cfg.Basis == BSpline || bs.cells > 0 {
		return fitted(means, nb, arena)
	}
	ba := emptyBasis(nb, cfg.Order+1, arena)
	if cfg.Order >= 1 {
		ba.slope[1] = 1
	}
	switch cfg.Moments {
	case Quadrature:
		ba.quadrature(bs.edges)
	case Projection:
		for i, mean := range means {
			ba.p[i] = mean.hi
		}
		if err := ba.project(arena); err != nil {
			return nil, err
		}
		if cfg.bounded() {
			ba.fit(means)
		}
	}
	ba.setGram()
	if cfg.Order >= 1 {
		for b := range nb {
			ba.slopeFloor += roundingFloor * math.Abs(ba.rowA(b)[1])
		}
	}
	return ba, nil
}

func emptyBasis(nb, size int, arena *par.Arena) *basis {
	of, square := nb*size, size*size
	all := par.Make[float64](arena, 2*of+square+size)
	return par.New(arena, basis{size: size, p: all[:of], a: all[of : 2*of], gram: all[2*of : 2*of+square], slope: all[2*of+square:]})
}

func (ba *basis) setGram() {
	for start := 0; start < len(ba.p); start += ba.size {
		row := ba.p[start : start+ba.size]
		for l, p := range row {
			floats.AddScaled(ba.gram[l*ba.size:(l+1)*ba.size], p, row)
		}
	}
}

func (ba *basis) rowP(b int) []float64 { return ba.p[b*ba.size : (b+1)*ba.size] }
func (ba *basis) rowA(b int) []float64 { return ba.a[b*ba.size : (b+1)*ba.size] }

// quadrature sets P_bl = P_l(x_b) and A_lb = (2l+1)/2 D_b P_l(x_b).
func (ba *basis) quadrature(edges []float64) {
	lo, span := edges[0], edges[len(edges)-1]-edges[0]
	unit := unitOf(span) // or the sums below could overflow
	span *= unit
	for b := range len(edges) - 1 {
		width := 2 * ((edges[b+1] - edges[b]) * unit / span)
		centre := ((edges[b]-lo)*unit + (edges[b+1]-lo)*unit) / span
		legendre(ba.rowP(b), centre-1)
		for l, p := range ba.rowP(b) {
			ba.rowA(b)[l] = float64(2*l+1) / 2 * width * p
		}
	}
}

// fit sets A of projection moments, which only bounds and tables of moments need: the
// orthonormal basis has the same P A.
func (ba *basis) fit(means []twofold) { fitTwofold(ba.a, means, ba.size) }

// project sets the orthonormal basis, the Q of P = Q R by modified Gram-Schmidt.
func (ba *basis) project(arena *par.Arena) error {
	size := ba.size
	nb := len(ba.p) / size
	if nb < size {
		return errorOf(ErrOption, "order = %d with moments = projection fits %d coefficients, but there are only %d bins: "+
			"use more bins, a lower order or moments = quadrature", size-1, size, nb)
	}
	on := emptyBasis(nb, size, arena)
	q := par.Make[float64](arena, nb*size) // by column
	var r [(MaxOrder + 1) * (MaxOrder + 1)]float64
	for l := range size {
		column := q[l*nb : (l+1)*nb]
		for b := range column {
			column[b] = ba.rowP(b)[l]
		}
		norm := orthogonalise(column, q[:l*nb], func(m int, overlap float64) { r[m*size+l] += overlap })
		if norm == 0 {
			return errorOf(ErrOption, "order = %d with moments = projection is not determined by these %d bins, "+
				"whose mean masses nearly coincide: use other bins, a lower order or moments = quadrature", size-1, nb)
		}
		r[l*size+l] = norm
	}
	on.setColumns(q, nb)
	for l := 1; l < size; l++ { // row 1 of R^-1: times R, it is (0, 1, 0, ...)
		if l == 1 {
			on.slope[l] = 1
		}
		for m := 1; m < l; m++ {
			on.slope[l] -= on.slope[m] * r[m*size+l]
		}
		on.slope[l] /= r[l*size+l]
	}
	on.setGram()
	ba.orthonormal = on
	return nil
}

// orthogonalise makes a column of unit length, and orthogonal to those before it, which are both already, by
// modified Gram-Schmidt, and returns what its length was before it was made 1. It tells by how much each of them is
// taken out. A column that depends on them, so that no more than rounding errors are left, has length 0.
func orthogonalise(column, before []float64, tell func(m int, overlap float64)) float64 {
	nb, length := len(column), floats.Norm(column, 2)
	for range 2 { // twice is enough to be orthogonal to working precision
		for m := range len(before) / nb {
			of := before[m*nb : (m+1)*nb]
			overlap := floats.Dot(of, column)
			floats.AddScaled(column, -overlap, of)
			tell(m, overlap)
		}
	}
	norm := floats.Norm(column, 2)
	if !(norm > roundingFloor*length) {
		return 0
	}
	floats.Scale(1/norm, column)
	return norm
}

// setColumns sets P and A to orthonormal columns.
func (ba *basis) setColumns(q []float64, nb int) {
	ba.isOrthonormal = true
	for l := range ba.size {
		for b, x := range q[l*nb : (l+1)*nb] {
			ba.rowP(b)[l], ba.rowA(b)[l] = x, x
		}
	}
}

// fitted returns the orthonormal basis of the functions whose means over nb bins are the columns of means; those
// that depend on the ones before them are left out.
func fitted(means []twofold, nb int, arena *par.Arena) (*basis, error) {
	size := len(means) / nb
	q := par.Make[float64](arena, nb*size)
	rank := 0
	for l := range size {
		column := q[rank*nb : (rank+1)*nb]
		for b := range column {
			column[b] = means[b*size+l].hi
		}
		if orthogonalise(column, q[:rank*nb], func(int, float64) {}) > 0 {
			rank++
		}
		if rank == nb {
			return nil, errorOf(ErrOption, "%d functions of the mass fit whatever %d bins have, so that nothing is left to see: "+
				"use more bins, or fewer functions (a lower order, fewer knots)", size, nb)
		}
	}
	ba := emptyBasis(nb, rank, arena)
	ba.setColumns(q, nb)
	ba.setGram()
	return ba, nil
}

// moments sets c to the moments of the CDFs.
func (ba *basis) moments(c, cdf []float64) {
	clear(c)
	for b, f := range cdf {
		floats.AddScaled(c, f, ba.rowA(b))
	}
}
