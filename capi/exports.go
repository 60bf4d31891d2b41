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

#include "call.h"
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

// functions are the functions for double and, if they take arrays, for float, by their numbers in call.h.
var functions = [C.FUNCTIONS][2]func(*C.call) error{
	C.CHECK:        {check},
	C.EVALUATE:     {evaluate[float64], evaluate[float32]},
	C.LOSS:         {evaluate[float64], evaluate[float32]},
	C.STRENGTHEN:   {strengthen[float64], strengthen[float32]},
	C.PUSH:         {push[float64], push[float32]},
	C.APPLY:        {apply[float64], apply[float32]},
	C.TABLE:        {table[float64], table[float32]},
	C.CORRELATE:    {correlate[float64], correlate[float32]},
	C.OPTION_COUNT: {optionCount},
	C.OPTION_AT:    {optionAt},
	C.STATE_SIZE:   {stateSize},
	C.STATE_CHECK:  {stateCheck},
}

//export modeCall
func modeCall(c *C.call) C.int {
	return guarded(c.failed, func() error { return functions[c.function][c.single](c) })
}

//export modeSetThreads
func modeSetThreads(n C.int) { core.SetThreads(int(n)) }

//export modeThreads
func modeThreads() C.int { return C.int(core.Threads()) }

// setCount sets a result that is a number of things.
func setCount(c *C.call, name string, n uint64) error {
	if c.count == nil {
		return argumentError("%s is NULL: there is nowhere to put the result", name)
	}
	*c.count = C.size_t(n)
	return nil
}

func check(c *C.call) error {
	cfg, err := configOf(c.options)
	if err != nil {
		return err
	}
	return cfg.Validate()
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
	n      C.size_t
	cfg    core.Config
	inputs []core.Array
}

func argumentsOf[F core.Float](c *C.call, withoutScore bool) (in arguments[F], err error) {
	from := (*C.mode_events_f64)(c.events)
	if in.cfg, err = configOf(c.options); err != nil {
		return in, err
	}
	if in.ev, err = events[F](from, withoutScore); err != nil {
		return in, err
	}
	in.inputs = slices.Concat(in.ev.Arrays(), in.cfg.Arrays(), []core.Array{
		one("options", c.options), one("events", from), core.ArrayOf("mass", unsafe.Slice(from.mass, int(from.n_mass))),
		core.ArrayOf("variables", unsafe.Slice(c.options.variables, len(in.cfg.Variables))),
	})
	in.n = from.n
	return in, nil
}

// one returns the memory of one number or struct; nil: none.
func one[E any](name string, p *E) core.Array {
	if p == nil {
		return core.Array{}
	}
	return core.ArrayOf(name, unsafe.Slice(p, 1))
}

// evaluate evaluates events, and sets the result of a call. A call for the loss alone has no result of the caller but a number. Bias and
// events are NaN if they are not wanted.
func evaluate[F core.Float](c *C.call) error {
	if c.function == C.LOSS && c.number == nil {
		return argumentError("loss is NULL: there is nowhere to put the result")
	}
	in, err := argumentsOf[F](c, false)
	if err != nil {
		return err
	}
	out := (*C.mode_result_f64)(c.out)
	grad, err := array("grad", (*F)(unsafe.Pointer(out.grad)), in.n, true)
	if err != nil {
		return err
	}
	hess, err := array("hess", (*F)(unsafe.Pointer(out.hess)), in.n, true)
	if err != nil {
		return err
	}
	if err = core.CheckApart(in.inputs, core.ArrayOf("grad", grad), core.ArrayOf("hess", hess), one("loss", c.number), one("result", out)); err != nil {
		return err
	}
	found := core.Result{Bias: math.NaN(), Events: math.NaN()}
	switch {
	case hess != nil:
		found, err = core.Curvature(grad, hess, float64(out.smoothing), in.ev, in.cfg)
	case out.quality != 0:
		found, err = core.Evaluate(grad, in.ev, in.cfg)
	default:
		found.Loss, err = core.LossAndGrad(grad, in.ev, in.cfg)
	}
	if err != nil {
		return err
	}
	if c.number != nil {
		*c.number = C.double(found.Loss)
	}
	out.loss, out.bias, out.events = C.double(found.Loss), C.double(found.Bias), C.double(found.Events)
	return nil
}

