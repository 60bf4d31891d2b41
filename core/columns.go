package core

import "fmt"

// columns are the functions of the mass whose means over the bins are the columns of P. They are those
// that cost nothing.
type columns struct {
	count int     // of functions that are summed up over the events
	one   bool    // the function 1 comes before them
	low   *newton // they are its omega_1 and omega_2, or fewer, see addLow; nil: they are others
	// fill sets each function's values, a slice each, for the events from lo on.
	fill func(values [][]float64, lo int)
}

// functions returns the number of functions of one variable that cost nothing.
func (c *Config) functions() int {
	if c.Basis == BSpline {
		return len(c.Knots) + c.splineDegree() + 1
	}
	return c.Order + 1
}

// columnsOf returns the functions of one variable. Those of polynomials have a basis; where moments are bounded,
// which are those of Legendre, P_1, P_2, ... follow, unless they can be made of it.
func columnsOf[T Float](sel *selection[T], cfg *Config, bins int, of binsOf) (*columns, *newton) {
	if cfg.Basis == BSpline && cfg.Loss == MoDe {
		sp := newSpline(sel.massLo, sel.massHi, cfg.Knots, cfg.splineDegree())
		return &columns{count: cfg.functions(), fill: func(values [][]float64, lo int) { fillSplines(values, sp, sel.Mass[lo:]) }}, nil
	}
	order := cfg.Order
	if cfg.Loss != MoDe || cfg.Moments != Projection {
		order = 0
	}
	nw := newNewton(sel, bins, order, of)
	if order <= 2 {
		return &columns{count: order, one: true, low: nw}, nw
	}
	co := &columns{count: order, one: true}
	if cfg.bounded() {
		co.count *= 2
	}
	co.fill = func(values [][]float64, lo int) {
		fillNewton(values, sel.Mass[lo:], nw)
		fillLegendre(values[order:], sel.Mass[lo:], sel.massLo, sel.massHi)
	}
	return co, nw
}

// fillLegendre sets values[l-1] to P_l of masses, which [lo, hi] maps to [-1, 1].
func fillLegendre[T Float](values [][]float64, masses []T, lo, hi float64) {
	if len(values) == 0 {
		return
	}
	x := values[0]
	for i, m := range masses[:len(x)] {
		m := float64(m)
		x[i] = ((m - lo) - (hi - m)) / (hi - lo)
	}
	for l := 1; l < len(values); l++ { // as in legendre
		k := float64(l)
		next, now := values[l][:len(x)], values[l-1][:len(x)]
		if l == 1 {
			for i, x := range x {
				next[i] = (3*x*now[i] - 1) / 2
			}
			continue
		}
		before := values[l-2][:len(x)]
		for i, x := range x {
			next[i] = ((2*k+1)*x*now[i] - k*before[i]) / (k + 1)
		}
	}
}

// shownBasis and simpler say in errors what costs nothing, and what would be less.
func (c *Config) shownBasis() string {
	if c.Basis == BSpline {
		return fmt.Sprintf("%d B-splines", c.functions())
	}
	return fmt.Sprintf("order = %d", c.Order)
}

func (c *Config) simpler() string {
	if c.Basis == BSpline {
		return "fewer knots"
	}
	return "a lower order"
}
