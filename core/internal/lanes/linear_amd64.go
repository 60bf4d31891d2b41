//go:build goexperiment.simd && go1.26 && !go1.27

package lanes

import "simd/archsimd"

// four is a vector of numbers.
type four = archsimd.Float64x4

func all(x float64) four { return archsimd.BroadcastFloat64x4(x) }

// sumLanes returns the sum of each.
func sumLanes(p0, p1, p2, p3 archsimd.Float64x4) archsimd.Float64x4 {
	q0, q1 := p0.AddPairsGrouped(p1), p2.AddPairsGrouped(p3)
	return q0.Select128FromPair(0, 2, q1).Add(q0.Select128FromPair(1, 3, q1))
}

func crossAVX2(rows [][4]float64, sign float64, x *[4]float64, bins []uint32, weights, d []float64) {
	whole := len(bins) &^ 3
	crossWhole(rows, sign, x, bins[:whole], weights[:whole], d[:whole])
	crossGo(rows, sign, x, bins[whole:], weights[whole:], d[whole:])
}

func crossWhole(rows [][4]float64, sign float64, state *[4]float64, bins []uint32, weights, d []float64) {
	x, signs := archsimd.LoadFloat64x4(state), all(sign)
	for len(bins) >= 4 && len(weights) >= 4 && len(d) >= 4 {
		r0, r1 := archsimd.LoadFloat64x4(&rows[bins[0]]), archsimd.LoadFloat64x4(&rows[bins[1]])
		r2, r3 := archsimd.LoadFloat64x4(&rows[bins[2]]), archsimd.LoadFloat64x4(&rows[bins[3]])
		x1 := x.Add(r0.Mul(all(weights[0]).Mul(signs)))
		x2 := x1.Add(r1.Mul(all(weights[1]).Mul(signs)))
		x3 := x2.Add(r2.Mul(all(weights[2]).Mul(signs)))
		change := sumLanes(r0.Mul(x), r1.Mul(x1), r2.Mul(x2), r3.Mul(x3)).Mul(archsimd.LoadFloat64x4Slice(weights))
		archsimd.LoadFloat64x4Slice(d).Add(change).StoreSlice(d)
		x = x3.Add(r3.Mul(all(weights[3]).Mul(signs)))
		bins, weights, d = bins[4:], weights[4:], d[4:]
	}
	x.Store(state)
	archsimd.ClearAVXUpperBits()
}

func finishAVX2(d, scores []float64, end, scale float64) float64 {
	var sums [4]float64
	whole := len(d) &^ 3
	finishWhole(&sums, d[:whole], scores[:whole], end, scale)
	for i := whole; i < len(d); i++ {
		sums[i-whole] += float64(d[i] * (end - scores[i]))
		d[i] *= scale
	}
	return (sums[0] + sums[1]) + (sums[2] + sums[3])
}

func finishWhole(sums *[4]float64, d, scores []float64, end, scale float64) {
	ends, scales := all(end), all(scale)
	var sum four
	for len(d) >= 4 && len(scores) >= 4 {
		change := archsimd.LoadFloat64x4Slice(d)
		sum = sum.Add(change.Mul(ends.Sub(archsimd.LoadFloat64x4Slice(scores))))
		change.Mul(scales).StoreSlice(d)
		d, scores = d[4:], scores[4:]
	}
	sum.Store(sums)
	archsimd.ClearAVXUpperBits()
}
