package lanes

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

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

// InverseRoots sets dst to 1/sqrt(q (1 - q)) for ranks q.
var InverseRoots = inverseRootsGo

func inverseRootsGo(dst, ranks []float64) {
	for i, q := range ranks {
		dst[i] = 1 / math.Sqrt(q*(1-q))
	}
}
