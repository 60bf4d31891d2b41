package constraint

import (
	"math"

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

var highestOdds = math.Exp(highest)

// thresholdOf returns the last threshold below a rank of 0.5 or more that has a next one, and where the rank is between the two.
func thresholdOf(rank float64) (k int, between float64) {
	odds := rank / (1 - rank)
	if odds >= highestOdds {
		return thresholds - 2, 1
	}
	place := log(odds) * (1 / spacing)
	k = int(place)
	return k, place - float64(k)
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
	for k, q := range rankOf {
		noise := doubt * q / ((1 - q) * known)
		for l := range functions {
			if square := p.mean[l][k] * p.mean[l][k]; square > noise {
				significant[l][k] = 1 - noise/square
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
	for i := range levels {
		row := both[i/thresholds*2*thresholds:]
		k := i % thresholds
		levels[i] = min(max(row[k], -mostAtOnce), mostAtOnce) + row[thresholds+k]
	}
	return levels
}

// levelAt returns v at a rank, from the levels of a cell of the masses.
func levelAt(levels []float64, rank float64) float64 {
	v := levels[0]
	if rank > 0.5 {
		k, part := thresholdOf(rank)
		v = levels[k]*(1-part) + levels[k+1]*part
	}
	if math.Abs(v) > mostLevel {
		v = math.Copysign(mostLevel, v)
	}
	return v
}

// recentShare is the share of a batch of so many pushed events in the average for users; batch is its number, from 1 on.
func recentShare(moved, batch float64) float64 {
	return min(1, max(moved/eventsOfABatch/inRecent, 1/batch))
}

// average takes the lesson of a batch into the averages. The training has so many different events.
func (p *part) average(le *lesson, different float64) {
	size := le.moved / eventsOfABatch
	now, recent := min(1, max(size/inNow, 1/p.batches)), recentShare(le.moved, p.batches)
	share := max(min(size/inMean, 1./inRecent), 1/p.batches)
	p.known = min(le.effective/share, different*le.effective/le.events)
	for i, r := range le.tail {
		l, k := i/thresholds, i%thresholds
		p.now[l][k] += now * (r - p.now[l][k])
		p.recent[l][k] += recent * (r - p.recent[l][k])
		p.mean[l][k] += share * (r - p.mean[l][k])
		p.allowed[l][k] += share * (le.allowed[i] - p.allowed[l][k])
	}
	for k, shares := range [...][2]float64{{recent, recent}, {share, share}, {recent, share}} {
		p.noise[k] = p.noise[k]*(1-shares[0])*(1-shares[1]) + shares[0]*shares[1]/le.effective
	}
	share = max(1/p.batches, rate)
	toward := func(average []float64, batch ...float64) {
		for c, x := range batch {
			average[c] += share * (x - average[c])
		}
	}
	toward(p.shares[:], le.shares...)
	toward(p.mass[:], le.mass...)
	p.each += share * (le.events - p.each)
	p.seen += le.moved
}

// learnTail adds the residual of a batch to v as far as its average is significant.
func (p *part) learnTail(le *lesson, tolerance float64, arena *par.Arena) {
	size := le.moved / eventsOfABatch
	step, significant := min(mostStep, step*size/(1+p.batches*size/slowAfter)), p.significance(le.functions, tolerance)
	for i, r := range le.tail {
		l, k := i/thresholds, i%thresholds
		s := significant[l][k]
		p.level[l][k] += step * (r*s - leakOfTail*(1-s)*p.level[l][k])
	}
	// v gives back what it has learned from a bound, as far as the bound leaves room: a multiplier of an inequality has one sign.
	for _, room := range le.rooms {
		var along float64
		for l, x := range room.toward {
			along += x * p.level[l][room.threshold]
		}
		back := along / floats.Dot(room.toward, room.toward)
		back = min(max(back, -step*room.distance), step*room.distance)
		for l, x := range room.toward {
			p.level[l][room.threshold] -= back * x
		}
	}
	p.limit(le.basis, arena)
}

// limit scales v at each threshold, so that its size is at most mostLevel in all cells of the masses.
func (p *part) limit(ba *basis, arena *par.Arena) {
	var largest [thresholds]float64
	for i, v := range product(ba.values, p.level.rows(ba.functions), thresholds, arena) {
		largest[i%thresholds] = max(largest[i%thresholds], math.Abs(v))
	}
	for l := range ba.functions {
		for k := range largest {
			if largest[k] > mostLevel {
				p.level[l][k] *= mostLevel / largest[k]
			}
		}
	}
}
