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
func (s state) seen(of *residuals) (found residuals) {
	add := func(x []float64, before []float64) []float64 {
		return floats.AddTo(make([]float64, len(x)), x, before[:len(x)])
	}
	found.shares = add(of.shares, s.field(of.part, ofShares))
	found.masses = add(of.masses, s.field(of.part, ofMeanMass))
	return found
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
