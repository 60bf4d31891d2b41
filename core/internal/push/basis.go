package push

import "math"

// The cosines of the score's rank and those of the rank of each mass, by the number of masses: how many, and on how many
// cells. docs/zoo.md has the study.
const (
	ofScore    = 12
	scoreCells = 32
	mostMasses = 3
)

var ofMass = [mostMasses + 1]struct{ functions, cells int }{1: {12, 32}, 2: {5, 8}, 3: {3, 4}}

// Functions returns how many functions of so many variables of mass, and of the score, there are.
func Functions(variables int) (masses, scores int) {
	masses = 1
	for range variables {
		masses *= ofMass[variables].functions
	}
	return masses, ofScore
}

// cosines returns sqrt(2) cos(pi k q), and 1 for k = 0, in the middle q of each cell: a row a cell.
func cosines(functions, cells int) []float64 {
	table := make([]float64, cells*functions)
	for c := range cells {
		for k := range functions {
			table[c*functions+k] = math.Sqrt2 * math.Cos(math.Pi*float64(k)*(float64(c)+0.5)/float64(cells))
		}
		table[c*functions] = 1
	}
	return table
}

var scoreTable = cosines(ofScore, scoreCells)

// massTables have the products of the cosines of each mass: a row for each cell of all masses together. The last cell of
// each mass is that of events without a value of it, in which only the function 1 is not 0.
var massTables = func() (tables [mostMasses + 1][]float64) {
	for variables := 1; variables <= mostMasses; variables++ {
		of := ofMass[variables]
		one := append(cosines(of.functions, of.cells), make([]float64, of.functions)...)
		one[of.cells*of.functions] = 1
		table, width := one, of.functions
		for range variables - 1 {
			table, width = product(table, width, one, of.functions), width*of.functions
		}
		tables[variables] = table
	}
	return tables
}()

// product returns the products of the rows of two tables, each row of the one with each of the other.
func product(a []float64, widthA int, b []float64, widthB int) (table []float64) {
	for i := 0; i < len(a); i += widthA {
		for j := 0; j < len(b); j += widthB {
			for _, x := range a[i : i+widthA] {
				for _, y := range b[j : j+widthB] {
					table = append(table, x*y)
				}
			}
		}
	}
	return table
}
