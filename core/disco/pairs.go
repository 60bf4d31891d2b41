package disco

import "github.com/libmode/libmode/core/internal/par"

// event is what the sums over pairs need of an event, and find of it: one line of the cache.
type event struct {
	w, x, y float64
	ofX     float64 // at first sum_j w_j |y - y_j|, and then what pairs.ofX has without the sums of below
	ofY     float64 // at first sum_j w_j |x - x_j|
	below   node    // sums over what comes before it in both orders
}

func (ev *event) node() node { return node{ev.w, ev.w * ev.x, ev.w * ev.y} }

// node is a sum of weights, and of weights times x and times y.
type node struct{ w, x, y float64 }

func (a *node) add(b node) {
	a.w += b.w
	a.x += b.x
	a.y += b.y
}

// pairs are sums over pairs of events, in order of x:
//
//	ofY_k = sum_j w_j |x_k - x_j| sign(y_k - y_j)
//	ofX_k = sum_j w_j |y_k - y_j| sign(x_k - x_j)
//
// Both follow from S_k = sum_j w_j (1, x_j, y_j) sign(x_k - x_j) sign(y_k - y_j), as in ofY_k = x_k S^1_k - S^x_k. Let
// the sum over what comes before event k in order of x be R_k, in order of y P_k, in both L_k, and over all T. Then
//
//	S_k = 4 L_k - 2 P_k - 2 R_k + T
//
// and in ofY_k the last two are minus the row sum of x. Events that are equal in y count in S_k with a sign of 1, by
// the order that arrange gives them, and are subtracted from ofY_k; likewise for x.
//
// L is found by a walk in order of y, with trees over the order of x. That order is divided into blocks: one tree holds
// sums over blocks, and each block has a tree of its own, which stays in cache. The order of y is divided into chunks,
// which begin with the sums over the chunks before. Neither depends on the number of threads.
type pairs struct {
	ofX, ofY []float64
	entries  []uint32 // by block, in order of y: places in order of x
	sums     []node   // by chunk and block: over the earlier chunks and lower blocks
	next     []uint32 // by chunk and block: where in entries the next one goes
	ofChunk  [][2]sum // of w and wx, over the chunks before
	ofBlock  [][2]sum // of w and wy, over the blocks before
}

const (
	blockBits  = 11 // the tree of so many events stays in a core's cache
	leastChunk = 1 << 13
	mostChunks = 64
)

// sum sets ofX and ofY from the events, whose row sums it uses up.
func (pr *pairs) sum(dc *call) {
	events, n := dc.events, len(dc.events)
	size := max(leastChunk, (n-1)/mostChunks+1)
	chunks, blocks := (n-1)/size+1, (n-1)>>blockBits+1
	pr.count(dc, chunks, blocks, size)
	dc.team.Run(chunks, func(c int) {
		base, next, came := pr.sums[c*blocks:], pr.next[c*blocks:], pr.ofChunk[c]
		tops := make(tree, blocks+1)
		for _, r := range dc.rank[c*size : min((c+1)*size, n)] {
			ev, b := &events[r], int(r>>blockBits)
			ev.below = tops.below(b)
			ev.below.add(base[b])
			ev.ofY = -2*(ev.x*came[0].value()-came[1].value()) - ev.ofY
			one := ev.node()
			tops.add(b, one)
			came[0].add(one.w)
			came[1].add(one.x)
			pr.entries[next[b]] = r
			next[b]++
		}
	})
	pr.ofX, pr.ofY = par.Grown(pr.ofX, n), par.Grown(pr.ofY, n)
	trees := par.NewPool(func() tree { return make(tree, 1<<blockBits+1) })
	dc.team.Run(blocks, func(b int) {
		start, end := b<<blockBits, min((b+1)<<blockBits, n)
		inBlock := trees.Take()
		clear(inBlock)
		for _, r := range pr.entries[start:end] {
			ev := &events[r]
			ev.below.add(inBlock.below(int(r) - start))
			inBlock.add(int(r)-start, ev.node())
		}
		trees.Give(inBlock)
		came := pr.ofBlock[b]
		for r := start; r < end; r++ {
			ev := &events[r]
			pr.ofY[r] = 4*(ev.x*ev.below.w-ev.below.x) + ev.ofY
			pr.ofX[r] = 4*(ev.y*ev.below.w-ev.below.y) - 2*(ev.y*came[0].value()-came[1].value()) - ev.ofX
			came[0].add(ev.w)
			came[1].add(ev.w * ev.y)
		}
	})
	pr.subtractTies(dc)
}

