package memory

import (
	"bufio"
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// Limit is the memory that a process may use.
type Limit struct {
	Bytes int64
	Set   string // the file or the setting that sets the limit
}

// groupFiles has the names of the files that limit a control group's memory, by the type of the group's file system. A
// value in them that is not a number sets no limit.
var groupFiles = map[string][]string{
	"cgroup2": {"memory.max", "memory.high"},
	"cgroup":  {"memory.limit_in_bytes"},
}

const (
	meminfo   = "proc/meminfo"
	groups    = "proc/self/cgroup"
	mounts    = "proc/self/mountinfo"
	statistic = "memory.stat" // a file of version 1; its hierarchical limit includes groups that a container cannot see
)

// Find returns the lowest limit for this process: of its control group, of the enclosing groups, or of the machine.
// `files` is the root of the file system. If the system has no control groups, the limit is the machine's memory.
func Find(files fs.FS) (Limit, error) {
	least := Limit{Set: "/" + meminfo}
	text, err := fs.ReadFile(files, meminfo)
	if err != nil {
		return least, fmt.Errorf("cannot read the machine's memory: %w", err)
	}
	kilobytes, found := valueOf(text, "MemTotal:")
	if !found || kilobytes <= 0 {
		return least, fmt.Errorf("cannot read the machine's memory: /%s has no MemTotal", meminfo)
	}
	least.Bytes = kilobytes << 10
	for _, g := range memoryGroups(files) {
		for _, dir := range g.folders() {
			for _, name := range groupFiles[g.kind] {
				file := path.Join(dir, name)
				if n, err := readNumber(files, file); err == nil && n < least.Bytes {
					least = Limit{n, "/" + file}
				}
			}
		}
		file := path.Join(g.folders()[0], statistic)
		if text, err := fs.ReadFile(files, file); err == nil {
			if n, found := valueOf(text, "hierarchical_memory_limit"); found && n < least.Bytes {
				least = Limit{n, "/" + file}
			}
		}
	}
	return least, nil
}

// Kills returns how many processes the kernel has killed because memory ran out. It adds the numbers of the machine and
// of this process's control groups, so a process may be counted twice. `known` is false if the kernel does not count
// killed processes.
func Kills(files fs.FS) (count int64, known bool) {
	counters := []string{"proc/vmstat"}
	for _, g := range memoryGroups(files) {
		for _, name := range []string{"memory.events", "memory.oom_control"} {
			counters = append(counters, path.Join(g.folders()[0], name))
		}
	}
	for _, name := range counters {
		if text, err := fs.ReadFile(files, name); err == nil {
			killed, found := valueOf(text, "oom_kill")
			count, known = count+killed, known || found
		}
	}
	return count, known
}

// group is the control group of this process in one hierarchy that may limit memory.
type group struct {
	kind  string // type of the file system
	mount string // folder of the hierarchy, without the first slash
	below string // the group's path below mount
}

// folders returns the folders of the group and of its enclosing groups.
func (g group) folders() (list []string) {
	for below := g.below; ; below = path.Dir(below) {
		list = append(list, path.Join(g.mount, below))
		if below == "." {
			return list
		}
	}
}

// memoryGroups returns the groups of this process that may limit memory. If /proc cannot be read, it returns an empty
// list.
func memoryGroups(files fs.FS) (list []group) {
	mountinfo, err := fs.ReadFile(files, mounts)
	if err != nil {
		return nil
	}
	own, err := fs.ReadFile(files, groups)
	if err != nil {
		return nil
	}
	for line := range bytes.Lines(mountinfo) {
		// A line has the form: 36 35 98:0 ROOT MOUNT OPTIONS [optional fields] - TYPE SOURCE OPTIONS
		before, after, _ := strings.Cut(string(line), " - ")
		mount, system := strings.Fields(before), strings.Fields(after)
		if len(mount) < 5 || len(system) < 3 {
			continue
		}
		var path string
		switch {
		case system[0] == "cgroup2":
			path = ownPath(own, "")
		case system[0] == "cgroup" && hasItem(system[2], "memory"):
			path = ownPath(own, "memory")
		default:
			continue
		}
		list = append(list, group{system[0], unescape(mount[4])[1:], belowMount(path, unescape(mount[3]))})
	}
	return list
}

// ownPath returns the path of this process's group in a hierarchy. `controller` names a controller of version 1, and is
// "" for version 2. If no line is about the hierarchy, the path is the hierarchy's root.
func ownPath(own []byte, controller string) string {
	for line := range bytes.Lines(own) {
		parts := strings.SplitN(strings.TrimSuffix(string(line), "\n"), ":", 3)
		if len(parts) == 3 && (parts[1] == controller || controller != "" && hasItem(parts[1], controller)) {
			return parts[2]
		}
	}
	return "/"
}

// belowMount returns a group's path below a mounted folder. `root` is the mounted folder's path in the hierarchy. A
// container may see its group's path on the host while only the group itself is mounted. In this case the mounted
// folder is the group's folder.
func belowMount(group, root string) string {
	below, found := group, true
	if root != "/" {
		below, found = strings.CutPrefix(group, root)
		found = found && (below == "" || below[0] == '/')
	}
	below = path.Join(".", below)
	if !found || !fs.ValidPath(below) {
		return "."
	}
	return below
}

func hasItem(list, item string) bool {
	for found := range strings.SplitSeq(list, ",") {
		if found == item {
			return true
		}
	}
	return false
}

// unescape decodes a path of mountinfo, which has octal escapes for blanks and backslashes.
func unescape(path string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(path)
}

func readNumber(files fs.FS, name string) (int64, error) {
	text, err := fs.ReadFile(files, name)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
}

// valueOf returns the number after `name`, from the first line that begins with `name`.
func valueOf(text []byte, name string) (int64, bool) {
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		words := strings.Fields(lines.Text())
		if len(words) < 2 || words[0] != name {
			continue
		}
		n, err := strconv.ParseInt(words[1], 10, 64)
		return n, err == nil
	}
	return 0, false
}
