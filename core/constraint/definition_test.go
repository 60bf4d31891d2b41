package constraint_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/libmode/libmode/core"
	. "github.com/libmode/libmode/core/constraint"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
)

// The law by its definition: sums over all events, for background of one label. Its bins and moments are those of the loss.

// law has a batch, and what the definition says of it.
type law struct {
	ev     core.Events[float64]
	cfg    core.Config
	omega  []float64   // the balanced weights
	lift   []float64   // of the gradient
	rank   []float64   // of the scores
	ofMass [][]float64 // the functions of the masses of each event
	norm   float64     // of the direction
	// residual and tail have a row for each function of the masses.
	residual, tail []float64
}

// define returns the law of a batch, all of whose events have a weight and masses inside the limits.
func define(t *testing.T, ev core.Events[float64], cfg core.Config) *law {
	n := len(ev.Score)
	d := &law{ev: ev, cfg: cfg, omega: make([]float64, n), lift: make([]float64, n), ofMass: make([][]float64, n)}
	grad := make([]float64, n)
	_, err := core.LossAndGrad(grad, ev, cfg)
	require.NoError(t, err)
	masses := ev.Variables()
	w := func(i int) float64 {
		if ev.Weight == nil {
			return 1
		}
		return ev.Weight[i]
	}
	bins := make([][]int, len(masses))
	sums := make([][]float64, len(masses))
	var raw, sum float64
	for v, mass := range masses {
		one := core.Events[float64]{Score: ev.Score, Mass: mass, Weight: ev.Weight}
		edges, err := core.Edges(one, cfg)
		require.NoError(t, err)
		bins[v], sums[v] = make([]int, n), make([]float64, len(edges)-1)
		for i, m := range mass {
			for bins[v][i] < len(edges)-2 && m >= edges[bins[v][i]+1] {
				bins[v][i]++
			}
			sums[v][bins[v][i]] += w(i)
		}
		for i := range n {
			d.lift[i] += ratioOf(n, w, bins[v], bins[v][i]) / float64(len(masses))
			d.omega[i] += w(i) / sums[v][bins[v][i]] / float64(len(edges)-1) / float64(len(masses))
		}
	}
	for i := range n {
		raw += math.Abs(w(i))
		sum += math.Abs(d.omega[i])
		d.lift[i] = math.Sqrt(d.lift[i])
	}
	floats.Scale(float64(n)/sum, d.omega)

	d.rank = d.ranks(ev.Score)
	for i := range n {
		d.ofMass[i] = []float64{1}
	}
	number := FunctionsOfMass[len(masses)]
	for _, mass := range masses {
		for i, q := range d.ranks(mass) {
			var products []float64
			for _, x := range d.ofMass[i] {
				for _, f := range cosinesAt(q, number) {
					products = append(products, x*f)
				}
			}
			d.ofMass[i] = products
		}
	}
	d.setResidual(grad)

	for range len(d.ofMass[0]) * Thresholds {
		d.tail = append(d.tail, 0)
	}
	for k := range Thresholds {
		q := 1 / (1 + math.Exp(-Highest/(Thresholds-1)*float64(k)))
		for v, mass := range masses {
			r := d.residualOfBins(t, v, mass, q, len(sums[v]))
			for i := range n {
				for l, f := range d.ofMass[i] { // positive where the efficiency is too high
					d.tail[l*Thresholds+k] -= math.Abs(d.omega[i]) / float64(n) * f * r[bins[v][i]] / (1 - q) / float64(len(masses))
				}
			}
		}
	}
	return d
}

// ratioOf returns the mean |w| of all events over that of the events of a bin.
func ratioOf(n int, w func(i int) float64, bins []int, bin int) float64 {
	var all, own, count float64
	for i := range n {
		all += math.Abs(w(i)) / float64(n)
		if bins[i] == bin {
			own += math.Abs(w(i))
			count++
		}
	}
	return math.Min(math.Exp(2*MostLevel), all*count/own)
}

