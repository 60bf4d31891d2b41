package core

import "github.com/libmode/libmode/core/internal/errs"

// Each error returned by this package wraps one of these and says which
// argument is wrong, its value and where it stands.
var (
	// ErrOption signifies that an option is out of its range.
	ErrOption = errs.ErrOption
	// ErrLength signifies that two arrays differ in length, or that there are
	// more events than can be counted.
	ErrLength = errs.ErrLength
	// ErrNotFinite signifies a score, mass or weight that is NaN or infinite.
	ErrNotFinite = errs.ErrNotFinite
	// ErrScoreRange signifies a score outside the range of the integral.
	ErrScoreRange = errs.ErrScoreRange
	// ErrNoEvents signifies that no event, or too few, take part.
	ErrNoEvents = errs.ErrNoEvents
	// ErrBin signifies a mass bin from which no CDF can be made.
	ErrBin = errs.ErrBin
	// ErrUndefined signifies events of which the distance correlation is 0/0.
	ErrUndefined = errs.ErrUndefined
	// ErrOverflow signifies that the result is beyond double precision.
	ErrOverflow = errs.ErrOverflow
)
