package core

import (
	"errors"
	"fmt"
)

// Each error returned by this package wraps one of these and says which
// argument is wrong, its value and where it stands.
var (
	// ErrOption signifies that an option is out of its range.
	ErrOption = errors.New("invalid option")
	// ErrLength signifies that two arrays differ in length, or that there are
	// more events than can be counted.
	ErrLength = errors.New("length mismatch")
	// ErrNotFinite signifies a score, mass or weight that is NaN or infinite.
	ErrNotFinite = errors.New("value not finite")
	// ErrScoreRange signifies a score outside the range of the integral.
	ErrScoreRange = errors.New("score out of range")
	// ErrNoEvents signifies that no event, or too few, take part.
	ErrNoEvents = errors.New("too few events")
	// ErrBin signifies a mass bin from which no CDF can be made.
	ErrBin = errors.New("unusable bin")
	// ErrUndefined signifies events of which the distance correlation is 0/0.
	ErrUndefined = errors.New("undefined")
	// ErrOverflow signifies that the result is beyond double precision.
	ErrOverflow = errors.New("overflow")
)

// kindError carries a sentence for the user and the sentinel that it wraps.
type kindError struct {
	kind     error
	sentence string
}

func (e *kindError) Error() string { return e.sentence }
func (e *kindError) Unwrap() error { return e.kind }

func errorOf(kind error, format string, args ...any) error {
	return &kindError{kind, fmt.Sprintf(format, args...)}
}

func optionError(name string, value any, format string, args ...any) error {
	return errorOf(ErrOption, "%s = %v %s", name, value, fmt.Sprintf(format, args...))
}
