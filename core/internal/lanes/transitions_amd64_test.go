//go:build goexperiment.simd && go1.26 && !go1.27

package lanes

import (
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Intel's processors put the upper halves of vector registers aside when an instruction from before AVX meets them, and
// bring them back at the next one of AVX: some 150 cycles each time on a Xeon with AMX, so that the loops were slower than without
// vectors. Go's compiler makes such instructions of what is not a vector, a number that is multiplied, a count of bits by which all
// are shifted, an array that is copied (golang/go#80835). So there is none where upper halves may be in use, that is, from the
// first vector of four numbers to ClearAVXUpperBits, and in whatever is called in between.
func TestNoInstructionsFromBeforeAVX(t *testing.T) {
	printed, err := exec.Command("go", "build", "-gcflags=-S", ".").CombinedOutput()
	require.NoError(t, err, "%s", printed)
	found := 0
	for _, f := range listed(string(printed)) {
		if f.vectors {
			found++
			for _, line := range f.slow() {
				assert.Fail(t, "an instruction from before AVX, or a return, where upper halves are in use", "%s: %s", f.name, line)
			}
		}
	}
	require.Greater(t, found, 20)
}

// function is one as the compiler lists it.
type function struct {
	name    string
	lines   []instruction
	vectors bool // it has instructions for vectors of four numbers
	clears  bool // it ends the use of upper halves; otherwise it may be called where they are in use
}

type instruction struct {
	offset        int
	name, on, all string
}

var (
	headOfFunction = regexp.MustCompile(`^(\S+) STEXT`)
	lineOfFunction = regexp.MustCompile(`^\t0x[0-9a-f]+ (\d+) \(.*?\)\t(\S+)(?:\t(.*))?$`)
	vector         = regexp.MustCompile(`\bY\d`)
	register       = regexp.MustCompile(`\bX\d`)
	// ours are functions that are checked themselves, or that end the program.
	ours = regexp.MustCompile(`internal/lanes\.|runtime\.(panic|gcWriteBarrier|morestack)`)
)

func listed(text string) (functions []function) {
	for _, line := range strings.Split(text, "\n") {
		if head := headOfFunction.FindStringSubmatch(line); head != nil {
			functions = append(functions, function{name: head[1]})
		} else if parts := lineOfFunction.FindStringSubmatch(line); parts != nil && len(functions) > 0 {
			f := &functions[len(functions)-1]
			offset, _ := strconv.Atoi(parts[1])
			f.lines = append(f.lines, instruction{offset, parts[2], parts[3], line})
			f.vectors = f.vectors || vector.MatchString(parts[3])
			f.clears = f.clears || parts[2] == "VZEROUPPER"
		}
	}
	return functions
}

// slow returns the instructions that meet upper halves in use, whichever way they are reached.
func (f *function) slow() (slow []string) {
	type place struct {
		line int
		used bool
	}
	seen, reported := map[place]bool{}, map[int]bool{}
	for next := []place{{0, !f.clears}}; len(next) > 0; {
		at := next[len(next)-1]
		next = next[:len(next)-1]
		if at.line >= len(f.lines) || seen[at] {
			continue
		}
		seen[at] = true
		of := f.lines[at.line]
		if at.used && f.isSlow(of) && !reported[at.line] {
			reported[at.line] = true
			slow = append(slow, of.all)
		}
		used := of.name != "VZEROUPPER" && (at.used || vector.MatchString(of.on))
		if target, err := strconv.Atoi(of.on); err == nil && of.name[0] == 'J' && !f.growsStack(target) {
			next = append(next, place{f.lineAt(target), used})
		}
		if of.name != "RET" && of.name != "JMP" && !strings.Contains(of.on, "runtime.panic") {
			next = append(next, place{at.line + 1, used})
		}
	}
	return slow
}

func (f *function) isSlow(of instruction) bool {
	switch {
	case of.name == "RET":
		return f.clears
	case of.name == "CALL":
		return !ours.MatchString(of.on)
	}
	return of.name[0] != 'V' && register.MatchString(of.on)
}

// lineAt returns the line of an instruction.
func (f *function) lineAt(offset int) int {
	for i, of := range f.lines {
		if of.offset >= offset {
			return i
		}
	}
	return len(f.lines)
}

// growsStack reports whether what follows from there on is the growth of the stack, which is rare.
func (f *function) growsStack(offset int) bool {
	for _, of := range f.lines[f.lineAt(offset):] {
		if of.name == "CALL" {
			return strings.Contains(of.on, "runtime.morestack")
		}
		if of.name[0] == 'J' || of.name == "RET" {
			break
		}
	}
	return false
}
