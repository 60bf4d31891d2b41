package moments

import (
	"math"

	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/par"
	"gonum.org/v1/gonum/floats"
)

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
		if !(norm > 0) || !events.IsFinite(1/norm) {
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
func (fi *fit) moment(t []float64) (s numbers) {
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
func (ba *Basis) setColumns(q []float64, nb int) {
	ba.IsOrthonormal = true
	for l := range ba.Size {
		for b, x := range q[l*nb : (l+1)*nb] {
			ba.RowP(b)[l], ba.RowA(b)[l] = x, x
		}
	}
}

// fitted returns the orthonormal basis of the functions whose means over nb bins are the columns of means; those
// that depend on the ones before them are left out.
func fitted(means []float64, nb int, arena *par.Arena) (*Basis, error) {
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
			return nil, errs.Of(errs.ErrOption, "%d functions of the mass fit whatever %d bins have, so that nothing is left to see: "+
				"use more bins, or fewer functions (a lower order, fewer knots)", size, nb)
		}
	}
	ba := emptyBasis(nb, rank, arena)
	ba.setColumns(q, nb)
	ba.setGram()
	return ba, nil
}

// Moments sets c to the moments of the CDFs.
func (ba *Basis) Moments(c, cdf []float64) {
	clear(c)
	for b, f := range cdf {
		floats.AddScaled(c, f, ba.RowA(b))
	}
}
