package core

import (
	"math"

	"github.com/libmode/libmode/core/internal/lanes"
	"github.com/libmode/libmode/core/internal/par"
)

// selection is the events of one subset and, after check, what is known of those
// that take part: events with a mass inside the mass range.
type selection[T Float] struct {
	Events[T]                 // without labels and categories
	index            []uint32 // places of the events in the input; nil: they are the input
	massLo, massHi   float64  // the mass range
	scoreLo, scoreHi float64  // the lowest and highest score that are no error
	massCells        cells[T] // none: events are checked and not counted
	scoreCells       cells[T]
	parts            []part
	cellsOf          []uint32 // of each event: its cells of score and mass, see pair; then its bin, see bins.assigned
	ignoreMissing    bool     // a mass that is NaN is one outside the range
	cellOf           []uint32 // of each event: its cell of several variables, in place of a mass; nil: there is none
	stats
}

// selectEvents returns the selection of events all of which have the label, or the
// error of the first bad one. For a walk along the scores it counts them by cell.
func selectEvents[T Float](ev Events[T], index []uint32, cfg *Config, forWalk bool, sc *scratch) (*selection[T], error) {
	sel := newSelection(ev, index, cfg, &sc.arena)
	if forWalk {
		sel.scoreCells = cellsFor(sel.Score, cfg.ScoreRange[0], cfg.ScoreRange[1], scoreCellsFor(len(sel.Score)))
		sel.massCells = sel.cellsOfMasses(cfg)
	}
	return sel, sel.check(sc)
}

// selectMasses is selectEvents for the bins of one of several variables: nothing is done with the scores.
func selectMasses[T Float](ev Events[T], index []uint32, cfg *Config, sc *scratch) (*selection[T], error) {
	sel := newSelection(ev, index, cfg, &sc.arena)
	sel.Score, sel.scoreLo, sel.scoreHi = nil, -math.MaxFloat64, math.MaxFloat64
	sel.scoreCells, sel.massCells = oneCell[T](), sel.cellsOfMasses(cfg)
	return sel, sel.check(sc)
}

// selectScores is selectEvents for a walk of events that all take part, and whose cells are known: nothing
// is done with masses.
func selectScores[T Float](ev Events[T], index []uint32, cellOf []uint32, cfg *Config, sc *scratch) (*selection[T], error) {
	ev.Mass, ev.Masses = ev.Score, nil // which are in range, as masses without a range are
	sel := newSelection(ev, index, &Config{ScoreRange: cfg.ScoreRange, MassRange: unbounded()}, &sc.arena)
	sel.cellOf = cellOf
	sel.scoreCells = cellsFor(sel.Score, cfg.ScoreRange[0], cfg.ScoreRange[1], scoreCellsFor(len(sel.Score)))
	sel.massCells = oneCell[T]()
	return sel, sel.check(sc)
}

func newSelection[T Float](ev Events[T], index []uint32, cfg *Config, arena *par.Arena) *selection[T] {
	sel := par.New(arena, selection[T]{Events: ev, index: index, ignoreMissing: cfg.Missing == MissingIgnore})
	sel.massLo, sel.massHi = cfg.massLimits()
	sel.scoreLo = max(cfg.ScoreRange[0], -math.MaxFloat64)
	sel.scoreHi = min(cfg.ScoreRange[1], math.MaxFloat64)
	return sel
}

// cellsOfMasses returns the cells by which masses find their bins.
func (sel *selection[T]) cellsOfMasses(cfg *Config) cells[T] {
	n := len(sel.Mass)
	if cfg.Binning == Quantile && n < fewMasses {
		return oneCell[T]()
	}
	return cellsFor(sel.Mass, sel.massLo, sel.massHi, massCellsFor(n, mostBins(cfg)))
}

// takesPart reports whether event i, once checked, enters the loss.
func (sel *selection[T]) takesPart(i int) bool {
	m := float64(sel.Mass[i])
	return m >= sel.massLo && m <= sel.massHi
}

// inInput returns where event i stands in the input.
func (sel *selection[T]) inInput(i int) int {
	if sel.index == nil {
		return i
	}
	return int(sel.index[i])
}

// check looks at every event once: it returns an error for the first bad value,
// fills stats and counts events by cell. With no mass range given, the range
// becomes that of the masses.
func (sel *selection[T]) check(sc *scratch) error {
	sel.divide(sc)
	sc.team.Run(len(sel.parts), func(k int) {
		p := &sel.parts[k]
		p.found, p.failed = sel.checkPart(p)
	})
	sel.stats = emptyStats()
	for k := range sel.parts {
		p := &sel.parts[k]
		if p.failed != nil {
			return p.failed
		}
		sel.stats.merge(&p.found)
	}
	if sel.n == 0 {
		return sel.nothingSelected()
	}
	if sel.weightMin == sel.weightMax && sel.weightMin > 0 {
		sel.Weight = nil // a common factor does not matter, and loops without weights are faster
	}
	if math.IsInf(sel.massLo, -1) {
		sel.massLo, sel.massHi = sel.massMin, sel.massMax
	}
	return nil
}

