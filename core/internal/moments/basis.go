package moments

import (
	"math"
	"slices"

	"github.com/libmode/libmode/core/internal/bins"
	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/par"
	"gonum.org/v1/gonum/floats"
)

// Basis holds, for each bin, what turns CDFs into moments and moments back
// into CDFs. Rows of p and a are a bin's, one element a moment.
type Basis struct {
	Size int       // number of moments, order + 1
	P    []float64 // P_bl: P_l at the bin's centre (quadrature) or its mean over the bin's events (projection, set where moments are bounded)
	A    []float64 // A_lb: c_l = sum_b A_lb F_b
	Gram []float64 // (P'P)_lm = sum_b P_bl P_bm
	// SlopeFloor is the |c_1| up to which rounding alone may have made it.
	SlopeFloor float64
	// Slope.c is c_1.
	Slope []float64
	// Orthonormal spans the same polynomials with the same P A, for projection
	// moments; its c are not Legendre moments. The columns of P can be nearly
	// dependent, which would cost digits of P A.
	Orthonormal *Basis
	// IsOrthonormal says that P = A has orthonormal columns.
	IsOrthonormal bool
}

// roundingFloor is the relative size below which c_1, c_0 and 1 - c_0 count as
// 0, so that rounding does not choose a branch of the bounds.
const roundingFloor = 1e-12

// New returns the basis that the options ask for, of bins whose means are those of Columns, or of JointColumns. events is
// how many a bin has in the mean.
func New(bs *bins.Bins, means []float64, nw *Newton, events float64, o *Options, arena *par.Arena) (*Basis, error) {
	nb := bs.Count()
	if o.Splines || bs.Bounds != nil {
		return fitted(means, nb, arena)
	}
	ba := emptyBasis(nb, o.Order+1, arena)
	if o.Order >= 1 {
		ba.Slope[1] = 1
	}
	if o.Quadrature {
		ba.quadrature(bs.Edges)
	} else if err := ba.project(nb, means, nw, events, o, arena); err != nil {
		return nil, err
	}
	ba.setGram()
	if o.Order >= 1 {
		for b := range nb {
			ba.SlopeFloor += roundingFloor * math.Abs(ba.RowA(b)[1])
		}
	}
	return ba, nil
}

// OfShares returns the basis of one moment whose P = A is the square root of each bin's share: c is then the CDF of all
// events, for CDFs that are multiplied with these roots.
func OfShares(roots []float64, arena *par.Arena) *Basis {
	ba := emptyBasis(len(roots), 1, arena)
	copy(ba.P, roots)
	copy(ba.A, roots)
	ba.setGram()
	return ba
}

func emptyBasis(nb, size int, arena *par.Arena) *Basis {
	of, square := nb*size, size*size
	all := par.Make[float64](arena, 2*of+square+size)
	return par.New(arena, Basis{Size: size, P: all[:of], A: all[of : 2*of], Gram: all[2*of : 2*of+square], Slope: all[2*of+square:]})
}

func (ba *Basis) setGram() {
	for start := 0; start < len(ba.P); start += ba.Size {
		row := ba.P[start : start+ba.Size]
		for l, p := range row {
			floats.AddScaled(ba.Gram[l*ba.Size:(l+1)*ba.Size], p, row)
		}
	}
}

// RowP and RowA return the rows of a bin.
func (ba *Basis) RowP(b int) []float64 { return ba.P[b*ba.Size : (b+1)*ba.Size] }
func (ba *Basis) RowA(b int) []float64 { return ba.A[b*ba.Size : (b+1)*ba.Size] }

// quadrature sets P_bl = P_l(x_b) and A_lb = (2l+1)/2 D_b P_l(x_b).
func (ba *Basis) quadrature(edges []float64) {
	lo, span := edges[0], edges[len(edges)-1]-edges[0]
	unit := events.UnitOf(span) // or the sums below could overflow
	span *= unit
	for b := range len(edges) - 1 {
		width := 2 * ((edges[b+1] - edges[b]) * unit / span)
		centre := ((edges[b]-lo)*unit + (edges[b+1]-lo)*unit) / span
		legendre(ba.RowP(b), centre-1)
		for l, p := range ba.RowP(b) {
			ba.RowA(b)[l] = float64(2*l+1) / 2 * width * p
		}
	}
}

// project sets the moments of a fit, and the orthonormal basis.
func (ba *Basis) project(nb int, means []float64, nw *Newton, events float64, o *Options, arena *par.Arena) error {
	size := ba.Size
	if nb < size {
		return errs.Of(errs.ErrOption, "order = %d with moments = projection fits %d coefficients, but there are only %d bins: "+
			"use more bins, a lower order or moments = quadrature", size-1, size, nb)
	}
	all := par.Make[float64](arena, nb*size)
	width := len(means) / nb
	for b := range nb {
		for k := range size {
			all[k*nb+b] = means[b*width+k]
		}
	}
	t := nw.legendre(arena)
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
				ba.RowA(b)[l] += factor * q
			}
		}
		if l == 1 {
			copy(on.Slope, row[:size])
		}
	}
	ba.Orthonormal = on
	if o.Bounded() {
		ba.setMeans(nb, means, t)
	}
	from, to := o.lookedAt()
	if fi.least >= farBelow && (to == 0 || !ba.NearlyDependent()) {
		return nil
	}
	for i := range all {
		all[i] *= 1 + shake*float64(1-int(uint32(i)*0x9e3779b9>>16&2))
	}
	other, determined := newFit(all, nb, arena)
	if !determined {
		return notDetermined(size-1, nb)
	}
	polynomials, moments := fi.differs(other, t, from, to, o.Unbiased)
	if !(polynomials < 1e-2) {
		return notDetermined(size-1, nb)
	}
	return nw.checkRounding(max(polynomials, moments), events, o)
}

func notDetermined(order, bins int) error {
	return errs.Of(errs.ErrOption, "order = %d with moments = projection is not determined by these %d bins, "+
		"whose mean masses nearly coincide: use other bins, a lower order or moments = quadrature", order, bins)
}

// farFrom is the largest sum of the absolute values that make a moment out of F, sum_b |A_lb|, of a fit that no mass
// stretches.
const farFrom = 100

// NearlyDependent reports whether a moment of a fit is beyond farFrom.
func (ba *Basis) NearlyDependent() bool {
	var sums numbers
	for b := range len(ba.P) / ba.Size {
		for l, a := range ba.RowA(b) {
			sums[l] += math.Abs(a)
		}
	}
	return ba.Orthonormal != nil && slices.Max(sums[:ba.Size]) > farFrom
}

// numbers is room for one number a moment.
type numbers [MaxOrder + 1]float64

// setMeans sets P. At orders up to 2 it follows from the means of omega and the T of newton.legendre; at higher ones
// that would cost digits, and they are there.
func (ba *Basis) setMeans(nb int, means, t []float64) {
	size := ba.Size
	width := len(means) / nb
	for b := range nb {
		row, p := means[b*width:(b+1)*width], ba.RowP(b)
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
