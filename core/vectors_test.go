//go:build !race

package core

import (
	"flag"
	"fmt"
	"math"
	"os"
	"sync"
	"testing"

	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/lanes"
	"github.com/libmode/libmode/core/internal/loss"
	"github.com/libmode/libmode/core/internal/par"
)

// All tests of this package run every loss twice where there are vector instructions,
// with them and without, and fail unless both return the same bits.
func TestMain(m *testing.M) {
	flag.Parse()
	if benchmarks := flag.Lookup("test.bench").Value.String(); benchmarks == "" && lanes.Vectors(true) {
		callsPerLoss = 2
		single, double = bothWays(single), bothWays(double)
	}
	os.Exit(m.Run())
}

func sameBits(a, b Result) bool {
	same := func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }
	return same(a.Loss, b.Loss) && same(a.Bias, b.Bias) && same(a.Events, b.Events)
}

type evaluator[T Float] = func(events.Derivatives[T], Events[T], *events.Division[T], *loss.Plan, *par.Scratch) (Result, error)

func bothWays[T Float](of evaluator[T]) evaluator[T] {
	room := sync.Pool{New: func() any { return new(events.Derivatives[T]) }}
	return func(out events.Derivatives[T], ev Events[T], di *events.Division[T], p *loss.Plan, sc *par.Scratch) (Result, error) {
		kept := room.Get().(*events.Derivatives[T])
		defer room.Put(kept)
		var plain events.Derivatives[T]
		for d, given := range out {
			if given != nil {
				kept[d] = append(kept[d][:0], given...)
				plain[d] = kept[d]
			}
		}
		lanes.Vectors(false)
		want, failed := of(plain, ev, di, p, sc)
		lanes.Vectors(true)
		sc.Arena.Release(0)
		loss, err := of(out, ev, di, p, sc)
		if fmt.Sprint(err) != fmt.Sprint(failed) || !sameBits(loss, want) {
			panic(fmt.Sprintf("%v, %v with vectors, and %v, %v without: %+v", loss, err, want, failed, *p))
		}
		for d, of := range out {
			for i := range of {
				if err == nil && math.Float64bits(float64(of[i])) != math.Float64bits(float64(plain[d][i])) {
					panic(fmt.Sprintf("derivative %d by score[%d] = %v with vectors, and %v without: %+v", d+1, i, of[i], plain[d][i], *p))
				}
			}
		}
		return loss, err
	}
}
