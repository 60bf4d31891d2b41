package disco

import "github.com/libmode/libmode/core/internal/errs"

// Each error of this package wraps one of these, which are those of package core, and names the argument, its value and its
// place.
var (
	// ErrLength signifies that two arrays differ in length, or that there are more events than can be counted.
	ErrLength = errs.ErrLength
	// ErrNotFinite signifies a value or a weight that is NaN or infinite.
	ErrNotFinite = errs.ErrNotFinite
	// ErrTooFew signifies fewer than 2 events, or than 4 for the unbiased form.
	ErrTooFew = errs.ErrNoEvents
	// ErrUndefined signifies events of which the distance correlation is 0/0.
	ErrUndefined = errs.ErrUndefined
	// ErrOverflow signifies that a result is beyond its type.
	ErrOverflow = errs.ErrOverflow
)
