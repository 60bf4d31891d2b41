package walk

import (
	"math"

	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/lanes"
	"github.com/libmode/libmode/core/internal/par"
)

// Writing the gradient of sorted events goes all over the input. Where that is
// larger than the caches, it is cheaper to bring the results near to where
// they go first: they are divided by the block of the input that they belong to,
// and each block is then written in cache.

// blockBits is the logarithm of the number of events in a block.
const blockBits = 16

// ScatterFrom is a number of events from which on this pays. Tests lower it.
var ScatterFrom = 1 << 22

// scatters reports whether the gradient is written by way of results: a float32
// one of many events.
func scatters[T events.Float](wa *walk[T]) bool {
	return lanes.IsFloat32[T]() && wa.grad != nil && len(wa.Words) >= ScatterFrom
}

// result packs an element of a float32 gradient with its index.
func result[T events.Float](index int, value T) uint64 {
	return uint64(index)<<32 | uint64(math.Float32bits(float32(value)))
}

// scatter writes results to the gradient. It overwrites spare, of their length.
func scatter[T events.Float](grad []T, results, spare []uint64, team *par.Team) {
	parts, blocks := par.Threads(), (len(grad)-1)>>blockBits+1
	starts := make([][]uint32, parts) // per part and block
	part := func(k int) []uint64 { return results[len(results)*k/parts : len(results)*(k+1)/parts] }
	team.Run(parts, func(k int) {
		counts := make([]uint32, blocks)
		for _, r := range part(k) {
			counts[r>>(32+blockBits)]++
		}
		starts[k] = counts
	})
	ends := make([]uint32, blocks)
	var start uint32
	for b := range blocks {
		for k := range parts {
			slot := &starts[k][b]
			*slot, start = start, start+*slot
		}
		ends[b] = start
	}
	team.Run(parts, func(k int) {
		next := starts[k]
		for _, r := range part(k) {
			slot := &next[r>>(32+blockBits)]
			spare[*slot] = r
			*slot++
		}
	})
	team.Run(blocks, func(b int) {
		lo := uint32(0)
		if b > 0 {
			lo = ends[b-1]
		}
		for _, r := range spare[lo:ends[b]] {
			grad[r>>32] = T(math.Float32frombits(uint32(r)))
		}
	})
}
