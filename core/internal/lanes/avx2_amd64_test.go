package lanes

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The assembly takes the steps of the loops in Go: a fused multiplication and addition would round once where they round twice.
// And it has no instruction from before AVX where the upper halves of vector registers are in use. Intel's processors put these
// halves aside when they meet such an instruction, and bring them back later: some 150 cycles each time on a Xeon with AMX. So a
// function that uses them clears them before it returns.
func TestInstructions(t *testing.T) {
	text, err := os.ReadFile("avx2_amd64.s")
	require.NoError(t, err)
	vectors := 0
	for _, function := range strings.Split(string(text), "\nTEXT ")[1:] {
		name, _, _ := strings.Cut(function, "(SB)")
		used := wholeRegister.MatchString(function)
		if used {
			vectors++
		}
		cleared := false
		for _, of := range instruction.FindAllStringSubmatch(function, -1) {
			does, on := of[1], of[2]
			assert.NotRegexp(t, "FMADD|FMSUB|FNMADD|FNMSUB", does, "%s fuses: %s", name, of[0])
			assert.False(t, used && does[0] != 'V' && anyRegister.MatchString(on), "%s has an instruction from before AVX: %s", name, of[0])
			assert.False(t, used && does == "RET" && !cleared, "%s returns where upper halves are in use", name)
			cleared = does == "VZEROUPPER"
		}
	}
	require.Equal(t, 5, vectors)
}

var (
	instruction   = regexp.MustCompile(`(?m)^\t([A-Z]\w*)(?:[ \t]+(.*))?$`)
	wholeRegister = regexp.MustCompile(`\bY\d`)
	anyRegister   = regexp.MustCompile(`\b[XY]\d`)
)