// residualOfBins returns F_b less the allowed response at the highest score whose rank is below q.
func (d *law) residualOfBins(t *testing.T, v int, mass []float64, q float64, bins int) []float64 {
	below := math.Inf(-1)
	for i, s := range d.ev.Score {
		if d.rank[i] < q-NearBorder {
			below = max(below, s)
		}
	}
	if math.IsInf(below, -1) {
		return make([]float64, bins) // all F_b are 0
	}
	one := core.Events[float64]{Score: d.ev.Score, Mass: mass, Weight: d.ev.Weight}
	table, err := core.MomentsAt([]float64{below}, one, d.cfg)
	require.NoError(t, err)
	edges, lo, hi := table.Edges, floats.Min(mass), floats.Max(mass)
	found := make([]float64, bins)
	for b := range found {
		var line, sum float64 // the mean of the response over the events of the bin
		for i, m := range mass {
			if m >= edges[b] && (m < edges[b+1] || b == bins-1) {
				w := 1.0
				if d.ev.Weight != nil {
					w = d.ev.Weight[i]
				}
				x := (2*m - lo - hi) / (hi - lo)
				line += w * (table.Bounded[0][0] + table.Bounded[0][1]*x)
				sum += w
			}
		}
		found[b] = table.CDF[0][b] - line/sum
	}
	return found
}

// ranks returns the part of the sum of |omega| below each value, and half of the part that is equal.
func (d *law) ranks(values []float64) []float64 {
	found := make([]float64, len(values))
	for i, v := range values {
		var total float64
		for j, other := range values {
			size := math.Abs(d.omega[j])
			total += size
			switch {
			case other < v:
				found[i] += size
			case other == v:
				found[i] += size / 2
			}
		}
		found[i] /= total
	}
	return found
}

// cellOf returns the cell of a rank, where rounding may leave one below a border that is on it.
func cellOf(rank, cells float64) float64 { return min(math.Floor(rank*cells+NearBorder), cells-1) }

// cosinesAt returns 1 and sqrt(2) cos(pi k q') of a rank, with q' in the middle of its cell.
func cosinesAt(rank float64, number [2]int) []float64 {
	middle := (cellOf(rank, float64(number[0])) + 0.5) / float64(number[0])
	found := []float64{1}
	for k := 1; k < number[1]; k++ {
		found = append(found, math.Sqrt2*math.Cos(math.Pi*float64(k)*middle))
	}
	return found
}

// setResidual makes the residual of the gradient of the loss.
func (d *law) setResidual(grad []float64) {
	var size, square float64
	for _, w := range d.omega {
		size += math.Abs(w)
		square += w * w
	}
	parts := math.Max(1, math.Min(Thresholds, math.Floor(math.Floor(size*size/square*(1+1e-12))/InRange)))
	direction := make([]float64, len(grad))
	for i, g := range grad {
		direction[i] = g / math.Sqrt(d.rank[i]*(1-d.rank[i]))
	}
	less := make([]float64, len(grad))
	for i := range grad {
		var mean, all float64
		for j := range grad {
			if cellOf(d.rank[j], parts) == cellOf(d.rank[i], parts) {
				mean += direction[j] * d.omega[j] / math.Abs(d.omega[j])
				all += math.Abs(d.omega[j])
			}
		}
		less[i] = direction[i] - d.omega[i]*mean/all
	}
	d.norm = floats.Norm(less, 2)
	d.residual = make([]float64, len(d.ofMass[0])*FunctionsOfScore[1])
	for i, r := range less {
		for l, f := range d.ofMass[i] {
			for k, of := range cosinesAt(d.rank[i], FunctionsOfScore) {
				d.residual[l*FunctionsOfScore[1]+k] += r * f * of * math.Sqrt(float64(len(grad))) / d.norm / size
			}
		}
	}
}

