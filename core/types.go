package core

import (
	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/par"
)

// MaxVariables is the largest number of protected variables in a call.
const MaxVariables = events.MaxVariables

// Float is the type of scores, masses and weights. Sums run in float64.
type Float = events.Float

// Events are the arrays of one call, one element an event.
type Events[T Float] = events.Events[T]

// Label is a type of labels.
type Label = events.Label

// LabelSlice holds the labels of events, see LabelsOf.
type LabelSlice = events.LabelSlice

// LabelsOf returns the labels of events without a copy. An event has a label of Config.BackgroundLabel if the two are
// equal as numbers; false is 0 and true is 1. If labels is nil, every event is selected.
func LabelsOf[L Label](labels []L) LabelSlice { return events.LabelsOf(labels) }

// Each error of this package wraps one of these, and names the argument, its value and its place.
var (
	ErrOption     = errs.ErrOption     // an option is out of its range
	ErrLength     = errs.ErrLength     // two arrays differ in length, or there are more events than can be counted
	ErrNotFinite  = errs.ErrNotFinite  // a score, mass or weight is NaN or infinite
	ErrScoreRange = errs.ErrScoreRange // a score is outside the range of the integral
	ErrNoEvents   = errs.ErrNoEvents   // no event, or too few, take part
	ErrBin        = errs.ErrBin        // a mass bin can have no CDF
	ErrUndefined  = errs.ErrUndefined  // the distance correlation of the events is 0/0
	ErrOverflow   = errs.ErrOverflow   // the result is beyond double precision
)

// ErrorFields are the parts of an error's sentence, for callers that word errors themselves: where the name of an
// argument stands in it, the index of the event in that argument, and the number of its advice, 0 for none.
type ErrorFields = errs.Fields

// FieldsOf returns the parts of an error's sentence.
func FieldsOf(err error) ErrorFields { return errs.FieldsOf(err) }

// SetThreads limits the threads that one call may use. Zero or less restores the default: all that the process may run
// on. Results do not depend on the number of threads. A limit above 1024 is 1024.
func SetThreads(n int) { par.SetThreads(n) }

// Threads returns the number of threads that one call may use.
func Threads() int { return par.Threads() }
