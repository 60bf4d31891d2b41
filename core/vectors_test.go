//go:build !race

package core

import (
	"flag"
	"fmt"
	"math"
	"os"
	"sync"
	"testing"

	"github.com/libmode/libmode/core/internal/lanes"
)

// All tests of this package run every loss twice where there are vector instructions,
// with them and without, and fail unless both return the same bits.
func TestMain(m *testing.M) {
	flag.Parse()
	if benchmarks := flag.Lookup("test.bench").Value.String(); benchmarks == "" && lanes.Vectors(true) {
		callsPerLoss = 2
		ofFloat32, ofFloat64 = bothWays(ofFloat32), bothWays(ofFloat64)
	}
	os.Exit(m.Run())
}

func sameBits(a, b Result) bool {
	same := func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }
	return same(a.Loss, b.Loss) && same(a.Bias, b.Bias) && same(a.Events, b.Events)
}

func bothWays[T Float](of func(derivatives[T], *Events[T], *Config) (Result, error)) func(derivatives[T], *Events[T], *Config) (Result, error) {
	room := sync.Pool{New: func() any { return new(derivatives[T]) }}
	return func(out derivatives[T], ev *Events[T], cfg *Config) (Result, error) {
		kept := room.Get().(*derivatives[T])
		defer room.Put(kept)
		var plain derivatives[T]
		for d, given := range out {
			if given != nil {
				kept[d] = append(kept[d][:0], given...)
				plain[d] = kept[d]
			}
		}
		lanes.Vectors(false)
		want, failed := of(plain, ev, cfg)
		lanes.Vectors(true)
		loss, err := of(out, ev, cfg)
		if fmt.Sprint(err) != fmt.Sprint(failed) || !sameBits(loss, want) {
			panic(fmt.Sprintf("%v, %v with vectors, and %v, %v without: %+v", loss, err, want, failed, *cfg))
		}
		for d, of := range out {
			for i := range of {
				if err == nil && math.Float64bits(float64(of[i])) != math.Float64bits(float64(plain[d][i])) {
					panic(fmt.Sprintf("derivative %d by score[%d] = %v with vectors, and %v without: %+v", d+1, i, of[i], plain[d][i], *cfg))
				}
			}
		}
		return loss, err
	}
}
