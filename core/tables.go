package core

import (
	"slices"
	"sort"

	"github.com/libmode/libmode/core/internal/par"
	"gonum.org/v1/gonum/floats"
)

// Edges returns the edges of the mass bins that the loss of these events would
// use, in units of mass. Scores are not looked at; weights count where the number
// of bins is not asked for. Several background labels, or categories, have several sets
// of bins: they are an error here.
func Edges[T Float](ev Events[T], cfg Config) ([]float64, error) {
	ev.Score = nil
	cfg = roundedTo[T](cfg)
	sc := takeScratch()
	defer giveScratch(sc)
	_, bs, err := inspect(ev, &cfg, len(ev.Mass), sc)
	if err != nil {
		return nil, err
	}
	return slices.Clone(bs.edges), nil
}

// Table holds, at each of the scores that were asked for, what the loss is
// made of. A row belongs to a score.
type Table struct {
	Edges   []float64   // of the bins, in units of mass
	CDF     [][]float64 // F_b: the fraction of bin b's weight with scores <= s
	Moments [][]float64 // c_l, l = 0..order
	Bounded [][]float64 // c~_l
}

// MomentsAt returns F_b, c_l and c~_l at the given scores, in any order. Several
// background labels, or categories, are an error here.
func MomentsAt[T Float](at []float64, ev Events[T], cfg Config) (*Table, error) {
	for i, s := range at {
		if s != s {
			return nil, errorOf(ErrNotFinite, "at[%d] = %v: must be a number", i, s)
		}
	}
	if err := ev.checkLengths(); err != nil {
		return nil, err
	}
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if cfg.Basis == BSpline {
		return nil, optionError("basis", "bspline", "has no moments, which are those of polynomials: use basis = legendre")
	}
	cfg = roundedTo[T](cfg)
	sc := takeScratch()
	defer giveScratch(sc)
	sel, bs, err := inspect(ev, &cfg, len(ev.Score), sc)
	if err != nil {
		return nil, err
	}
	ba, err := newBasis(bs, &cfg, &sc.arena)
	if err != nil {
		return nil, err
	}
	table := &Table{Edges: slices.Clone(bs.edges)}
	table.CDF, err = cdfsAt(at, sel, bs, sc)
	if err != nil {
		return nil, err
	}
	bo := newBound(&cfg, ba)
	for _, cdf := range table.CDF {
		c := make([]float64, ba.size)
		ba.moments(c, cdf)
		value := c
		if cfg.bounded() {
			value = bo.apply(c)
		}
		if !finite(floats.Sum(cdf)) || !finite(floats.Sum(c)) || !finite(floats.Sum(value)) {
			return nil, errorOf(ErrOverflow, "moments are beyond double precision: weights relative to their sum in a bin are too large")
		}
		table.Moments = append(table.Moments, c)
		table.Bounded = append(table.Bounded, append([]float64(nil), value...))
	}
	return table, nil
}

// inspect selects the events of the one label and finds their bins.
func inspect[T Float](ev Events[T], cfg *Config, n int, sc *scratch) (*selection[T], *bins, error) {
	if err := cfg.Validate(); err != nil {
		return nil, nil, err
	}
	labels := cfg.BackgroundLabel
	switch {
	case ev.Label != nil && len(labels) > 1:
		return nil, nil, optionError("background_label", labels, "names several labels, which have bins of their own: ask for one at a time")
	case ev.Masses != nil:
		return nil, nil, errorOf(ErrOption, "mass has %d variables, which have bins of their own: ask for one at a time", len(ev.Masses))
	case ev.Category != nil:
		return nil, nil, errorOf(ErrOption, "category is given, and each category has bins of its own: ask for the events of one at a time, without category")
	case ev.Label != nil && ev.Label.length() != n:
		return nil, nil, errorOf(ErrLength, "label has length %d, but mass has length %d", ev.Label.length(), n)
	case ev.Weight != nil && len(ev.Weight) != n:
		return nil, nil, errorOf(ErrLength, "weight has length %d, but mass has length %d", len(ev.Weight), n)
	}
	if err := cfg.checkCount(1); err != nil {
		return nil, nil, err
	}
	*cfg = cfg.of(0)
	var index []uint32
	if ev.Label != nil {
		di := divisionOf[T](sc)
		if err := di.divide(ev, labels, sc); err != nil {
			return nil, nil, err
		}
		ev, index = di.events, di.index
	}
	sel, err := selectEvents(ev, index, cfg, false, sc)
	if err != nil {
		return nil, nil, err
	}
	if err := enoughFor(sel, cfg); err != nil {
		return nil, nil, err
	}
	bs := par.New(&sc.arena, bins{})
	if cfg.Binning == Quantile {
		bs.edges, _ = sortAll(sel).edges(quantileRanks(sel.n, binsFor(cfg, sel.n), &sc.arena), sel.massLo, sel.massHi, &sc.arena)
	} else if bs.edges, err = givenEdges(sel, cfg); err != nil {
		return nil, nil, err
	}
	edges := bs.edges
	of := func(dst []uint32, lo int) {
		for i := range dst {
			dst[i] = noBin
			if sel.takesPart(lo + i) {
				dst[i] = uint32(searchBin(edges, float64(sel.Mass[lo+i])))
			}
		}
	}
	return sel, bs, settle(bs, sel, cfg, sel.unit(), of, sc)
}

// searchBin returns the bin of a mass inside the range: lower edge <= m < upper
// edge, the last bin with its upper edge.
func searchBin(edges []float64, m float64) int {
	inner := edges[1 : len(edges)-1]
	return sort.Search(len(inner), func(k int) bool { return inner[k] > m })
}

// cdfsAt returns F_b at each of the scores.
func cdfsAt[T Float](at []float64, sel *selection[T], bs *bins, sc *scratch) ([][]float64, error) {
	order := make([]int, len(at))
	for k := range order {
		order[k] = k
	}
	sort.Slice(order, func(i, j int) bool { return at[order[i]] < at[order[j]] })
	edges, nb := bs.edges, bs.count()
	cdf := make([][]float64, len(at))
	for k := range cdf {
		cdf[k] = make([]float64, nb)
	}
	sums := make([]float64, nb)
	unit := sel.unit()
	for i := range sel.Mass {
		if !sel.takesPart(i) {
			continue
		}
		w := 1.0
		if sel.Weight != nil {
			w = float64(sel.Weight[i]) * unit
		}
		b := searchBin(edges, float64(sel.Mass[i]))
		sums[b] += w
		s := float64(sel.Score[i])
		if k := sort.Search(len(order), func(k int) bool { return at[order[k]] >= s }); k < len(order) {
			cdf[order[k]][b] += w
		}
	}
	inverse, err := inverseSums(bs, sums, unit, &sc.arena)
	if err != nil {
		return nil, err
	}
	for k, row := range order {
		for b := range nb {
			if k > 0 {
				cdf[row][b] += cdf[order[k-1]][b]
			}
		}
	}
	for _, row := range cdf {
		for b := range row {
			row[b] *= inverse[b]
		}
	}
	return cdf, nil
}
