package lanes

import "gonum.org/v1/gonum/floats"

// Product sets dst to the product of two matrices, whose rows have so many numbers: a row of a has inner, and a row of b columns.
var Product = productGo

func productGo(dst, a, b []float64, inner, columns int) {
	clear(dst)
	for i, x := range a {
		if x != 0 {
			floats.AddScaled(dst[i/inner*columns:][:columns], x, b[i%inner*columns:][:columns])
		}
	}
}
