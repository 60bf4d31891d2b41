package loss

import (
	"math"
	"sort"

	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/order"
	"github.com/libmode/libmode/core/internal/par"
)

// strip is the records start..end-1, and the range of their scores. Strips divide sorted records by score into parts of about equal
// sums of |w|, to find their density: equal numbers of events, also where a record stands for several. All records of a tie are in one strip, and a tie that is as large as a strip is one by itself. So
// strips depend on the scores alone, and not on the order in which tied events are given.
type strip struct {
	start, end int
	from, to   float64
}

// mostStrips is the number of strips of many events, so that each has 1/64 of the weight. The statistical error of the
// densities averages out in a sum of curvatures over the leaf of a tree.
const mostStrips = 64

// newStrips returns about as many strips as asked for.
func newStrips(rs *order.Records, count int) []strip {
	n := len(rs.Words)
	found := make([]strip, 0, 2*count+1)
	last := 0
	cut := func(at int) {
		if at > last {
			found = append(found, strip{last, at, rs.Score(last), rs.Score(at - 1)})
			last = at
		}
	}
	size := func(lo, hi int) (sum float64) {
		for i := lo; i < hi; i++ {
			sum += math.Abs(rs.Weight(i))
		}
		return sum
	}
	at, below, share := 0, 0.0, size(0, n)/float64(count)
	for k := range count {
		to := share * float64(k) * (1 + 1e-12) // sums of equal weights round
		for w := math.Abs(rs.Weight(at)); at < n-1 && below+w <= to; w = math.Abs(rs.Weight(at)) {
			below, at = below+w, at+1
		}
		lo, hi := rs.TieAt(at, 0, n)
		cut(lo)
		if size(lo, hi) >= share*(1-1e-12) {
			cut(hi)
		}
	}
	cut(n)
	return found
}

// stripOf returns the strip of record i.
func stripOf(i int, ss []strip) int {
	return sort.Search(len(ss), func(c int) bool { return ss[c].end > i })
}

// share returns which part of a strip's records lies in [lo, hi], if they are spread evenly over it.
func (s *strip) share(lo, hi float64) float64 {
	switch {
	case s.to < lo || s.from > hi:
		return 0
	case s.from >= lo && s.to <= hi:
		return 1
	}
	return (min(s.to, hi) - max(s.from, lo)) / (s.to - s.from)
}

// densities turns sums over the events of each strip, a row each with so many columns, into their densities per score: means over a
// window of this half width around the middle of the strip. Only the part of the window inside the limits counts.
func densities(sums []float64, columns int, ss []strip, half float64, limits limits, arena *par.Arena) []float64 {
	found := par.Make[float64](arena, len(sums))
	for c := range ss {
		middle := min(max(ss[c].from/2+ss[c].to/2, ss[c].from), ss[c].to) // also of the smallest numbers
		lo, hi := max(middle-half, limits.from), min(middle+half, limits.to)
		for d := range ss {
			if share := ss[d].share(lo, hi) / (hi - lo); share != 0 {
				for k, sum := range sums[d*columns : (d+1)*columns] {
					found[c*columns+k] += share * sum
				}
			}
		}
	}
	return found
}

// halfWindow returns half of the width of the window: smoothing times a range of scores. The range is the range of the integral.
// If that is not given, it is the range of the inner three quarters of the records, or of all records if these have one score. The
// width is 0 if all scores are equal, and an error if it is below the rounding error of scores.
func halfWindow(rs *order.Records, limits limits, smoothing float64) (float64, error) {
	last := len(rs.Words) - 1
	width := limits.to - limits.from
	if limits.open {
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
