// Package moments turns the CDFs of the bins into moments and moments back into CDFs: the fit of the functions of the mass
// that cost nothing, and the bounds on its moments.
package moments

import (
	"math"

	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/par"
	"gonum.org/v1/gonum/floats"
)

// Basis turns the CDFs of bins into moments, and moments into CDFs. P and A have a row for each bin, with a number for each
// moment.
type Basis struct {
	Size int // the number of moments
	P    []float64
	A    []float64 // c_l = sum_b A_bl F_b
	// SlopeFloor is a |c_1| that rounding alone can make.
	SlopeFloor float64
	Slope      []float64 // its scalar product with c is c_1
	// Orthonormal spans the same functions with the same P A, for projection moments. Its c are not Legendre moments, but
	// its columns are orthonormal. The columns of P may nearly depend on each other, which would cost digits of P A.
	Orthonormal *Basis
	// IsOrthonormal says that P = A has orthonormal columns.
	IsOrthonormal bool
}

// roundingFloor is a relative size below which c_1, c_0 and 1 - c_0 count as 0, so that rounding chooses no branch of the
// bounds.
const roundingFloor = 1e-12

// New returns the basis of the moments of one variable of mass, for the means of the function 1 and of Columns over its bins, which have
// so many events.
func New(means, edges []float64, events int, c *Options, arena *par.Arena) (*Basis, error) {
	nb := len(edges) - 1
	ba := newBasis(nb, c.Order+1, arena)
	if c.Order >= 1 {
		ba.Slope[1] = 1
	}
	if c.Quadrature {
		ba.setQuadrature(edges)
	} else if err := ba.setProjection(edges, means, events, c, arena); err != nil {
		return nil, err
	}
	if c.Order >= 1 {
		for b := range nb {
			ba.SlopeFloor += roundingFloor * math.Abs(ba.RowA(b)[1])
		}
	}
	return ba, nil
}

// NewSpan returns the orthonormal basis of the functions whose means over the bins are given, without the functions that
// depend on others before them. If most, the number of bins with the empty ones, is larger than theirs, more events may help.
func NewSpan(means []float64, nb int, most float64, arena *par.Arena) (*Basis, error) {
	size := len(means) / nb
	qr := NewQR(columnsOf(means, nb, size, arena), size, roundingFloor, arena)
	if qr.Rank >= nb {
		kind, more := errs.ErrOption, "bins"
		if most > float64(size) {
			kind, more = errs.ErrNoEvents, "events"
		}
		return nil, errs.Of(kind, "%d functions of the mass fit %d bins exactly, so no dependence is left to measure: use more %s or a lower order", size, nb, more)
	}
	kept := par.Make[float64](arena, qr.Rank*nb)[:0]
	for l := range size {
		if qr.R[l*size+l] > 0 {
			kept = append(kept, qr.Column(l)...)
		}
	}
	return NewOrthonormal(kept, nb, arena), nil
}

// NewOrthonormal returns the basis with these orthonormal columns, of a number for each bin.
func NewOrthonormal(columns []float64, nb int, arena *par.Arena) *Basis {
	ba := newBasis(nb, len(columns)/nb, arena)
	ba.IsOrthonormal = true
	for l := range ba.Size {
		for b, x := range columns[l*nb : (l+1)*nb] {
			ba.RowP(b)[l], ba.RowA(b)[l] = x, x
		}
	}
	return ba
}

func newBasis(nb, size int, arena *par.Arena) *Basis {
	return &Basis{Size: size, P: par.Make[float64](arena, nb*size), A: par.Make[float64](arena, nb*size), Slope: par.Make[float64](arena, size)}
}

// columnsOf returns the columns of a matrix that is given row by row, one after the other.
func columnsOf(rows []float64, nb, size int, arena *par.Arena) []float64 {
	columns := par.Make[float64](arena, nb*size)
	for i, x := range rows {
		columns[i%size*nb+i/size] = x
	}
	return columns
}

// RowP and RowA return the rows of a bin.
func (ba *Basis) RowP(b int) []float64 { return ba.P[b*ba.Size : (b+1)*ba.Size] }
func (ba *Basis) RowA(b int) []float64 { return ba.A[b*ba.Size : (b+1)*ba.Size] }

// Moments sets c to the moments of the CDFs.
func (ba *Basis) Moments(c, cdf []float64) {
	clear(c)
	for b, f := range cdf {
		floats.AddScaled(c, f, ba.RowA(b))
	}
}

