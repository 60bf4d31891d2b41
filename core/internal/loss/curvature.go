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
	width  int       // of a row: without negative weights it has one sign
}

// mostCurvedBins is the largest number of bins. The time grows with its square, and is about a second there.
const mostCurvedBins = 4096

// binsAtATime is the number of bins that a goroutine takes at a time.
const binsAtATime = 8

// newCurvature returns the curvature along a walk.
func newCurvature(wa *walk, write func(int, []float64), smoothing float64, sc *par.Scratch) (*curvature, error) {
	nb := wa.in.bins
	if nb > mostCurvedBins {
		return nil, errs.Of(errs.ErrOption, "hess of %d bins: at most %d are possible, use fewer", nb, mostCurvedBins)
	}
	half, err := halfWindow(wa, smoothing)
	if err != nil {
		return nil, err
	}
	cu := &curvature{walk: wa, write: write, strips: newStrips(wa, half), width: nb}
	if wa.Weights != nil && slices.Min(wa.Weights) < 0 {
		cu.width *= 2
	}
	cu.table = par.Make[float64](&sc.Arena, len(cu.strips)*cu.width)
	if half == 0 {
		return cu, nil
	}
	densities := cu.densities(sc)
	sc.Blocks(nb, binsAtATime, func(lo, hi int) {
		up, down := make([]float64, nb), make([]float64, nb)
		for b := lo; b < hi; b++ {
			for a := range nb {
				m := wa.in.element(b, a)
				up[a], down[a] = max(0, -m), max(0, m)
			}
			factor := 4 * wa.in.step[b]
			for c := range cu.strips { // events of the other sign bend the loss the other way
				f, h := cu.row(densities, c), cu.row(cu.table, c)
				if h[b] = factor * floats.Dot(up, f[:nb]); cu.width > nb {
					h[b] += factor * floats.Dot(down, f[nb:])
					h[nb+b] = factor * (floats.Dot(down, f[:nb]) + floats.Dot(up, f[nb:]))
				}
			}
		}
	})
	return cu, nil
}

// row returns the numbers of strip c of a table, by sign and bin.
func (cu *curvature) row(table []float64, c int) []float64 { return table[c*cu.width : (c+1)*cu.width] }

// densities returns the sums of |e| over the windows of the strips by their widths, by sign and bin. The ends of the windows divide
// the records into parts, and each part is summed once.
func (cu *curvature) densities(sc *par.Scratch) []float64 {
	nb := cu.in.bins
	var ends []int
	for _, strip := range cu.strips {
		ends = append(ends, strip.lo, strip.hi)
	}
	slices.Sort(ends)
	ends = slices.Compact(ends)
	sums := par.Make[float64](&sc.Arena, cu.width*(len(ends)-1))
	sc.Run(len(ends)-1, func(k int) {
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
	block := par.Unset[float64](&room.Arena, par.Block)
	lo, hi := cu.Chunks[k], cu.Chunks[k+1]
	for c := sort.Search(len(cu.strips), func(c int) bool { return cu.strips[c].end > lo }); lo < hi; {
		next := min(hi, lo+par.Block, cu.strips[c].end)
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

// strip is the records start..end-1, which have one density: the mean over a window around the middle of their scores. The records
// lo..hi-1 have scores in the window. Its width counts only inside the limits of the integral.
type strip struct {
	start, end, lo, hi int
	width              float64
}

// mostStrips is about the largest number of strips, whatever the scores are. Strips have as many records as there are bins, too: the time
// of a strip grows with the square of the number of bins.
const mostStrips = 1024

// newStrips divides sorted records into strips of an eighth of the width of a window, whose half this is. If that makes too many, strips
// of few records are wider. All records of a tie are in one strip.
func newStrips(wa *walk, half float64) (strips []strip) {
	n := len(wa.Words)
	first := func(from int, is func(score float64) bool) int {
		return from + sort.Search(n-from, func(i int) bool { return is(wa.Score(from + i)) })
	}
	for start, end := 0, 0; start < n; start = end {
		end = first(start, func(score float64) bool { return score > wa.Score(start)+half/4 })
		end = max(end, wa.EndOfBlock(start, n, max(wa.in.bins, n/mostStrips)))
		last := wa.Score(end - 1)
		middle := wa.Score(first(start, func(score float64) bool { return score >= min(wa.Score(start)/2+last/2, last) }))
		from, to := max(middle-half, wa.from), min(middle+half, wa.to)
		lo := first(0, func(score float64) bool { return score >= from })
		hi := first(lo, func(score float64) bool { return score > to })
		strips = append(strips, strip{start, end, lo, hi, to - from})
	}
	return strips
}

// halfWindow returns half of the width of the window: smoothing times a range of scores. The range is the range of the integral.
// If that is not given, it is the range of the inner three quarters of the records, or of all records if these have one score. The
// width is 0 if all scores are equal, and an error if it is below the rounding error of scores.
func halfWindow(wa *walk, smoothing float64) (float64, error) {
	rs, last := wa.Records, len(wa.Words)-1
	width := wa.to - wa.from
	if wa.open {
		width = rs.Score(last-last/8) - rs.Score(last/8)
		if width == 0 {
			width = rs.Score(last) - rs.Score(0)
		}
	}
	if width == 0 {
		return 0, nil
	}
	half := smoothing * (width / 2)
	largest := max(math.Abs(rs.Score(0)), math.Abs(rs.Score(last)))
	if !(half > 0) || largest+half == largest {
		return 0, errs.Of(errs.ErrOption, "score is too coarse for hess: %v times the range %v of the scores is less than the rounding error of scores of up to %v",
			smoothing, width, largest)
	}
	return half, nil
}
