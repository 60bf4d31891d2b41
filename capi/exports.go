// Package main is libmode.so: the functions of include/mode.h over package
// core. mode.c holds the public, const-correct functions; this file turns
// pointers into slices and errors into status codes, and options.go the options
// of C into those of core.
package main

/*
#cgo CFLAGS: -I${SRCDIR}/../include -std=gnu99 -Wall -Wextra -DMODE_BUILDING
#cgo LDFLAGS: -pthread
#cgo linux LDFLAGS: -Wl,--wrap=x_cgo_sys_thread_create
#include <stdlib.h>

#include "failure.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"math"
	"slices"
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

// guarded runs f and returns its status, since no panic may reach C. An error and its parts go to the calling thread's memory,
// in mode.c.
func guarded(failed *C.failure, f func() error) (status C.int) {
	report := func(err error) C.int {
		text, parts := unsafe.Slice((*byte)(unsafe.Pointer(&failed.text)), int(C.MESSAGE_SIZE)), core.FieldsOf(err)
		n := copy(text[:len(text)-1], err.Error())
		text[n] = 0
		failed.parts = C.mode_error{
			status: C.int32_t(statusOf(err)), advice: C.int32_t(parts.Advice), place: C.int64_t(parts.Place),
			name_at: C.size_t(parts.NameAt), name_end: C.size_t(parts.NameEnd), advice_at: C.size_t(min(parts.AdviceAt, n)),
		}
		return C.int(failed.parts.status)
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
func modeCheck(o *C.mode_options, failed *C.failure) C.int {
	return guarded(failed, func() error {
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

// arguments has the events and the options of a call, and the memory of both, which no output may overlap.
type arguments[F core.Float] struct {
	ev     core.Events[F]
	cfg    core.Config
	inputs []core.Array
}

func argumentsOf[F core.Float](o *C.mode_options, from *C.mode_events_f64, withoutScore bool) (in arguments[F], err error) {
	if in.cfg, err = configOf(o); err != nil {
		return in, err
	}
	if in.ev, err = events[F](from, withoutScore); err != nil {
		return in, err
	}
	in.inputs = slices.Concat(in.ev.Arrays(), in.cfg.Arrays(), []core.Array{
		one("options", o), one("events", from), core.ArrayOf("mass", unsafe.Slice(from.mass, int(from.n_mass))),
		core.ArrayOf("variables", unsafe.Slice(o.variables, len(in.cfg.Variables))),
	})
	return in, nil
}

// one returns the memory of one number or struct; nil: none.
func one[E any](name string, p *E) core.Array {
	if p == nil {
		return core.Array{}
	}
	return core.ArrayOf(name, unsafe.Slice(p, 1))
}

// lossArguments returns the arguments of a function that computes a loss and its gradient.
func lossArguments[F core.Float](o *C.mode_options, from *C.mode_events_f64, loss *C.double, grad unsafe.Pointer) (in arguments[F], slopes []F, err error) {
	if loss == nil {
		return in, nil, argumentError("loss is NULL: there is nowhere to put the result")
	}
	if in, err = argumentsOf[F](o, from, false); err != nil {
		return in, nil, err
	}
	slopes, err = array("grad", (*F)(grad), from.n, true)
	return in, slopes, err
}

func evaluate[F core.Float](o *C.mode_options, from *C.mode_events_f64, loss *C.double, grad unsafe.Pointer, quality *C.mode_quality, smoothing C.double, hess unsafe.Pointer) error {
	in, slopes, err := lossArguments[F](o, from, loss, grad)
	if err != nil {
		return err
	}
	bounds, err := array("hess", (*F)(hess), from.n, true)
	if err != nil {
		return err
	}
	if err = core.CheckApart(in.inputs, core.ArrayOf("grad", slopes), core.ArrayOf("hess", bounds), one("loss", loss), one("quality", quality)); err != nil {
		return err
	}
	var found core.Result
	switch {
	case bounds != nil:
		found, err = core.Curvature(slopes, bounds, float64(smoothing), in.ev, in.cfg)
	case quality != nil:
		found, err = core.Evaluate(slopes, in.ev, in.cfg)
	default:
		found.Loss, err = core.LossAndGrad(slopes, in.ev, in.cfg)
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
func modeEvaluate(single C.int, o *C.mode_options, from *C.mode_events_f64, loss *C.double, grad unsafe.Pointer, quality *C.mode_quality, smoothing C.double, hess unsafe.Pointer, failed *C.failure) C.int {
	return guarded(failed, func() error {
		if single != 0 {
			return evaluate[float32](o, from, loss, grad, quality, smoothing, hess)
		}
		return evaluate[float64](o, from, loss, grad, quality, smoothing, hess)
	})
}

func strengthen[F core.Float](o *C.mode_options, from *C.mode_events_f64, how *C.mode_strength, grad unsafe.Pointer) error {
	cfg, err := configOf(o)
	if err != nil {
		return err
	}
	ev, err := events[F](from, false)
	if err != nil {
		return err
	}
	slopes, err := array("grad", (*F)(grad), from.n, false)
	if err != nil {
		return err
	}
	if how.averages == nil {
		return argumentError("averages is NULL: give 3 numbers, zeros before the first batch")
	}
	st := core.Strength{K: float64(how.strength), Factor: float64(how.factor), Averages: (*[3]float64)(unsafe.Pointer(how.averages))}
	if st.Batch = int(how.batch); how.batch > from.n {
		return argumentError("batch = %d is more than the n = %d events", uint64(how.batch), uint64(from.n))
	}
	scale, err := core.Strengthen(slopes, ev, cfg, st)
	how.scale = C.double(scale)
	return err
}

//export modeStrengthen
func modeStrengthen(single C.int, o *C.mode_options, from *C.mode_events_f64, how *C.mode_strength, grad unsafe.Pointer, failed *C.failure) C.int {
	return guarded(failed, func() error {
		if single != 0 {
			return strengthen[float32](o, from, how, grad)
		}
		return strengthen[float64](o, from, how, grad)
	})
}

func flatness[F core.Float](o *C.mode_options, from *C.mode_events_f64, loss *C.double, grad unsafe.Pointer) error {
	in, slopes, err := lossArguments[F](o, from, loss, grad)
	if err != nil {
		return err
	}
	if err = core.CheckApart(in.inputs, core.ArrayOf("grad", slopes), one("loss", loss)); err != nil {
		return err
	}
	found, err := core.Flatness(slopes, in.ev, in.cfg)
	if err == nil {
		*loss = C.double(found)
	}
	return err
}

//export modeFlatness
func modeFlatness(single C.int, o *C.mode_options, from *C.mode_events_f64, loss *C.double, grad unsafe.Pointer, failed *C.failure) C.int {
	return guarded(failed, func() error {
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
	var all []core.Array
	for k, name := range names {
		all = append(all, core.ArrayOf(name, arrays[k]))
	}
	if err := core.CheckApart(all[:3], append(all[3:], one("value", value))...); err != nil {
		return err
	}
	found, err := disco.Correlation(arrays[3], arrays[4], arrays[0], arrays[1], arrays[2], unbiased != 0)
	if err == nil {
		*value = C.double(found)
	}
	return err
}

//export modeDistanceCorrelation
func modeDistanceCorrelation(single C.int, n C.size_t, x, y, weight unsafe.Pointer, unbiased C.int, value *C.double, gradX, gradY unsafe.Pointer, failed *C.failure) C.int {
	return guarded(failed, func() error {
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
	in, err := argumentsOf[F](o, from, true)
	if err != nil {
		return err
	}
	found, err := core.Edges(in.ev, in.cfg)
	if err != nil {
		return err
	}
	var edges []float64
	isEnough := uint64(room) >= uint64(len(found))
	if out != nil && isEnough {
		edges = unsafe.Slice((*float64)(unsafe.Pointer(out)), len(found))
	}
	if err = core.CheckApart(in.inputs, core.ArrayOf("edges", edges), one("n_edges", count)); err != nil {
		return err
	}
	*count = C.size_t(len(found))
	if out != nil && !isEnough {
		return argumentError("capacity = %d is less than the %d edges of the bins used", uint64(room), len(found))
	}
	copy(edges, found)
	return nil
}

//export modeEdges
func modeEdges(single C.int, o *C.mode_options, from *C.mode_events_f64, room C.size_t, out *C.double, count *C.size_t, failed *C.failure) C.int {
	return guarded(failed, func() error {
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
	in, err := argumentsOf[F](o, from, false)
	if err != nil {
		return err
	}
	scores, err := array("at", (*float64)(unsafe.Pointer(at)), nAt, false)
	if err != nil {
		return err
	}
	table, err := core.MomentsAt(scores, in.ev, in.cfg)
	if err != nil {
		return err
	}
	bins := len(table.Edges) - 1
	rows := func(dst *C.double, width int) []float64 {
		if dst == nil {
			return nil
		}
		return unsafe.Slice((*float64)(unsafe.Pointer(dst)), len(scores)*width)
	}
	var cdfs []float64
	needed := len(scores) * bins
	isEnough := uint64(room) >= uint64(needed)
	if isEnough {
		cdfs = rows(cdf, bins)
	}
	c, ofBound := rows(moments, in.cfg.Order+1), rows(bounded, in.cfg.Order+1)
	if err = core.CheckApart(append(in.inputs, core.ArrayOf("at", scores)), core.ArrayOf("cdf", cdfs), core.ArrayOf("moments", c),
		core.ArrayOf("bounded", ofBound), one("n_bins", count)); err != nil {
		return err
	}
	*count = C.size_t(bins)
	if cdf != nil && !isEnough {
		return argumentError("capacity = %d is less than the %d elements of cdf, for %d scores and %d bins", uint64(room), needed, len(scores), bins)
	}
	copyRows(cdfs, table.CDF)
	copyRows(c, table.Moments)
	copyRows(ofBound, table.Bounded)
	return nil
}

//export modeMoments
func modeMoments(single C.int, o *C.mode_options, from *C.mode_events_f64, nAt C.size_t, at *C.double, room C.size_t, cdf *C.double, count *C.size_t, c, bounded *C.double, failed *C.failure) C.int {
	return guarded(failed, func() error {
		if single != 0 {
			return moments[float32](o, from, nAt, at, room, cdf, count, c, bounded)
		}
		return moments[float64](o, from, nAt, at, room, cdf, count, c, bounded)
	})
}

// copyRows writes rows one after another to dst, unless it is nil.
func copyRows(dst []float64, rows [][]float64) {
	for _, row := range rows {
		dst = dst[copy(dst, row):]
	}
}

//export modeSetThreads
func modeSetThreads(n C.int) { core.SetThreads(int(n)) }

//export modeThreads
func modeThreads() C.int { return C.int(core.Threads()) }
