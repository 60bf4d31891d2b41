package loss

import (
	"math"
	"slices"
	"sort"

	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/par"
	"gonum.org/v1/gonum/floats"
)

// curvature writes h for the records of a walk, a bound on the curvature of the loss without bounds on moments. An event of
// weight w in bin b has, times the scale of the loss,
//
//	h = 4 |e| sum_a (the part of M_ba that bends the loss up) f_a(s),   e = w/W_b
//
// where f_a is the density of bin a's CDF near the score: see core.Curvature.
type curvature struct {
	*walk
	write  func(lo int, h []float64) // over the scale of the loss
	strips []strip
	table  []float64 // for each strip, a row with h of an event of weight 1, without the scale, by sign and bin
}

// mostCurvedBins is the largest number of bins. The time grows with its square, and is about a second there.
const mostCurvedBins = 4096

// binsAtATime is the number of bins that a goroutine takes at a time.
const binsAtATime = 8

// newCurvature returns the curvature along a walk.
func newCurvature(wa *walk, write func(int, []float64), smoothing float64, sc *par.Scratch) (*curvature, error) {
	nb, n := wa.in.bins, len(wa.Words)
	if nb > mostCurvedBins {
		return nil, errs.Of(errs.ErrOption, "hess of %d bins: at most %d are possible, use fewer", nb, mostCurvedBins)
	}
	half, err := halfWindow(wa, smoothing)
	if err != nil {
		return nil, err
	}
	count := min(max(n/(4*nb), 1), mostStrips)
	cu := &curvature{walk: wa, write: write, strips: newStrips(wa, count, half, &sc.Arena)}
	cu.table = par.Make[float64](&sc.Arena, len(cu.strips)*2*nb)
	if half == 0 {
		return cu, nil
	}
	densities := cu.densities(sc)
	sc.Team.Blocks(nb, binsAtATime, func(lo, hi int) {
		up, down := make([]float64, nb), make([]float64, nb)
		for b := lo; b < hi; b++ {
			for a := range nb {
				m := wa.in.element(b, a)
				up[a], down[a] = max(0, -m), max(0, m)
			}
			factor := 4 * wa.in.step[b]
			for c := range cu.strips { // events of the other sign bend the loss the other way
				f, h := cu.row(densities, c), cu.row(cu.table, c)
				h[b] = factor * (floats.Dot(up, f[:nb]) + floats.Dot(down, f[nb:]))
				h[nb+b] = factor * (floats.Dot(down, f[:nb]) + floats.Dot(up, f[nb:]))
			}
		}
	})
	return cu, nil
}

// row returns the numbers of strip c of a table, by sign and bin.
func (cu *curvature) row(table []float64, c int) []float64 {
	width := 2 * cu.in.bins
	return table[c*width : (c+1)*width]
}

// densities returns the sums of |e| over the windows of the strips by their widths, by sign and bin. The ends of the windows divide
// the records into parts, each of which is summed once.
func (cu *curvature) densities(sc *par.Scratch) []float64 {
	nb := cu.in.bins
	var ends []int
	for _, strip := range cu.strips {
		ends = append(ends, strip.lo, strip.hi)
	}
	slices.Sort(ends)
	ends = slices.Compact(ends)
	sums := par.Make[float64](&sc.Arena, 2*nb*(len(ends)-1))
	sc.Team.Run(len(ends)-1, func(k int) {
		row := cu.row(sums, k)
		for i := ends[k]; i < ends[k+1]; i++ {
			b, w := cu.Bin(cu.Words[i]), cu.Weight(i)
			if w < 0 {
				b += nb
			}
			row[b] += math.Abs(w)
		}
	})
	densities := par.Make[float64](&sc.Arena, len(cu.table))
	for c, strip := range cu.strips {
		row := cu.row(densities, c)
		for k := sort.SearchInts(ends, strip.lo); ends[k] < strip.hi; k++ {
			floats.Add(row, cu.row(sums, k))
		}
		for k := range row {
			row[k] *= cu.in.step[k%nb] / strip.width
		}
	}
	return densities
}

// walkChunk writes h of the events of chunk k.
func (cu *curvature) walkChunk(k int) {
	room := par.Room()
	defer room.Give()
	block := par.Unset[float64](&room.Arena, blockSize)
	lo, hi := cu.Chunks[k], cu.Chunks[k+1]
	for c := sort.Search(len(cu.strips), func(c int) bool { return cu.strips[c].end > lo }); lo < hi; {
		next := min(hi, lo+blockSize, cu.strips[c].end)
		h, row := block[:next-lo], cu.row(cu.table, c)
		for i := range h {
			b, w := cu.Bin(cu.Words[lo+i]), cu.Weight(lo+i)
			if w < 0 {
				b += cu.in.bins
			}
			h[i] = math.Abs(w) * row[b]
		}
		cu.write(lo, h)
		if lo = next; lo == cu.strips[c].end {
			c++
		}
	}
}
