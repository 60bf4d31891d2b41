package disco

import (
	"math"

	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/par"
)

// axis is one of the two variables. All arrays but place have the events in increasing order of the variable.
type axis struct {
	name   string
	order  []uint32  // places in the input
	place  []uint32  // of each event of the input: its place in this order
	rank   []uint32  // places in the order of the other variable
	unit   float64   // the factor of the values
	z      []float64 // values, centered
	across []float64 // values of the other variable
	w      []float64 // weights
	power  []float64 // w, or w^2, in the sums over pairs
	row    []float64 // sum_j power_j |z_k - z_j|
	beside []float64 // row sums of the other variable
	pairs  []float64 // sums over pairs, see pairs.go
	half   []float64 // half of the derivatives of dCov^2(z, z)
	slope  []float64 // derivatives of dCov^2(x, y)
	factor []float64 // what the sums over events add up, later power

	variance float64 // dCov^2(z, z)
}

// newAxis returns an axis with room for n events.
func newAxis(name string, n int, arena *par.Arena) axis {
	ax := axis{name: name}
	for _, array := range []*[]uint32{&ax.order, &ax.place, &ax.rank} {
		*array = par.Unset[uint32](arena, n)
	}
	for _, array := range []*[]float64{&ax.z, &ax.across, &ax.w, &ax.row, &ax.beside, &ax.pairs, &ax.half, &ax.slope, &ax.factor} {
		*array = par.Unset[float64](arena, n)
	}
	return ax
}

// setVariance sets variance and half.
//
// dCov^2(z, z) is bilinear in the distances of both factors, and half is its derivative by one of them. Since distances
// are linear in z between ties, the sum of z times the derivative is dCov^2 itself.
func (ax *axis) setVariance(fm *form) error {
	var w, wz, w2, w2z sum
	for k, z := range ax.z {
		weight := ax.w[k]
		w.add(weight)
		wz.add(weight * z)
		w2.add(weight * weight)
		w2z.add(weight * weight * z)
	}
	fm.setFactors(ax.factor, ax.w, ax.row, total(ax.w, ax.row))
	signedSums(ax.half, ax.z, ax.w, ax.factor)
	var size float64
	for k, z := range ax.z {
		pairs := fm.ofPairs(ax.w[k], z*w.value()-wz.value(), z*w2.value()-w2z.value())
		ax.half[k] += pairs
		size += math.Abs(z * pairs)
	}
	ax.variance = total(ax.z, ax.half)
	// The largest |z| is about 1, so that a small size is one event far from all others.
	if !(ax.variance > cancelledTo*size && size > 0x1p-900) {
		return errs.At(errs.ErrUndefined, ax.name, -1, ": the distance variance of the %d events is %.3g times their mean squared distance, "+
			"so DisCo, which divides by its root, is not defined: all but one of them agree in double precision, or negative weights outweigh the others",
			len(ax.z), ax.variance/max(size, math.SmallestNonzeroFloat64))
	}
	return nil
}

// lookAcross sets the events' values and row sums of the other variable.
func (ax *axis) lookAcross(other *axis) {
	for k, i := range ax.order {
		r := other.place[i]
		ax.rank[k], ax.across[k], ax.beside[k] = r, other.z[r], other.row[r]
	}
}

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
