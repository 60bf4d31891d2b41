package core

// The sums below have one element an event, in increasing order of z, and take
// time that is proportional to the number of events, or n log n where it says so.

// rowSums sets dst_k = sum_j w_j |z_k - z_j|.
func rowSums(dst, z, w []float64) {
	var total, moment float64
	for k, weight := range w {
		total += weight
		moment += weight * z[k]
	}
	var below, momentBelow float64
	for k, weight := range w {
		dst[k] = z[k]*(2*below-total) - (2*momentBelow - moment)
		below += weight
		momentBelow += weight * z[k]
	}
}

// signedSums sets dst_k to the derivative by z_k of sum_i f_i sum_j w_j |z_i - z_j|,
//
//	dst_k = sum_j (f_k w_j + w_k f_j) sign(z_k - z_j)
func signedSums(dst, z, w, f []float64) {
	var total, all float64
	for k, weight := range w {
		total += weight
		all += f[k]
	}
	var below, allBelow float64
	for lo := 0; lo < len(z); {
		hi, upTo, allUpTo := lo, below, allBelow
		for hi < len(z) && z[hi] == z[lo] {
			upTo += w[hi]
			allUpTo += f[hi]
			hi++
		}
		sign, allSign := below+upTo-total, allBelow+allUpTo-all
		for k := lo; k < hi; k++ {
			dst[k] = f[k]*sign + w[k]*allSign
		}
		lo, below, allBelow = hi, upTo, allUpTo
	}
}

// pairSums sets, in order of score, dst_k = sum_j w_j |m_k - m_j| sign(s_k - s_j)
// in O(n log n). Weights and row = sum_j w_j |m_k - m_j| are in order of mass.
//
// Events enter the tree in order of score. Those that are in it when one comes
// count +, the others -. Of equal scores the lower mass came first, so that what
// was counted among them, and should not have been, is sum_j w_j (m_k - m_j).
func (dc *disco) pairSums(dst, w, row []float64) {
	dc.tree = grown(dc.tree, len(dst)+1)
	clear(dc.tree)
	masses, scores := dc.mass.z, dc.score.z
	var in node // everything in the tree
	for lo := 0; lo < len(dst); {
		hi, before := lo, in
		for hi < len(dst) && scores[hi] == scores[lo] {
			r := int(dc.rank[hi])
			m := masses[r]
			below := dc.tree.below(r)
			dst[hi] = 2*(m*(2*below.w-in.w)-(2*below.wm-in.wm)) - row[r]
			one := node{w[r], w[r] * m}
			dc.tree.add(r, one)
			in.w += one.w
			in.wm += one.wm
			hi++
		}
		if hi > lo+1 {
			for k := lo; k < hi; k++ {
				dst[k] -= masses[dc.rank[k]]*(in.w-before.w) - (in.wm - before.wm)
			}
		}
		lo = hi
	}
}

// tree is a Fenwick tree over the order of mass; the element 0 is not used.
type tree []node

// node is a sum of weights and of weights times mass.
type node struct{ w, wm float64 }

// add adds to the place r.
func (t tree) add(r int, n node) {
	for k := r + 1; k < len(t); k += k & -k {
		t[k].w += n.w
		t[k].wm += n.wm
	}
}

// below returns the sum over the places below r.
func (t tree) below(r int) (sum node) {
	for k := r; k > 0; k &= k - 1 {
		sum.w += t[k].w
		sum.wm += t[k].wm
	}
	return sum
}
