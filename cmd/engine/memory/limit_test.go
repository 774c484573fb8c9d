package memory_test

import (
	"os"
	"path"
	"testing"
	"testing/fstest"

	"github.com/octavo-docs/octavo/cmd/engine/memory"
)

// machine is the text of /proc/meminfo on a machine with 2 GiB.
const machine = "MemTotal:        2097152 kB\nMemFree:          100000 kB\n"

// These are lines of /proc/self/mountinfo for different arrangements of control groups.
const (
	mountOf2   = "31 23 0:28 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"
	mountOf1   = "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
	mountOfCPU = "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
	// used together with mountOf1
	mountBoth     = "31 23 0:28 / /sys/fs/cgroup/unified rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"
	mountInDocker = "35 31 0:32 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n"
	mountSpaced   = "31 23 0:28 / /sys/fs/my\\040groups rw shared:4 master:1 - cgroup2 cgroup2 rw\n"
)

// TestLimit arranges control groups in several ways. Limit must find the smallest limit in their files.
func TestLimit(t *testing.T) {
	t.Parallel()
	const whole, unlimited = 2 << 30, "9223372036854771712\n"
	for name, c := range map[string]struct {
		mounts, groups string
		files          map[string]string
		want           int64
		set            string
	}{
		"no control groups": {"", "", nil, whole, "/proc/meminfo"},
		"version 2, no limit": {
			mountOf2, "0::/a/b\n", map[string]string{"a/b/memory.max": "max\n"},
			whole, "/proc/meminfo",
		},
		"version 2, the root": {mountOf2, "0::/\n", nil, whole, "/proc/meminfo"},
		"version 2, max": {
			mountOf2, "0::/a/b\n", map[string]string{"a/b/memory.max": "536870912\n"},
			512 << 20, "/sys/fs/cgroup/a/b/memory.max",
		},
		"version 2, high": {
			mountOf2, "0::/a/b\n", map[string]string{"a/b/memory.max": "536870912\n", "a/b/memory.high": "500000000\n"},
			500_000_000, "/sys/fs/cgroup/a/b/memory.high",
		},
		"version 2, high is more": {
			mountOf2, "0::/a\n", map[string]string{"a/memory.max": "536870912\n", "a/memory.high": "max\n"},
			512 << 20, "/sys/fs/cgroup/a/memory.max",
		},
		"version 2, nested": {
			mountOf2, "0::/a/b/c\n",
			map[string]string{"a/b/c/memory.max": "max\n", "a/b/memory.max": "800000000\n", "a/memory.high": "700000000\n"},
			700_000_000, "/sys/fs/cgroup/a/memory.high",
		},
		"version 2, more than all": {
			mountOf2, "0::/a\n", map[string]string{"a/memory.max": "99999999999\n"},
			whole, "/proc/meminfo",
		},
		"version 2, own namespace": {
			mountOf2, "0::/\n", map[string]string{"memory.max": "600000000\n"},
			600_000_000, "/sys/fs/cgroup/memory.max",
		},
		"version 2, outside": {
			mountOf2, "0::/../other\n", map[string]string{"memory.max": "600000000\n"},
			600_000_000, "/sys/fs/cgroup/memory.max",
		},
		"version 2, a blank": {
			mountSpaced, "0::/a\n", map[string]string{"../my groups/a/memory.max": "600000000\n"},
			600_000_000, "/sys/fs/my groups/a/memory.max",
		},
		"version 2, garbled": {
			mountOf2, "0::/a\n", map[string]string{"a/memory.max": "lots\n"},
			whole, "/proc/meminfo",
		},
		"version 1, no limit": {
			mountOf1, "4:memory:/a\n0::/\n", map[string]string{"memory/a/memory.limit_in_bytes": unlimited},
			whole, "/proc/meminfo",
		},
		"version 1": {
			mountOf1, "4:memory:/a\n0::/\n", map[string]string{"memory/a/memory.limit_in_bytes": "536870912\n"},
			512 << 20, "/sys/fs/cgroup/memory/a/memory.limit_in_bytes",
		},
		"version 1, nested": {
			mountOf1, "4:memory:/a/b\n",
			map[string]string{
				"memory/a/b/memory.limit_in_bytes": unlimited,
				"memory/a/memory.limit_in_bytes":   "800000000\n",
			},
			800_000_000, "/sys/fs/cgroup/memory/a/memory.limit_in_bytes",
		},
		"version 1, in a container": {
			mountInDocker, "4:cpu,memory:/docker/abc\n", map[string]string{"memory/memory.limit_in_bytes": "700000000\n"},
			700_000_000, "/sys/fs/cgroup/memory/memory.limit_in_bytes",
		},
		"version 1, another mount": {
			mountInDocker, "4:memory:/docker/abcdef\n", map[string]string{"memory/memory.limit_in_bytes": "700000000\n"},
			700_000_000, "/sys/fs/cgroup/memory/memory.limit_in_bytes",
		},
		"version 1, limit around the container": {mountInDocker, "4:memory:/docker/abc\n", map[string]string{
			"memory/memory.limit_in_bytes": unlimited, "memory/memory.stat": "cache 1\nhierarchical_memory_limit 400000000\n",
		}, 400_000_000, "/sys/fs/cgroup/memory/memory.stat"},
		"version 1, of another controller": {
			mountOfCPU, "4:cpu:/a\n", map[string]string{"cpu/a/memory.limit_in_bytes": "1\n"},
			whole, "/proc/meminfo",
		},
		"both, the least": {mountOf1 + mountBoth, "4:memory:/a\n0::/b\n", map[string]string{
			"memory/a/memory.limit_in_bytes": "900000000\n", "unified/b/memory.max": "800000000\n",
		}, 800_000_000, "/sys/fs/cgroup/unified/b/memory.max"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := memory.Find(rootOf(t, c.mounts, c.groups, c.files))
			if want := (memory.Limit{Bytes: c.want, Set: c.set}); err != nil || got != want {
				t.Errorf("got %+v %v, want %+v", got, err, want)
			}
		})
	}
	for name, text := range map[string]string{"no MemTotal": "MemFree: 1 kB\n", "garbled": "MemTotal: lots\n"} {
		if _, err := memory.Find(fstest.MapFS{"proc/meminfo": {Data: []byte(text)}}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if got, err := memory.Find(os.DirFS("/")); err != nil || got.Bytes < 1<<20 {
		t.Errorf("this machine: %+v %v", got, err)
	}
}

// rootOf returns a file system with the given files below /sys/fs/cgroup.
func rootOf(t *testing.T, mounts, groups string, files map[string]string) fstest.MapFS {
	t.Helper()
	root := fstest.MapFS{"proc/meminfo": {Data: []byte(machine)}}
	if mounts != "" {
		root["proc/self/mountinfo"] = &fstest.MapFile{Data: []byte("22 27 0:21 / /proc rw - proc proc rw\n" + mounts)}
		root["proc/self/cgroup"] = &fstest.MapFile{Data: []byte("9:name=systemd:/\n" + groups)}
	}
	for name, text := range files {
		root[path.Join("sys/fs/cgroup", name)] = &fstest.MapFile{Data: []byte(text)}
	}
	return root
}

// TestKills reads the kernel's number of killed processes, with control groups of both versions.
func TestKills(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		mounts, groups string
		files          map[string]string
		want           int64
		known          bool
	}{
		"version 2": {
			mountOf2, "0::/a\n", map[string]string{"a/memory.events": "oom 3\noom_kill 2\noom_group_kill 0\n"},
			2, true,
		},
		"version 1": {
			mountOf1, "4:memory:/a\n", map[string]string{"memory/a/memory.oom_control": "under_oom 0\noom_kill 7\n"},
			7, true,
		},
		"both": {mountOf1, "4:memory:/a\n", map[string]string{
			"memory/a/memory.oom_control": "oom_kill 7\n", "../../../proc/vmstat": "nr_free_pages 1\noom_kill 9\n",
		}, 16, true},
		"machine": {"", "", map[string]string{"../../../proc/vmstat": "oom_kill 0\n"}, 0, true},
		"old": {
			mountOf1, "4:memory:/a\n", map[string]string{"memory/a/memory.oom_control": "under_oom 0\n"},
			0, false,
		},
		"absent": {"", "", nil, 0, false},
	} {
		if got, known := memory.Kills(rootOf(t, c.mounts, c.groups, c.files)); got != c.want || known != c.known {
			t.Errorf("%s: got %d %v, want %d %v", name, got, known, c.want, c.known)
		}
	}
}
