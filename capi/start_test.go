package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// start.c takes the place of a function of runtime/cgo that is not exported, and that the start of a library calls. The test says
// which Go has another. tests/core/test_address_space.py tests what start.c does.
func TestGoStartsByTheFunctionThatStartCWraps(t *testing.T) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	require.NoError(t, err)
	for path, part := range map[string]string{
		"cgo/gcc_libinit.c": "x_cgo_sys_thread_create(void* (*func)(void*), void* arg)",
		"cgo/callbacks.go":  "var _cgo_sys_thread_create = &x_cgo_sys_thread_create",
		"asm_amd64.s":       "_cgo_sys_thread_create(SB)",
	} {
		source, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "src", "runtime", path))
		require.NoError(t, err)
		require.True(t, strings.Contains(string(source), part), "%s has no %q in runtime/%s: capi/start.c does not work with it", runtime.Version(), part, path)
	}
}
