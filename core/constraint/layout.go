package constraint

import (
	"fmt"
	"math"

	"github.com/libmode/libmode/core/internal/errs"
	"github.com/libmode/libmode/core/internal/events"
	"github.com/libmode/libmode/core/internal/moments"
)

// Version is the first number of a state. It changes with what the numbers mean, or where they are.
const Version = 1

// The numbers of a state.
const (
	version    = iota // 0 before the first batch
	steps             // the number of batches
	meanNorm          // averages over 200 batches: of the norm of the direction,
	meanLoss          // of the unbiased loss,
	meanBias          // of the bias of the plain loss,
	meanEvents        // of the effective number of events,
	meanSquare        // and of the square of the loss
	factor            // what a tolerance multiplies the push with
	masses            // how many variables of mass the batches have
	categories        // and into how many categories they are divided; 0: into none
	numbers
)

// The fields of a part.
const (
	ofBatches    = iota // the number of batches that had events enough of the part
	ofSum               // of the residuals
	ofLevel             // the tables of tail
	ofNow               //
	ofRecent            //
	ofMean              //
	ofAllowed           // the average of the allowed response, with the share of the mean
	ofKnown             // how many different events in effect are behind the mean
	ofNoise             // 1 over the events in effect behind recent and mean, and behind their product
	ofSeen              // background events of all batches
	ofEach              // background events of a batch
	ofShares            // of the weights in the cells of the masses, and the mean masses in them
	ofMeanMass          //
	ofSignals           // batches with signal
	ofBackground        // the tables of start
	ofSignal            //
	ofMoments           // averages of the moments at each threshold that an option bounds
	fieldsOfPart
)

// Field is one of the numbers or tables of a state.
type Field struct {
	Name string // as bindings read it
	// At is the place of its first number, in the state or in the first part.
	At int
	// Stride is the distance to the same field of the next part. 0: the state has the field once.
	Stride int
	// Rows and Columns are those of a table, whose rows are functions of the masses. Fewer functions fill the first rows.
	Rows, Columns int
	// Least and Most bound the numbers.
	Least, Most float64
	whole       bool // the numbers are integers
}

// mostFunctions is the largest number of functions of the masses, for any number of masses.
var mostFunctions = max(ofMasses[1].functions, ofMasses[2].functions, ofMasses[3].functions)

// Layout has the fields of a state in their order, first its numbers. All else follows from it: the size, the checks, the places.
var Layout = func() []Field {
	anything := math.MaxFloat64
	number := func(name string, least, most float64, whole bool) Field {
		return Field{Name: name, Rows: 1, Columns: 1, Least: least, Most: most, whole: whole}
	}
	table := func(name string, columns int) Field {
		return Field{Name: name, Rows: mostFunctions, Columns: columns, Least: -anything, Most: anything}
	}
	fields := append(make([]Field, 0, numbers+fieldsOfPart), []Field{
		version:    number("version", Version, Version, true),
		steps:      number("steps", 1, anything, false), // counts of averaged states are fractions
		meanNorm:   number("norm", 0, anything, false),
		meanLoss:   number("loss", -anything, anything, false),
		meanBias:   number("bias", -anything, anything, false),
		meanEvents: number("events", 0, anything, false),
		meanSquare: number("square", 0, anything, false),
		factor:     number("factor", integral*(1-1e-6), 1, false), // also rounded to float32
		masses:     number("masses", 1, events.MaxVariables, true),
		categories: number("categories", 0, math.MaxInt32, true),
	}...)
	fields = append(fields, []Field{
		ofBatches:    number("batches", 0, anything, false),
		ofSum:        table("sum", ofScore.functions),
		ofLevel:      table("level", thresholds),
		ofNow:        table("now", thresholds),
		ofRecent:     table("recent", thresholds),
		ofMean:       table("mean", thresholds),
		ofAllowed:    table("allowed", thresholds),
		ofKnown:      number("known", 0, anything, false),
		ofNoise:      {Name: "noise", Rows: 1, Columns: 3, Most: anything},
		ofSeen:       number("seen", 0, anything, false),
		ofEach:       number("each", 0, anything, false),
		ofShares:     {Name: "shares", Rows: 1, Columns: mostCells, Most: 1 + 1e-6},
		ofMeanMass:   {Name: "mass", Rows: 1, Columns: mostOfVariables, Least: -anything, Most: anything},
		ofSignals:    number("signals", 0, anything, false),
		ofBackground: {Name: "background", Rows: 1, Columns: mostCells, Least: -1 - 1e-6, Most: 1 + 1e-6},
		ofSignal:     {Name: "signal", Rows: 1, Columns: mostCells, Least: -1 - 1e-6, Most: 1 + 1e-6},
		ofMoments: {Name: "moments", Rows: 1, Columns: events.MaxVariables * thresholds * (moments.MaxOrder + 1),
			Least: -anything, Most: anything},
	}...)
	at := 0
	for k := range fields {
		fields[k].At = at
		at += fields[k].Rows * fields[k].Columns
	}
	for k := numbers; k < len(fields); k++ {
		fields[k].Stride = at - numbers
	}
	return fields
}()

