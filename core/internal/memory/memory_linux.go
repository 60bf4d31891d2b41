package memory

import (
	"bufio"
	"math"
	"os"
	"path"
	"strconv"
	"strings"
	"syscall"
)

// free returns the least room of those that Linux tells.
func free() (Room, bool) {
	least := Room{Bytes: math.MaxUint64}
	take := func(room Room, known bool) {
		if known && room.Bytes < least.Bytes {
			least = room
		}
	}
	take(addresses("/proc"))
	take(machine("/proc"))
	take(group("/proc", "/sys/fs/cgroup"))
	return least, least.Limit != ""
}

// addresses returns the room of addresses that is left, and what the runtime has of them already. Some is left to what
// is not the library's, and because the runtime takes addresses in pieces of 64 MB.
func addresses(proc string) (Room, bool) {
	const apart = 128 << 20
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_AS, &limit) != nil || limit.Cur >= math.MaxInt64 {
		return Room{}, false
	}
	fields := strings.Fields(read(path.Join(proc, "self/statm")))
	if len(fields) == 0 {
		return Room{}, false
	}
	pages, err := strconv.ParseUint(fields[0], 10, 64)
	used := pages*uint64(os.Getpagesize()) + apart
	return Room{less(limit.Cur, used) + idle(), "the limit of the address space (RLIMIT_AS, ulimit -v)"}, err == nil
}

// machine returns what the machine has left.
func machine(proc string) (Room, bool) {
	found := table(path.Join(proc, "meminfo"))
	available, known := found["MemAvailable:"]
	return Room{(available + found["SwapFree:"]) << 10, "the memory of the machine"}, known
}

// group returns the room in the tightest of the control groups that the process is in, one inside the other. Files that
// are kept in memory make way.
func group(proc, sys string) (Room, bool) {
	least := Room{math.MaxUint64, "the memory of the control group (container, batch job)"}
	for _, line := range strings.Split(read(path.Join(proc, "self/cgroup")), "\n") {
		parts := strings.SplitN(line, ":", 3) // of version 2 "0::/path", of version 1 "4:memory:/path"
		if len(parts) != 3 {
			continue
		}
		root, limitName, usedName, prefix := sys, "memory.max", "memory.current", ""
		switch parts[1] {
		case "":
		case "memory":
			root, limitName, usedName, prefix = path.Join(sys, "memory"), "memory.limit_in_bytes", "memory.usage_in_bytes", "total_"
		default:
			continue
		}
		for at := path.Clean("/" + parts[2]); ; at = path.Dir(at) {
			limit, err := strconv.ParseUint(strings.TrimSpace(read(path.Join(root, at, limitName))), 10, 64) // "max": none
			used, failed := strconv.ParseUint(strings.TrimSpace(read(path.Join(root, at, usedName))), 10, 64)
			if err == nil && failed == nil && limit < math.MaxInt64/2 {
				files := table(path.Join(root, at, "memory.stat"))
				least.Bytes = min(least.Bytes, less(limit, less(used, files[prefix+"active_file"]+files[prefix+"inactive_file"])))
			}
			if at == "/" {
				break
			}
		}
	}
	return least, least.Bytes < math.MaxUint64
}

// less returns x - y, or 0 if y is larger.
func less(x, y uint64) uint64 { return x - min(x, y) }

// read returns what is in a file, nothing if that cannot be read.
func read(name string) string {
	content, _ := os.ReadFile(name)
	return string(content)
}

// table returns the first number of each line of a file, by the word before it.
func table(name string) map[string]uint64 {
	found := make(map[string]uint64)
	for lines := bufio.NewScanner(strings.NewReader(read(name))); lines.Scan(); {
		if fields := strings.Fields(lines.Text()); len(fields) >= 2 {
			if number, err := strconv.ParseUint(fields[1], 10, 64); err == nil {
				found[fields[0]] = number
			}
		}
	}
	return found
}
