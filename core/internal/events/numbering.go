package events

import (
	"math"
	"slices"
)

// numbering numbers distinct integers in ascending order.
type numbering struct {
	sorted []int64
	lowest int64
	table  []uint32 // by distance to the lowest integer, with noNumber at the end; nil if the integers lie far apart
}

// noNumber is the number of all other integers.
const noNumber = math.MaxUint32

// newNumbering returns a numbering of those values[i] for which numbers[i] is not noNumber.
func newNumbering(values []int64, numbers []uint32) (nu numbering) {
	lowest, highest := int64(math.MaxInt64), int64(math.MinInt64)
	for i, value := range values {
		if numbers[i] != noNumber {
			lowest, highest = min(lowest, value), max(highest, value)
		}
	}
	nu.lowest = lowest
	const small = 1 << 10
	span := uint64(highest) - uint64(lowest)
	if span >= uint64(len(values)+small) {
		for i, value := range values {
			if numbers[i] != noNumber {
				nu.sorted = append(nu.sorted, value)
			}
		}
		slices.Sort(nu.sorted)
		nu.sorted = slices.Compact(nu.sorted)
		return nu
	}
	nu.table = slices.Repeat([]uint32{noNumber}, int(span)+2)
	for i, value := range values {
		if numbers[i] != noNumber {
			nu.table[value-lowest] = 0
		}
	}
	for distance, number := range nu.table {
		if number != noNumber {
			nu.table[distance] = uint32(len(nu.sorted))
			nu.sorted = append(nu.sorted, lowest+int64(distance))
		}
	}
	return nu
}

// find sets dst to the numbers of the values.
func (nu *numbering) find(dst []uint32, values []int64) {
	if len(nu.table) == 0 {
		for i, value := range values {
			dst[i] = noNumber
			if number, found := slices.BinarySearch(nu.sorted, value); found {
				dst[i] = uint32(number)
			}
		}
		return
	}
	lowest, table := nu.lowest, nu.table
	last := uint64(len(table) - 1)
	for i, value := range values {
		dst[i] = table[min(uint64(value-lowest), last)]
	}
}
