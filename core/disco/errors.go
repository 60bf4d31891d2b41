package disco

import (
	"errors"
	"fmt"
)

// Each error of this package wraps one of these and names the argument, its value and its place.
var (
	// ErrLength signifies that two arrays differ in length, or that there are more events than can be counted.
	ErrLength = errors.New("length mismatch")
	// ErrNotFinite signifies a value or a weight that is NaN or infinite.
	ErrNotFinite = errors.New("value not finite")
	// ErrTooFew signifies fewer than 2 events, or than 4 for the unbiased form.
	ErrTooFew = errors.New("too few events")
	// ErrUndefined signifies events of which the distance correlation is 0/0.
	ErrUndefined = errors.New("undefined")
	// ErrOverflow signifies that a result is beyond its type.
	ErrOverflow = errors.New("overflow")
)

// kindError is a sentence that wraps one of the errors above.
type kindError struct {
	kind     error
	sentence string
}

func (e *kindError) Error() string { return e.sentence }
func (e *kindError) Unwrap() error { return e.kind }

func errorOf(kind error, format string, args ...any) error {
	return &kindError{kind, fmt.Sprintf(format, args...)}
}
