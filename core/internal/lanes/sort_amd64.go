//go:build goexperiment.simd && go1.26 && !go1.27

package lanes

import (
	"math"
	"simd/archsimd"
	"unsafe"
)

// sortNearAVX2 sorts windows of eight words, and then the windows that begin four words later, of which both halves are in
// order. That brings each word to its place that was at most four places away. If one was farther, an insertion sort goes on.
func sortNearAVX2(dst, room []uint64) {
	n := len(dst)
	if n < 8 {
		sortNearGo(dst, room)
		return
	}
	room = room[:n+Padding]
	for i := n; i < len(room); i++ {
		room[i] = math.Float64bits(math.MaxFloat64)
	}
	for at := 0; at < n; at += 32 {
		sortWindows((*[32]uint64)(room[at:]))
	}
	for at := 4; at < n; at += 32 {
		mergeWindows((*[32]uint64)(room[at:]))
	}
	sorted := inOrder(room[:n+4])
	archsimd.ClearAVXUpperBits()
	if sorted {
		copy(dst, room)
	} else {
		sortNearGo(dst, room)
	}
}

// sortWindows sorts each of four windows of eight words. A vector has one word of each window, so that the network of 19
// comparisons sorts all four.
func sortWindows(w *[32]uint64) {
	x0, x1, x2, x3 := loadColumns(w, 0)
	x4, x5, x6, x7 := loadColumns(w, 4)
	x0, x2 = x0.Min(x2), x0.Max(x2)
	x1, x3 = x1.Min(x3), x1.Max(x3)
	x4, x6 = x4.Min(x6), x4.Max(x6)
	x5, x7 = x5.Min(x7), x5.Max(x7)
	x0, x4 = x0.Min(x4), x0.Max(x4)
	x1, x5 = x1.Min(x5), x1.Max(x5)
	x2, x6 = x2.Min(x6), x2.Max(x6)
	x3, x7 = x3.Min(x7), x3.Max(x7)
	x0, x1 = x0.Min(x1), x0.Max(x1)
	x2, x3 = x2.Min(x3), x2.Max(x3)
	x4, x5 = x4.Min(x5), x4.Max(x5)
	x6, x7 = x6.Min(x7), x6.Max(x7)
	x2, x4 = x2.Min(x4), x2.Max(x4)
	x3, x5 = x3.Min(x5), x3.Max(x5)
	x1, x4 = x1.Min(x4), x1.Max(x4)
	x3, x6 = x3.Min(x6), x3.Max(x6)
	x1, x2 = x1.Min(x2), x1.Max(x2)
	x3, x4 = x3.Min(x4), x3.Max(x4)
	x5, x6 = x5.Min(x6), x5.Max(x6)
	storeColumns(w, 0, x0, x1, x2, x3)
	storeColumns(w, 4, x4, x5, x6, x7)
}

// mergeWindows sorts each of four windows of eight words, by Batcher's odd-even merge. The first four and the last four words of
// a window are in order.
func mergeWindows(w *[32]uint64) {
	x0, x1, x2, x3 := loadColumns(w, 0)
	x4, x5, x6, x7 := loadColumns(w, 4)
	x0, x4 = x0.Min(x4), x0.Max(x4)
	x1, x5 = x1.Min(x5), x1.Max(x5)
	x2, x6 = x2.Min(x6), x2.Max(x6)
	x3, x7 = x3.Min(x7), x3.Max(x7)
	x2, x4 = x2.Min(x4), x2.Max(x4)
	x3, x5 = x3.Min(x5), x3.Max(x5)
	x1, x2 = x1.Min(x2), x1.Max(x2)
	x3, x4 = x3.Min(x4), x3.Max(x4)
	x5, x6 = x5.Min(x6), x5.Max(x6)
	storeColumns(w, 0, x0, x1, x2, x3)
	storeColumns(w, 4, x4, x5, x6, x7)
}

// loadColumns returns vectors with the words from, from+1, from+2 and from+3 of each of four windows.
func loadColumns(w *[32]uint64, from int) (_, _, _, _ archsimd.Float64x4) {
	return transpose(load(w, from), load(w, from+8), load(w, from+16), load(w, from+24))
}

func storeColumns(w *[32]uint64, from int, a, b, c, d archsimd.Float64x4) {
	a, b, c, d = transpose(a, b, c, d)
	store(a, w, from)
	store(b, w, from+8)
	store(c, w, from+16)
	store(d, w, from+24)
}

func transpose(a, b, c, d archsimd.Float64x4) (_, _, _, _ archsimd.Float64x4) {
	e, f := a.SelectFromPairGrouped(0, 2, b), a.SelectFromPairGrouped(1, 3, b)
	g, h := c.SelectFromPairGrouped(0, 2, d), c.SelectFromPairGrouped(1, 3, d)
	return e.Select128FromPair(0, 2, g), f.Select128FromPair(0, 2, h), e.Select128FromPair(1, 3, g), f.Select128FromPair(1, 3, h)
}

func load(w *[32]uint64, i int) archsimd.Float64x4 {
	return archsimd.LoadFloat64x4((*[4]float64)(unsafe.Pointer(&w[i])))
}

func store(x archsimd.Float64x4, w *[32]uint64, i int) {
	x.Store((*[4]float64)(unsafe.Pointer(&w[i])))
}

// inOrder reports whether words are in order, without the last three.
func inOrder(words []uint64) bool {
	for len(words) >= 5 {
		next := archsimd.LoadUint64x4Slice(words[1:]).AsFloat64x4()
		if archsimd.LoadUint64x4Slice(words).AsFloat64x4().Greater(next).ToBits() != 0 {
			return false
		}
		words = words[4:]
	}
	return true
}