// divide makes the parts and clears their counts.
func (sel *selection[T]) divide(sc *scratch) {
	n := len(sel.Mass)
	if sel.massCells.count > 0 {
		sc.cellsOf = par.Grown(sc.cellsOf, n)
		sel.cellsOf = sc.cellsOf
	}
	parts := sc.team.PartsFor(n)
	per := sel.massCells.count + sel.scoreCells.count
	sc.counts = par.Grown(sc.counts, parts*per)
	clear(sc.counts)
	sc.parts = par.Grown(sc.parts, parts)
	sel.parts = sc.parts
	for k := range sel.parts {
		counts := sc.counts[k*per : (k+1)*per]
		sel.parts[k] = part{
			lo: n * k / parts, hi: n * (k + 1) / parts,
			masses: counts[:sel.massCells.count], scores: counts[sel.massCells.count:],
		}
	}
}

// checkBlock is a number of events that stay in cache between the passes of checkPart.
const checkBlock = 1 << 11

func (sel *selection[T]) checkPart(p *part) (stats, error) {
	st := emptyStats()
	if sel.Weight != nil {
		lowest, highest, err := sel.checkWeights(p)
		if err != nil {
			return st, err
		}
		st.weightMin, st.weightMax = lowest, highest
	}
	tidy := sel.cellsOf != nil && sel.massCells.keyed == nil && sel.scoreCells.keyed == nil
	for lo := p.lo; lo < p.hi; lo += checkBlock {
		hi := min(lo+checkBlock, p.hi)
		if tidy = tidy && sel.lookAtAll(&st, lo, hi); tidy {
			if sel.cellOf != nil {
				countJoined(p, sel.cellsOf[lo:hi], sel.cellOf[lo:hi])
			} else {
				count(p, sel.cellsOf[lo:hi])
			}
			continue
		}
		if err := sel.look(&st, lo, hi); err != nil {
			return st, err
		}
		if sel.cellsOf != nil {
			sel.countSome(p, lo, hi)
		}
	}
	return st, nil
}

// lookAtAll brings st up to date with the events lo..hi-1, and finds their cells, if all of them
// take part and are good.
func (sel *selection[T]) lookAtAll(st *stats, lo, hi int) bool {
	scores := sel.Score
	if scores == nil {
		scores = sel.Mass
	}
	seen := lanes.Look(scores[lo:hi], sel.Mass[lo:hi], sel.scoreCells.Cells, sel.massCells.Cells, sel.cellsOf[lo:hi])
	if !seen.Number || float64(seen.ScoreMin) < sel.scoreLo || float64(seen.ScoreMax) > sel.scoreHi ||
		float64(seen.MassMin) < max(sel.massLo, -math.MaxFloat64) || float64(seen.MassMax) > min(sel.massHi, math.MaxFloat64) {
		return false
	}
	// To -0 is added 0, which makes it 0: which of the two was found says nothing.
	st.merge(&stats{
		n: hi - lo, scoreBits: seen.Bits, weightMin: math.Inf(1), weightMax: math.Inf(-1),
		massMin: float64(seen.MassMin) + 0, massMax: float64(seen.MassMax) + 0,
		scoreMin: float64(seen.ScoreMin) + 0, scoreMax: float64(seen.ScoreMax) + 0,
	})
	return true
}

// look brings st up to date with the events lo..hi-1, or returns the error of
// the first bad one.
func (sel *selection[T]) look(st *stats, lo, hi int) error {
	// What the loop touches is in locals, which the compiler keeps in registers.
	scores, masses := sel.Score, sel.Mass
	massMin, massMax, scoreMin, scoreMax := T(st.massMin), T(st.massMax), T(st.scoreMin), T(st.scoreMax)
	var bits uint64
	outside := 0
	for i := lo; i < hi; i++ {
		var s T
		if scores != nil {
			s = scores[i]
		}
		m := masses[i]
		if !(s >= scoreMin && s <= scoreMax) || !(m >= massMin && m <= massMax) {
			// Bad, or beyond all that were good so far, which few are.
			inside, err := sel.checkEvent(i, float64(s), float64(m))
			if err != nil {
				return err
			}
			if !inside {
				outside++
				continue
			}
			massMin, massMax = min(massMin, m), max(massMax, m)
			scoreMin, scoreMax = min(scoreMin, s), max(scoreMax, s)
		}
		if !lanes.IsFloat32[T]() {
			bits |= math.Float64bits(float64(s))
		}
	}
	if lanes.IsFloat32[T]() {
		bits = lanes.SingleBits
	}
	st.n += hi - lo - outside
	st.scoreBits |= bits
	st.massMin, st.massMax = float64(massMin), float64(massMax)
	st.scoreMin, st.scoreMax = float64(scoreMin), float64(scoreMax)
	return nil
}