// ofPart is the length of a part.
var ofPart = Layout[numbers].Stride

// StateSize returns the length of a state for so many background labels and categories, where 0 categories are none. It has room for
// any number of masses. It is 0 if there is no label, or if an int cannot hold the length.
func StateSize(labels, categories int) int {
	parts := (math.MaxInt - numbers) / ofPart
	if labels < 1 || categories < 0 || labels > parts/max(categories, 1) {
		return 0
	}
	return numbers + labels*max(categories, 1)*ofPart
}

// field returns the numbers of a field of a part.
func (s state) field(part, k int) []float64 {
	f := &Layout[numbers+k]
	return s[f.At+part*f.Stride:][:f.Rows*f.Columns]
}

// table returns the rows of a table of a part for so many functions.
func (s state) table(part, k, functions int) []float64 {
	return s.field(part, k)[:functions*Layout[numbers+k].Columns]
}

// sum returns the sum of the residuals of a part, for so many functions of the masses.
func (s state) sum(part, functions int) []float64 { return s.table(part, ofSum, functions) }

// tail returns what is remembered of the tail of a part.
func (s state) tail(part, functions int, tolerance float64) tail {
	return tail{
		level: s.table(part, ofLevel, functions), now: s.table(part, ofNow, functions), recent: s.table(part, ofRecent, functions),
		mean: s.table(part, ofMean, functions), allowed: s.table(part, ofAllowed, functions), known: &s.field(part, ofKnown)[0],
		noise: s.field(part, ofNoise), moments: s.field(part, ofMoments), tolerance: tolerance,
	}
}

// start returns what is remembered of the masses of a part, in so many cells.
func (s state) start(part, cells int) start {
	return start{&s.field(part, ofSignals)[0], s.field(part, ofBackground)[:cells], s.field(part, ofSignal)[:cells]}
}

// CheckState returns an error if an array is no state for so many background labels and categories.
func CheckState(numbers []float64, labels, divided int) error {
	if err := state(numbers).check(); err != nil {
		return err
	}
	if size := StateSize(labels, divided); len(numbers) != size {
		return errs.Of(errs.ErrLength, "state has length %d, and must have %d for %d background labels and %d categories",
			len(numbers), size, labels, divided)
	}
	if len(numbers) > 0 && numbers[version] != 0 && numbers[categories] != float64(divided) {
		return errs.Of(errs.ErrLength, "state is of %v categories, and not of %d: give each its own state", numbers[categories], divided)
	}
	return nil
}

// check returns an error for the first number that is not possible, of an array of any length.
func (s state) check() error {
	if len(s) > 0 && s[version] != 0 && s[version] != Version {
		return errs.Of(errs.ErrOption, "state[%d] = %v: the version of the state, and this library reads version %d. Start with zeros, or "+
			"continue with the version of the library that wrote the state", version, s[version], Version)
	}
	begun := len(s) > 0 && s[version] != 0
	for k, x := range s {
		if !events.IsFinite(x) {
			return errs.Of(errs.ErrNotFinite, "state[%d] = %v: must be finite", k, x)
		}
		if !begun && x != 0 {
			return errs.Of(errs.ErrOption, "state[%d] = %v, and state[%d] = 0: a state without a version must be all zeros, as before the first batch",
				k, x, version)
		}
	}
	for k := range Layout {
		f := &Layout[k]
		for at := f.At; begun && at < len(s); at += f.Stride {
			for i, x := range s[at:min(at+f.Rows*f.Columns, len(s))] {
				if x < f.Least || x > f.Most || f.whole && x != math.Floor(x) {
					return errs.Of(errs.ErrOption, "state[%d] = %v: %s must be %s", at+i, x, f.Name, f.bounds())
				}
			}
			if f.Stride == 0 {
				break
			}
		}
	}
	return nil
}

// bounds says what the numbers of a field may be.
func (f *Field) bounds() string {
	kind := "a number"
	if f.whole {
		kind = "an integer"
	}
	if f.Most == math.MaxFloat64 {
		return fmt.Sprintf("%s, at least %v", kind, f.Least)
	}
	return fmt.Sprintf("%s from %v to %v", kind, f.Least, f.Most)
}
