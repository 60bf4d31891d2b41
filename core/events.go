package core

import "github.com/libmode/libmode/core/internal/events"

// MaxVariables is how many protected variables a call may have.
const MaxVariables = events.MaxVariables

// Float is the type of scores, masses and weights. Sums run in float64.
type Float = events.Float

// Events are the arrays of one call, one element an event.
type Events[T Float] = events.Events[T]

// Label is a type that labels may have.
type Label = events.Label

// LabelSlice is the labels of events, a slice of any Label, which LabelsOf makes.
type LabelSlice = events.LabelSlice

// LabelsOf returns the labels of events as they are: nothing is copied. A label is one of Config.BackgroundLabel if it is
// equal to it as a number, false being 0 and true 1. With nil there are no labels, and every event is selected.
func LabelsOf[L Label](labels []L) LabelSlice { return events.LabelsOf(labels) }
