package core

import "fmt"

// columns are the functions of the mass whose means over the bins are the columns of P. They are those
// that cost nothing.
type columns struct {
	count int                            // of functions that are summed up over the events
	one   bool                           // the function 1 comes before them
	low   bool                           // they are P_1 and P_2 or fewer, see addLow
	at    func(dst []float64, event int) // sets the count values for an event
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
	from, to := sel.massLo, sel.massHi
	if cfg.Basis == BSpline {
		sp := newSpline(from, to, cfg.Knots, cfg.splineDegree())
		return &columns{count: cfg.functions(), at: func(dst []float64, i int) { sp.at(dst, float64(sel.Mass[i])) }}
	}
	return &columns{count: cfg.Order, one: true, low: cfg.Order < fastSize, at: func(dst []float64, i int) {
		var p [MaxOrder + 1]float64
		m := float64(sel.Mass[i])
		legendre(p[:cfg.Order+1], ((m-from)-(to-m))/(to-from))
		copy(dst, p[1:])
	}}
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
