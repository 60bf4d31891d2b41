// Package main is libmode.so: the functions of include/mode.h over package
// core. mode.c holds the public, const-correct functions; this file turns
// pointers into slices and errors into status codes, and options.go the options
// of C into those of core.
package main

/*
#cgo CFLAGS: -I${SRCDIR}/../include -std=gnu99 -Wall -Wextra -DMODE_BUILDING
#cgo LDFLAGS: -pthread
#include <stdlib.h>

#include "mode.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"math"
	"unsafe"

	"github.com/libmode/libmode/core"
	"github.com/libmode/libmode/core/disco"
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

// guarded runs f and returns its status, since no panic may reach C. The text of an error goes to the calling thread's buffer,
// in mode.c.
func guarded(text *C.char, capacity C.size_t, f func() error) (status C.int) {
	report := func(err error) C.int {
		buffer := unsafe.Slice((*byte)(unsafe.Pointer(text)), int(capacity))
		buffer[copy(buffer[:len(buffer)-1], err.Error())] = 0
		return statusOf(err)
	}
	defer func() {
		if r := recover(); r != nil {
			status = report(fmt.Errorf("defect in libmode, please report it: %v", r))
		}
	}()
	if err := f(); err != nil {
		return report(err)
	}
	return C.MODE_OK
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

//export modeCheck
func modeCheck(o *C.mode_options, text *C.char, capacity C.size_t) C.int {
	return guarded(text, capacity, func() error {
		cfg, err := configOf(o)
		if err != nil {
			return err
		}
		return cfg.Validate()
	})
}

// events gathers the arrays of a call, of float or double. Its scores may be NULL if the call does not read them.
func events[F core.Float](from *C.mode_events_f64, withoutScore bool) (ev core.Events[F], err error) {
	if ev.Mass, ev.Masses, err = masses[F](from); err != nil {
		return ev, err
	}
	if ev.Score, err = array("score", (*F)(unsafe.Pointer(from.score)), from.n, withoutScore); err != nil {
		return ev, err
	}
	if ev.Weight, err = array("weight", (*F)(unsafe.Pointer(from.weight)), from.n, true); err != nil {
		return ev, err
	}
	if ev.Label, err = labels("label", from.n, from.label, from.label_type); err != nil {
		return ev, err
	}
	if t := from.category_type; from.category != nil && (t == C.MODE_LABEL_FLOAT32 || t == C.MODE_LABEL_FLOAT64) {
		return ev, argumentError("category_type = %d: categories are integers", int(t))
	}
	ev.Category, err = labels("category", from.n, from.category, from.category_type)
	return ev, err
}

// masses returns the masses of one variable, or of each of several.
func masses[F core.Float](from *C.mode_events_f64) (one []F, several [][]F, err error) {
	d := uint64(from.n_mass)
	switch {
	case d < 1 || d > core.MaxVariables:
		return nil, nil, argumentError("n_mass = %d: mass has 1 to %d variables", d, core.MaxVariables)
	case from.mass == nil:
		return nil, nil, argumentError("mass is NULL, but n_mass = %d pointers are expected", d)
	}
	given := unsafe.Slice(from.mass, int(d))
	if d == 1 {
		one, err = array("mass", (*F)(unsafe.Pointer(given[0])), from.n, false)
		return one, nil, err
	}
	several = make([][]F, d)
	for k, p := range given {
		if several[k], err = array(fmt.Sprintf("mass[%d]", k), (*F)(unsafe.Pointer(p)), from.n, false); err != nil {
			return nil, nil, err
		}
	}
	return nil, several, nil
}

// labels returns the n labels or categories at p, which are of the type MODE_LABEL_...; NULL: none.
func labels(name string, n C.size_t, p unsafe.Pointer, labelType C.int32_t) (core.LabelSlice, error) {
	if p == nil {
		return nil, nil
	}
	switch labelType {
	case C.MODE_LABEL_INT32:
		return labelsOf[int32](name, n, p)
	case C.MODE_LABEL_INT8:
		return labelsOf[int8](name, n, p)
	case C.MODE_LABEL_UINT8:
		return labelsOf[uint8](name, n, p)
	case C.MODE_LABEL_INT64:
		return labelsOf[int64](name, n, p)
	case C.MODE_LABEL_FLOAT32:
		return labelsOf[float32](name, n, p)
	case C.MODE_LABEL_FLOAT64:
		return labelsOf[float64](name, n, p)
	}
	return nil, argumentError("%s_type = %d: must be one of MODE_LABEL_...", name, int(labelType))
}

func labelsOf[L core.Label](name string, n C.size_t, p unsafe.Pointer) (core.LabelSlice, error) {
	given, err := array(name, (*L)(p), n, true)
	return core.LabelsOf(given), err
}

// arguments returns the events and the options of a call.
func arguments[F core.Float](o *C.mode_options, from *C.mode_events_f64, withoutScore bool) (ev core.Events[F], cfg core.Config, err error) {
	if cfg, err = configOf(o); err != nil {
		return ev, cfg, err
	}
	ev, err = events[F](from, withoutScore)
	return ev, cfg, err
}

// lossArguments returns the arguments of a function that computes a loss and its gradient.
func lossArguments[F core.Float](o *C.mode_options, from *C.mode_events_f64, loss *C.double, grad unsafe.Pointer) (ev core.Events[F], cfg core.Config, slopes []F, err error) {
	if loss == nil {
		return ev, cfg, nil, argumentError("loss is NULL: there is nowhere to put the result")
	}
	if ev, cfg, err = arguments[F](o, from, false); err != nil {
		return ev, cfg, nil, err
	}
	slopes, err = array("grad", (*F)(grad), from.n, true)
	return ev, cfg, slopes, err
}

func evaluate[F core.Float](o *C.mode_options, from *C.mode_events_f64, loss *C.double, grad unsafe.Pointer, quality *C.mode_quality, smoothing C.double, hess unsafe.Pointer) error {
	ev, cfg, slopes, err := lossArguments[F](o, from, loss, grad)
	if err != nil {
		return err
	}
	bounds, err := array("hess", (*F)(hess), from.n, true)
	if err != nil {
		return err
	}
	if err = apart(inputs(ev), regionOf("grad", slopes), regionOf("hess", bounds)); err != nil {
		return err
	}
	var found core.Result
	switch {
	case bounds != nil:
		found, err = core.Curvature(slopes, bounds, float64(smoothing), ev, cfg)
	case quality != nil:
		found, err = core.Evaluate(slopes, ev, cfg)
	default:
		found.Loss, err = core.LossAndGrad(slopes, ev, cfg)
	}
	if err != nil {
		return err
	}
	*loss = C.double(found.Loss)
	if quality != nil {
		quality.bias, quality.events = C.double(found.Bias), C.double(found.Events)
	}
	return nil
}

//export modeEvaluate
func modeEvaluate(single C.int, o *C.mode_options, from *C.mode_events_f64, loss *C.double, grad unsafe.Pointer, quality *C.mode_quality, smoothing C.double, hess unsafe.Pointer, text *C.char, capacity C.size_t) C.int {
	return guarded(text, capacity, func() error {
		if single != 0 {
			return evaluate[float32](o, from, loss, grad, quality, smoothing, hess)
		}
		return evaluate[float64](o, from, loss, grad, quality, smoothing, hess)
	})
}

func flatness[F core.Float](o *C.mode_options, from *C.mode_events_f64, loss *C.double, grad unsafe.Pointer) error {
	ev, cfg, slopes, err := lossArguments[F](o, from, loss, grad)
	if err != nil {
		return err
	}
	if err = apart(inputs(ev), regionOf("grad", slopes)); err != nil {
		return err
	}
	found, err := core.Flatness(slopes, ev, cfg)
	if err == nil {
		*loss = C.double(found)
	}
	return err
}

//export modeFlatness
func modeFlatness(single C.int, o *C.mode_options, from *C.mode_events_f64, loss *C.double, grad unsafe.Pointer, text *C.char, capacity C.size_t) C.int {
	return guarded(text, capacity, func() error {
		if single != 0 {
			return flatness[float32](o, from, loss, grad)
		}
		return flatness[float64](o, from, loss, grad)
	})
}

func distanceCorrelation[F core.Float](n C.size_t, x, y, weight unsafe.Pointer, unbiased C.int, value *C.double, gradX, gradY unsafe.Pointer) error {
	if value == nil {
		return argumentError("value is NULL: there is nowhere to put the result")
	}
	names, pointers := [...]string{"x", "y", "weight", "grad_x", "grad_y"}, [...]unsafe.Pointer{x, y, weight, gradX, gradY}
	var arrays [len(names)][]F
	for k, p := range pointers {
		var err error
		if arrays[k], err = array(names[k], (*F)(p), n, k > 1); err != nil {
			return err
		}
	}
	var regions [len(names)]region
	for k, name := range names {
		regions[k] = regionOf(name, arrays[k])
	}
	if err := apart(regions[:3:3], regions[3:]...); err != nil {
		return err
	}
	found, err := disco.Correlation(arrays[3], arrays[4], arrays[0], arrays[1], arrays[2], unbiased != 0)
	if err == nil {
		*value = C.double(found)
	}
	return err
}

//export modeDistanceCorrelation
func modeDistanceCorrelation(single C.int, n C.size_t, x, y, weight unsafe.Pointer, unbiased C.int, value *C.double, gradX, gradY unsafe.Pointer, text *C.char, capacity C.size_t) C.int {
	return guarded(text, capacity, func() error {
		if single != 0 {
			return distanceCorrelation[float32](n, x, y, weight, unbiased, value, gradX, gradY)
		}
		return distanceCorrelation[float64](n, x, y, weight, unbiased, value, gradX, gradY)
	})
}

func edges[F core.Float](o *C.mode_options, from *C.mode_events_f64, room C.size_t, out *C.double, count *C.size_t) error {
	if count == nil {
		return argumentError("n_edges is NULL: there is nowhere to put the number of edges")
	}
	ev, cfg, err := arguments[F](o, from, true)
	if err != nil {
		return err
	}
	found, err := core.Edges(ev, cfg)
	if err != nil {
		return err
	}
	*count = C.size_t(len(found))
	if out == nil {
		return nil
	}
	if uint64(room) < uint64(len(found)) {
		return argumentError("capacity = %d is less than the %d edges of the bins used", uint64(room), len(found))
	}
	copy(unsafe.Slice((*float64)(unsafe.Pointer(out)), len(found)), found)
	return nil
}

//export modeEdges
func modeEdges(single C.int, o *C.mode_options, from *C.mode_events_f64, room C.size_t, out *C.double, count *C.size_t, text *C.char, capacity C.size_t) C.int {
	return guarded(text, capacity, func() error {
		if single != 0 {
			return edges[float32](o, from, room, out, count)
		}
		return edges[float64](o, from, room, out, count)
	})
}

func moments[F core.Float](o *C.mode_options, from *C.mode_events_f64, nAt C.size_t, at *C.double, room C.size_t, cdf *C.double, count *C.size_t, moments, bounded *C.double) error {
	if count == nil {
		return argumentError("n_bins is NULL: there is nowhere to put the number of bins")
	}
	ev, cfg, err := arguments[F](o, from, false)
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
	bins := len(table.Edges) - 1
	*count = C.size_t(bins)
	if needed := len(scores) * bins; cdf != nil && uint64(room) < uint64(needed) {
		return argumentError("capacity = %d is less than the %d elements of cdf, for %d scores and %d bins", uint64(room), needed, len(scores), bins)
	}
	copyRows(cdf, table.CDF)
	copyRows(moments, table.Moments)
	copyRows(bounded, table.Bounded)
	return nil
}

//export modeMoments
func modeMoments(single C.int, o *C.mode_options, from *C.mode_events_f64, nAt C.size_t, at *C.double, room C.size_t, cdf *C.double, count *C.size_t, c, bounded *C.double, text *C.char, capacity C.size_t) C.int {
	return guarded(text, capacity, func() error {
		if single != 0 {
			return moments[float32](o, from, nAt, at, room, cdf, count, c, bounded)
		}
		return moments[float64](o, from, nAt, at, room, cdf, count, c, bounded)
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
