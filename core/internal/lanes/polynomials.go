package lanes

var (
	recur      = recurGo
	overlaps   = overlapsGo
	combine    = combineGo
	sumSquares = sumSquaresGo
)

// Step is a step of the recurrence of orthogonal polynomials, to factor ((x - alpha) q - beta before) from the two
// before it.
type Step struct{ Alpha, Beta, Factor float64 }

// Recur sets the columns from the third on, a step each, to what follows from the two before.
func Recur(q [][]float64, x []float64, steps []Step) { recur(q, x, steps) }

// Overlaps adds to each of the sums that of the products of u, q and one of the others, which are all of one length.
func Overlaps(sums, u, q []float64, others [][]float64) { overlaps(sums, u, q, others) }

// Combine sets dst to the sum of the columns times a factor each.
func Combine(dst, factors []float64, columns [][]float64) { combine(dst, factors, columns) }

// SumSquares sets dst to u^2 times the sum of the squares of the columns.
func SumSquares(dst, u []float64, columns [][]float64) { sumSquares(dst, u, columns) }

func recurGo(q [][]float64, x []float64, steps []Step) { recurFrom(0, q, x, steps) }

func recurFrom(from int, q [][]float64, x []float64, steps []Step) {
	for k, step := range steps {
		before, q, next := q[k][:len(x)], q[k+1][:len(x)], q[k+2][:len(x)]
		for i := from; i < len(x); i++ {
			next[i] = step.Factor * (float64((x[i]-step.Alpha)*q[i]) - float64(step.Beta*before[i]))
		}
	}
}

func overlapsGo(sums, u, q []float64, others [][]float64) {
	whole := len(u) &^ 3
	for j, of := range others {
		var s0, s1, s2, s3 float64
		for i := 0; i < whole; i += 4 {
			u, q, of := u[i:i+4:i+4], q[i:i+4:i+4], of[i:i+4:i+4]
			s0 += float64(float64(u[0]*q[0]) * of[0])
			s1 += float64(float64(u[1]*q[1]) * of[1])
			s2 += float64(float64(u[2]*q[2]) * of[2])
			s3 += float64(float64(u[3]*q[3]) * of[3])
		}
		sums[j] += (s0 + s1) + (s2 + s3)
	}
	overlapsOfRest(sums, u[whole:], q[whole:], others, whole)
}

// overlapsOfRest is Overlaps for events that fill no vector.
func overlapsOfRest(sums, u, q []float64, others [][]float64, from int) {
	for i := range u {
		product := u[i] * q[i]
		for j, of := range others {
			sums[j] += float64(product * of[from+i])
		}
	}
}

func combineGo(dst, factors []float64, columns [][]float64) { combineFrom(0, dst, factors, columns) }

func combineFrom(from int, dst, factors []float64, columns [][]float64) {
	clear(dst[from:])
	for j, column := range columns {
		for i := from; i < len(dst); i++ {
			dst[i] += float64(factors[j] * column[i])
		}
	}
}

func sumSquaresGo(dst, u []float64, columns [][]float64) { sumSquaresFrom(0, dst, u, columns) }

func sumSquaresFrom(from int, dst, u []float64, columns [][]float64) {
	clear(dst[from:])
	for _, column := range columns {
		for i := from; i < len(dst); i++ {
			dst[i] += float64(column[i] * column[i])
		}
	}
	for i := from; i < len(dst); i++ {
		dst[i] *= u[i] * u[i]
	}
}
