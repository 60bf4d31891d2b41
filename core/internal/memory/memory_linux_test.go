package memory

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// tree writes files below a new directory.
func tree(t *testing.T, files map[string]string) string {
	root := t.TempDir()
	for name, content := range files {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(content), 0o600))
	}
	return root
}

// The room of a control group is that of the tightest around it, where files in memory do not count as used.
func TestGroup(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		room  uint64
		known bool
	}{
		"version 2, in a container": {map[string]string{
			"self/cgroup": "0::/\n", "sys/memory.max": "1000000\n", "sys/memory.current": "700000\n",
			"sys/memory.stat": "anon 400000\nfile 300000\ninactive_file 200000\nactive_file 50000\n",
		}, 550_000, true},
		"version 2, the limit is that of the parent": {map[string]string{
			"self/cgroup": "0::/slice/job\n", "sys/slice/job/memory.max": "max\n", "sys/slice/job/memory.current": "10\n",
			"sys/slice/memory.max": "5000\n", "sys/slice/memory.current": "1000\n", "sys/slice/memory.stat": "",
		}, 4000, true},
		"version 1": {map[string]string{
			"self/cgroup": "5:cpu,cpuacct:/job\n4:memory:/job\n", "sys/memory/job/memory.limit_in_bytes": "3000\n", "sys/memory/job/memory.usage_in_bytes": "2000\n",
			"sys/memory/memory.limit_in_bytes": "9223372036854771712\n", "sys/memory/memory.usage_in_bytes": "5\n", "sys/memory/job/memory.stat": "total_inactive_file 100\n",
		}, 1100, true},
		"more is used than is allowed": {map[string]string{"self/cgroup": "0::/\n", "sys/memory.max": "10\n", "sys/memory.current": "20\n"}, 0, true},
		"no limit":                     {map[string]string{"self/cgroup": "0::/\n", "sys/memory.max": "max\n", "sys/memory.current": "20\n"}, 0, false},
		"nothing can be read":          {nil, 0, false},
	} {
		root := tree(t, c.files)
		room, known := group(root, filepath.Join(root, "sys"))
		assert.Equal(t, c.known, known, name)
		if known {
			assert.Equal(t, c.room, room.Bytes, name)
		}
	}
}

func TestMachine(t *testing.T) {
	root := tree(t, map[string]string{"meminfo": "MemTotal:  100 kB\nMemFree: 1 kB\nMemAvailable:   50 kB\nSwapFree:   7 kB\n"})
	room, known := machine(root)
	require.True(t, known)
	assert.EqualValues(t, 57<<10, room.Bytes)
	_, known = machine(t.TempDir())
	assert.False(t, known)
}

// There is memory for a page, and none for more than any machine has.
func TestEnough(t *testing.T) {
	_, enough := Enough(4096)
	assert.True(t, enough)
	room, enough := Enough(1 << 60)
	assert.False(t, enough)
	assert.NotEmpty(t, room.Limit)
}
