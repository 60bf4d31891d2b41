// Package errs makes the errors of the loss: a kind, and a sentence that names the argument, its value and its place.
package errs

import (
	"errors"
	"fmt"
)

// The kinds of errors. Package core documents them.
var (
	ErrOption     = errors.New("invalid option")
	ErrLength     = errors.New("length mismatch")
	ErrNotFinite  = errors.New("value not finite")
	ErrScoreRange = errors.New("score out of range")
	ErrNoEvents   = errors.New("too few events")
	ErrBin        = errors.New("unusable bin")
	ErrUndefined  = errors.New("undefined")
	ErrOverflow   = errors.New("overflow")
)

// sentence is an error for the user. It wraps its kind.
type sentence struct {
	kind error
	text string
}

func (s *sentence) Error() string { return s.text }
func (s *sentence) Unwrap() error { return s.kind }

// Of returns an error of a kind: one of the above, or the kind of another error.
func Of(kind error, format string, args ...any) error {
	return &sentence{kind, fmt.Sprintf(format, args...)}
}

// OfOption returns an error about the value of an option.
func OfOption(name string, value any, format string, args ...any) error {
	return Of(ErrOption, "%s = %v %s", name, value, fmt.Sprintf(format, args...))
}

// Range formats a range.
func Range(r [2]float64) string { return fmt.Sprintf("[%v, %v]", r[0], r[1]) }

// OfVariable returns an error with the number of the variable of mass.
func OfVariable(k int, err error) error { return Of(err, "variable %d of mass: %v", k, err) }
