package core

import (
	"cmp"
	"slices"
)

// origin says of which label, by its slot, and of which category a subset is.
type origin struct {
	label    uint32
	category int64
}

func (or origin) compare(other origin) int {
	return cmp.Or(cmp.Compare(or.label, other.label), cmp.Compare(or.category, other.category))
}

// origins are different ones in the order in which they were met, in a hash table: categories may be any
// integers, and Go's maps take several times as long.
type origins struct {
	met   []origin
	table []uint32 // by hash: 1 + the place in met, or 0
}

// number returns the place of an origin in met.
func (os *origins) number(or origin) uint32 {
	if 2*len(os.met) >= len(os.table) {
		os.grow()
	}
	at := os.at(or)
	if os.table[at] == 0 {
		os.met = append(os.met, or)
		os.table[at] = uint32(len(os.met))
	}
	return os.table[at] - 1
}

// at returns where an origin stands in the table, or where there is place for it.
func (os *origins) at(or origin) uint64 {
	const mixer = 0x9e3779b97f4a7c15 // 2^64 over the golden ratio
	hash := (uint64(or.category) ^ uint64(or.label)<<32) * mixer
	hash = (hash ^ hash>>32) * mixer
	last := uint64(len(os.table) - 1)
	at := hash >> 32 & last
	for os.table[at] != 0 && os.met[os.table[at]-1] != or {
		at = (at + 1) & last
	}
	return at
}

// grow makes the table larger.
func (os *origins) grow() {
	os.table = make([]uint32, max(1<<10, 4*len(os.table)))
	for k, or := range os.met {
		os.table[os.at(or)] = uint32(k + 1)
	}
}

// sortedOrigins returns all of several, in order.
func sortedOrigins(several []origins) (sorted []origin) {
	for _, os := range several {
		sorted = append(sorted, os.met...)
	}
	slices.SortFunc(sorted, origin.compare)
	return slices.Compact(sorted)
}

// numbersIn returns where each stands among all in order.
func (os *origins) numbersIn(sorted []origin) []uint32 {
	numbers := make([]uint32, len(os.met))
	for k, or := range os.met {
		at, _ := slices.BinarySearchFunc(sorted, or, origin.compare)
		numbers[k] = uint32(at)
	}
	return numbers
}
