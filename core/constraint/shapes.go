package constraint

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// shape is a bump to look for: its coefficients in the functions of the mass, for a residual per error of one event.
type shape struct {
	functions   []float64
	height      float64 // of the bump relative to the background under it, per projected residual
	mass, times float64 // where it is; its limit over the limit of the signal
}

// shapes returns the bumps to look for: that of the signal, and windows.
func (sh *shown) shapes(order int) (bumps []shape) {
	cells := sh.basis.cells
	add := func(bump []float64, times float64) {
		if one, ok := sh.shape(bump, order, times); ok {
			bumps = append(bumps, one)
		}
	}
	if sum := floats.Sum(sh.signal); sum > 0 {
		bump := make([]float64, cells)
		for c := range bump {
			if sh.background[c] > 0 {
				bump[c] = sh.signal[c] / sum / sh.background[c]
			}
		}
		add(bump, 1)
	}
	wide := max(1, cells*ofWindow/32)
	for from := 0; from+wide <= cells; from += max(1, wide/2) {
		bump := make([]float64, cells)
		floats.AddConst(1, bump[from:from+wide])
		add(bump, elsewhere)
	}
	return bumps
}

// shape takes the polynomial out of a bump with these values in the cells. It is not ok if little is left.
func (sh *shown) shape(s []float64, order int, times float64) (bump shape, ok bool) {
	w, before := sh.background, sh.dot(s, s)
	d := append([]float64(nil), s...)
	for _, p := range sh.polynomials(order) {
		floats.AddScaled(d, -sh.dot(d, p), p)
	}
	functions := make([]float64, sh.basis.functions)
	for l := range functions {
		functions[l] = floats.Dot(sh.basis.transposed[l*sh.basis.cells:][:sh.basis.cells], d) / float64(sh.basis.cells)
	}
	for c := range d {
		d[c] = floats.Dot(sh.basis.values[c*len(functions):][:len(functions)], functions)
	}
	norm := sh.dot(d, d)
	if !(norm > visible*before) {
		return bump, false
	}
	var mass, sum float64
	for c, x := range s {
		mass += w[c] * x * sh.masses[c]
		sum += w[c] * x
	}
	floats.Scale(1/math.Sqrt(norm), functions)
	return shape{functions: functions, height: before / math.Sqrt(norm) / sum, mass: mass / sum, times: times}, true
}

func (sh *shown) dot(a, b []float64) (sum float64) {
	for c, w := range sh.background {
		sum += w * a[c] * b[c]
	}
	return sum
}

// polynomials returns orthonormal polynomials in the mean masses of the cells.
func (sh *shown) polynomials(order int) (all [][]float64) {
	power := make([]float64, len(sh.masses))
	for c := range power {
		power[c] = 1
	}
	for range order + 1 {
		p := append([]float64(nil), power...)
		for range 2 { // twice is enough
			for _, q := range all {
				floats.AddScaled(p, -sh.dot(p, q), q)
			}
		}
		norm := math.Sqrt(sh.dot(p, p))
		if !(norm > 1e-6) {
			break
		}
		floats.Scale(1/norm, p)
		all = append(all, p)
		floats.Mul(power, sh.places)
	}
	return all
}
