package constraint

import (
	"math"
	"sort"

	"github.com/libmode/libmode/core/internal/par"
	"gonum.org/v1/gonum/floats"
)

// The tail of the scores has these thresholds, at equal steps of the logit y = log(q/(1-q)) of the rank q: a threshold at the rank
// q keeps the part 1 - q of the background, from a half to a thousandth.
const (
	thresholds = 16
	highest    = 7.0 // y of the last one; y of the first is 0
	spacing    = highest / (thresholds - 1)
)

// rankOf has the rank of each threshold.
var rankOf = func() (q [thresholds]float64) {
	for k := range q {
		q[k] = 1 / (1 + math.Exp(-spacing*float64(k)))
	}
	return q
}()

// highestRank is the rank of the last threshold, less rounding.
var highestRank = rankOf[thresholds-1] * (1 - 2e-15)

// thresholdOf returns the last threshold below a rank from 0.5 to highestRank, and where the rank is between it and the next one.
func thresholdOf(rank float64) (k int, between float64) {
	place := log(rank/(1-rank)) * (1 / spacing)
	return int(place), place - float64(int(place))
}

// The law of the tail; docs/how-it-works.md derives it, and studies/zoo tells how the numbers were found. Events are background
// events that are pushed.
const (
	step       = 1. / 300 // what a batch of eventsOfABatch events adds to v, per residual,
	mostStep   = 0.01     // and the most that a batch adds, since a network needs some 50 batches to follow
	slowAfter  = 5000     // the steps shrink as 1/(1 + t/slowAfter), with t in batches of eventsOfABatch events
	inNow      = 5        // batches of eventsOfABatch events in the average that acts at once,
	mostAtOnce = 0.5      // and the largest size of what it adds to v,
	inRecent   = 50       // batches in the average for users and bounds, and the least number
	inMean     = 500      // in the average that tells what is significant
	doubt      = 0.5      // the noise that a residual must be above, in units of its variance
	leakOfTail = 0.1      // the part of v that a step takes away where the mean is not significant
	mostLevel  = 5.0      // the largest |v|
	urgent     = 10.0     // what an excess over a bound counts, since the push does not see it
)

// significance returns the part of each residual that the events behind the mean are enough for: 1 - noise/mean^2, or 0. The noise is
// doubt times the variance of n events, which is q/((1 - q) n) at the rank q. A tolerance, unless it is 0, is the number of events of a
// test that need not see a residual: n is at most this number.
func (p *part) significance(functions int, tolerance float64) (significant table) {
	known := p.known
	if tolerance > 0 {
		known = min(known, tolerance)
	}
	var noise [thresholds]float64
	for k, q := range rankOf {
		noise[k] = doubt * q / ((1 - q) * known)
	}
	for l := range functions {
		for k, mean := range p.mean[l] {
			if square := mean * mean; square > noise[k] {
				significant[l][k] = 1 - noise[k]/square
			}
		}
	}
	return significant
}

// levels returns v plus the significant average of the last batches: a row for each cell of the masses. What acts at
// once is bounded: a burst of large gradients would stay in the averages of an optimizer such as Adam.
func (p *part) levels(ba *basis, tolerance float64, arena *par.Arena) []float64 {
	significant, both := p.significance(ba.functions, tolerance), par.Unset[float64](arena, ba.functions*2*thresholds)
	for l := range ba.functions {
		row := both[l*2*thresholds:][:2*thresholds]
		floats.MulTo(row[:thresholds], p.now[l][:], significant[l][:])
		copy(row[thresholds:], p.level[l][:])
	}
	both = product(ba.values, both, 2*thresholds, arena)
	levels := par.Unset[float64](arena, ba.cells*thresholds)
	for c := range ba.cells {
		to, acting, level := levels[c*thresholds:][:thresholds], both[2*c*thresholds:][:thresholds], both[(2*c+1)*thresholds:][:thresholds]
		for k, v := range level {
			to[k] = v + clipped(acting[k], mostAtOnce)
		}
	}
	return levels
}

