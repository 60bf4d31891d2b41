package core

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// checkThreads asks for the same bits of everything with several numbers of threads, and for those of the loss alone.
func checkThreads(t *testing.T, ev Events[float32], cfg Config) {
	t.Helper()
	defer SetThreads(0)
	type found struct {
		Result
		grad, hess []float32
	}
	var want found
	for _, threads := range []int{1, 2, 5} {
		SetThreads(threads)
		got := found{grad: make([]float32, len(ev.Score)), hess: make([]float32, len(ev.Score))}
		var err error
		got.Result, err = Curvature(got.grad, got.hess, 0, ev, cfg)
		require.NoError(t, err)
		if threads == 1 {
			want = got
		}
		require.Equal(t, want, got, "%d threads", threads)
		alone, err := Loss(ev, cfg)
		require.NoError(t, err)
		require.Equal(t, want.Loss, alone)
	}
}

// Results do not depend on the number of threads, nor a loss on the gradient, to the last bit, ties of any size included.
func TestThreads(t *testing.T) {
	for name, change := range walkOptions {
		for _, weighted := range []bool{false, true} {
			for _, tied := range []int{0, 60_000} { // the latter of many chunks
				t.Run(fmt.Sprint(name, " ", weighted, " ", tied), func(t *testing.T) {
					cfg := paperConfig()
					change(&cfg)
					ev := spreadEvents[float32](100_000, weighted, 0.1)
					for i := range tied {
						ev.Score[i] = 0.5
					}
					checkThreads(t, ev, cfg)
				})
			}
		}
	}
}

func TestThreadsOfSeveralVariables(t *testing.T) {
	for _, n := range []int{1<<14 - 1, 1<<14 + 1, 3*(1<<14) + 5, 100_000} { // both sides of a block
		for _, joint := range []bool{false, true} {
			cfg := DefaultConfig()
			cfg.IgnoreMissing, cfg.Order, cfg.Bins, cfg.Joint = true, 2, 5, joint
			checkThreads(t, severalVariables[float32](n, true, 0.1), cfg)
		}
	}
}

// Categories have many events, few, or both.
func TestThreadsOfCategories(t *testing.T) {
	mixed := slices.Concat(manyCategories(1_000, 1), slices.Repeat([]int64{7}, 1_000))
	for _, categories := range [][]int64{{5, 9}, manyCategories(1_000, 1), manyCategories(1_000, 1<<40), mixed} {
		for _, labeled := range []bool{false, true} {
			cfg := DefaultConfig()
			cfg.Bins, cfg.Order, cfg.BackgroundLabel = 3, 1, []int32{1, 0}
			checkThreads(t, categorize[float32](150_000, categories, true, labeled).Events, cfg)
		}
	}
}
