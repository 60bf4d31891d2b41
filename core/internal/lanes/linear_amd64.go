//go:build goexperiment.simd && go1.26 && !go1.27

package lanes

import "simd/archsimd"

// four is a vector of numbers.
type four = archsimd.Float64x4

func all(x float64) four { return archsimd.BroadcastFloat64x4(x) }

// firstThree is a mask of the first three numbers of a vector.
var firstThree = [4]int64{-1, -1, -1, 0}

func crossAVX2(li *Linear, bins []uint32, weights, d []float64) {
	y, x, rows := archsimd.LoadFloat64x4(&li.Y), archsimd.LoadFloat64x4(&li.X), li.Rows
	three := archsimd.LoadInt64x4(&firstThree)
	for len(bins) >= 4 && len(weights) >= 4 && len(d) >= 4 {
		var p0, p1, p2, p3 four
		y, x, p0 = crossOne(&rows[bins[0]], weights[0], y, x, three)
		y, x, p1 = crossOne(&rows[bins[1]], weights[1], y, x, three)
		y, x, p2 = crossOne(&rows[bins[2]], weights[2], y, x, three)
		y, x, p3 = crossOne(&rows[bins[3]], weights[3], y, x, three)
		change := sumLanes(p0, p1, p2, p3).Mul(archsimd.LoadFloat64x4Slice(weights))
		archsimd.LoadFloat64x4Slice(d).Add(change).StoreSlice(d)
		bins, weights, d = bins[4:], weights[4:], d[4:]
	}
	y.Store(&li.Y)
	x.Store(&li.X)
	archsimd.ClearAVXUpperBits()
	crossGo(li, bins, weights, d)
}

// crossOne crosses an event, and returns Y, X and four numbers whose sum is the change per weight.
func crossOne(row *Row, weight float64, y, x four, three archsimd.Int64x4) (_, _, p four) {
	a, b, w := archsimd.LoadFloat64x4(&row.Y), archsimd.LoadFloat64x4(&row.X), all(weight)
	p = a.Mul(y).Add(b.Mul(x))
	moved := b.Mul(w).AsInt64x4()
	y = y.Add(a.Mul(w).AsInt64x4().And(three).AsFloat64x4())
	x = x.Sub(moved.And(three).AsFloat64x4())
	// The row is stored whole: to load it again, soon, would wait for a store of a part of it.
	a.Add(moved.AndNot(three).AsFloat64x4()).Store(&row.Y)
	return y, x, p
}

// sumLanes returns the sum of each vector.
func sumLanes(p0, p1, p2, p3 archsimd.Float64x4) archsimd.Float64x4 {
	q0, q1 := p0.AddPairsGrouped(p1), p2.AddPairsGrouped(p3)
	return q0.Select128FromPair(0, 2, q1).Add(q0.Select128FromPair(1, 3, q1))
}
