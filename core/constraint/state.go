package constraint

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"unsafe"

	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/moments"
	"gonum.org/v1/gonum/floats"
)

// Version is the first number of a state. It changes with what the numbers mean, or where they are.
const Version = 1

// The law of the push, see docs/training.md; studies/zoo tells how the numbers were limits.
const (
	proportional = 4    // the push per residual of the batch
	integral     = 0.02 // what a batch of eventsOfABatch events adds to the sum, per residual; also the least factor, and the
	// largest relative change of the factor or, at factor 0, of the sum in a batch
	eventsOfABatch = 512      // of background
	rate           = 1. / 200 // the least share of a batch in the averages
)

// state is what a constraint remembers from batch to batch: its totals, and after them a part for each category of each label. All
// numbers are 0 before the first batch.
type state struct {
	*totals
	parts []part
}

// totals are the numbers of all parts together.
type totals struct {
	version float64 // 0 before the first batch
	steps   float64 // the number of batches
	// Averages over 200 batches: of the norm of the direction, the unbiased loss, the bias of the plain loss, the effective number of
	// events, and the square of the loss.
	norm, loss, bias, events, square float64
	factor                           float64 // what a tolerance multiplies the push with
	masses                           float64 // how many variables of mass the batches have
	categories                       float64 // and into how many categories they are divided; 0: into none
}

// A part has room for the most functions and cells of any number of masses. Fewer functions fill the first rows of a table.
const (
	mostFunctions = 27
	mostCells     = 125
	mostOwnCells  = 32 // of all variables, one after the other
)

// table has a row for each function of the masses, with a number for each threshold.
type table [mostFunctions][thresholds]float64

// rows returns the first rows, one after the other.
func (t *table) rows(count int) []float64 { return unsafe.Slice(&t[0][0], count*thresholds) }

// part is what a constraint remembers of one label and category. "Over" says how many pushed events an average covers.
type part struct {
	batches    float64                                  // with events enough
	sum        [mostFunctions][functionsOfScore]float64 // of the residuals
	level      table                                    // v, the sum of significant residuals
	now        table                                    // the average of the residuals over 2,560 events, which acts at once
	recent     table                                    // over 25,600 events, which tells users whether the response is flat
	mean       table                                    // over 256,000 events, which tells what is significant
	allowed    table                                    // of the allowed response, over as many
	known      float64                                  // how many different events in effect are behind the mean
	noise      [3]float64                               // 1 over the events in effect behind recent and mean, and behind their product
	seen       float64                                  // background events of all batches
	each       float64                                  // background events of a batch
	shares     [mostCells]float64                       // of the weights in the cells of the masses
	mass       [mostOwnCells]float64                    // the shares in the cells of each variable, times their mean mass
	signals    float64                                  // batches with signal
	background [mostCells]float64                       // averages of spectra over 200 of them
	signal     [mostCells]float64
	// Averages over 25,600 events of the moments of each variable at each threshold, if an option bounds them.
	moments [events.MaxVariables * thresholds * (moments.MaxOrder + 1)]float64
}

const (
	lengthOfTotals = int(unsafe.Sizeof(totals{}) / 8)
	lengthOfPart   = int(unsafe.Sizeof(part{}) / 8)
)

// stateOf returns the state that an array is, whose length is that of a state.
func stateOf(numbers []float64) state {
	parts := (*part)(unsafe.Pointer(unsafe.SliceData(numbers[lengthOfTotals:])))
	return state{(*totals)(unsafe.Pointer(unsafe.SliceData(numbers))), unsafe.Slice(parts, len(numbers)/lengthOfPart)}
}

// StateSize returns the length of a state for so many background labels and categories, where 0 categories are none. It has room for
// any number of masses. It is 0 if there is no label, or if an int cannot hold the length.
func StateSize(labels, categories int) int {
	parts := (math.MaxInt - lengthOfTotals) / lengthOfPart
	if labels < 1 || categories < 0 || labels > parts/max(categories, 1) {
		return 0
	}
	return lengthOfTotals + labels*max(categories, 1)*lengthOfPart
}

// Field is one of the numbers or tables of a state.
type Field struct {
	Name string // as bindings read it
	// At is the place of its first number, in the state or in the first part.
	At int
	// Stride is the distance to the same field of the next part. 0: the state has the field once.
	Stride int
	// Rows and Columns are those of a table, whose rows are functions of the masses. Fewer functions fill the first rows.
	Rows, Columns int
	Bounds
}

