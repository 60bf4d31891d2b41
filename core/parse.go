package core

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/libmode/libmode/core/internal/errs"
)

// Parse returns the configuration that a text describes: DefaultConfig, and words with white space between them that change options.
//
// A word is name=value, or the name of a flag alone, which sets it to true. Lists have commas between their numbers. An option that is
// given for each of several variables has semicolons between the variables, and a semicolon after the value if there is one variable.
// Labels have semicolons between them too. None is what a number or a range is without a value or a limit. Edges make binning=edges.
// OptionTable has the options:
//
//	order=2 monotonic unbiased=false max_slope=0.5 mass_range=50,300;none background_label=0;2
func Parse(text string) (Config, error) {
	c, given := DefaultConfig(), map[string]bool{}
	for _, word := range strings.Fields(text) {
		name, value, hasValue := strings.Cut(word, "=")
		o := optionOf(name)
		switch {
		case o == nil:
			return c, errs.Of(ErrOption, "%s: there is no option of this name; the nearest is %s", short(word), nearest(name))
		case given[name]:
			return c, errs.OfOption(name, short(value), "is given twice")
		case !hasValue:
			value = "true"
			if kind, allowed := o.kind(); kind != "flag" {
				return c, errs.Of(ErrOption, "%s has no value: write %s=, and then %s", name, name, allowed)
			}
		}
		given[name] = true
		if err := c.read(o, value); err != nil {
			return c, err
		}
	}
	if !given["binning"] && c.hasEdges() {
		c.Binning = GivenEdges
	}
	return c, c.Validate()
}

// Text returns the options that differ from their defaults, as Parse reads them: the result is the same configuration, bit for bit.
func (c Config) Text() string {
	var words []string
	forEach := len(c.Variables) == 0 // or whether a word has a value for each variable
	for k := range options {
		o := &options[k]
		text, usual := o.text(o.field(&c)), o.text(o.field(&defaults))
		if o.name == "binning" && c.hasEdges() {
			usual = "edges"
		}
		if o.each && slices.ContainsFunc(c.Variables, func(v Variable) bool { return o.text(o.field(&Config{Variable: v})) != "none" }) {
			text, forEach = o.textOfEach(c.Variables), true
		}
		switch text {
		case usual:
		case "true":
			words = append(words, o.name)
		default:
			words = append(words, o.name+"="+text)
		}
	}
	if !forEach {
		words = append(words, "mass_range="+optionOf("mass_range").textOfEach(c.Variables))
	}
	return strings.Join(words, " ")
}

// hasEdges reports whether edges are given, for all variables or for one of them.
func (c *Config) hasEdges() bool {
	return len(c.Edges) > 0 || slices.ContainsFunc(c.Variables, func(v Variable) bool { return len(v.Edges) > 0 })
}

// read sets an option to the value in a text: for all variables, or for each.
func (c *Config) read(o *option, value string) error {
	if !o.each || !strings.Contains(value, ";") {
		return o.read(o.field(c), value)
	}
	each := strings.Split(strings.TrimSuffix(value, ";"), ";")
	if c.Variables == nil {
		c.Variables = slices.Repeat([]Variable{DefaultVariable()}, len(each))
	}
	if len(each) != len(c.Variables) {
		return errs.OfOption(o.name, short(value), "has values for %d variables, and an option before it for %d", len(each), len(c.Variables))
	}
	for k, value := range each {
		of := Config{Variable: c.Variables[k]}
		if err := o.read(o.field(&of), value); err != nil {
			return err
		}
		c.Variables[k] = of.Variable
	}
	return nil
}

// read sets a field of the option to the value in a text. A number that stands for "not given" is written as none.
func (o *option) read(field any, text string) (err error) {
	isNone, place := text == "none", slices.Index(o.values, text)
	if o.values != nil && place < 0 {
		err = strconv.ErrSyntax
	}
	switch p := field.(type) {
	case *bool:
		*p = place == 1
	case *int:
		switch *p = place; {
		case o.values == nil && isNone && o.none == o.none:
			*p = int(o.none)
		case o.values == nil:
			if *p, err = strconv.Atoi(text); float64(*p) == o.none {
				err = strconv.ErrRange
			}
		}
	case *float64:
		if *p = o.none; !isNone || o.none != o.none {
			if *p, err = strconv.ParseFloat(text, 64); *p == o.none && !math.IsInf(*p, 1) {
				err = strconv.ErrRange
			}
		}
	case *[2]float64:
		if *p = noRange; !isNone {
			var ends []float64
			if ends, err = numbers(text); len(ends) != 2 {
				err = strconv.ErrSyntax
			}
			copy(p[:], ends)
		}
	case *[]float64:
		if *p = nil; !isNone {
			*p, err = numbers(text)
		}
	case *[]int32:
		*p = nil
		for label := range strings.SplitSeq(text, ";") {
			number, bad := strconv.ParseInt(label, 10, 32)
			*p, err = append(*p, int32(number)), cmp.Or(err, bad)
		}
		if text == "" { // an error of Validate
			*p, err = nil, nil
		}
	}
	if err != nil {
		_, allowed := o.kind()
		return errs.OfOption(o.name, short(text), "must be %s", allowed)
	}
	return nil
}

// textOfEach returns the values of several variables. The value of a single one is not the value for all.
func (o *option) textOfEach(variables []Variable) string {
	text := join(variables, ";", func(v Variable) string { return o.text(o.field(&Config{Variable: v})) })
	if len(variables) == 1 {
		return text + ";"
	}
	return text
}

// numbers returns the numbers of a list.
func numbers(text string) (all []float64, err error) {
	for word := range strings.SplitSeq(text, ",") {
		number, bad := strconv.ParseFloat(word, 64)
		all, err = append(all, number), cmp.Or(err, bad)
	}
	return all, err
}

// optionOf returns the option of this name, or nil.
func optionOf(name string) *option {
	if k := slices.IndexFunc(options, func(o option) bool { return o.name == name }); k >= 0 {
		return &options[k]
	}
	return nil
}

// nearest returns the name of the option that shares the most pairs of neighboring letters with a word, of those the shortest.
func nearest(word string) string {
	likeness := func(o option) (size int) {
		for i := 1; i < min(len(word), 40); i++ {
			if strings.Contains(o.name, strings.ToLower(word[i-1:i+1])) {
				size += 100
			}
		}
		return size - len(o.name)
	}
	return slices.MaxFunc(options, func(a, b option) int { return likeness(a) - likeness(b) }).name
}

// short returns a value as errors show it.
func short(text string) string {
	const most = 60
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "..."
	}
	return text
}
