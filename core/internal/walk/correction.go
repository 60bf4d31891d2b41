package walk

import (
	"github.com/libmode/libmode/core/internal/moments"
	"github.com/libmode/libmode/core/internal/par"
)

// correction is what bounds of moments add to J: with delta = c - c~, z = P'(F - P c), G = P'P and N = 1 - d c~/dc,
//
//	J    = J_linear + 2 z.delta + delta.G delta
//	bias = bias_linear + 2 <N, X> + <G, N Y N'>,   X = sum_b V_b u_b A_b',  Y = sum_b V_b A_b A_b'
//
// A step e in bin b moves c by e A_b and z by e u_b, u_b = P_b - G A_b. Both z and u are 0 for projection, whose residuals
// are orthogonal to P. Only moments 0 .. size-1 matter, up to the last that is bounded.
type correction struct {
	*Integrand
	bound    *moments.Bound
	size     int
	withZ    bool
	gram     []float64
	steps    byFour // of c_l and z_l from l = 1 on, and of c_0 if the slope is limited, by an event of weight 1
	products byFour // what V_b multiplies in Y_lm, m <= l, and in X; none: the bias stays
}

// byFour has a row of numbers for each bin, four columns each.
type byFour [][][4]float64

// newCorrection returns that of an integrand, of which all else is set.
func newCorrection(in *Integrand, bo *moments.Bound, arena *par.Arena) *correction {
	ba := in.basis
	co := par.New(arena, correction{Integrand: in, bound: bo, size: 2, withZ: ba.Orthonormal == nil})
	if bo.Monotonic {
		co.size = bo.Size
	}
	for l := range co.size {
		co.gram = append(co.gram, ba.Gram[l*ba.Size:l*ba.Size+co.size]...)
	}
	u, row := make([]float64, co.size), []float64(nil)
	for b, unit := range in.unit {
		p, a := ba.RowP(b), ba.RowA(b)[:co.size]
		for l := range u {
			u[l] = p[l] - dot(ba.Gram[l*ba.Size:(l+1)*ba.Size], ba.RowA(b))
		}
		row = append(row[:0], a[1:]...)
		if co.withZ {
			row = append(row, u[1:]...)
		}
		if bo.Limited {
			row = append(row, a[0])
		}
		co.steps.set(b, in.bins, row, unit, arena)
		if in.variance == nil {
			continue
		}
		row = row[:0]
		for l := range a {
			for m := range l + 1 {
				row = append(row, a[l]*a[m])
			}
		}
		for l := 1; co.withZ && l < co.size; l++ {
			for k := range min(l+1, 3) {
				row = append(row, u[l]*a[[...]int{l, 0, 1}[k]])
			}
		}
		co.products.set(b, in.bins, row, 1, arena)
	}
	return co
}

// set sets the row of a bin to a factor times these numbers.
func (by *byFour) set(b, bins int, row []float64, factor float64, arena *par.Arena) {
	for k, x := range row {
		if k/4 == len(*by) {
			*by = append(*by, par.Make[[4]float64](arena, bins))
		}
		(*by)[k/4][b][k%4] = factor * x
	}
}
