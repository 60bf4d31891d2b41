package core

import (
	"sync"

	"github.com/libmode/libmode/core/internal/lanes"
	"github.com/libmode/libmode/core/internal/par"
)

// polynomialBlock are a block of events, with a column for each polynomial of their masses.
type polynomialBlock struct {
	x, u   []float64               // masses and shares of the weights
	all    [MaxOrder + 2][]float64 // q_0, which stands for q_{-1} in the recurrence, then all of q
	q      [][]float64             // q_0 = 1, q_1, ...
	filled int                     // those up to q_filled are set
	spare  [3][]float64            // for what is made of them

	room   []float64
	degree int     // of the last polynomial for which there is room
	equal  float64 // the share of all events; 0: they differ
}

var polynomialBlocks = sync.Pool{New: func() any { return new(polynomialBlock) }}

// columnBlock is a number of events whose columns stay in the nearest cache.
const columnBlock = 256

// reserve makes room for n events and for polynomials up to a degree.
func (c *polynomialBlock) reserve(n, degree int) {
	c.filled = 0
	if len(c.u) == n && c.degree == degree {
		return
	}
	const apart = 8 // columns that begin a power of two apart would share few places of the cache
	c.room = par.Grown(c.room, (degree+2+len(c.spare))*(n+apart))
	column := func(k int) []float64 { return c.room[k*(n+apart):][:n] }
	c.q = c.all[1 : degree+2]
	for k := range c.q {
		c.q[k] = column(k)
	}
	c.all[0] = c.q[0]
	c.u = column(degree + 1)
	for k := range c.spare {
		c.spare[k] = column(degree + 2 + k)
	}
	fill(c.q[0], 1)
	c.degree, c.equal = degree, 0
}

// setShares sets the shares of the events; with nil all have this one.
func (c *polynomialBlock) setShares(u []float64, equal float64) {
	switch {
	case u != nil:
		copy(c.u, u)
		c.equal = 0
	case c.equal != equal:
		fill(c.u, equal)
		c.equal = equal
	}
}

// squares returns u_i^2 times the sum of q_k(x_i)^2 from a degree on.
func (c *polynomialBlock) squares(from int) []float64 {
	of := c.spare[0]
	lanes.SumSquares(of, c.u, c.q[from:])
	return of
}

func fill(values []float64, value float64) {
	for i := range values {
		values[i] = value
	}
}
