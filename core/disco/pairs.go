package disco

import (
	"github.com/libmode/libmode/core/internal/par"
	"github.com/libmode/libmode/core/internal/sorted"
)

// The sums over pairs are, for each event k,
//
//	y.pairs_k = sum_j w_j |x_k - x_j| sign(y_k - y_j)
//	x.pairs_k = sum_j w_j |y_k - y_j| sign(x_k - x_j)
//
// Both follow from S_k = sum_j w_j (1, x_j, y_j) sign(x_k - x_j) sign(y_k - y_j), as in y.pairs_k = x_k S^1_k - S^x_k.
// Let R_k be the sum over the events before k in order of x, P_k in order of y, L_k in both orders, and T over all. Then
//
//	S_k = 4 L_k - 2 P_k - 2 R_k + T
//
// In y.pairs_k the last two terms are minus the row sum of x. Two events that are equal in y have the sign +-1 in S_k, by
// the order that breakTies gives them: subtractTies takes their share out again. The same holds for x.
//
// addBelow finds L_k with trees over the order of x, in a walk in order of y. It divides the order of x into blocks. One
// tree holds the sums of blocks. Then each block has a tree of its own, which stays in a core's cache.

// setSlopes sets the derivatives of dCov^2(x, y) by y, and by x where they are wanted.
func (dc *call) setSlopes(fm *form, ofX bool) {
	each := func(f func(ax, other *axis)) {
		dc.each(func(k int, ax, other *axis) {
			if k == 1 || ofX {
				f(ax, other)
			}
		})
	}
	addPairs := func(of func(w, g float64) float64) {
		each(func(ax, _ *axis) { ax.sumBefore() })
		dc.addBelow(ofX)
		each(func(ax, _ *axis) {
			ax.subtractTies()
			for k, g := range ax.pairs {
				ax.slope[k] += of(ax.w[k], g)
			}
		})
	}
	each(func(ax, other *axis) { // the part of the row sums of the other variable
		ax.lookAcross(other)
		fm.setFactors(ax.factor, ax.w, ax.beside, total(other.w, other.row))
		signedSums(ax.slope, ax.z, ax.w, ax.factor)
	})
	addPairs(func(w, g float64) float64 { return fm.ofPairs(w, g, 0) })
	if fm.mixed == 0 && fm.two == 0 {
		return
	}
	dc.each(func(_ int, ax, _ *axis) { // the weights in the sums over pairs become their squares
		ax.power = ax.factor
		for k, w := range ax.w {
			ax.power[k] = w * w
		}
		rowSums(ax.row, ax.z, ax.power)
	})
	each(func(ax, other *axis) { ax.lookAcross(other) })
	addPairs(func(w, g float64) float64 { return fm.ofPairs(w, 0, g) })
}

// sumBefore sets pairs to the share of the events that come before in this order, and of all events.
func (ax *axis) sumBefore() {
	var weights, moments sum
	for k, z := range ax.across {
		ax.pairs[k] = -2*(z*weights.value()-moments.value()) - ax.beside[k]
		weights.add(ax.power[k])
		moments.add(ax.power[k] * z)
	}
}

// subtractTies subtracts from pairs the share of events of equal values.
func (ax *axis) subtractTies() {
	sorted.ForTies(ax.z, func(lo, hi int) {
		var weights, moments sum
		for k := lo; k < hi; k++ {
			weights.add(ax.power[k])
			moments.add(ax.power[k] * ax.across[k])
		}
		for k := lo; k < hi; k++ {
			ax.pairs[k] -= ax.across[k]*weights.value() - moments.value()
		}
	})
}

// event has the places of an event: its rank in order of x, and its place in order of y.
type event struct{ rank, place uint32 }

// node is a sum of weights, and of weights times x and times y.
type node struct{ w, x, y float64 }

func (a *node) add(b node) {
	a.w += b.w
	a.x += b.x
	a.y += b.y
}

// blockBits is the logarithm of the number of events in a block.
const blockBits = 10

// addBelow adds to the sums over pairs the share of the events that come before in both orders.
func (dc *call) addBelow(ofX bool) {
	x, y := &dc.axes[0], &dc.axes[1]
	n := len(y.z)
	evs := par.Unset[event](&dc.sc.Arena, n) // by block
	blocks := (n-1)>>blockBits + 1
	next := make([]int, blocks) // where the next event of each block goes
	for b := range next {
		next[b] = b << blockBits
	}
	tops := make(tree, blocks+1)
	for k, r := range y.rank {
		b := int(r >> blockBits)
		w, xk, yk := y.power[k], y.across[k], y.z[k]
		evs[next[b]] = event{r, uint32(k)}
		next[b]++
		dc.addShare(event{r, uint32(k)}, xk, yk, tops.below(b), ofX)
		tops.add(b, node{w, w * xk, w * yk})
	}
	dc.sc.Run(blocks, func(b int) {
		room := par.Room()
		defer room.Give()
		inBlock := tree(par.Make[node](&room.Arena, 1<<blockBits+1))
		start := b << blockBits
		for _, ev := range evs[start:next[b]] {
			r := int(ev.rank)
			w, xr, yr := x.power[r], x.z[r], 0.0
			if ofX {
				yr = x.across[r]
			}
			dc.addShare(ev, xr, yr, inBlock.below(r-start), ofX)
			inBlock.add(r-start, node{w, w * xr, w * yr})
		}
	})
}

// addShare adds the share of earlier events to the sums of an event.
func (dc *call) addShare(ev event, x, y float64, earlier node, ofX bool) {
	dc.axes[1].pairs[ev.place] += 4 * (x*earlier.w - earlier.x)
	if ofX {
		dc.axes[0].pairs[ev.rank] += 4 * (y*earlier.w - earlier.y)
	}
}

// tree is a Fenwick tree over an order. Element 0 is not used.
type tree []node

// add adds to the element of rank r.
func (t tree) add(r int, n node) {
	for k := r + 1; k < len(t); k += k & -k {
		t[k].add(n)
	}
}

// below returns the sum over the ranks below r.
func (t tree) below(r int) (sum node) {
	for k := r; k > 0; k &= k - 1 {
		sum.add(t[k])
	}
	return sum
}
