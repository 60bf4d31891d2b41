package disco

import (
	"math"

	"github.com/libmode/libmode/core/internal/errs"
)

// axis is one of the two variables. Its arrays have the events in increasing order of this variable, but for place.
type axis struct {
	name    string
	order   []uint32  // places in the input
	place   []uint32  // of each event of the input: its place in this order
	rank    []uint32  // places in the order of the other variable
	unit    float64   // the factor of the values
	z       []float64 // values, centred
	across  []float64 // values of the other variable
	beside  []float64 // row sums of the other variable
	w       []float64 // weights
	power   []float64 // weights in the sums over pairs: w, then w^2
	row     []float64 // sum_j power_j |z_k - z_j|
	pairs   []float64 // sums over pairs, see pairs.go
	half    []float64 // half of the derivatives of dCov^2(z, z)
	slope   []float64 // derivatives of dCov^2(x, y)
	factor  []float64
	records []uint64

	variance float64 // dCov^2(z, z)
}

// setVariance sets variance and half.
//
// dCov^2(z, z) is bilinear in the distances of both factors, and half is its derivative by one of them. Since distances
// are linear in z between ties, the sum of z times the derivative is dCov^2 itself.
func (ax *axis) setVariance(fm *form, words Words) error {
	var w, wz, w2, w2z sum
	for k, z := range ax.z {
		weight := ax.w[k]
		w.add(weight)
		wz.add(weight * z)
		w2.add(weight * weight)
		w2z.add(weight * weight * z)
	}
	all := total(ax.w, ax.row)
	for k, row := range ax.row {
		ax.factor[k] = fm.factor(ax.w[k], row, all)
	}
	signedSums(ax.half, ax.z, ax.w, ax.factor)
	var size float64
	for k, z := range ax.z {
		pairs := fm.ofPairs(ax.w[k], z*w.value()-wz.value(), z*w2.value()-w2z.value())
		ax.half[k] += pairs
		size += math.Abs(z * pairs)
	}
	ax.variance = total(ax.z, ax.half)
	// The largest |z| is about 1, so that a small size is one event far from all others.
	if !(ax.variance > roundingFloor*size && size > 0x1p-900) {
		return errs.Of(ErrUndefined, "%s: the distance variance of the %d %s is %.3g times their mean squared distance, "+
			"so that DisCo, which divides by its root, is not defined: all but one of them agree in double precision, or negative weights outweigh the others",
			ax.name, len(ax.z), words.Events, ax.variance/max(size, math.SmallestNonzeroFloat64))
	}
	return nil
}

// setSlope sets rank, across and beside, and slope to its part from the row sums of the other variable.
func (ax *axis) setSlope(fm *form, other *axis) {
	all := total(other.w, other.row)
	for k, i := range ax.order {
		r := other.place[i]
		ax.rank[k], ax.across[k], ax.beside[k] = r, other.z[r], other.row[r]
	}
	for k, row := range ax.beside {
		ax.factor[k] = fm.factor(ax.w[k], row, all)
	}
	signedSums(ax.slope, ax.z, ax.w, ax.factor)
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
	ax.ofTies(func(lo, hi int) {
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

// square takes the squares of the weights into the sums over pairs.
func (ax *axis) square() {
	ax.power = ax.factor
	for k, w := range ax.w {
		ax.power[k] = w * w
	}
	rowSums(ax.row, ax.z, ax.power)
}

// write sets grad to the derivatives of dCorr^2, in the order of the input.
func (ax *axis) write(grad []float64, covariance, norm float64) {
	ratio := covariance / ax.variance
	for k, i := range ax.order {
		grad[i] = (ax.slope[k] - ratio*ax.half[k]) * norm * ax.unit
	}
}
