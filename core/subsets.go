package core

import (
	"fmt"
	"sort"

	"github.com/libmode/libmode/core/internal/par"
)

// subset is the gathered events lo..hi-1, those of one label and one category. The loss of a call is the
// sum of those of its subsets, each of its events alone, times their factors.
type subset struct {
	origin
	lo, hi int
	factor float64 // the share of the category in the sum of weights of the label
}

func (su *subset) size() int { return su.hi - su.lo }

// subsets returns those that have events. It turns the numbers of events, by part and by number of
// subset, into where each part writes its first event of each.
func (di *division) subsets(counts []uint32, memory []subset) []subset {
	found, subsets := 0, memory[:0]
	for number := range di.count {
		lo := found
		for k := number; k < len(counts); k += di.count {
			slot := &counts[k]
			*slot, found = uint32(found), found+int(*slot)
		}
		if found > lo {
			subsets = append(subsets, subset{di.origin(number), lo, found, 1})
		}
	}
	return subsets
}

// checkLabels returns an error for the first label that no subset has.
func (di *division) checkLabels(subsets []subset, labels []int32) error {
	next := uint32(0)
	for _, su := range subsets {
		if su.label > next {
			break
		}
		next = su.label + 1
	}
	if int(next) == di.labels {
		return nil
	}
	return errorOf(ErrNoEvents, "no event selected: none of the %d values of label equals background_label = %d: "+
		"use larger batches, or check background_label", di.n, labels[next])
}

// inPart returns the subsets from..to-1 that begin in one of several parts of the events.
func (g *gathered[T]) inPart(part, parts int) (from, to int) {
	lo, hi := partOf(len(g.index), part, parts)
	first := func(at int) int {
		return sort.Search(len(g.subsets), func(k int) bool { return g.subsets[k].lo >= at })
	}
	return first(lo), first(hi)
}

// setFactors sets the factors of the subsets: of a label that has several categories, their shares.
func (g *gathered[T]) setFactors(cfg *Config, team *par.Team) error {
	if len(g.subsets) == g.labels() {
		return nil
	}
	g.sumWeights(1, team)
	if !g.setShares() {
		if err := g.badWeight(cfg); err != nil {
			return err
		}
		g.sumWeights(0x1p-64, team) // the sums of more than 2^32 of them do not overflow
		g.setShares()
	}
	for k, su := range g.subsets {
		if !(su.factor > 0) || !finite(su.factor) {
			return g.named(k, cfg, errorOf(ErrBin, "their share of the sum of weights is %v, and must be positive: "+
				"use larger batches, or leave these events out", su.factor))
		}
	}
	return nil
}

// labels returns how many labels there are.
func (g *gathered[T]) labels() int { return int(g.subsets[len(g.subsets)-1].label) + 1 }

// sumWeights sets the factors to the sums of weights times a unit.
func (g *gathered[T]) sumWeights(unit float64, team *par.Team) {
	parts := team.PartsFor(len(g.index))
	team.Run(parts, func(part int) {
		from, to := g.inPart(part, parts)
		for k := from; k < to; k++ {
			su := &g.subsets[k]
			su.factor = float64(su.size())
			if g.events.Weight == nil {
				continue
			}
			var sum float64
			for _, w := range g.events.Weight[su.lo:su.hi] {
				sum += float64(w) * unit
			}
			su.factor = sum
		}
	})
}

// setShares divides the factors by their sum over a label. It reports whether these sums are finite.
func (g *gathered[T]) setShares() bool {
	for lo, hi := 0, 0; lo < len(g.subsets); lo = hi {
		var total float64
		for hi < len(g.subsets) && g.subsets[hi].label == g.subsets[lo].label {
			total += g.subsets[hi].factor
			hi++
		}
		if !finite(total) {
			return false
		}
		for k := lo; k < hi; k++ {
			g.subsets[k].factor /= total
		}
		if hi == lo+1 {
			g.subsets[lo].factor = 1 // also where the sum is not positive
		}
	}
	return true
}

// badWeight returns the error of the first weight that is not finite.
func (g *gathered[T]) badWeight(cfg *Config) error {
	for k, su := range g.subsets {
		for i := su.lo; i < su.hi; i++ {
			if w := float64(g.events.Weight[i]); !finite(w) {
				return g.named(k, cfg, notFinite("weight", int(g.index[i]), w))
			}
		}
	}
	return nil
}

// named returns an error about subset k with the label and the category of it, if there are several.
func (g *gathered[T]) named(k int, cfg *Config, err error) error {
	labels, name := g.labels(), ""
	if labels > 1 {
		name = fmt.Sprintf(" with background_label = %d", cfg.BackgroundLabel[g.subsets[k].label])
	}
	if len(g.subsets) > labels {
		name += fmt.Sprintf(" of category = %d", g.subsets[k].category)
	}
	if name == "" {
		return err
	}
	return errorOf(err, "events%s: %v", name, err)
}
