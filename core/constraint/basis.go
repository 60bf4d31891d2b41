package constraint

import (
	"math"

	"github.com/libmode/libmode/core/internal/lanes"
	"github.com/libmode/libmode/core/internal/par"
)

// basis has the values of functions in the middle of each cell.
type basis struct {
	cells, functions int
	values           []float64 // a row for each cell
	transposed       []float64 // a row for each function
}

// The cells and cosines of a rank. Masses together have about the functions of one: each of several has fewer.
const (
	mostCellsOfRank  = 32
	functionsOfScore = 12
	functionsOfMass  = 24
)

var (
	ofScore = newBasis(cosines(mostCellsOfRank, functionsOfScore))
	// ofMasses has the products of the functions of each mass, by the number of masses, and ofOneMass those of one mass.
	ofMasses  = [...]basis{1: massBasis(1), 2: massBasis(2), 3: massBasis(3)}
	ofOneMass = [...]basis{1: oneMass(1), 2: oneMass(2), 3: oneMass(3)}
	// massCells is the number of cells of one mass, by the number of masses. One cell more has the events without a value.
	massCells = [...]int{1: ofOneMass[1].cells, 2: ofOneMass[2].cells, 3: ofOneMass[3].cells}
)

// oneMass returns the functions of each of so many masses.
func oneMass(masses int) basis {
	functions := math.Round(math.Pow(functionsOfMass, 1/float64(masses)))
	return newBasis(cosines(int(math.Ceil(functions*mostCellsOfRank/functionsOfMass)), int(functions)))
}

func newBasis(cells, functions int, values []float64) basis {
	return basis{cells, functions, values, transposed(values, functions)}
}

// transposed returns a matrix whose rows are the columns of another, so many.
func transposed(values []float64, columns int) []float64 {
	t, rows := make([]float64, len(values)), len(values)/columns
	for r := range rows {
		for c, x := range values[r*columns:][:columns] {
			t[c*rows+r] = x
		}
	}
	return t
}

// cosines returns 1 and sqrt(2) cos(pi k q), for q in the middle of each cell.
func cosines(cells, functions int) (int, int, []float64) {
	table := make([]float64, cells*functions)
	for c := range cells {
		table[c*functions] = 1
		for k := 1; k < functions; k++ {
			table[c*functions+k] = math.Sqrt2 * math.Cos(math.Pi*float64(k)*(float64(c)+0.5)/float64(cells))
		}
	}
	return cells, functions, table
}

// massBasis returns the products of the cosines of each mass, on the cells of all masses together. In the cell of events
// without a value only the function 1 is not 0.
func massBasis(variables int) basis {
	single := oneMass(variables)
	cells, functions := single.cells, single.functions
	one := append(single.values, make([]float64, functions)...)
	one[cells*functions] = 1
	cells++
	all := []float64{1}
	rows, columns := 1, 1
	for range variables {
		var products []float64
		for r := range rows * cells {
			for l := range columns * functions {
				products = append(products, all[r/cells*columns+l/functions]*one[r%cells*functions+l%functions])
			}
		}
		all, rows, columns = products, rows*cells, columns*functions
	}
	return newBasis(rows, columns, all)
}

// product returns the product of two matrices, where b has rows of so many columns.
func product(a, b []float64, columns int, arena *par.Arena) []float64 {
	inner := len(b) / columns
	c := par.Unset[float64](arena, len(a)/inner*columns)
	lanes.Product(c, a, b, inner, columns)
	return c
}

// stride returns how far apart the next cells of variable v are in a table of the cells of all variables.
func stride(v, variables, cells int) int {
	by := 1
	for range variables - 1 - v {
		by *= cells + 1
	}
	return by
}

// sumsOf returns the sums of a table in each cell of variable v.
func sumsOf(table []float64, v, variables int) []float64 {
	cells := massCells[variables]
	sums, by := make([]float64, cells+1), stride(v, variables, cells)
	for c, x := range table {
		sums[c/by%(cells+1)] += x
	}
	return sums[:cells]
}

// places returns the mean mass in each cell of a variable from the shares of the cells and their shares times the mean mass, and
// the same on a scale from -1 to 1. It is 0 in cells without a share.
func places(shares, masses []float64) (means, scaled []float64) {
	low, high := math.Inf(1), math.Inf(-1)
	means, scaled = make([]float64, len(shares)), make([]float64, len(shares))
	for c, share := range shares {
		if share > 0 {
			means[c] = masses[c] / share
			low, high = min(low, means[c]), max(high, means[c])
		}
	}
	for c, share := range shares {
		if share > 0 && high > low {
			scaled[c] = 2*(means[c]-low)/(high-low) - 1
		}
	}
	return means, scaled
}
