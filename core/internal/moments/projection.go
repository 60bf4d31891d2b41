package moments

import (
	"math"
	"slices"

	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/par"
	"gonum.org/v1/gonum/floats"
)

// A fit of masses far from each other may lose digits. To find out how many, setProjection fits twice, the second time with columns
// that differ in their last digits. That takes time, so it does this only if the rms of a column without the columns before it is less
// than farBelow, or if single moments matter.
const (
	shake    = 0x1p-52
	farBelow = 1e-3
	farFrom  = 100
)

// knownTo is the part of the gradient's largest element that rounding may change. More is an error.
const knownTo = 1e-6

// setProjection sets the moments of the least-squares fit over the bins, and the orthonormal basis.
func (ba *Basis) setProjection(edges, means []float64, events int, c *Options, arena *par.Arena) error {
	nb, size := len(edges)-1, ba.Size
	if nb < size {
		return errs.Of(errs.ErrOption, "order = %d with moments = projection fits %d coefficients, but there are only %d bins: "+
			"use more bins, a lower order or moments = quadrature", size-1, size, nb)
	}
	ba.P = means
	fit := NewQR(columnsOf(means, nb, size, arena), size, 0, arena)
	ba.Orthonormal = NewOrthonormal(fit.Q, nb, arena)
	for l := range size {
		row := fit.moment(l)
		for b := range nb {
			ba.RowA(b)[l] = floats.Dot(row[:size], ba.Orthonormal.RowP(b))
		}
		if l == 1 {
			copy(ba.Orthonormal.Slope, row[:size])
		}
	}
	from, to := used(c)
	least := math.Inf(1) // the smallest norm of a column beside the others
	for l := range size {
		least = min(least, fit.R[l*size+l]/math.Sqrt(float64(nb)))
	}
	if least >= farBelow && to == 0 {
		return nil
	}
	shaken := columnsOf(means, nb, size, arena)
	for i := range shaken {
		shaken[i] += shake * float64(1-int(uint32(i)*0x9e3779b9>>16&2))
	}
	other := NewQR(shaken, size, 0, arena)
	polynomials, moments := fit.compare(other, from, to, !c.Biased)
	isOpen := fit.Rank < size || other.Rank < size || !(polynomials < 1e-2)
	if isFar := edges[nb-nb/4]-edges[nb/4] < (edges[nb]-edges[0])/farFrom; isOpen && !isFar {
		return errs.Of(errs.ErrOption, "order = %d with moments = projection is not determined by these %d bins, "+
			"whose mean masses nearly coincide: use other bins, a lower order or moments = quadrature", size-1, nb)
	}
	// The residual of a fit, and so the gradient, is smaller than F: about 1/sqrt(n) of F in a bin of n events without a
	// dependence.
	if part := max(polynomials, moments) * math.Sqrt(max(1, float64(events)/float64(nb))); isOpen || !(part <= knownTo) {
		farthest, middle := edges[nb], edges[nb/2]
		if middle-edges[0] > farthest-middle {
			farthest = edges[0]
		}
		return errs.Of(errs.ErrOverflow, "mass = %v is so far from most others that rounding may change the gradient by more than %v of its "+
			"largest element with order = %d: give a mass_range that excludes it, or a lower order", farthest, knownTo, size-1)
	}
	return nil
}

// moment returns the s for which s.(Q'F) is the moment c_l of the fit: row l of the inverse of R.
func (qr *QR) moment(l int) (s Numbers) {
	s[l] = 1
	for i := l; i < qr.Size; i++ {
		for m := l; m < i; m++ {
			s[i] -= s[m] * qr.R[m*qr.Size+i]
		}
		s[i] /= qr.R[i*qr.Size+i]
	}
	return s
}

// compare returns the difference between another fit and this one: between their functions, and between the moments
// from..to-1, relative to the largest moment with l >= 1.
func (qr *QR) compare(other *QR, from, to int, unbiased bool) (functions, moments float64) {
	room := make([]float64, qr.Rows)
	for m := range qr.Size {
		copy(room, other.Column(m))
		functions = max(functions, qr.takeOut(room, qr.Size))
	}
	var sizes Numbers
	for l := from; l < to; l++ {
		mine, its := qr.moment(l), other.moment(l)
		sizes[l] = floats.Norm(mine[:qr.Size], 2)
		clear(room)
		for m := range qr.Size {
			floats.AddScaled(room, mine[m], qr.Column(m))
			floats.AddScaled(room, -its[m], other.Column(m))
		}
		moments = max(moments, floats.Norm(room, 2))
	}
	if to > 0 {
		largest := slices.Max(sizes[1:])
		moments /= largest
		if unbiased {
			moments = max(moments, shake/8*(sizes[0]/largest)*(sizes[0]/largest))
		}
	}
	return functions, moments
}

// used returns the moments from..to-1 whose own values matter: c_1 for a penalty, c_0 and c_1 for max_slope, and all for
// monotonic. Without these, J depends on the product P A alone.
func used(c *Options) (from, to int) {
	switch {
	case c.Monotonic:
		return 0, c.Order + 1
	case c.Bounded():
		return 0, 2
	case c.SlopePenalty > 0:
		return 1, 2
	}
	return 0, 0
}

// QR is a decomposition Q R of columns.
type QR struct {
	Size, Rows int
	Q          []float64 // column by column
	R          []float64 // R[m*Size+l], m <= l
	Rank       int       // how many columns of Q are not 0
}

// NewQR overwrites columns with Q, by modified Gram-Schmidt. A column counts as dependent, and is 0 in Q, if at most this part of it
// is left without the columns before it.
func NewQR(columns []float64, size int, part float64, arena *par.Arena) *QR {
	qr := &QR{Size: size, Rows: len(columns) / size, Q: columns, R: par.Make[float64](arena, size*size)}
	for l := range size {
		column := qr.Column(l)
		length := floats.Norm(column, 2)
		norm := qr.takeOut(column, l)
		if !(norm > part*length) || math.IsInf(1/norm, 0) {
			clear(column)
			continue
		}
		floats.Scale(1/norm, column)
		qr.R[l*size+l] = norm
		qr.Rank++
	}
	return qr
}

// Column returns a column of Q.
func (qr *QR) Column(l int) []float64 { return qr.Q[l*qr.Rows : (l+1)*qr.Rows] }

// takeOut makes a column orthogonal to the first l columns of Q, adds the overlaps to column l of R if R has one, and returns the
// norm of the rest. Rounding leaves a part of the overlaps, so it repeats while the norm falls by half or more.
func (qr *QR) takeOut(column []float64, l int) (norm float64) {
	norm = floats.Norm(column, 2)
	for last := math.Inf(1); norm < last/2; norm = floats.Norm(column, 2) {
		last = norm
		for m := range l {
			overlap := floats.Dot(qr.Column(m), column)
			floats.AddScaled(column, -overlap, qr.Column(m))
			if l < qr.Size {
				qr.R[m*qr.Size+l] += overlap
			}
		}
	}
	return norm
}
