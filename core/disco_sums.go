package core

import (
	"math"

	"github.com/libmode/libmode/core/internal/par"
)

// The sums below have one element an event, in increasing order of z, and take
// time that is proportional to the number of events, or n log n where it says so.

// sum is a running sum whose rounding errors are kept beside it (D. Knuth's
// TwoSum), so that they do not grow with the number of terms: the gradient of
// independent events is smaller than the sums by the root of that number.
type sum struct{ high, low float64 }

func (s *sum) add(x float64) {
	x = float64(x) // a product is rounded before it is added
	t := s.high + x
	added := t - s.high
	s.low += (s.high - (t - added)) + (x - added)
	s.high = t
}

func (s *sum) value() float64 { return s.high + s.low }

// rowSums sets dst_k = sum_j w_j |z_k - z_j|.
func rowSums(dst, z, w []float64) {
	var totals, moments sum
	for k, weight := range w {
		totals.add(weight)
		moments.add(weight * z[k])
	}
	total, moment := totals.value(), moments.value()
	var below, momentBelow sum
	for k, weight := range w {
		dst[k] = z[k]*(2*below.value()-total) - (2*momentBelow.value() - moment)
		below.add(weight)
		momentBelow.add(weight * z[k])
	}
}

// signedSums sets dst_k to the derivative by z_k of sum_i f_i sum_j w_j |z_i - z_j|,
//
//	dst_k = sum_j (f_k w_j + w_k f_j) sign(z_k - z_j)
func signedSums(dst, z, w, f []float64) {
	var total, all sum
	for k, weight := range w {
		total.add(weight)
		all.add(f[k])
	}
	var upTo, allUpTo sum
	for lo := 0; lo < len(z); {
		hi, below, allBelow := lo, upTo.value(), allUpTo.value()
		for hi < len(z) && z[hi] == z[lo] {
			upTo.add(w[hi])
			allUpTo.add(f[hi])
			hi++
		}
		sign, allSign := below+upTo.value()-total.value(), allBelow+allUpTo.value()-all.value()
		for k := lo; k < hi; k++ {
			dst[k] = f[k]*sign + w[k]*allSign
		}
		lo = hi
	}
}

// massEvent is what the sums over pairs need of an event, side by side.
type massEvent struct {
	m, w  float64
	row   float64 // sum_j w_j |m - m_j|
	index uint32  // place in the input
}

// pairSums sets, in order of score, dst_k = sum_j w_j |m_k - m_j| sign(s_k - s_j)
// in O(n log n), and dc.byScore to the events in order of score.
//
// Events come in order of score. What came before one counts +, the others -:
// twice what came before, less the row. What came before divides by mass into
// what lies below and the rest. Of equal scores the lower mass comes first, so that
// what is counted among them, and should not be, is sum_j w_j (m_k - m_j).
//
// The order of mass is divided into blocks: one tree holds sums over blocks, and
// then each block has a tree of its own, which stays in cache. The blocks do not
// depend on the number of threads.
func (dc *disco) pairSums(dst []float64, team *par.Team) {
	n := len(dst)
	// A loop of its own: it waits for memory all the time, and branches that are hard
	// to predict, as the tree's are, would keep it from waiting for several at once.
	dc.byScore = par.Grown(dc.byScore, n)
	events, byScore, scores := dc.events, dc.byScore, dc.score.z
	for k, r := range dc.rank {
		byScore[k] = events[r]
	}
	blocks := (n-1)>>massBlockBits + 1
	tops := make(tree, blocks+1)
	next := make([]int, blocks) // where the next event of each block goes
	for b := range next {
		next[b] = b << massBlockBits
	}
	byBlock := dc.records // which have been used up
	var weights, moments sum
	var came node // their values
	for lo := 0; lo < n; {
		hi, before := lo, came
		for hi < n && scores[hi] == scores[lo] {
			r := int(dc.rank[hi])
			b, ev := r>>massBlockBits, &byScore[hi]
			below := tops.below(b)
			dst[hi] = 2*(ev.m*(2*below.w-came.w)-(2*below.wm-came.wm)) - ev.row
			one := node{ev.w, ev.w * ev.m}
			tops.add(b, one)
			weights.add(one.w)
			moments.add(one.wm)
			came = node{weights.value(), moments.value()}
			byBlock[next[b]] = uint64(hi)<<32 | uint64(r)
			next[b]++
			hi++
		}
		if hi > lo+1 {
			for k := lo; k < hi; k++ {
				dst[k] -= byScore[k].m*(came.w-before.w) - (came.wm - before.wm)
			}
		}
		lo = hi
	}
	trees := par.NewPool(func() tree { return make(tree, 1<<massBlockBits+1) })
	team.Run(blocks, func(b int) {
		start := b << massBlockBits
		inBlock := trees.Take()
		clear(inBlock)
		for _, event := range byBlock[start:next[b]] {
			k, r := int(event>>32), int(event&math.MaxUint32)
			ev, rank := &events[r], r-start
			below := inBlock.below(rank)
			dst[k] += 4 * (ev.m*below.w - below.wm)
			inBlock.add(rank, node{ev.w, ev.w * ev.m})
		}
		trees.Give(inBlock)
	})
}

// massBlockBits is the logarithm of the number of events in a block, whose tree
// has the size of a core's first cache.
const massBlockBits = 11

// tree is a Fenwick tree over an order; the element 0 is not used.
type tree []node

// node is a sum of weights and of weights times mass.
type node struct{ w, wm float64 }

// add adds to the element of rank r.
func (t tree) add(r int, n node) {
	for k := r + 1; k < len(t); k += k & -k {
		t[k].w += n.w
		t[k].wm += n.wm
	}
}

// below returns the sum over the ranks below r.
func (t tree) below(r int) (sum node) {
	for k := r; k > 0; k &= k - 1 {
		sum.w += t[k].w
		sum.wm += t[k].wm
	}
	return sum
}