// Bounds are the least and the largest number of a field.
type Bounds struct {
	Least, Most float64 // of the numbers, both possible
	whole       bool    // the numbers are integers
}

// anything are the bounds of finite numbers.
var anything = Bounds{-math.MaxFloat64, math.MaxFloat64, false}

// bounds has the bounds of the fields that may be negative or are limited.
var bounds = func() map[string]Bounds {
	ofShare := Bounds{-1 - 1e-6, 1 + 1e-6, false}
	limits := map[string]Bounds{
		"version": {Version, Version, true},
		"steps":   {1, math.MaxFloat64, false},       // counts of averaged states are fractions
		"factor":  {integral * (1 - 1e-6), 1, false}, // also rounded to float32
		"masses":  {1, events.MaxVariables, true}, "categories": {0, math.MaxInt32, true},
		"shares": {0, 1 + 1e-6, false}, "background": ofShare, "signal": ofShare,
	}
	for _, name := range []string{"loss", "bias", "sum", "level", "now", "recent", "mean", "allowed", "mass", "moments"} {
		limits[name] = anything
	}
	return limits
}()

// Layout has the fields of a state in their order.
var Layout = slices.Concat(fieldsOf(reflect.TypeFor[totals](), 0, 0), fieldsOf(reflect.TypeFor[part](), lengthOfTotals, lengthOfPart))

// fieldsOf returns the fields of a struct that begins at a place.
func fieldsOf(kind reflect.Type, at, stride int) (fields []Field) {
	for k := range kind.NumField() {
		field := kind.Field(k)
		rows, row := 1, field.Type
		if row.Kind() == reflect.Array && row.Elem().Kind() == reflect.Array {
			rows, row = row.Len(), row.Elem()
		}
		limits, known := bounds[field.Name]
		if !known {
			limits.Most = math.MaxFloat64
		}
		fields = append(fields, Field{field.Name, at + int(field.Offset/8), stride, rows, int(row.Size() / 8), limits})
	}
	return fields
}

// CheckState returns an error if an array is no state for so many background labels and categories.
func CheckState(numbers []float64, labels, divided int) error {
	if err := checkNumbers(numbers); err != nil {
		return err
	}
	if size := StateSize(labels, divided); len(numbers) != size {
		return errs.Of(errs.ErrLength, "state has length %d, and must have %d for %d background labels and %d categories",
			len(numbers), size, labels, divided)
	}
	if s := stateOf(numbers); s.version != 0 && s.categories != float64(divided) {
		return errs.Of(errs.ErrLength, "state is of %v categories, and not of %d: give each its own state", s.categories, divided)
	}
	return nil
}

// checkNumbers returns an error for the first number that is not possible, in an array of any length.
func checkNumbers(numbers []float64) error {
	begun := len(numbers) > 0 && numbers[0] != 0
	if begun && numbers[0] != Version {
		return errs.Of(errs.ErrOption, "state[0] = %v: the version of the state, and this library reads version %d. Start with zeros, or "+
			"continue with the version of the library that wrote the state", numbers[0], Version)
	}
	finite := events.IsFinite(floats.Sum(numbers)) // or so large that each is looked at
	for k := range Layout {
		f, possible, step := &Layout[k], Bounds{}, len(numbers)
		if begun {
			possible = f.Bounds
		}
		if begun && finite && possible == anything {
			continue
		}
		if f.Stride > 0 {
			step = f.Stride
		}
		for at := f.At; at < len(numbers); at += step {
			for i, x := range numbers[at:min(at+f.Rows*f.Columns, len(numbers))] {
				switch {
				case x >= possible.Least && x <= possible.Most && (!possible.whole || x == math.Floor(x)):
				case !events.IsFinite(x):
					return errs.Of(errs.ErrNotFinite, "state[%d] = %v: must be finite", at+i, x)
				case begun:
					return errs.Of(errs.ErrOption, "state[%d] = %v: %s must be %s", at+i, x, f.Name, f.Bounds)
				default:
					return errs.Of(errs.ErrOption, "state[%d] = %v, and state[0] = 0: a state without a version must be all zeros, "+
						"as before the first batch", at+i, x)
				}
			}
		}
	}
	return nil
}

// String says what the numbers of a field may be.
func (b Bounds) String() string {
	kind := "a number"
	if b.whole {
		kind = "an integer"
	}
	if b.Most == math.MaxFloat64 {
		return fmt.Sprintf("%s, at least %v", kind, b.Least)
	}
	return fmt.Sprintf("%s from %v to %v", kind, b.Least, b.Most)
}
