//go:build goexperiment.simd && go1.26 && !go1.27

package lanes

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Intel's processors put the upper halves of vector registers aside when an instruction from before AVX meets them, and
// bring them back at the next one of AVX: some 150 cycles each time on a Xeon with AMX, so that the loops were slower than without
// vectors. Go's compiler makes such instructions of what is not a vector, a number that is multiplied, a count of bits by which all
// are shifted, an array that is copied (golang/go#80835). So there is none where upper halves may be in use: from the
// first vector of four numbers to ClearAVXUpperBits, in the order in which the compiler lists a function, and in whatever is
// called in between.
func TestNoInstructionsFromBeforeAVX(t *testing.T) {
	printed, err := exec.Command("go", "build", "-gcflags=-S", ".").CombinedOutput()
	require.NoError(t, err, "%s", printed)
	found := 0
	for _, function := range strings.Split(string(printed), " STEXT ") {
		if !vector.MatchString(function) {
			continue
		}
		found++
		clears := strings.Contains(function, "VZEROUPPER")
		used := !clears // which may be called where upper halves are in use
		for _, of := range instruction.FindAllStringSubmatch(function, -1) {
			name, on := of[1], of[2]
			slow := name[0] != 'V' && register.MatchString(on) || name == "CALL" && !ours.MatchString(on) || name == "RET" && clears
			assert.False(t, used && slow, "an instruction from before AVX, or a return, where upper halves are in use: %s", of[0])
			used = name != "VZEROUPPER" && (used || vector.MatchString(on))
		}
	}
	require.Greater(t, found, 20)
}

var (
	instruction = regexp.MustCompile(`(?m)^\t0x[0-9a-f]+ \d+ \(.*?\)\t(\S+)(?:\t(.*))?$`)
	vector      = regexp.MustCompile(`\bY\d`)
	register    = regexp.MustCompile(`\bX\d`)
	// ours are functions that are checked themselves, or that end the program.
	ours = regexp.MustCompile(`internal/lanes\.|runtime\.(panic|gcWriteBarrier|morestack)`)
)
