package core

import (
	"math"
	"slices"

	"github.com/libmode/libmode/core/internal/par"
	"gonum.org/v1/gonum/floats"
)

// basis holds, for each bin, what turns CDFs into moments and moments back
// into CDFs. Rows of p and a are a bin's, one element a moment.
type basis struct {
	size int       // number of moments, order + 1
	p    []float64 // P_bl: P_l at the bin's centre (quadrature) or its mean over the bin's events (projection, set where moments are bounded)
	a    []float64 // A_lb: c_l = sum_b A_lb F_b
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
	nb := bs.count()
	if cfg.Basis == BSpline || bs.cells > 0 {
		return fitted(bs.means, nb, arena)
	}
	ba := emptyBasis(nb, cfg.Order+1, arena)
	if cfg.Order >= 1 {
		ba.slope[1] = 1
	}
	switch cfg.Moments {
	case Quadrature:
		ba.quadrature(bs.edges)
	case Projection:
		if err := ba.project(bs, cfg, arena); err != nil {
			return nil, err
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

// project sets the moments of a fit, and the orthonormal basis.
func (ba *basis) project(bs *bins, cfg *Config, arena *par.Arena) error {
	size, nb := ba.size, bs.count()
	if nb < size {
		return errorOf(ErrOption, "order = %d with moments = projection fits %d coefficients, but there are only %d bins: "+
			"use more bins, a lower order or moments = quadrature", size-1, size, nb)
	}
	all := par.Make[float64](arena, nb*size)
	width := len(bs.means) / nb
	for b := range nb {
		for k := range size {
			all[k*nb+b] = bs.means[b*width+k]
		}
	}
	t := bs.newton.legendre(arena)
	fi, determined := newFit(all, nb, arena)
	if !determined {
		return notDetermined(size-1, nb)
	}
	on := emptyBasis(nb, size, arena)
	on.setColumns(fi.q, nb)
	on.setGram()
	for l := range size {
		row := fi.moment(t[l*size : (l+1)*size])
		for m, factor := range row[:size] {
			for b, q := range fi.column(m) {
				ba.rowA(b)[l] += factor * q
			}
		}
		if l == 1 {
			copy(on.slope, row[:size])
		}
	}
	ba.orthonormal = on
	if cfg.bounded() {
		ba.setMeans(bs, t)
	}
	from, to := cfg.lookedAt()
	if fi.least >= farBelow && (to == 0 || !ba.nearlyDependent()) {
		return nil
	}
	for i := range all {
		all[i] *= 1 + shake*float64(1-int(uint32(i)*0x9e3779b9>>16&2))
	}
	other, determined := newFit(all, nb, arena)
	if !determined {
		return notDetermined(size-1, nb)
	}
	polynomials, moments := fi.differs(other, t, from, to, cfg.Unbiased)
	if !(polynomials < 1e-2) {
		return notDetermined(size-1, nb)
	}
	return bs.checkRounding(max(polynomials, moments), cfg)
}

func notDetermined(order, bins int) error {
	return errorOf(ErrOption, "order = %d with moments = projection is not determined by these %d bins, "+
		"whose mean masses nearly coincide: use other bins, a lower order or moments = quadrature", order, bins)
}

// lookedAt returns which moments, from..to-1, enter the loss by their own size.
func (c *Config) lookedAt() (from, to int) {
	switch {
	case c.Monotonic:
		return 0, c.Order + 1
	case c.bounded():
		return 0, 2
	case c.SlopePenalty > 0:
		return 1, 2
	}
	return 0, 0
}

// farFrom is the largest sum of the absolute values that make a moment out of F, sum_b |A_lb|, of a fit that no mass
// stretches.
const farFrom = 100

// nearlyDependent reports whether a moment of a fit is beyond farFrom.
func (ba *basis) nearlyDependent() bool {
	var sums moments
	for b := range len(ba.p) / ba.size {
		for l, a := range ba.rowA(b) {
			sums[l] += math.Abs(a)
		}
	}
	return ba.orthonormal != nil && slices.Max(sums[:ba.size]) > farFrom
}

// moments is room for one number a moment.
type moments [MaxOrder + 1]float64

// setMeans sets P. At orders up to 2 it follows from the means of omega and the T of newton.legendre; at higher ones
// that would cost digits, and they are there.
func (ba *basis) setMeans(bs *bins, t []float64) {
	size, nb := ba.size, bs.count()
	width := len(bs.means) / nb
	for b := range nb {
		row, p := bs.means[b*width:(b+1)*width], ba.rowP(b)
		p[0] = 1
		for k := 1; k < size; k++ {
			if width > size {
				p[k] = row[size+k-1]
				continue
			}
			p[k] = row[k]
			for l := range k {
				p[k] -= t[l*size+k] * p[l]
			}
			p[k] /= t[k*size+k]
		}
	}
}

// fit is P = Q R of columns omega_k, by modified Gram-Schmidt from the highest degree down: column m of Q belongs to
// omega_{order-m}. In a bin with a far mass the highest degree is the largest, so that it takes up what is
// to be said of that bin, and leaves the others the digits that they have in all other bins.
type fit struct {
	size, nb int
	q        []float64 // by column
	r        []float64 // r[m*size+i], m <= i
	least    float64   // the smallest part of a column that the ones before have left of it
}

// newFit fits columns, which all has by degree. It is not determined where nothing is left of one of them.
func newFit(all []float64, nb int, arena *par.Arena) (fi *fit, determined bool) {
	size := len(all) / nb
	fi = par.New(arena, fit{size: size, nb: nb, q: par.Make[float64](arena, len(all)), r: par.Make[float64](arena, size*size), least: 1})
	for i := range size {
		column := fi.column(i)
		copy(column, all[(size-1-i)*nb:])
		length := floats.Norm(column, 2)
		orthogonalise(column, fi.q[:i*nb], func(m int, overlap float64) { fi.r[m*size+i] += overlap })
		norm := floats.Norm(column, 2)
		if !(norm > 0) || !finite(1/norm) {
			return nil, false
		}
		floats.Scale(1/norm, column)
		fi.r[i*size+i] = norm
		fi.least = min(fi.least, norm/length)
	}
	return fi, true
}

func (fi *fit) column(m int) []float64 { return fi.q[m*fi.nb : (m+1)*fi.nb] }

// moment returns s, s.(Q'F) = sum_k t_k d_k, where the d_k omega_k fit F.
func (fi *fit) moment(t []float64) (s moments) {
	for i := range fi.size {
		s[i] = t[fi.size-1-i]
		for m := range i {
			s[i] -= s[m] * fi.r[m*fi.size+i]
		}
		s[i] /= fi.r[i*fi.size+i]
	}
	return s
}

// shake is what the columns of P are multiplied with, less or more than 1, to see what their rounding does to a fit:
// some of its units. It does little where ones before have left more than farBelow of each, and moments are small.
const (
	shake    = 0x1p-50
	farBelow = 1e-3
)

// differs returns by how much another fit differs from this one: its polynomials, and the moments that rows from..to-1 of
// t make of them, relative to the largest from the first on. Squares of moments multiply what rounding leaves of variances.
func (fi *fit) differs(other *fit, t []float64, from, to int, unbiased bool) (polynomials, moments float64) {
	room := make([]float64, fi.nb)
	for m := range fi.size {
		copy(room, other.column(m))
		orthogonalise(room, fi.q, func(int, float64) {})
		polynomials = max(polynomials, floats.Norm(room, 2))
	}
	var largest, rest float64 // of moments
	for l := from; l < to; l++ {
		of := t[l*fi.size : (l+1)*fi.size]
		mine, its := fi.moment(of), other.moment(of)
		clear(room)
		for m := range fi.size {
			floats.AddScaled(room, mine[m], fi.column(m))
			floats.AddScaled(room, -its[m], other.column(m))
		}
		moments = max(moments, floats.Norm(room, 2))
		if size := floats.Norm(mine[:fi.size], 2); l > 0 {
			largest = max(largest, size)
		} else {
			rest = size
		}
	}
	if to == 0 {
		return polynomials, 0
	}
	moments /= largest
	if unbiased {
		moments = max(moments, shake/8*(rest/largest)*(rest/largest))
	}
	return polynomials, moments
}

// orthogonalise makes a column orthogonal to those before it, which have unit length and are orthogonal to each other,
// by modified Gram-Schmidt. It tells by how much each of them is taken out. What rounding leaves of them is as large as the last
// digit of what was taken out, so that it goes on until that is little.
func orthogonalise(column, before []float64, tell func(m int, overlap float64)) {
	nb, norm := len(column), floats.Norm(column, 2)
	for last := math.Inf(1); norm < last/2; norm = floats.Norm(column, 2) {
		last = norm
		for m := range len(before) / nb {
			of := before[m*nb : (m+1)*nb]
			overlap := floats.Dot(of, column)
			floats.AddScaled(column, -overlap, of)
			tell(m, overlap)
		}
	}
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
func fitted(means []float64, nb int, arena *par.Arena) (*basis, error) {
	size := len(means) / nb
	q := par.Make[float64](arena, nb*size)
	rank := 0
	for l := range size {
		column := q[rank*nb : (rank+1)*nb]
		for b := range column {
			column[b] = means[b*size+l]
		}
		length := floats.Norm(column, 2)
		orthogonalise(column, q[:rank*nb], func(int, float64) {})
		if norm := floats.Norm(column, 2); norm > roundingFloor*length {
			floats.Scale(1/norm, column)
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
