package walk

import (
	"math"
	"sort"

	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/order"
	"github.com/libmode/libmode/core/internal/par"
)

// strips divide sorted records by score into parts of about equally many, to tell how dense they are there. All
// records of a tie are in one strip, and a tie that is as large as a strip is one by itself, so that strips depend on
// the scores alone and not on the order in which tied events are given.
type strips []strip

// strip is the records from the end of the one before to its own, whose scores span this range.
type strip struct {
	end      int
	from, to float64
}

// mostStrips is how many strips there are where there are events enough: each has then 1/64 of them, with a
// statistical error of the densities that the sum of curvatures over a leaf does not notice.
const mostStrips = 64

// newStrips returns about as many strips as asked for.
func newStrips(rs *order.Records, count int) strips {
	n := len(rs.Words)
	found := make(strips, 0, 2*count+1)
	last := 0
	cut := func(at int) {
		if at > last {
			found = append(found, strip{at, rs.Score(last), rs.Score(at - 1)})
			last = at
		}
	}
	for k := range count {
		lo, hi := rs.TieAt(int(uint64(n)*uint64(k)/uint64(count)), 0, n)
		cut(lo)
		if hi-lo >= n/count {
			cut(hi)
		}
	}
	cut(n)
	return found
}

// of returns the strip that has record i.
func (st strips) of(i int) int {
	return sort.Search(len(st), func(c int) bool { return st[c].end > i })
}

// start returns the first record of strip c.
func (st strips) start(c int) int {
	if c == 0 {
		return 0
	}
	return st[c-1].end
}

// share returns which part of a strip's records lies in [lo, hi], as if they were spread evenly over it.
func (s *strip) share(lo, hi float64) float64 {
	switch {
	case s.to < lo || s.from > hi:
		return 0
	case s.from >= lo && s.to <= hi:
		return 1
	}
	return (min(s.to, hi) - max(s.from, lo)) / (s.to - s.from)
}

// densities returns for each strip a row of the density of each column of sums, which has a row of so many for each strip:
// the mean over the window of this half width around the middle of the strip, in units of 1/score. Only what lies
// inside the limits counts as a part of the window.
func (st strips) densities(sums []float64, columns int, half float64, limits limits, arena *par.Arena) []float64 {
	found := par.Make[float64](arena, len(sums))
	for c := range st {
		middle := min(max(st[c].from/2+st[c].to/2, st[c].from), st[c].to) // also of the smallest numbers
		lo, hi := max(middle-half, limits.from), min(middle+half, limits.to)
		row := found[c*columns : (c+1)*columns]
		for d := range st {
			share := st[d].share(lo, hi) / (hi - lo)
			if share == 0 {
				continue
			}
			for k, sum := range sums[d*columns : (d+1)*columns] {
				row[k] += share * sum
			}
		}
	}
	return found
}

// reach returns the range of scores that a smoothing is relative to: that of the integral or, where that is from the data, that
// of the inner three quarters of the records or, where these have one score, that of all.
func reach(rs *order.Records, limits limits) float64 {
	if !limits.open {
		return limits.to - limits.from
	}
	last := len(rs.Words) - 1
	eighth := last / 8
	if inner := rs.Score(last-eighth) - rs.Score(eighth); inner > 0 {
		return inner
	}
	return rs.Score(last) - rs.Score(0)
}

// halfWindow returns half of the width of the window over which densities are a mean; 0 where all scores are equal
// and there is no range of them. It is an error where the scores are too coarse for it.
func halfWindow(rs *order.Records, limits limits, smoothing float64) (float64, error) {
	width := reach(rs, limits)
	if width == 0 {
		return 0, nil
	}
	half := smoothing * (width / 2)
	largest := max(math.Abs(rs.Score(0)), math.Abs(rs.Score(len(rs.Words)-1)))
	if !(half > 0) || largest+half == largest {
		return 0, errs.Of(errs.ErrOption, "smoothing = %v: that times the range %v of the scores is less than the rounding error of scores of up to %v: "+
			"use a larger one", smoothing, width, largest)
	}
	return half, nil
}
