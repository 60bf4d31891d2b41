package constraint

import (
	"math"

	"github.com/libmode/libmode/core/internal/events"
	"gonum.org/v1/gonum/floats"
)

// mostOfVariables is the largest number of cells of all variables, one after the other.
var mostOfVariables = func() (most int) {
	for v := 1; v <= events.MaxVariables; v++ {
		most = max(most, v*int(massCells[v]))
	}
	return
}()

// inCells returns the part of the weights of the law in each cell of the masses, and in each cell of each variable times its mean mass.
func (g *group[T]) inCells() (shares, masses []float64) {
	variables, cells := len(g.masses), int(massCells[len(g.masses)])
	shares, masses = make([]float64, g.basis.cells), make([]float64, variables*cells)
	for i, w := range g.weight {
		size, c := math.Abs(w)/g.total, g.massCell(i)
		shares[c] += size
		for v := variables - 1; v >= 0; v-- {
			if of := c % (cells + 1); of < cells {
				masses[v*cells+of] += size * float64(g.masses[v][i])
			}
			c /= cells + 1
		}
	}
	return shares, masses
}

// seen returns shares and masses of earlier batches, with a batch that counts as much as all of them.
func (s state) seen(of *residuals) (shares, masses []float64) {
	with := func(field int, x []float64) []float64 {
		return floats.AddTo(make([]float64, len(x)), x, s.field(of.part, field)[:len(x)])
	}
	return with(ofShares, of.shares), with(ofMeanMass, of.masses)
}

// stride returns how far apart the next cells of variable v are in a table of the cells of all variables.
func stride(v, variables, cells int) int {
	by := 1
	for range variables - 1 - v {
		by *= cells + 1
	}
	return by
}

// sumsOf returns the sums of a table in each cell of variable v, and after them the sum of what lies in none.
func sumsOf(table []float64, v, variables, cells int) []float64 {
	sums, by := make([]float64, cells+1), stride(v, variables, cells)
	for c, x := range table {
		sums[c/by%(cells+1)] += x
	}
	return sums
}

// see takes what a batch shows beside its residuals into the averages of a part. batches is their number, with this one.
func (s state) see(of *residuals, batches float64) {
	share := max(1/batches, rate)
	take := func(into, from []float64) {
		for c, x := range from {
			into[c] += share * (x - into[c])
		}
	}
	take(s.field(of.part, ofShares), of.shares)
	take(s.field(of.part, ofMeanMass), of.masses)
	take(s.field(of.part, ofEach), []float64{of.events})
	s.field(of.part, ofSeen)[0] += of.moved
}
