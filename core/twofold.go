package core

import "math"

// twofold is a number hi + lo of some 32 digits: lo is what hi, rounded, leaves.
// The algorithms are those of T. J. Dekker, Numer. Math. 18 (1971) 224.
type twofold struct{ hi, lo float64 }

// plus returns the sum of two numbers, exactly.
func plus(a, b float64) twofold {
	sum := a + b
	of := sum - a
	return twofold{sum, (a - (sum - of)) + (b - of)}
}

func (x twofold) add(y twofold) twofold {
	s := plus(x.hi, y.hi)
	return plus(s.hi, s.lo+x.lo+y.lo)
}

// plus adds a number.
func (x twofold) plus(y float64) twofold {
	s := plus(x.hi, y)
	return twofold{s.hi, x.lo + s.lo}
}

func (x twofold) minus(y twofold) twofold { return x.add(twofold{-y.hi, -y.lo}) }

func (x twofold) times(y twofold) twofold {
	product := x.hi * y.hi
	return plus(product, math.FMA(x.hi, y.hi, -product)+(x.hi*y.lo+x.lo*y.hi))
}

func (x twofold) over(y twofold) twofold {
	first := x.hi / y.hi
	rest := x.minus(y.times(twofold{hi: first}))
	return plus(first, rest.hi/y.hi)
}

// fitTwofold sets a to A = (P'P)^-1 P', a row a bin, with all its digits: those that
// nearly dependent columns of P cost are taken from what twofold numbers have more.
func fitTwofold(a []float64, p []twofold, size int) {
	gram := make([]twofold, size*size) // becomes L and D of P'P = L D L'
	for start := 0; start < len(p); start += size {
		row := p[start : start+size]
		for l, x := range row {
			for m, y := range row[:l+1] {
				gram[l*size+m] = gram[l*size+m].add(x.times(y))
			}
		}
	}
	for l := range size {
		for m := range l + 1 {
			sum := gram[l*size+m]
			for k := range m {
				sum = sum.minus(gram[l*size+k].times(gram[m*size+k]).times(gram[k*size+k]))
			}
			if m < l {
				sum = sum.over(gram[m*size+m])
			}
			gram[l*size+m] = sum
		}
	}
	x := make([]twofold, size)
	for start := 0; start < len(p); start += size {
		copy(x, p[start:start+size])
		for l := range size {
			for k := range l {
				x[l] = x[l].minus(gram[l*size+k].times(x[k]))
			}
		}
		for l := size - 1; l >= 0; l-- {
			x[l] = x[l].over(gram[l*size+l])
			for k := l + 1; k < size; k++ {
				x[l] = x[l].minus(gram[k*size+l].times(x[k]))
			}
			a[start+l] = x[l].hi
		}
	}
}
