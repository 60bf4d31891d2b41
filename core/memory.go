package core

import (
	"unsafe"

	"github.com/libmode/libmode/core/internal/memory"
)

// largeCall is a number of bytes from which on there is a look at whether there are so many.
const largeCall = 64 << 20

// checkMemory returns an error if a call that needs this memory for its events is large, and that memory is known not to be
// there: where Go has none, the process ends. bytes says what so many events need.
func checkMemory(di *division, bytes func(n int) uint64) error {
	n := di.n
	if bytes(n) < largeCall {
		return nil
	}
	room, enough := memory.Enough(bytes(n))
	if !enough && di.label != nil && di.numbers == nil {
		n = di.label.count(di.wanted, 0, n) // which takes time
		room, enough = memory.Enough(bytes(n))
	}
	if enough {
		return nil
	}
	return errorOf(ErrMemory, "score: %d events need about %d MB to compute with, and %s leaves %d MB: use fewer events in a call, or give it more memory",
		n, bytes(n)>>20, room.Limit, room.Bytes>>20)
}

// bytesOf returns about what a loss of n selected events takes at most, beside the arrays of the caller: bytes an event,
// that TestMemory compares with what is allocated, and some for each bin and each thread. Where most masses crowd together, which nobody knows
// beforehand, it may be 52 bytes an event more.
func bytesOf[T Float](ev *Events[T], cfg *Config, divided bool, out derivatives[T]) func(n int) uint64 {
	var real T
	size, d := int(unsafe.Sizeof(real)), len(ev.variables())
	arrays := size * (1 + d) // of the events side by side
	for _, of := range out {
		if of != nil {
			arrays += size
		}
	}
	each := 26 // cells, records, results and sums
	if ev.Weight != nil {
		arrays += size
		each += 8
	}
	switch {
	case cfg.Loss == DisCo:
		each = 190
	case cfg.Binning == Unbinned:
		each += 16
	case d > 1:
		each += 16 + 8*d
	}
	if cfg.bounded() {
		each += 24
	}
	if out[1] != nil {
		each += 8
	}
	if cfg.Joint && d > 1 {
		each += 96 + arrays
	}
	if divided {
		each += 8 + arrays
	}
	bins := 0
	for k := range d {
		one := *cfg
		if cfg.checkCount(d) == nil { // or the loss is an error
			one = cfg.of(k)
		}
		bins += mostBins(&one)
	}
	const manyBins, eachBin, eachThread = 1 << 11, 1_500, 1 << 19
	return func(n int) uint64 {
		bins, each := min(bins, max(n, len(cfg.Edges))), each
		if bins > 2*manyBins {
			each += 28
		} else if bins > manyBins {
			each += 8
		}
		return uint64(each)*uint64(n) + eachBin*uint64(bins) + eachThread*uint64(Threads())
	}
}
