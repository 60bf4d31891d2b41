package loss

import (
	"math"
	"sort"

	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/par"
)

// strip is the records start..end-1, which have one density: the mean over a window around the middle of their weight. The records
// lo..hi-1 have scores in the window, whose width is that of its part inside the limits. All records of a tie are in one strip, so
// that strips do not depend on the order in which tied events are given.
type strip struct {
	start, end, lo, hi int
	width              float64
}

// mostStrips is the number of strips of many events, so that each has 1/64 of the weight. The statistical error of the
// densities averages out in a sum of curvatures over the leaf of a tree.
const mostStrips = 64

// leastOfStrip is the part of the usual weight that a strip has at least, before it ends since its window does not reach further.
const leastOfStrip = 0.25

// newStrips divides sorted records into about as many strips as asked for, of equal sums of |w|: equal numbers of events, also where
// a record stands for several. Windows have this half width. Crowded scores and far ones do not share a strip, up to a quarter of one.
func newStrips(wa *walk, count int, half float64, arena *par.Arena) []strip {
	rs := wa.Records
	n := len(rs.Words)
	below := func(i int) float64 { return float64(i) } // the weight of the records before i
	if rs.Weights != nil {
		sums := par.Make[float64](arena, n+1)
		for i, w := range rs.Weights[:n] {
			sums[i+1] = sums[i] + math.Abs(w)
		}
		below = func(i int) float64 { return sums[i] }
	}
	// at returns the record in which the weight is reached.
	at := func(weight float64) int {
		weight *= 1 + 1e-12 // sums of equal weights round
		return min(sort.Search(n, func(i int) bool { return below(i+1) > weight }), n-1)
	}
	first := func(from int, is func(score float64) bool) int {
		return from + sort.Search(n-from, func(i int) bool { return is(rs.Score(from + i)) })
	}
	share := below(n) / float64(count)
	strips := make([]strip, 0, 2*count+1)
	for start := 0; start < n; {
		end := n
		if below(n) > (below(start)+share)*(1+1e-12) {
			lo, hi := rs.TieAt(at(below(start)+share), start, n)
			if end = lo; lo == start {
				end = hi
			}
		}
		if far := first(start, func(score float64) bool { return score > rs.Score(start)+half }); far < end {
			least, _ := rs.TieAt(at(below(start)+share*leastOfStrip), start, n)
			end = min(end, max(far, least))
		}
		middle := rs.Score(min(at((below(start)+below(end))/2), end-1))
		from, to := max(middle-half, wa.from), min(middle+half, wa.to)
		lo := first(0, func(score float64) bool { return score >= from })
		hi := first(lo, func(score float64) bool { return score > to })
		strips = append(strips, strip{start, end, lo, hi, to - from})
		start = end
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