// setQuadrature sets P_bl = P_l(x_b) and A_bl = (2l+1)/2 D_b P_l(x_b).
func (ba *Basis) setQuadrature(edges []float64) {
	lo, span := edges[0], edges[len(edges)-1]-edges[0]
	unit := events.UnitOf(span) // or the sums below could overflow
	span *= unit
	for b := range len(edges) - 1 {
		width := 2 * ((edges[b+1] - edges[b]) * unit / span)
		center := ((edges[b]-lo)*unit + (edges[b+1]-lo)*unit) / span
		Legendre(ba.RowP(b), center-1)
		for l, p := range ba.RowP(b) {
			ba.RowA(b)[l] = float64(2*l+1) / 2 * width * p
		}
	}
}

// MaxOrder is the highest order.
const MaxOrder = 16

// Options are the options of moments, of the same names as in core.Config.
type Options struct {
	Order                  int
	Quadrature, OfSelected bool
	MaxSlope, SlopePenalty float64 // MaxSlope is +Inf for none
	Monotonic, Biased      bool
}

// Bounded reports whether moments are bounded, so that c~ is not linear in F.
func (o *Options) Bounded() bool { return !math.IsInf(o.MaxSlope, 1) || o.Monotonic }

// Columns returns the Legendre polynomials P_1, P_2, ... of one variable of mass. Their means over the bins, after the mean of the function 1,
// are the columns of P. Quadrature needs none.
func Columns[T events.Float](sel *events.Selection[T], c *Options) events.Columns {
	if c.Quadrature {
		return events.Columns{Fill: func([][]float64, int) {}}
	}
	unit := events.UnitOf(sel.MassHi - sel.MassLo) // or the scale could be infinite
	scale := 2 / ((sel.MassHi - sel.MassLo) * unit)
	return events.Columns{Count: c.Order, Fill: func(values [][]float64, lo int) {
		for l, to := range values {
			if l == 0 {
				for i, m := range sel.Mass[lo:][:len(to)] {
					to[i] = (float64(m)-sel.MassLo)*unit*scale - 1
				}
				continue
			}
			k := float64(l) // Bonnet's recursion, as in Legendre
			up, down := (2*k+1)/(k+1), k/(k+1)
			x, last := values[0][:len(to)], values[l-1][:len(to)]
			if l == 1 {
				for i := range to {
					to[i] = up*x[i]*last[i] - down
				}
				continue
			}
			for i, p := range values[l-2][:len(to)] {
				to[i] = up*x[i]*last[i] - down*p
			}
		}
	}}
}

// JointColumns returns the products P_a(x_1) P_b(x_2) ... of several variables, in the order of Products, but for the first.
func JointColumns[T events.Float](masses [][]T, ranges [events.MaxVariables][2]float64, order int) events.Columns {
	degrees := Products(len(masses), order)[1:]
	return events.Columns{Count: len(degrees), Fill: func(values [][]float64, lo int) {
		if len(degrees) == 0 {
			return
		}
		var p [events.MaxVariables]Numbers
		for i := range values[0] {
			for k, mass := range masses {
				m, r := float64(mass[lo+i]), ranges[k]
				Legendre(p[k][:order+1], ((m-r[0])-(r[1]-m))/(r[1]-r[0]))
			}
			for j, powers := range degrees {
				product := p[0][powers[0]]
				for k := 1; k < len(masses); k++ {
					product *= p[k][powers[k]]
				}
				values[j][i] = product
			}
		}
	}}
}

// Products returns the degrees of all products of so many variables up to a total degree, in order of the total degree, then
// of the degrees of the first variable, the second, and so on, the highest first.
func Products(variables, order int) (all [][events.MaxVariables]int) {
	var extend func(degrees [events.MaxVariables]int, k, left int)
	extend = func(degrees [events.MaxVariables]int, k, left int) {
		if k == variables-1 {
			degrees[k] = left
			all = append(all, degrees)
			return
		}
		for degree := left; degree >= 0; degree-- {
			degrees[k] = degree
			extend(degrees, k+1, left-degree)
		}
	}
	for total := range order + 1 {
		extend([events.MaxVariables]int{}, 0, total)
	}
	return all
}

// Numbers has one number for each moment.
type Numbers [MaxOrder + 1]float64

// Legendre sets dst[l] = P_l(x) by Bonnet's recursion, (l+1) P_{l+1}(x) = (2l+1) x P_l(x) - l P_{l-1}(x).
func Legendre(dst []float64, x float64) {
	dst[0] = 1
	if len(dst) > 1 {
		dst[1] = x
	}
	for l := 1; l+1 < len(dst); l++ {
		k := float64(l)
		dst[l+1] = ((2*k+1)*x*dst[l] - k*dst[l-1]) / (k + 1)
	}
}
