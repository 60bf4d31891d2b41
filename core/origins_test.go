package core

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Origins are numbered in the order in which they are met, whatever bits they differ in, and parts that
// have met different ones agree on their places in order.
func TestOrigins(t *testing.T) {
	var all [2]origins
	for _, shift := range []int{0, 20, 40, 52} {
		for k := range 1_000 {
			for label := range uint32(2) {
				or := origin{label, int64(k-500) << shift}
				os := &all[k%2]
				before := len(os.met)
				number := os.number(or)
				assert.Equal(t, or, os.met[number])
				assert.Equal(t, number, os.number(or))
				assert.LessOrEqual(t, len(os.met), before+1)
			}
		}
	}
	all[0].number(origin{1, math.MaxInt64})
	all[1].number(origin{0, math.MinInt64})
	sorted := sortedOrigins(all[:])
	assert.Equal(t, origin{0, math.MinInt64}, sorted[0])
	assert.Equal(t, origin{1, math.MaxInt64}, sorted[len(sorted)-1])
	for k := range sorted[1:] {
		assert.Negative(t, sorted[k].compare(sorted[k+1]))
	}
	for _, os := range all {
		for k, number := range os.numbersIn(sorted) {
			assert.Equal(t, os.met[k], sorted[number])
		}
	}
}
