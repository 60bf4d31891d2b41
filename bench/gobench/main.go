// Gobench calls the core from Go, without Python, for the benchmark in bench/.
//
// It reads score.bin and mass.bin (raw float32, little endian) from the
// directory -events, and then lines from the standard input: a number makes so
// many calls of loss and gradient and answers {"ns": [...]}, one number a call;
// "memory" makes one call and answers {"extra": bytes}, the peak of the
// resident memory above what there was before, with the gradient allocated.
package main

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/libmode/libmode/core"
)

func main() {
	log.SetFlags(0)
	cfg := core.DefaultConfig(core.MoDe)
	directory := flag.String("events", ".", "directory of score.bin and mass.bin")
	threads := flag.Int("threads", 0, "threads to use, 0 for all")
	flag.IntVar(&cfg.Order, "order", 2, "order")
	flag.IntVar(&cfg.Bins, "bins", 32, "bins")
	flag.Float64Var(&cfg.MaxSlope, "max-slope", math.Inf(1), "max_slope")
	flag.BoolVar(&cfg.Monotonic, "monotonic", false, "monotonic")
	flag.BoolVar(&cfg.Unbiased, "unbiased", cfg.Unbiased, "unbiased")
	quadrature := flag.Bool("quadrature", false, "quadrature moments, not projection")
	weighted := flag.Bool("weighted", false, "weights that differ")
	flag.Parse()
	if *quadrature {
		cfg.Moments = core.Quadrature
	}
	core.SetThreads(*threads)

	ev := core.Events[float32]{Score: read(*directory, "score.bin"), Mass: read(*directory, "mass.bin")}
	for i := 0; *weighted && i < len(ev.Score); i++ {
		ev.Weight = append(ev.Weight, 0.5+float32(i*7919%1000)/1000)
	}
	grad := make([]float32, len(ev.Score))
	for i := range grad {
		grad[i] = 1 // the pages are there
	}
	call := func() {
		if _, err := core.LossAndGrad(grad, ev, cfg); err != nil {
			log.Fatal(err)
		}
	}

	answer := json.NewEncoder(os.Stdout)
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		if lines.Text() == "memory" {
			check(answer.Encode(map[string]int{"extra": peakOf(call)}))
			continue
		}
		calls, err := strconv.Atoi(lines.Text())
		check(err)
		ns := make([]int64, calls)
		for k := range ns {
			start := time.Now()
			call()
			ns[k] = time.Since(start).Nanoseconds()
		}
		check(answer.Encode(map[string][]int64{"ns": ns}))
	}
}

// read returns the numbers of a file of raw float32.
func read(directory, name string) []float32 {
	file, err := os.Open(filepath.Join(directory, name))
	check(err)
	defer file.Close()
	info, err := file.Stat()
	check(err)
	numbers := make([]float32, info.Size()/4)
	buffered := bufio.NewReaderSize(file, 1<<16)
	const block = 1 << 14
	for at := 0; at < len(numbers); at += block {
		check(binary.Read(buffered, binary.LittleEndian, numbers[at:min(at+block, len(numbers))]))
	}
	return numbers
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