// pushAt returns the push of event i, for a factor of the residual and with a sum of residuals.
func (d *law) pushAt(i int, factor float64, sum []float64) (u float64) {
	for l, f := range d.ofMass[i] {
		for k, of := range cosinesAt(d.rank[i], FunctionsOfScore) {
			at := l*FunctionsOfScore[1] + k
			u += f * of * (factor*d.residual[at] + sum[at])
		}
	}
	return u * d.omega[i]
}

// levelAt returns the value at event i of a function of mass and rank with these coefficients.
func (d *law) levelAt(i int, v []float64, most float64) float64 {
	y := math.Log(d.rank[i] / (1 - d.rank[i]))
	found := 0.0
	for k := range Thresholds {
		at := 0.0
		for l, f := range d.ofMass[i] {
			at += f * v[l*Thresholds+k]
		}
		part := math.Max(0, 1-math.Abs(math.Min(math.Max(y, 0), Highest)/Highest*(Thresholds-1)-float64(k))) // of two thresholds
		found += part * math.Max(-most, math.Min(most, at))
	}
	return found
}

// multiplierAt returns the multiplier of event i, for these coefficients of v and of what acts at once.
func (d *law) multiplierAt(i int, v, now []float64) float64 {
	found := d.levelAt(i, v, math.Inf(1)) + d.levelAt(i, now, MostAtOnce)
	if found = math.Max(-MostLevel, math.Min(MostLevel, found)); found < -1 { // as an event of signal, if it is called signal
		return d.lift[i] * (1 + found) * math.Min(1, 1/d.ev.Score[i]-1)
	} else if found < 0 {
		return d.lift[i] * (1 + found)
	}
	return d.lift[i] * math.Exp(found)
}

// memory is a state of one label as the definition has it.
type memory struct {
	batch, factor                 float64
	average                       [5]float64
	sum, level, now, mean, recent []float64
	known                         float64 // events in effect behind the mean
}

// take takes the batch into the memory.
func (m *memory) take(d *law, found Pushed, tolerance, different float64) {
	n := float64(len(d.omega))
	if m.batch++; m.batch == 1 {
		m.factor = 1
	}
	for k, x := range []float64{d.norm, found.Loss, found.Bias, found.Events, found.Loss * found.Loss} {
		m.average[k] += math.Max(1/m.batch, Rate) * (x - m.average[k])
	}
	if tolerance > 0 {
		rho := m.average[1] * tolerance / (m.average[2] * m.average[3])
		m.factor *= math.Exp(Integral * math.Max(-1, math.Min(1, rho-1)))
		m.factor = math.Min(1, math.Max(Integral, m.factor))
	}
	burst := math.Min(1, d.norm/m.average[0])
	for k, r := range d.residual {
		m.sum[k] = (1-Integral*(1-m.factor))*m.sum[k] + m.factor*Integral*math.Sqrt(n/EventsOfABatch)*r*burst
	}
	size := n / EventsOfABatch
	now, recent := math.Min(1, math.Max(1/m.batch, size/InNow)), math.Min(1, math.Max(1/m.batch, size/InRecent))
	share := math.Max(1/m.batch, math.Min(1./InRecent, size/InMean))
	step := math.Min(MostStep, Step*size/(1+m.batch*size/SlowAfter))
	effective := square(d.omega)
	m.known = math.Min(effective/share, different*effective/n)
	for k, r := range d.tail {
		m.now[k] = (1-now)*m.now[k] + now*r
		m.recent[k] = (1-recent)*m.recent[k] + recent*r
		m.mean[k] = (1-share)*m.mean[k] + share*r
		significant := m.significance(k, tolerance)
		m.level[k] += step * (significant*r - LeakOfTail*(1-significant)*m.level[k])
	}
	number := FunctionsOfMass[len(d.ev.Variables())]
	for k := range Thresholds { // v is bounded in all cells
		largest := 0.0
		d.forCells(number, func(f []float64) {
			v := 0.0
			for l, x := range f {
				v += x * m.level[l*Thresholds+k]
			}
			largest = math.Max(largest, math.Abs(v))
		})
		for l := k; largest > MostLevel && l < len(m.level); l += Thresholds {
			m.level[l] *= MostLevel / largest
		}
	}
}