// setMultiples sets what the gradient of events, whose ranks are in order, is multiplied by, from the levels and the starts of the cells
// of the masses. Background that must be pulled harder is pulled by start exp(v), and else by the start less |v|, or the other way. A
// start below 1 leaves it the pull of a start of 1.
func setMultiples(dst, levels, starts, ranks []float64, cells []uint8) {
	half := sort.Search(len(ranks), func(i int) bool { return ranks[i] > 0.5 })
	multiple := func(v, start float64) float64 {
		up := (v + math.Abs(v)) / 2 // v above 0, without a branch, which no processor foresees
		return start*exp(up) + (v-up)*max(start, 1)
	}
	var low [mostCells]float64 // below the first threshold
	for c, start := range starts {
		low[c] = multiple(clipped(levels[c*thresholds], mostLevel), start)
	}
	for i, cell := range cells[:half] {
		dst[i] = low[cell]
	}
	// In two short loops, so that a processor takes many of their steps at the same time.
	for i := half; i < len(ranks); i++ {
		k, between := thresholdOf(min(ranks[i], highestRank))
		row := levels[int(cells[i])*thresholds+k:][:2]
		dst[i] = clipped(row[0]*(1-between)+row[1]*between, mostLevel)
	}
	for i := half; i < len(ranks); i++ {
		dst[i] = multiple(dst[i], starts[cells[i]])
	}
}

// clipped returns x, or the number of its sign and this size if that is nearer to 0, as for NaN: a state may have numbers whose sums
// overflow, and tables have no place for NaN.
func clipped(x, size float64) float64 {
	if math.Abs(x) <= size {
		return x
	}
	return math.Copysign(size, x)
}

// recentShare is the share of a batch of so many pushed events in the average for users; batch is its number, from 1 on.
func recentShare(moved, batch float64) float64 {
	return min(1, max(moved/eventsOfABatch/inRecent, 1/batch))
}

// average takes the lesson of a batch into the averages. The training has so many different events.
func (p *part) average(le *lesson, different float64) {
	size := le.moved / eventsOfABatch
	acting, recent := min(1, max(size/inNow, 1/p.batches)), recentShare(le.moved, p.batches)
	share := max(min(size/inMean, 1./inRecent), 1/p.batches)
	p.known = min(le.effective/share, different*le.effective/le.events)
	toward := func(average []float64, share float64, batch []float64) {
		average = average[:len(batch)]
		floats.Scale(1-share, average)
		floats.AddScaled(average, share, batch)
	}
	toward(p.now.rows(le.functions), acting, le.tail)
	toward(p.recent.rows(le.functions), recent, le.tail)
	toward(p.mean.rows(le.functions), share, le.tail)
	toward(p.allowed.rows(le.functions), share, le.allowed)
	for k, shares := range [...][2]float64{{recent, recent}, {share, share}, {recent, share}} {
		p.noise[k] = p.noise[k]*(1-shares[0])*(1-shares[1]) + shares[0]*shares[1]/le.effective
	}
	share = max(1/p.batches, rate)
	toward(p.shares[:], share, le.shares)
	toward(p.mass[:], share, le.mass)
	p.each += share * (le.events - p.each)
	p.seen += le.moved
}

// learnTail adds the residual of a batch to v as far as its average is significant.
func (p *part) learnTail(le *lesson, tolerance float64, arena *par.Arena) {
	size := le.moved / eventsOfABatch
	step, significant := min(mostStep, step*size/(1+p.batches*size/slowAfter)), p.significance(le.functions, tolerance)
	level := p.level.rows(le.functions)
	for i, s := range significant.rows(le.functions) {
		level[i] += step * (le.tail[i]*s - leakOfTail*(1-s)*level[i])
	}
	// v gives back what it has learned from a bound, as far as the bound leaves room: a multiplier of an inequality has one sign.
	for _, room := range le.rooms {
		var along float64
		for l, x := range room.toward {
			along += x * p.level[l][room.threshold]
		}
		back := clipped(along/floats.Dot(room.toward, room.toward), step*room.distance)
		for l, x := range room.toward {
			p.level[l][room.threshold] -= back * x
		}
	}
	p.limit(le.basis, arena)
}

// limit scales v at each threshold, so that its size is at most mostLevel in all cells of the masses.
func (p *part) limit(ba *basis, arena *par.Arena) {
	var largest [thresholds]float64
	levels := product(ba.values, p.level.rows(ba.functions), thresholds, arena)
	for c := range ba.cells {
		for k, v := range levels[c*thresholds:][:thresholds] {
			if v := math.Abs(v); v > largest[k] {
				largest[k] = v
			}
		}
	}
	for l := range ba.functions {
		for k := range largest {
			if largest[k] > mostLevel {
				p.level[l][k] *= mostLevel / largest[k]
			}
		}
	}
}