// checkEvent reports whether the mass of event i lies inside the mass range.
func (sel *selection[T]) checkEvent(i int, s, m float64) (inside bool, err error) {
	if sel.Score != nil && !(s >= sel.scoreLo && s <= sel.scoreHi) {
		return false, sel.badScore(sel.inInput(i), s)
	}
	if m != m && sel.ignoreMissing {
		return false, nil
	}
	if !finite(m) {
		return false, notFinite("mass", sel.inInput(i), m)
	}
	return m >= sel.massLo && m <= sel.massHi, nil
}

// countSome counts those of the events lo..hi-1 that take part, in any grid.
func (sel *selection[T]) countSome(p *part, lo, hi int) {
	for i := lo; i < hi; i++ {
		sel.cellsOf[i] = noPair
		if sel.takesPart(i) {
			scoreCell, massCell := 0, sel.massCells.of(sel.Mass[i])
			if sel.cellOf != nil {
				massCell = int(sel.cellOf[i])
			}
			if sel.Score != nil {
				scoreCell = sel.scoreCells.of(sel.Score[i])
			}
			p.scores[scoreCell]++
			if sel.cellOf == nil {
				p.masses[massCell]++
			}
			sel.cellsOf[i] = pair(scoreCell, massCell)
		}
	}
}

// checkWeights returns the lowest and the highest weight of the events of a part that
// take part.
func (sel *selection[T]) checkWeights(p *part) (lowest, highest float64, err error) {
	lowest, highest = math.Inf(1), math.Inf(-1)
	for i := p.lo; i < p.hi; i++ {
		w := float64(sel.Weight[i])
		if !finite(w) {
			return 0, 0, notFinite("weight", sel.inInput(i), w)
		}
		if (w < lowest || w > highest) && sel.takesPart(i) {
			lowest, highest = min(lowest, w), max(highest, w)
		}
	}
	return lowest, highest, nil
}

// unit is the unit of the weights. The loss does not depend on it, to the last bit.
func (sel *selection[T]) unit() float64 {
	if sel.Weight == nil {
		return 1
	}
	return unitOf(max(math.Abs(sel.weightMin), math.Abs(sel.weightMax)))
}

// unitOf returns a power of two that brings numbers up to largest near 1, where neither
// they nor their squares overflow.
func unitOf(largest float64) float64 {
	if largest == 0 {
		return 1
	}
	_, exponent := math.Frexp(largest)
	return math.Ldexp(1, min(max(-1022, -exponent), 1023))
}

func (sel *selection[T]) checkMassRange() error {
	if sel.massLo == sel.massHi {
		return errorOf(ErrBin, "mass: all %d selected events have the same mass %v, so no range of masses can be binned: "+
			"give mass_range or edges, or a mass that varies", sel.n, sel.massLo)
	}
	if !finite(sel.massHi - sel.massLo) {
		return errorOf(ErrOverflow, "mass: the selected events span [%v, %v], which is too wide for double precision", sel.massLo, sel.massHi)
	}
	return nil
}

func (sel *selection[T]) nothingSelected() error {
	if len(sel.Mass) == 0 {
		return errorOf(ErrNoEvents, "no event selected: mass is empty (length 0)")
	}
	if math.IsInf(sel.massLo, -1) {
		return errorOf(ErrNoEvents, "no event selected: all %d masses of the selected events are NaN, and missing = ignore leaves these out", len(sel.Mass))
	}
	return errorOf(ErrNoEvents, "no event selected: all %d masses of the selected events lie outside the mass range [%v, %v]: "+
		"check mass_range (or edges) and the unit of mass", len(sel.Mass), sel.massLo, sel.massHi)
}

func (sel *selection[T]) badScore(i int, s float64) error {
	if !finite(s) {
		return notFinite("score", i, s)
	}
	hint := "widen it, or use score_range=None"
	if sel.scoreLo <= 0 && sel.scoreHi >= 1 { // a sigmoid's results are inside
		hint = "apply a sigmoid to raw outputs, or use score_range=None"
	}
	return errorOf(ErrScoreRange, "score[%d] = %v lies outside score_range = [%v, %v]: %s", i, s, sel.scoreLo, sel.scoreHi, hint)
}

func notFinite(name string, i int, value float64) error {
	return errorOf(ErrNotFinite, "%s[%d] = %v: every %s of a selected event must be finite", name, i, value, name)
}
