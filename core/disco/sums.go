package disco

// sum is a running sum that also adds up its rounding errors (D. Knuth's TwoSum), so that they do not grow with the
// number of terms. The gradient of n independent events is smaller than the sums by sqrt(n).
type sum struct{ high, low float64 }

func (s *sum) add(x float64) {
	x = float64(x) // a product is rounded before it is added
	t := s.high + x
	added := t - s.high
	s.low += (s.high - (t - added)) + (x - added)
	s.high = t
}

func (s *sum) value() float64 { return s.high + s.low }

// total returns sum_k a_k b_k.
func total(a, b []float64) float64 {
	var all sum
	for k, x := range a {
		all.add(x * b[k])
	}
	return all.value()
}

// rowSums sets dst_k = sum_j w_j |z_k - z_j|, of events in increasing order of z.
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

// signedSums sets dst_k to the derivative by z_k of sum_i f_i sum_j w_j |z_i - z_j|, of events in
// increasing order of z:
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
