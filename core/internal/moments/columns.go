package moments

import "github.com/libmode/libmode/core/internal/events"

// Columns returns the Legendre polynomials P_1, P_2, ... of one variable of mass. Their means over the bins, after those of the function 1,
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
				Legendre(p[k][:order+1], position(float64(mass[lo+i]), ranges[k][0], ranges[k][1]))
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

// position maps [lo, hi] to [-1, 1].
func position(m, lo, hi float64) float64 { return ((m - lo) - (hi - m)) / (hi - lo) }

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
