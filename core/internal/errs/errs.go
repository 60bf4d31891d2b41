// Package errs makes the errors of the loss: a kind, and a sentence that names the argument, its value and its place.
package errs

import (
	"errors"
	"fmt"
	"strings"
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

// The numbers of what errors advise, as MODE_ADVICE_... of mode.h. Other languages have words of their own.
const (
	NoAdvice = iota
	Widen
	ApplySigmoid
	LeaveOut
)

var advice = map[int]string{
	Widen:        "widen it, or set it to [-Inf, +Inf]",
	ApplySigmoid: "apply a sigmoid to raw outputs, or set it to [-Inf, +Inf]",
	LeaveOut:     "leave such events out, or set missing = ignore and give NaN for a missing mass",
}

// Fields are the parts of an error's sentence: the bytes before the name of an argument, the name, "[Place]" unless it
// is -1, more text, and the advice, which begins at AdviceAt. Without a name NameAt and NameEnd are 0.
type Fields struct {
	NameAt, NameEnd int
	Place           int
	Advice          int
	AdviceAt        int
}

// sentence is an error for the user. It wraps its kind.
type sentence struct {
	kind error
	text string
	Fields
}

func (s *sentence) Error() string { return s.text }
func (s *sentence) Unwrap() error { return s.kind }

// Of returns an error of a kind. The kind is one of the above, or another error. If the new sentence ends with the sentence of the other
// error, it has the same fields.
func Of(kind error, format string, args ...any) error {
	s := &sentence{kind: kind, text: fmt.Sprintf(format, args...), Fields: Fields{Place: -1}}
	s.AdviceAt = len(s.text)
	if inner, ok := kind.(*sentence); ok && strings.HasSuffix(s.text, inner.text) {
		before := len(s.text) - len(inner.text)
		s.Fields = inner.Fields
		s.AdviceAt += before
		if s.NameEnd > 0 {
			s.NameAt, s.NameEnd = s.NameAt+before, s.NameEnd+before
		}
	}
	return s
}

// At returns an error about element i of an argument, or, with -1, about all of it. The text follows its name.
func At(kind error, name string, i int, format string, args ...any) error {
	place := ""
	if i >= 0 {
		place = fmt.Sprintf("[%d]", i)
	}
	s := Of(kind, "%s%s%s", name, place, fmt.Sprintf(format, args...)).(*sentence)
	s.NameEnd, s.Place = len(name), i
	return s
}

// Advised adds advice to an error of Of or At.
func Advised(err error, number int) error {
	s := err.(*sentence)
	s.Advice, s.AdviceAt = number, len(s.text)
	s.text += advice[number]
	return s
}

// FieldsOf returns the parts of an error's sentence.
func FieldsOf(err error) Fields {
	if s, ok := err.(*sentence); ok {
		return s.Fields
	}
	return Fields{Place: -1, AdviceAt: len(err.Error())}
}

// OfOption returns an error about the value of an option.
func OfOption(name string, value any, format string, args ...any) error {
	return Of(ErrOption, "%s = %v %s", name, value, fmt.Sprintf(format, args...))
}

// Range formats a range.
func Range(r [2]float64) string { return fmt.Sprintf("[%v, %v]", r[0], r[1]) }

// OfVariable returns an error with the number of the variable of mass.
func OfVariable(k int, err error) error { return Of(err, "variable %d of mass: %v", k, err) }