// count sets the sums and numbers that chunks and blocks begin with.
func (pr *pairs) count(dc *call, chunks, blocks, size int) {
	n := len(dc.events)
	pr.entries, pr.sums, pr.next = par.Grown(pr.entries, n), par.Grown(pr.sums, chunks*blocks), par.Grown(pr.next, chunks*blocks)
	pr.ofChunk, pr.ofBlock = par.Grown(pr.ofChunk, chunks), par.Grown(pr.ofBlock, blocks)
	dc.team.Run(chunks, func(c int) {
		sums, next := pr.sums[c*blocks:(c+1)*blocks], pr.next[c*blocks:(c+1)*blocks]
		clear(sums)
		clear(next)
		var all [2]sum
		for _, r := range dc.rank[c*size : min((c+1)*size, n)] {
			one := dc.events[r].node()
			sums[r>>blockBits].add(one)
			next[r>>blockBits]++
			all[0].add(one.w)
			all[1].add(one.x)
		}
		pr.ofChunk[c] = all
	})
	dc.team.Run(blocks, func(b int) {
		var all [2]sum
		for r := b << blockBits; r < min((b+1)<<blockBits, n); r++ {
			one := dc.events[r].node()
			all[0].add(one.w)
			all[1].add(one.y)
		}
		pr.ofBlock[b] = all
	})
	before(pr.ofChunk)
	before(pr.ofBlock)
	for b := range blocks {
		var earlier node
		place := uint32(b) << blockBits
		for c := range chunks {
			at := c*blocks + b
			pr.sums[at], earlier = earlier, sumOf(earlier, pr.sums[at])
			pr.next[at], place = place, place+pr.next[at]
		}
	}
	for c := range chunks {
		var lower node
		for b := range blocks {
			at := c*blocks + b
			pr.sums[at], lower = lower, sumOf(lower, pr.sums[at])
		}
	}
}

// before replaces each pair of sums by those of all pairs before it.
func before(sums [][2]sum) {
	var all [2]sum
	for k, one := range sums {
		sums[k] = all
		for p := range all {
			all[p].add(one[p].high)
			all[p].add(one[p].low)
		}
	}
}

func sumOf(a, b node) node {
	a.add(b)
	return a
}

// subtractTies subtracts what events of equal y add to ofY, and those of equal x to ofX.
func (pr *pairs) subtractTies(dc *call) {
	events := dc.events
	dc.team.Run(2, func(k int) {
		if k == 0 && dc.x.tied {
			runs(dc.x.z, func(lo, hi int) {
				subtractTie(hi-lo, func(p int) (w, z float64, of *float64) {
					ev := &events[lo+p]
					return ev.w, ev.y, &pr.ofX[lo+p]
				})
			})
		}
		if k == 1 && dc.y.tied {
			runs(dc.y.z, func(lo, hi int) {
				subtractTie(hi-lo, func(p int) (w, z float64, of *float64) {
					r := dc.rank[lo+p]
					return events[r].w, events[r].x, &pr.ofY[r]
				})
			})
		}
	})
}

// subtractTie subtracts sum_q w_q (z_p - z_q) from that of each event p of a tie.
func subtractTie(size int, event func(p int) (w, z float64, of *float64)) {
	if size == 1 {
		return
	}
	var weights, moments sum
	for p := range size {
		w, z, _ := event(p)
		weights.add(w)
		moments.add(w * z)
	}
	for p := range size {
		_, z, of := event(p)
		*of -= z*weights.value() - moments.value()
	}
}

// tree is a Fenwick tree over an order; the element 0 is not used.
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
