package constraint

import (
	"math"
	"slices"

	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/moments"
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

// tail is what a constraint remembers of the tail of the scores of one part. Each table has a row for each function of the
// masses, with a number for each threshold.
type tail struct {
	level   []float64 // v, the sum of significant residuals
	now     []float64 // the average of the residuals over the last 2,560 events
	recent  []float64 // the average over 25,600 events, which tells users whether the response is flat
	mean    []float64 // the average over 256,000 events, which tells what is significant
	allowed []float64 // over as many, of the allowed response
	known   *float64  // how many different events in effect are behind the mean
	moments []float64 // averages over 25,600 events of the moments of each variable at each threshold, if an option bounds them
	noise   []float64 // 1 over the events in effect behind recent and mean, and behind their product
	// tolerance is the number of events of a test that need not see a residual. 0: none.
	tolerance float64
}

// significance returns the part of residual i that the events behind the mean are enough for: 1 - noise/mean^2, or 0. The noise is
// doubt times the variance of n events, which is q/((1 - q) n) at the rank q. With a tolerance n is at most that of its test.
func (t tail) significance(i int) float64 {
	q := rankOf[i%thresholds]
	known := *t.known
	if t.tolerance > 0 {
		known = min(known, t.tolerance)
	}
	noise, square := doubt*q/((1-q)*known), t.mean[i]*t.mean[i]
	if !(square > noise) {
		return 0
	}
	return 1 - noise/square
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

// limited is what options say of averages of moments: what is beyond a bound, a row for each threshold with the excess of F_b of each
// bin, by view, and the room to a bound for each moment that is bounded, at each threshold.
type limited struct {
	beyond [][]float64
	rooms  []room
}

// room is a distance from a bound, 0 beyond it, and the coefficients of a residual that reaches the bound.
type room struct {
	threshold int
	distance  float64
	toward    []float64
}

// beyondAt returns the excess of F_b over a bound at a rank.
func beyondAt(beyond []float64, rank float64, bin, bins int) float64 {
	if rank < 0.5 {
		return beyond[bin] * 2 * rank
	}
	place := min(math.Log(rank/(1-rank))/spacing, thresholds-1)
	k := min(int(place), thresholds-2)
	part := place - float64(k)
	return beyond[k*bins+bin]*(1-part) + beyond[(k+1)*bins+bin]*part
}

// tailResidual returns the coefficients of the relative residual in the functions of the masses, at each threshold: the
// distance of the efficiency of each bin from the allowed response, over the efficiency of all bins. It is the mean over the
// variables of mass. allowed has the allowed response over that efficiency.
//
// Moments of a batch are so noisy at tight cuts that most are beyond their bound. So the bound is on averages: a batch has the share
// share in them. Beyond it urgent times the least change of the response
// that reaches the bound is a residual. Otherwise the bound leaves room.
func (g *group[T]) tailResidual(options *moments.Options, averages []float64, share float64) (residual, allowed []float64, limited limited) {
	residual, allowed = par.Make[float64](&g.sc.Arena, g.basis.functions*thresholds), make([]float64, g.basis.functions*thresholds)
	cells := g.basis.cells
	for of, v := range g.views {
		bins := v.Count()
		var bound *moments.Bound
		if options.Bounded() {
			bound = moments.NewBound(options, v.Basis)
		}
		// First the part of each bin between two thresholds; the events above the last one have a row of their own.
		parts := g.sums((thresholds+1)*bins, func(lo, hi int, parts []float64) {
			for i, b := range v.bin[lo:hi] {
				if b == events.NoPair {
					continue
				}
				k := 0
				for k < thresholds && rankOf[k] <= g.rank[lo+i]+nearBorder {
					k++
				}
				parts[k*bins+int(b)] += g.raw[lo+i] / v.sums[b]
			}
		})
		shares := g.sums(bins*cells, func(lo, hi int, shares []float64) {
			for i, b := range v.bin[lo:hi] {
				if b != events.NoPair {
					shares[int(b)*cells+g.massCell(lo+i)] += math.Abs(g.weight[lo+i])
				}
			}
		})
		floats.Scale(1/g.total, shares)
		functions := g.product(shares, g.basis.values, g.basis.functions)
		cdf, r := make([]float64, bins), make([]float64, bins)
		beyond := make([]float64, 0, bins*thresholds)
		for k := range thresholds {
			floats.Add(cdf, parts[k*bins:][:bins])
			copy(r, cdf)
			v.Residuals(r)
			unit := -1 / ((1 - rankOf[k]) * float64(len(g.views)))
			if bound != nil {
				own := averages[(of*thresholds+k)*(moments.MaxOrder+1):][:v.Basis.Size]
				c := make([]float64, len(own))
				v.Basis.Moments(c, cdf)
				for l := range own {
					own[l] += share * (c[l] - own[l])
				}
				along := func(gradient []float64) []float64 { // the response that changes the moments so, per square
					of := make([]float64, bins)
					for b := range of {
						of[b] = floats.Dot(v.Basis.RowA(b), gradient)
					}
					if square := floats.Dot(of, of); square > leastNorm { // bins of one mass have no slope
						floats.Scale(1/square, of)
					} else {
						clear(of)
					}
					return of
				}
				excess := make([]float64, bins)
				left := slices.Repeat([]float64{math.Inf(1)}, len(own)) // to each moment
				for _, x := range bound.Excesses(own) {
					for l, d := range x.Gradient {
						if d != 0 {
							left[l] = min(left[l], max(0, -x.By))
						}
					}
					if x.By > 0 {
						floats.AddScaled(excess, x.By, along(x.Gradient))
					}
				}
				beyond = append(beyond, excess...)
				floats.AddScaled(r, urgent, excess)
				for l, distance := range left {
					if math.IsInf(distance, 1) {
						continue
					}
					one := make([]float64, len(own))
					one[l] = 1
					toward := slices.Clone(g.product(along(one), functions, g.basis.functions))
					floats.Scale(unit, toward)
					if floats.Dot(toward, toward) > leastNorm {
						limited.rooms = append(limited.rooms, room{k, urgent * distance, toward})
					}
				}
			}
			for l, of := range g.product(r, functions, g.basis.functions) {
				residual[l*thresholds+k] += unit * of
			}
			for b := range r {
				r[b] += 1 - cdf[b] // the efficiency less its distance from the allowed response
			}
			for l, of := range g.product(r, functions, g.basis.functions) {
				allowed[l*thresholds+k] -= unit * of
			}
		}
		if bound != nil {
			limited.beyond = append(limited.beyond, beyond)
		}
	}
	return residual, allowed, limited
}

// levels returns v plus the significant average of the last batches: a row for each cell of the masses. What acts at
// once is bounded: a burst of large gradients would stay in the averages of an optimizer such as Adam.
func (g *group[T]) levels(t tail) []float64 {
	significant := par.Make[float64](&g.sc.Arena, len(t.now))
	for i, r := range t.now {
		significant[i] = r * t.significance(i)
	}
	levels := g.product(g.basis.values, significant, thresholds)
	for i, v := range levels {
		levels[i] = min(max(v, -mostAtOnce), mostAtOnce)
	}
	floats.Add(levels, g.product(g.basis.values, t.level, thresholds))
	return levels
}

// level returns v of event i.
func (g *group[T]) level(levels []float64, i int) float64 {
	row, q := levels[g.massCell(i)*thresholds:][:thresholds], g.rank[i]
	v := row[0]
	if q > 0.5 {
		place := min(math.Log(q/(1-q))/spacing, thresholds-1)
		k := min(int(place), thresholds-2)
		part := place - float64(k)
		v = row[k]*(1-part) + row[k+1]*part
	}
	return min(max(v, -mostLevel), mostLevel)
}

// multiplied returns what the gradient is multiplied with: start exp(v) where an event must be pulled harder, and where it must be
// pulled less, or the other way, the start less |v|. A start below 1 leaves it the pull of a start of 1. A pull the other way ends where the
// classifier calls the event signal, or nothing would hold its logit: above even odds of background it is that of an event of signal.
func multiplied(start, v, odds float64) float64 {
	if v > 0 {
		return start * math.Exp(v)
	}
	found := start + v*max(start, 1)
	if found < 0 {
		found *= min(1, odds)
	}
	return found
}

// recentShare is the share of a batch of so many pushed events in the average for users; batch is its number, from 1 on.
func recentShare(moved, batch float64) float64 {
	return min(1, max(moved/eventsOfABatch/inRecent, 1/batch))
}

// average takes the residual of a batch into the averages: batch is the number of the batch, from 1 on, of so many different events.
func (t tail) average(of *residuals, batch, different float64) {
	size := of.moved / eventsOfABatch
	now, recent := min(1, max(size/inNow, 1/batch)), recentShare(of.moved, batch)
	share := max(min(size/inMean, 1./inRecent), 1/batch)
	*t.known = min(of.effective/share, different*of.effective/of.events)
	for i, r := range of.ofTail {
		t.now[i] += now * (r - t.now[i])
		t.recent[i] += recent * (r - t.recent[i])
		t.mean[i] += share * (r - t.mean[i])
		t.allowed[i] += share * (of.allowed[i] - t.allowed[i])
	}
	for k, shares := range [...][2]float64{{recent, recent}, {share, share}, {recent, share}} {
		t.noise[k] = t.noise[k]*(1-shares[0])*(1-shares[1]) + shares[0]*shares[1]/of.effective
	}
}

// learn adds the residual of that batch to v as far as its average is significant.
func (t tail) learn(of *residuals, batch float64) {
	size := of.moved / eventsOfABatch
	step := min(mostStep, step*size/(1+batch*size/slowAfter))
	for i, r := range of.ofTail {
		significant := t.significance(i)
		t.level[i] += step * (r*significant - leakOfTail*(1-significant)*t.level[i])
	}
	for _, room := range of.limited.rooms {
		t.relax(room, step)
	}
	t.limit(of.basis)
}

// relax takes back what v has learned from a bound, as far as the bound leaves room: a multiplier of an inequality has one sign.
func (t tail) relax(of room, step float64) {
	var along, square float64
	for l, x := range of.toward {
		along += x * t.level[l*thresholds+of.threshold]
		square += x * x
	}
	back := along / square
	back = min(max(back, -step*of.distance), step*of.distance)
	for l, x := range of.toward {
		t.level[l*thresholds+of.threshold] -= back * x
	}
}

// limit scales v at each threshold, so that its size is at most mostLevel in all cells of the masses.
func (t tail) limit(ba *basis) {
	var largest [thresholds]float64
	for c := range ba.cells {
		var v [thresholds]float64
		for l, of := range ba.values[c*ba.functions:][:ba.functions] {
			floats.AddScaled(v[:], of, t.level[l*thresholds:][:thresholds])
		}
		for k, x := range v {
			largest[k] = max(largest[k], math.Abs(x))
		}
	}
	for i := range t.level {
		if of := largest[i%thresholds]; of > mostLevel {
			t.level[i] *= mostLevel / of
		}
	}
}
