package cliffs

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/libmode/libmode/core"
	"github.com/stretchr/testify/require"
)

// mostWork bounds the work of an adversary, in units of the work of uniform events. Steps of half an event carry a tied
// event across the middle of its tie: with bounds about four steps in place of one.
const mostWork = 5

// counted is how many events the work is counted of: so many that all is as for a million, but for what is out of reach of
// the caches.
const counted = 1 << 16

// chosen is the variable of the environment that has the loss and the adversary of TestCall, in a process of TestWork.
const chosen = "LIBMODE_CLIFF"

// No adversary makes more work than mostWork times that of uniform events. The work is how many statements of the
// core, and of the sorts that it calls, are run, which the compiler counts for coverage: each call is in a process of its
// own, which is built so, and without vector instructions, so that a statement is as much work in all.
func TestWork(t *testing.T) {
	program := filepath.Join(t.TempDir(), "cliffs.test")
	built, err := exec.Command("go", "test", "-c", "-o", program, "-tags=purego", "-covermode=count",
		"-coverpkg=github.com/libmode/libmode/core/...,slices,sort", ".").CombinedOutput()
	require.NoError(t, err, "%s", built)
	for _, l := range losses {
		var base float64
		for _, of := range adversaries {
			if !l.takes(of) {
				continue
			}
			work := workOf(t, program, l.name+"/"+of.name)
			if of.name == uniform {
				base = work
				require.Greater(t, base, 10.0*counted, "%s: nothing was counted", l.name)
			}
			t.Logf("%-40s %-40s %5.2f", l.name, of.name, work/base)
			if work > mostWork*base {
				t.Errorf("%s, %s: %.1f times the work of uniform events", l.name, of.name, work/base)
			}
		}
	}
}

// workOf returns the work of a call.
func workOf(t *testing.T, program, call string) (total float64) {
	profile := filepath.Join(t.TempDir(), "profile")
	cmd := exec.Command(program, "-test.run", "^TestCall$", "-test.coverprofile", profile)
	cmd.Env = append(os.Environ(), chosen+"="+call)
	printed, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s: %s", call, printed)
	text, err := os.ReadFile(profile)
	require.NoError(t, err)
	for _, line := range strings.Split(string(text), "\n")[1:] {
		if fields := strings.Fields(line); len(fields) == 3 { // the place, the statements of the block, and how often it was entered
			statements, err := strconv.ParseFloat(fields[1], 64)
			require.NoError(t, err)
			entered, err := strconv.ParseFloat(fields[2], 64)
			require.NoError(t, err)
			total += statements * entered
		}
	}
	return total
}

// Each adversary has a loss, or an error where it has none; none of them is a crash. In a process of TestWork one call.
func TestCall(t *testing.T) {
	defer core.SetThreads(0)
	core.SetThreads(1)
	only := os.Getenv(chosen)
	for _, l := range losses {
		for _, of := range adversaries {
			if only == l.name+"/"+of.name || only == "" && l.takes(of) {
				value, err := l.of(of, counted)()
				require.True(t, err != nil || value-value == 0, "%s, %s: %v", l.name, of.name, value)
			}
		}
	}
}