func strengthen[F core.Float](c *C.call) error {
	how := (*C.mode_strength)(c.out)
	in, err := argumentsOf[F](c, false)
	if err != nil {
		return err
	}
	grad, err := array("grad", (*F)(c.array), in.n, false)
	if err != nil {
		return err
	}
	if how.averages == nil {
		return argumentError("averages is NULL: give 3 numbers, zeros before the first batch")
	}
	st := core.Strength{K: float64(how.strength), Factor: float64(how.factor), Averages: (*[3]float64)(unsafe.Pointer(how.averages))}
	if st.Batch = int(how.batch); how.batch > in.n {
		return argumentError("batch = %d is more than the n = %d events", uint64(how.batch), uint64(in.n))
	}
	if err = core.CheckApart(in.inputs, core.ArrayOf("grad", grad), one("averages", st.Averages), one("strength", how)); err != nil {
		return err
	}
	scale, err := core.Strengthen(grad, in.ev, in.cfg, st)
	how.scale = C.double(scale)
	return err
}

func correlate[F core.Float](c *C.call) error {
	of := (*C.pair)(c.how)
	if c.number == nil {
		return argumentError("value is NULL: there is nowhere to put the result")
	}
	var arrays [len(of.arrays)][]F
	var all []core.Array
	for k, name := range [...]string{"x", "y", "weight", "grad_x", "grad_y"} {
		var err error
		if arrays[k], err = array(name, (*F)(of.arrays[k]), of.n, k > 1); err != nil {
			return err
		}
		all = append(all, core.ArrayOf(name, arrays[k]))
	}
	if err := core.CheckApart(all[:3], append(all[3:], one("value", c.number))...); err != nil {
		return err
	}
	found, err := disco.Correlation(arrays[3], arrays[4], arrays[0], arrays[1], arrays[2], of.unbiased != 0)
	if err == nil {
		*c.number = C.double(found)
	}
	return err
}

// table fills a mode_table. Without a wish for parts of the loss it reads no scores.
func table[F core.Float](c *C.call) error {
	out := (*C.mode_table)(c.out)
	edgesAlone := out.cdf == nil && out.moments == nil && out.bounded == nil
	in, err := argumentsOf[F](c, edgesAlone)
	if err != nil {
		return err
	}
	if err = core.CheckApart(in.inputs, one("table", out)); err != nil {
		return err
	}
	found := new(core.Table)
	if edgesAlone {
		found.Edges, err = core.Edges(in.ev, in.cfg)
	} else {
		var at []float64
		if at, err = array("at", (*float64)(unsafe.Pointer(out.at)), out.n_at, false); err != nil {
			return err
		}
		in.inputs = append(in.inputs, core.ArrayOf("at", at))
		found, err = core.MomentsAt(at, in.ev, in.cfg)
	}
	if err != nil {
		return err
	}
	bins, rows := len(found.Edges)-1, len(found.CDF)
	isEnough := uint64(out.capacity) >= uint64(bins)
	room := func(to *C.double, n int) []float64 {
		if to == nil || !isEnough {
			return nil
		}
		return unsafe.Slice((*float64)(unsafe.Pointer(to)), n)
	}
	edges, cdf := room(out.edges, bins+1), room(out.cdf, rows*bins)
	moments, bounded := room(out.moments, rows*(in.cfg.Order+1)), room(out.bounded, rows*(in.cfg.Order+1))
	if err = core.CheckApart(in.inputs, core.ArrayOf("edges", edges), core.ArrayOf("cdf", cdf), core.ArrayOf("moments", moments),
		core.ArrayOf("bounded", bounded), one("table", out)); err != nil {
		return err
	}
	out.n_bins = C.size_t(bins)
	if !isEnough && (out.edges != nil || out.cdf != nil) {
		return argumentError("table.capacity = %d is less than the %d bins used", uint64(out.capacity), bins)
	}
	copy(edges, found.Edges)
	copyRows(cdf, found.CDF)
	copyRows(moments, found.Moments)
	copyRows(bounded, found.Bounded)
	return nil
}

// copyRows writes rows one after another to dst, unless it is nil.
func copyRows(dst []float64, rows [][]float64) {
	for _, row := range rows {
		dst = dst[copy(dst, row):]
	}
}
