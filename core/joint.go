package core

import (
	"math"
	"sync"
)

// jointLoss is the loss whose bins are cells of the space of several variables, and whose P are products of Legendre
// polynomials of each, up to a total degree: F_b is fitted by the polynomials in all variables at once.
func jointLoss[T Float](out derivatives[T], ev Events[T], index []uint32, cfg *Config, sc *scratch) (Result, error) {
	in, err := lookInside(ev, index, cfg, sc)
	if err != nil {
		return Result{}, err
	}
	if in.all {
		return lossOfCells(out, ev, index, &in, cfg, sc)
	}
	some, places := keep(ev, index, in.kept)
	own := out.forEvents(len(in.kept))
	loss, err := lossOfCells(own, some, places, &in, cfg, sc)
	for k, of := range own {
		for j, element := range of {
			out[k][in.kept[j]] = element
		}
	}
	return loss, err
}

// lossOfCells is the loss of events that all lie in the ranges.
func lossOfCells[T Float](out derivatives[T], ev Events[T], index []uint32, in *inside, cfg *Config, sc *scratch) (Result, error) {
	bs, cellOf, err := cellsOf(ev, index, in, cfg, sc)
	if err != nil {
		return Result{}, err
	}
	sel, err := selectScores(ev, index, cellOf, cfg, sc)
	if err != nil {
		return Result{}, err
	}
	if cfg.Loss == MoDe {
		of := func(dst []uint32, lo int) { copy(dst, cellOf[lo:]) }
		su := sumBins(sel, bs.count(), jointColumns(ev, in, cfg.Order), sel.unit(), of, sc)
		if err := su.check(bs, sel.unit()); err != nil {
			return Result{}, err
		}
		bs.means = su.means(sc)
	}
	rs := newRecords(sel, bs, sc)
	su := rs.sortAndSum(sel.Weight, sel.unit(), bs.count(), sc)
	wa, err := walkOf(out, sel, bs, rs, su, cfg, sc)
	if err != nil {
		return Result{}, err
	}
	return wa.integrate(sc)
}

// jointColumns returns the products P_a(x_1) P_b(x_2) ..., a + b + ... <= order, in order of the total degree, then
// of a, then of b, the highest first.
func jointColumns[T Float](ev Events[T], in *inside, order int) *columns {
	degrees := products(len(ev.Masses), order)[1:] // the first is 1
	return &columns{count: len(degrees), one: true, fill: func(values [][]float64, lo int) {
		if len(values) == 0 {
			return
		}
		room := polynomialRooms.Get().(*sumRoom)
		defer polynomialRooms.Put(room)
		room.setRoom(len(ev.Masses)*order, len(values[0]))
		powers := room.values // P_1 .. P_order of each variable
		for k, mass := range ev.Masses {
			fillLegendre(powers[k*order:(k+1)*order], mass[lo:], in.ranges[k][0], in.ranges[k][1])
		}
		for j, of := range degrees {
			multiply(values[j], powers, of, order)
		}
	}}
}

// polynomialRooms hold the polynomials of each variable.
var polynomialRooms = sync.Pool{New: func() any { return new(sumRoom) }}

// multiply sets dst to the product of one polynomial of each variable, of these degrees.
func multiply(dst []float64, powers [][]float64, degrees [MaxVariables]int, order int) {
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

// products returns the degrees of all products of so many variables up to a total degree, in their order.
func products(variables, order int) (all [][MaxVariables]int) {
	var extend func(degrees [MaxVariables]int, k, left int)
	extend = func(degrees [MaxVariables]int, k, left int) {
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
		extend([MaxVariables]int{}, 0, total)
	}
	return all
}

// jointBinsFor returns the numbers of bins of each variable for n events: those asked for, or else so many that
// cells have events enough and there are more of them than functions.
func jointBinsFor(cfg *Config, variables, n int) [MaxVariables]int {
	room := 1
	for room < mostJointBins && math.Pow(float64(room+1), float64(variables)) <= float64(n/eventsPerBin) {
		room++
	}
	for math.Pow(float64(room), float64(variables)) <= float64(len(products(variables, cfg.Order))) {
		room++
	}
	var asked [MaxVariables]int
	for k := range variables {
		if asked[k] = cfg.of(k).Bins; asked[k] == 0 {
			asked[k] = room
		}
	}
	return asked
}

// mostJointBins is the number of bins of each variable where none is asked for and there are events enough.
const mostJointBins = 8