// significance is 1 - noise/mean^2, or 0.
func (m *memory) significance(k int, tolerance float64) float64 {
	known := m.known
	if tolerance > 0 {
		known = math.Min(known, tolerance)
	}
	efficiency := 1 / (1 + math.Exp(Highest*float64(k%Thresholds)/(Thresholds-1)))
	return math.Max(0, 1-Doubt*(1-efficiency)/(efficiency*known)/(m.mean[k]*m.mean[k]))
}

// square returns (sum |w|)^2 / sum w^2.
func square(w []float64) float64 {
	return math.Pow(floats.Norm(w, 1), 2) / floats.Dot(w, w)
}

// forCells calls f with the functions of the masses in each cell, also of masses that are not known.
func (d *law) forCells(number [2]int, f func([]float64)) {
	all := [][]float64{{1}}
	for range d.ev.Variables() {
		var products [][]float64
		for _, before := range all {
			for c := range number[0] + 1 {
				of := append([]float64{1}, make([]float64, number[1]-1)...)
				if c < number[0] {
					of = cosinesAt((float64(c)+0.5)/float64(number[0]), number)
				}
				var row []float64
				for _, x := range before {
					for _, y := range of {
						row = append(row, x*y)
					}
				}
				products = append(products, row)
			}
		}
		all = products
	}
	for _, row := range all {
		f(row)
	}
}

// draw returns a batch whose scores depend on the mass.
func draw(rng *rand.Rand, n, variables int) core.Events[float64] {
	ev := core.Events[float64]{Score: make([]float64, n), Masses: make([][]float64, variables)}
	for v := range variables {
		ev.Masses[v] = make([]float64, n)
		for i := range n {
			ev.Masses[v][i] = 60 * rng.ExpFloat64()
		}
	}
	for i := range n {
		ev.Score[i] = 1 / (1 + math.Exp(-rng.NormFloat64()-ev.Masses[0][i]/100))
	}
	return ev
}

// drawWeights gives all events weights. The size of a weight depends on the mass, and some are negative.
func drawWeights(ev *core.Events[float64], rng *rand.Rand, negative float64) {
	ev.Weight = make([]float64, len(ev.Score))
	for i, m := range ev.Masses[0] {
		ev.Weight[i] = (0.2 + rng.ExpFloat64()) * math.Exp(-m/50)
		if rng.Float64() < negative {
			ev.Weight[i] *= -0.3
		}
	}
}

