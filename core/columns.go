package core

import "fmt"

// columns are the functions of the mass whose means over the bins are the columns of P. They are those
// that cost nothing.
type columns struct {
	count int  // of functions that are summed up over the events
	one   bool // the function 1 comes before them
	low   bool // they are P_1 and P_2 of one variable, or fewer: see addLow
	plain bool // plain sums are exact enough
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

// columnsOf returns the functions of one variable.
func columnsOf[T Float](sel *selection[T], cfg *Config) *columns {
	if cfg.Loss != MoDe || cfg.Moments != Projection {
		return &columns{one: true, low: true}
	}
	if cfg.Basis == BSpline {
		sp := newSpline(sel.massLo, sel.massHi, cfg.Knots, cfg.splineDegree())
		return &columns{count: cfg.functions(), plain: true, fill: func(values [][]float64, lo int) { fillSplines(values, sp, sel.Mass[lo:]) }}
	}
	few := cfg.Order < fastSize
	low := few && finite(1/(sel.massHi-sel.massLo)) // by which addLow multiplies
	return &columns{count: cfg.Order, one: true, low: low, plain: few, fill: func(values [][]float64, lo int) {
		fillLegendre(values, sel.Mass[lo:], sel.massLo, sel.massHi)
	}}
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
