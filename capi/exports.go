// Package main is libmode.so: the functions of include/mode.h over package
// core. mode.c holds the public, const-correct functions; this file turns
// pointers into slices and errors into status codes.
package main

/*
#cgo CFLAGS: -I${SRCDIR}/../include -std=gnu99 -Wall -Wextra -DMODE_BUILDING
#cgo LDFLAGS: -pthread
#include "mode.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"math"
	"unsafe"

	"github.com/libmode/libmode/core"
)

func main() {}

var statuses = []struct {
	kind   error
	status C.int
}{
	{core.ErrOption, C.MODE_ERROR_OPTION},
	{core.ErrLength, C.MODE_ERROR_ARGUMENT},
	{core.ErrNotFinite, C.MODE_ERROR_NOT_FINITE},
	{core.ErrScoreRange, C.MODE_ERROR_SCORE_RANGE},
	{core.ErrNoEvents, C.MODE_ERROR_TOO_FEW},
	{core.ErrBin, C.MODE_ERROR_BIN},
	{core.ErrOverflow, C.MODE_ERROR_OVERFLOW},
	{core.ErrUndefined, C.MODE_ERROR_UNDEFINED},
}

func statusOf(err error) C.int {
	for _, s := range statuses {
		if errors.Is(err, s.kind) {
			return s.status
		}
	}
	return C.MODE_ERROR_INTERNAL
}

// messageBuffer is the calling thread's, in mode.c.
type messageBuffer struct {
	text     *C.char
	capacity C.size_t
}

// guarded runs f and returns its status. Nothing may panic across C.
func guarded(message messageBuffer, f func() error) (status C.int) {
	defer func() {
		if r := recover(); r != nil {
			status = message.report(fmt.Errorf("defect in libmode, please report it: %v", r))
		}
	}()
	if err := f(); err != nil {
		return message.report(err)
	}
	return C.MODE_OK
}

func (m messageBuffer) report(err error) C.int {
	buffer := unsafe.Slice((*byte)(unsafe.Pointer(m.text)), int(m.capacity))
	buffer[copy(buffer[:len(buffer)-1], err.Error())] = 0
	return statusOf(err)
}

func argumentError(format string, args ...any) error {
	return fmt.Errorf(format+"%w", append(args, quiet{core.ErrLength})...)
}

// quiet wraps a sentinel without adding to the message.
type quiet struct{ error }

func (quiet) Error() string   { return "" }
func (q quiet) Unwrap() error { return q.error }

const maxEvents = math.MaxUint32

// array returns the n elements at p. NULL is an error unless optional.
func array[E any](name string, p *E, n C.size_t, optional bool) ([]E, error) {
	if uint64(n) > maxEvents {
		return nil, argumentError("%s: %d elements are more than the %d that one call can take", name, uint64(n), uint64(maxEvents))
	}
	if p == nil && n > 0 && !optional {
		return nil, argumentError("%s is NULL, but %d elements are expected", name, uint64(n))
	}
	if p == nil {
		return nil, nil
	}
	return unsafe.Slice(p, int(n)), nil
}

func configOf(o *C.mode_options) (core.Config, error) {
	cfg := core.Config{
		Order:        int(o.order),
		Bins:         int(o.bins),
		Binning:      core.Binning(o.binning),
		MassRange:    [2]float64{float64(o.mass_range[0]), float64(o.mass_range[1])},
		MaxSlope:     float64(o.max_slope),
		SlopeOf:      core.SlopeOf(o.slope_of),
		Monotonic:    o.monotonic != 0,
		Moments:      core.MomentKind(o.moments),
		Unbiased:     o.unbiased != 0,
		SlopePenalty: float64(o.slope_penalty),
		ScoreRange:   [2]float64{float64(o.score_range[0]), float64(o.score_range[1])},
		Reduction:    core.Reduction(o.reduction),
	}
	edges, err := array("edges", o.edges, o.n_edges, false)
	if err != nil {
		return cfg, err
	}
	for _, edge := range edges {
		cfg.Edges = append(cfg.Edges, float64(edge))
	}
	labels, err := array("background_label", o.background_label, o.n_background_label, false)
	if err != nil {
		return cfg, err
	}
	for _, label := range labels {
		cfg.BackgroundLabel = append(cfg.BackgroundLabel, int32(label))
	}
	if o.background_label == nil {
		cfg.BackgroundLabel = core.DefaultConfig().BackgroundLabel
	}
	return cfg, nil
}

//export modeDefaults
func modeDefaults(o *C.mode_options) {
	cfg := core.DefaultConfig()
	*o = C.mode_options{
		struct_size:   C.sizeof_mode_options,
		order:         C.int32_t(cfg.Order),
		bins:          C.int32_t(cfg.Bins),
		binning:       C.int32_t(cfg.Binning),
		moments:       C.int32_t(cfg.Moments),
		slope_of:      C.int32_t(cfg.SlopeOf),
		reduction:     C.int32_t(cfg.Reduction),
		max_slope:     C.double(cfg.MaxSlope),
		slope_penalty: C.double(cfg.SlopePenalty),
	}
	for k := range 2 {
		o.mass_range[k] = C.double(cfg.MassRange[k])
		o.score_range[k] = C.double(cfg.ScoreRange[k])
	}
}

//export modeCheck
func modeCheck(o *C.mode_options, text *C.char, capacity C.size_t) C.int {
	return guarded(messageBuffer{text, capacity}, func() error {
		cfg, err := configOf(o)
		if err != nil {
			return err
		}
		return cfg.Validate()
	})
}

// events gathers the arrays of a call. S and F are the same type, named by C
// and by Go.
func events[F core.Float, S any](n C.size_t, score, mass, weight *S, label *C.int32_t) (ev core.Events[F], err error) {
	if ev.Score, err = array("score", (*F)(unsafe.Pointer(score)), n, false); err != nil {
		return ev, err
	}
	if ev.Mass, err = array("mass", (*F)(unsafe.Pointer(mass)), n, false); err != nil {
		return ev, err
	}
	if ev.Weight, err = array("weight", (*F)(unsafe.Pointer(weight)), n, true); err != nil {
		return ev, err
	}
	ev.Label, err = array("label", (*int32)(unsafe.Pointer(label)), n, true)
	return ev, err
}

// The losses, by the numbers that mode.c gives them.
func losses[F core.Float]() []func([]F, core.Events[F], core.Config) (float64, error) {
	return []func([]F, core.Events[F], core.Config) (float64, error){
		core.LossAndGrad[F], core.DisCoAndGrad[F], core.FlatnessAndGrad[F],
	}
}

func lossGrad[F core.Float, S any](which C.int, o *C.mode_options, n C.size_t, score, mass, weight *S, label *C.int32_t, loss *C.double, grad *S) error {
	if loss == nil {
		return argumentError("loss is NULL: there is nowhere to put the result")
	}
	cfg, err := configOf(o)
	if err != nil {
		return err
	}
	ev, err := events[F](n, score, mass, weight, label)
	if err != nil {
		return err
	}
	out, err := array("grad", (*F)(unsafe.Pointer(grad)), n, true)
	if err != nil {
		return err
	}
	value, err := losses[F]()[which](out, ev, cfg)
	if err != nil {
		return err
	}
	*loss = C.double(value)
	return nil
}

//export modeLossGradF32
func modeLossGradF32(which C.int, o *C.mode_options, n C.size_t, score, mass, weight *C.float, label *C.int32_t, loss *C.double, grad *C.float, text *C.char, capacity C.size_t) C.int {
	return guarded(messageBuffer{text, capacity}, func() error {
		return lossGrad[float32](which, o, n, score, mass, weight, label, loss, grad)
	})
}

//export modeLossGradF64
func modeLossGradF64(which C.int, o *C.mode_options, n C.size_t, score, mass, weight *C.double, label *C.int32_t, loss *C.double, grad *C.double, text *C.char, capacity C.size_t) C.int {
	return guarded(messageBuffer{text, capacity}, func() error {
		return lossGrad[float64](which, o, n, score, mass, weight, label, loss, grad)
	})
}

//export modeEdges
func modeEdges(o *C.mode_options, n C.size_t, mass, weight *C.double, label *C.int32_t, room C.size_t, edges *C.double, count *C.size_t, text *C.char, capacity C.size_t) C.int {
	return guarded(messageBuffer{text, capacity}, func() error {
		if count == nil {
			return argumentError("n_edges is NULL: there is nowhere to put the number of edges")
		}
		cfg, err := configOf(o)
		if err != nil {
			return err
		}
		var ev core.Events[float64]
		if ev.Mass, err = array("mass", (*float64)(unsafe.Pointer(mass)), n, false); err != nil {
			return err
		}
		if ev.Weight, err = array("weight", (*float64)(unsafe.Pointer(weight)), n, true); err != nil {
			return err
		}
		if ev.Label, err = array("label", (*int32)(unsafe.Pointer(label)), n, true); err != nil {
			return err
		}
		found, err := core.Edges(ev, cfg)
		if err != nil {
			return err
		}
		*count = C.size_t(len(found))
		if edges == nil {
			return nil
		}
		if uint64(room) < uint64(len(found)) {
			return argumentError("capacity = %d is less than the %d edges of the bins used", uint64(room), len(found))
		}
		copy(unsafe.Slice((*float64)(unsafe.Pointer(edges)), len(found)), found)
		return nil
	})
}

//export modeMoments
func modeMoments(o *C.mode_options, n C.size_t, score, mass, weight *C.double, label *C.int32_t, nAt C.size_t, at *C.double, nBins C.size_t, cdf, moments, bounded *C.double, text *C.char, capacity C.size_t) C.int {
	return guarded(messageBuffer{text, capacity}, func() error {
		cfg, err := configOf(o)
		if err != nil {
			return err
		}
		ev, err := events[float64](n, score, mass, weight, label)
		if err != nil {
			return err
		}
		scores, err := array("at", (*float64)(unsafe.Pointer(at)), nAt, false)
		if err != nil {
			return err
		}
		table, err := core.MomentsAt(scores, ev, cfg)
		if err != nil {
			return err
		}
		if bins := len(table.Edges) - 1; uint64(nBins) != uint64(bins) {
			return argumentError("n_bins = %d, but %d bins are used: ask mode_edges", uint64(nBins), bins)
		}
		copyRows(cdf, table.CDF)
		copyRows(moments, table.Moments)
		copyRows(bounded, table.Bounded)
		return nil
	})
}

// copyRows writes rows one after another to dst, unless that is NULL.
func copyRows(dst *C.double, rows [][]float64) {
	if dst == nil {
		return
	}
	for k, row := range rows {
		out := unsafe.Slice((*float64)(unsafe.Add(unsafe.Pointer(dst), k*len(row)*8)), len(row))
		copy(out, row)
	}
}

//export modeSetThreads
func modeSetThreads(n C.int) { core.SetThreads(int(n)) }

//export modeThreads
func modeThreads() C.int { return C.int(core.Threads()) }
