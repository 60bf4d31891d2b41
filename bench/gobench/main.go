// Gobench calls the core from Go, without Python, for the benchmark in bench/.
//
// It draws sets of events, of which every call has the next, and reads lines from
// the standard input: a number makes so many calls of loss and gradient and answers
// {"ns": [...]}, one number a call; "loss" answers {"loss": ...}, that of the first
// set; "memory" makes one call and answers {"extra": bytes}, the peak of the resident
// memory above what there was before, with the gradient allocated.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/libmode/libmode/core"
	"github.com/libmode/libmode/core/disco"
)

var (
	n        = flag.Int("n", 1_000_000, "events of a call")
	threads  = flag.Int("threads", 0, "threads to use, 0 for all")
	loss     = flag.String("loss", "mode", "mode or disco")
	options  = flag.String("options", "{}", "options that differ from the defaults, by their names for core.Parse, as JSON")
	double   = flag.Bool("float64", false, "events in float64")
	weighted = flag.Bool("weighted", false, "weights that differ")
	labeled  = flag.Bool("labeled", false, "labels, half of them background")
)

func main() {
	log.SetFlags(0)
	flag.Parse()
	core.SetThreads(*threads)
	if *double {
		answer(calls[float64]())
	} else {
		answer(calls[float32]())
	}
}

// calls returns a call of loss and gradient, which has the k-th of the sets of events.
func calls[T core.Float]() func(k int) float64 {
	losses := map[string]func([]T, core.Events[T], core.Config) (float64, error){
		"mode": core.LossAndGrad[T],
		"disco": func(grad []T, ev core.Events[T], _ core.Config) (float64, error) {
			return disco.Correlation(nil, grad, ev.Mass, ev.Score, ev.Weight, false)
		},
	}
	of, known := losses[*loss]
	if !known {
		log.Fatalf("no loss %q", *loss)
	}
	cfg := config()
	sets, grad := draw[T](), make([]T, *n)
	for i := range grad {
		grad[i] = 1 // the pages are there
	}
	return func(k int) float64 {
		value, err := of(grad, sets[k%len(sets)], cfg)
		check(err)
		return value
	}
}

// config returns the configuration of the options that were given.
func config() core.Config {
	given, words := map[string]any{}, ""
	check(json.Unmarshal([]byte(*options), &given))
	for name, value := range given {
		words += fmt.Sprintf("%s=%v ", name, value)
	}
	cfg, err := core.Parse(words)
	check(err)
	return cfg
}

// draw returns sets of events like those of bench/events.py, and as many.
func draw[T core.Float]() []core.Events[T] {
	rng := rand.New(rand.NewPCG(1, uint64(*n)))
	sets := make([]core.Events[T], max(1, min(max(8, 1<<18 / *n), 1<<24 / *n)))
	for k := range sets {
		ev := core.Events[T]{Score: make([]T, *n), Mass: make([]T, *n)}
		var label []int32
		for i := range *n {
			ev.Score[i], ev.Mass[i] = T(rng.Float64()), T(50+60*rng.ExpFloat64())
			if *weighted {
				ev.Weight = append(ev.Weight, T(rng.ExpFloat64()))
			}
			if *labeled {
				label = append(label, rng.Int32N(2))
			}
		}
		ev.Label = core.LabelsOf(label)
		sets[k] = ev
	}
	return sets
}

// answer makes the calls that the standard input asks for.
func answer(call func(k int) float64) {
	made, answers := 0, json.NewEncoder(os.Stdout)
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		switch lines.Text() {
		case "loss":
			check(answers.Encode(map[string]float64{"loss": call(0)}))
			continue
		case "memory":
			check(answers.Encode(map[string]int{"extra": peakOf(func() { call(0) })}))
			continue
		}
		asked, err := strconv.Atoi(lines.Text())
		check(err)
		ns := make([]int64, asked)
		for k := range ns {
			start := time.Now()
			call(made)
			ns[k] = time.Since(start).Nanoseconds()
			made++
		}
		check(answers.Encode(map[string][]int64{"ns": ns}))
	}
}

// peakOf returns how far the resident memory rises above its start during a call.
func peakOf(call func()) int {
	debug.FreeOSMemory()
	check(os.WriteFile("/proc/self/clear_refs", []byte("5"), 0))
	before := status("VmRSS")
	call()
	return status("VmHWM") - before
}

// status returns a field of /proc/self/status in bytes.
func status(field string) int {
	text, err := os.ReadFile("/proc/self/status")
	check(err)
	for line := range strings.Lines(string(text)) {
		if value, found := strings.CutPrefix(line, field+":"); found {
			var kilobytes int
			_, err := fmt.Sscan(value, &kilobytes)
			check(err)
			return kilobytes * 1024
		}
	}
	log.Fatalf("no %s in /proc/self/status", field)
	return 0
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
