package disco

import (
	"math"

	"github.com/libmode/libmode/core/internal/errs"
)

// axis is one of the two variables, in increasing order, centred and scaled.
type axis struct {
	name    string
	tied    bool     // some values are equal
	order   []uint32 // places in the input
	place   []uint32 // of each event of the input: its place in this order
	records []uint64
	unit    float64   // what values have been multiplied by
	z       []float64 // values
	w       []float64 // weights
	row     []float64 // sum_j w_j |z_k - z_j|
	half    []float64 // half of the derivatives of dCov^2(z, z)
	slope   []float64 // derivatives of dCov^2(x, y)
	factor  []float64

	variance float64 // dCov^2(z, z)
}

// setVariance sets variance and half.
//
// dCov^2(z, z) is bilinear in the distances of both factors, and half of its derivative is that by one of them. Since
// these are linear in z between ties, the sum of z times the derivative is dCov^2 itself.
func (ax *axis) setVariance(fm *form, words Words) error {
	var w, wz, w2, w2z, all sum
	for k, z := range ax.z {
		weight := ax.w[k]
		w.add(weight)
		wz.add(weight * z)
		w2.add(weight * weight)
		w2z.add(weight * weight * z)
		all.add(weight * ax.row[k])
	}
	for k, row := range ax.row {
		ax.factor[k] = fm.factor(ax.w[k], row, all.value())
	}
	signedSums(ax.half, ax.z, ax.w, ax.factor)
	var total sum
	var size float64
	for k, z := range ax.z {
		pairs := fm.ofPairs(ax.w[k], z*w.value()-wz.value(), z*w2.value()-w2z.value())
		ax.half[k] += pairs
		total.add(z * ax.half[k])
		size += math.Abs(z * pairs)
	}
	ax.variance = total.value()
	// The largest |z| is about 1, so that a small size is one event far from all others.
	if !(ax.variance > roundingFloor*size && size > 0x1p-900) {
		return errs.Of(ErrUndefined, "%s: the distance variance of the %d %s is %.3g times their mean squared distance, "+
			"so that DisCo, which divides by its root, is not defined: all but one of them agree in double precision, or negative weights outweigh the others",
			ax.name, len(ax.z), words.Events, ax.variance/max(size, math.SmallestNonzeroFloat64))
	}
	return nil
}