// Push, multiplier and state of some batches are those of the definition.
func TestLawByDefinition(t *testing.T) {
	unchanged := func(*core.Events[float64], *rand.Rand) {}
	shuffle := func(ev *core.Events[float64], rng *rand.Rand) { // three times of four, the scores do not depend on the mass
		drawWeights(ev, rng, 0)
		if rng.IntN(4) > 0 {
			rng.Shuffle(len(ev.Score), func(i, k int) { ev.Score[i], ev.Score[k] = ev.Score[k], ev.Score[i] })
		}
	}
	for name, c := range map[string]struct {
		variables, n int
		tolerance    float64
		change       func(ev *core.Events[float64], rng *rand.Rand)
		batches      int
	}{
		"plain":          {1, 300, 0, unchanged, 8},
		"many events":    {1, 1800, 0, unchanged, 8},
		"two masses":     {2, 300, 0, unchanged, 8},
		"three masses":   {3, 200, 0, unchanged, 8},
		"weights":        {1, 300, 0, func(ev *core.Events[float64], rng *rand.Rand) { drawWeights(ev, rng, 0) }, 8},
		"signed weights": {2, 300, 30, func(ev *core.Events[float64], rng *rand.Rand) { drawWeights(ev, rng, 0.06) }, 8},
		"ties": {1, 300, 0, func(ev *core.Events[float64], rng *rand.Rand) {
			for i := range ev.Score { // many ranks lie on borders of cells
				ev.Score[i], ev.Masses[0][i] = math.Round(20*ev.Score[i])/20, math.Round(ev.Masses[0][i]/3)
			}
		}, 8},
		"epochs":       {1, 300, 0, unchanged, 12}, // of three batches
		"many batches": {1, 70, 300, shuffle, 600}, // as many as the averages remember
	} {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, uint64(c.variables)))
			cfg := core.DefaultConfig()
			cfg.Order, cfg.Bins = 1, 6
			state := make([]float64, StateSize(1, 0))
			var m memory
			var drawn []core.Events[float64]
			for k := range c.batches {
				if name != "epochs" || k < 3 {
					ev := draw(rng, c.n, c.variables)
					c.change(&ev, rng)
					drawn = append(drawn, ev)
				}
				different := math.Inf(1)
				if name == "epochs" || name == "many batches" {
					different = float64(3 * c.n)
				}
				compare(t, &m, state, drawn[k%len(drawn)], cfg, c.tolerance, different)
			}
		})
	}
}

// compare compares a batch with the definition.
func compare(t *testing.T, m *memory, state []float64, ev core.Events[float64], cfg core.Config, tolerance, different float64) {
	t.Helper()
	d := define(t, ev, cfg)
	if m.batch == 0 {
		m.sum = make([]float64, len(d.residual))
		for _, table := range []*[]float64{&m.level, &m.now, &m.recent, &m.mean} {
			*table = make([]float64, len(d.tail))
		}
	}
	n := len(ev.Score)
	push, multiplier := make([]float64, n), make([]float64, n)
	given := ev
	given.Score = slices.Clone(ev.Score)
	for i, s := range ev.Score {
		given.Score[i] = min(max(math.Log(s/(1-s)), -40), 40) // also of 0 and 1
	}
	st := Steering{State: state, Tolerance: tolerance, Logits: true}
	if !math.IsInf(different, 1) {
		st.TrainingEvents = different
	}
	found, err := Direction(push, multiplier, nil, given, cfg, st)
	require.NoError(t, err)
	before := *m
	before.sum, before.level = slices.Clone(m.sum), slices.Clone(m.level)
	before.now, before.mean = slices.Clone(m.now), slices.Clone(m.mean)
	if before.batch == 0 {
		before.factor = 1
	}
	m.take(d, found, tolerance, different)
	burst := math.Min(1, d.norm/m.average[0])
	now := make([]float64, len(before.now))
	for k, r := range before.now {
		if before.batch > 0 {
			now[k] = r * before.significance(k, tolerance)
		}
	}
	size := floats.Norm(push, math.Inf(1))
	for i := range push {
		require.InDelta(t, d.pushAt(i, Proportional*before.factor*burst, before.sum), push[i], 1e-9*size, "push of event %d", i)
		require.InEpsilon(t, d.multiplierAt(i, before.level, now), multiplier[i], 1e-8, "multiplier of event %d", i)
	}
	require.InDeltaSlice(t, slices.Concat([]float64{1, m.batch}, m.average[:]), state[:7], 1e-9)
	require.InDelta(t, m.factor, state[7], 1e-12)
	for name, table := range map[string][]float64{
		"batches": {m.batch}, "sum": m.sum, "level": m.level, "now": m.now, "recent": m.recent, "mean": m.mean, "known": {m.known},
	} {
		f := Layout[slices.IndexFunc(Layout, func(f Field) bool { return f.Name == name })]
		require.InDeltaSlice(t, table, state[f.At:][:len(table)], 1e-8*(1+floats.Norm(table, math.Inf(1))), name)
	}
}
