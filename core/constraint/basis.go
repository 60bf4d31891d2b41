package constraint

import "math"

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
	massCells = [...]uint32{1: uint32(ofOneMass[1].cells), 2: uint32(ofOneMass[2].cells), 3: uint32(ofOneMass[3].cells)}
)

// oneMass returns the functions of each of so many masses.
func oneMass(masses int) basis {
	functions := math.Round(math.Pow(functionsOfMass, 1/float64(masses)))
	return newBasis(cosines(int(math.Ceil(functions*mostCellsOfRank/functionsOfMass)), int(functions)))
}

func newBasis(cells, functions int, values []float64) basis {
	ba := basis{cells, functions, values, make([]float64, len(values))}
	for i, x := range values {
		ba.transposed[i%functions*cells+i/functions] = x
	}
	return ba
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
	of := oneMass(variables)
	cells, functions := of.cells, of.functions
	one := append(of.values, make([]float64, functions)...)
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
