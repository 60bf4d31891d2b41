package moments

import (
	"sync"

	"github.com/libmode/libmode/core/internal/bins"
	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/par"
)

// JointColumns returns the products P_a(x_1) P_b(x_2) ..., a + b + ... <= order, in order of the total degree, then
// of a, then of b, the highest first.
func JointColumns[T events.Float](masses [][]T, ranges [events.MaxVariables][2]float64, order int) *bins.Columns {
	degrees := Products(len(masses), order)[1:] // the first is 1
	return &bins.Columns{Count: len(degrees), One: true, Fill: func(values [][]float64, lo int) {
		if len(values) == 0 {
			return
		}
		room := polynomialRooms.Get().(*rows)
		defer polynomialRooms.Put(room)
		room.grow(len(masses)*order, len(values[0]))
		powers := room.all // P_1 .. P_order of each variable
		for k, mass := range masses {
			fillLegendre(powers[k*order:(k+1)*order], mass[lo:], ranges[k][0], ranges[k][1])
		}
		for j, of := range degrees {
			multiply(values[j], powers, of, order)
		}
	}}
}

// rows are values of functions, a slice each.
type rows struct {
	all    [][]float64
	memory []float64
}

// grow makes room for so many functions of n events.
func (ro *rows) grow(count, n int) {
	ro.all, ro.memory = par.Grown(ro.all, count), par.Grown(ro.memory, count*n)
	for l := range ro.all {
		ro.all[l] = ro.memory[l*n : (l+1)*n]
	}
}

// polynomialRooms hold the polynomials of each variable.
var polynomialRooms = sync.Pool{New: func() any { return new(rows) }}

// multiply sets dst to the product of one polynomial of each variable, of these degrees.
func multiply(dst []float64, powers [][]float64, degrees [events.MaxVariables]int, order int) {
	first := true
	for k, degree := range degrees {
		if degree == 0 {
			continue
		}
		of := powers[k*order+degree-1][:len(dst)]
		if first {
			copy(dst, of)
			first = false
			continue
		}
		for i, p := range of {
			dst[i] *= p
		}
	}
}

// Products returns the degrees of all products of so many variables up to a total degree, in their order.
func Products(variables, order int) (all [][events.MaxVariables]int) {
	var extend func(degrees [events.MaxVariables]int, k, left int)
	extend = func(degrees [events.MaxVariables]int, k, left int) {
		if k == variables-1 {
			degrees[k] = left
			all = append(all, degrees)
			return
		}
		for of := left; of >= 0; of-- {
			degrees[k] = of
			extend(degrees, k+1, left-of)
		}
	}
	for total := range order + 1 { // of all
		extend([events.MaxVariables]int{}, 0, total)
	}
	return all
}
