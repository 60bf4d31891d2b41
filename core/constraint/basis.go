package constraint

import "math"

// basis has the values of functions in the middle of each cell.
type basis struct {
	cells, functions int
	values           []float64 // a row for each cell
	transposed       []float64 // a row for each function
}

// The cosines of the rank of the score, and of the ranks of each mass by the number of masses. docs/zoo.md has the study
// behind the numbers.
var (
	ofScore  = newBasis(cosines(32, 12))
	ofMasses = [...]basis{1: massBasis(1, 32, 24), 2: massBasis(2, 8, 5), 3: massBasis(3, 4, 3)}
	// ofOneMass has the cells and functions of one mass, by the number of masses.
	ofOneMass = [...]*basis{1: oneMass(32, 24), 2: oneMass(8, 5), 3: oneMass(4, 3)}
)

// massCells is the number of cells of one mass, by the number of masses. One cell more has the events without a value.
var massCells = [...]uint32{1: 32, 2: 8, 3: 4}

func oneMass(cells, functions int) *basis {
	of := newBasis(cosines(cells, functions))
	return &of
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
func massBasis(variables, cells, functions int) basis {
	_, _, one := cosines(cells, functions)
	one = append(one, make([]float64, functions)...)
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
