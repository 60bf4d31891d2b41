package core

import "github.com/libmode/libmode/core/internal/errs"

// Each error returned by this package wraps one of these and says which
// argument is wrong, its value and where it stands.
var (
	// ErrOption signifies that an option is out of its range.
	ErrOption = errs.Option
	// ErrLength signifies that two arrays differ in length, or that there are
	// more events than can be counted.
	ErrLength = errs.Length
	// ErrNotFinite signifies a score, mass or weight that is NaN or infinite.
	ErrNotFinite = errs.NotFinite
	// ErrScoreRange signifies a score outside the range of the integral.
	ErrScoreRange = errs.ScoreRange
	// ErrNoEvents signifies that no event, or too few, take part.
	ErrNoEvents = errs.NoEvents
	// ErrBin signifies a mass bin from which no CDF can be made.
	ErrBin = errs.Bin
	// ErrUndefined signifies events of which the distance correlation is 0/0.
	ErrUndefined = errs.Undefined
	// ErrOverflow signifies that the result is beyond double precision.
	ErrOverflow = errs.Overflow
)
