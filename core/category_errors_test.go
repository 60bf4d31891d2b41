package core

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// label gives the events labels.
func (cd *categorized[T]) label(of func(i int) int32) {
	cd.labels = make([]int32, len(cd.categories))
	for i := range cd.labels {
		cd.labels[i] = of(i)
	}
	cd.Label = LabelsOf(cd.labels)
}

// Errors about a category name it, the first in increasing order, and the place in the input. Event i has
// the category i mod 3.
func TestErrorsOfCategories(t *testing.T) {
	inFours := func(i int) int32 { return int32(i / 4 % 2) }
	for want, change := range map[string]func(*categorized[float64], *Config){
		"events of category = -5: too few events: 2 selected events": func(cd *categorized[float64], _ *Config) {
			cd.categories[70], cd.categories[3], cd.categories[5] = 8, -5, -5
		},
		"events of category = 1: score[7] = 2 lies outside": func(cd *categorized[float64], _ *Config) {
			cd.Score[7], cd.Score[5] = 2, 2
		},
		"events of category = 2: weight[5] = NaN: every weight": func(cd *categorized[float64], _ *Config) {
			cd.Weight[5] = nan
		},
		"events of category = 0: weight[6] = +Inf: every weight": func(cd *categorized[float64], _ *Config) {
			cd.Weight[4], cd.Weight[5], cd.Weight[6] = inf, nan, inf
		},
		"events of category = 1: their share of the sum of weights is -": func(cd *categorized[float64], _ *Config) {
			cd.Weight[7] = -60
		},
		"events of category = 0: their share of the sum of weights is -Inf": func(cd *categorized[float64], _ *Config) {
			for i := range cd.Weight {
				cd.Weight[i] = float64(i%3*2 - 2)
			}
		},
		"events with background_label = 1 of category = 1: mass[13] = NaN": func(cd *categorized[float64], cfg *Config) {
			cd.label(inFours)
			cfg.BackgroundLabel = []int32{1, 0}
			cd.Mass[0], cd.Mass[13], cd.Mass[14] = nan, nan, nan
		},
		"none of the 120 values of label equals background_label = 3": func(cd *categorized[float64], cfg *Config) {
			cd.label(inFours)
			cfg.BackgroundLabel = []int32{1, 3, 0}
		},
		"category has length 3, but score has length 120": func(cd *categorized[float64], _ *Config) {
			cd.Category = LabelsOf([]int8{1, 2, 3})
		},
	} {
		cd := categorize[float64](120, []int64{0}, true, false)
		for i := range cd.categories {
			cd.categories[i], cd.Weight[i] = int64(i%3), 1+float64(i%7)/8
		}
		cfg := DefaultConfig(MoDe)
		cfg.Bins = 3
		change(&cd, &cfg)
		_, err := Loss(cd.Events, cfg)
		assert.ErrorContains(t, err, want)
	}
}

// Tables are of one set of bins.
func TestTablesTakeNoCategories(t *testing.T) {
	cd := categorize[float64](100, []int64{1, 2}, false, false)
	_, err := Edges(cd.Events, DefaultConfig(MoDe))
	assert.ErrorIs(t, err, ErrOption)
	assert.ErrorContains(t, err, "category is given")
	_, err = MomentsAt([]float64{0.5}, cd.Events, DefaultConfig(MoDe))
	assert.ErrorContains(t, err, "category is given")
}
