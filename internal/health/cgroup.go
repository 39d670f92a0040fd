package health

import (
	"io/fs"
	"path"
	"strconv"
	"strings"
	"time"
)

// hierarchy is the control groups whose CPU quotas bind this process: its own
// first, then those around it, as far as they can be seen. The zero value is
// that of a system without them.
type hierarchy struct {
	v2   bool
	dirs []string // within the file system's root
}

// groupStat is a group's cpu.stat.
type groupStat struct {
	ok                 bool
	periods, throttled int64
	time               time.Duration
}

// findGroup finds the process's groups: of version 1 where that has the cpu
// controller, else of version 2 (cgroups(7)).
func findGroup(files fs.FS) hierarchy {
	own, err := fs.ReadFile(files, "proc/self/cgroup")
	if err != nil {
		return hierarchy{}
	}
	group, v2, ok := cpuGroup(string(own))
	if !ok {
		return hierarchy{}
	}
	mounts, err := fs.ReadFile(files, "proc/self/mountinfo")
	if err != nil {
		return hierarchy{}
	}
	root, point, ok := cpuMount(string(mounts), v2)
	if !ok {
		return hierarchy{}
	}
	h := hierarchy{v2: v2}
	point = path.Join(".", path.Clean("/"+point)) // names in a file system have no leading slash
	for dir := path.Join(point, within(root, group)); ; dir = path.Dir(dir) {
		if _, err := fs.Stat(files, dir); err == nil {
			h.dirs = append(h.dirs, dir)
		}
		if dir == point || dir == "." {
			return h
		}
	}
}

// cpuGroup finds the process's group in /proc/self/cgroup, whose lines are
// "number:controllers:path".
func cpuGroup(own string) (group string, v2, ok bool) {
	for line := range strings.Lines(own) {
		_, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ":")
		controllers, p, found := strings.Cut(rest, ":")
		switch {
		case !found:
		case hasWord(controllers, "cpu"):
			return p, false, true
		case controllers == "" && strings.HasPrefix(line, "0:"):
			group, v2, ok = p, true, true
		}
	}
	return group, v2, ok
}

// cpuMount finds in /proc/self/mountinfo where the groups are mounted, and
// which of them is at the mount point.
func cpuMount(mounts string, v2 bool) (root, point string, ok bool) {
	for line := range strings.Lines(mounts) {
		place, kind, found := strings.Cut(line, " - ")
		p, k := strings.Fields(place), strings.Fields(kind)
		if !found || len(p) < 5 || len(k) < 3 {
			continue
		}
		if v2 && k[0] == "cgroup2" || !v2 && k[0] == "cgroup" && hasWord(k[2], "cpu") {
			return unescape(p[3]), unescape(p[4]), true
		}
	}
	return "", "", false
}

// within is where the group is below the mount point. A container may see its
// own group's path as the host has it, and only its own groups mounted; then
// what is at the mount point is its own.
func within(root, group string) string {
	if strings.HasPrefix(group, "/..") { // outside this namespace
		return ""
	}
	group = path.Clean("/" + group)
	if root == "/" {
		return group
	}
	if rest, ok := strings.CutPrefix(group, root); ok && (rest == "" || rest[0] == '/') {
		return rest
	}
	return ""
}

func hasWord(list, word string) bool {
	for w := range strings.SplitSeq(list, ",") {
		if w == word {
			return true
		}
	}
	return false
}

// unescape undoes mountinfo's octal escapes.
func unescape(s string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(s)
}

// quota is how many CPUs the tightest group grants; 0 means no quota.
func (h hierarchy) quota(files fs.FS) float64 {
	least := 0.0
	for _, dir := range h.dirs {
		var quota, period string
		if h.v2 {
			line, _ := firstLine(files, path.Join(dir, "cpu.max")) // "max 100000"
			quota, period, _ = strings.Cut(line, " ")
		} else {
			quota, _ = firstLine(files, path.Join(dir, "cpu.cfs_quota_us")) // -1: none
			period, _ = firstLine(files, path.Join(dir, "cpu.cfs_period_us"))
		}
		q, err1 := strconv.ParseInt(quota, 10, 64)
		p, err2 := strconv.ParseInt(period, 10, 64)
		if err1 != nil || err2 != nil || q <= 0 || p <= 0 {
			continue
		}
		if cpus := float64(q) / float64(p); least == 0 || cpus < least {
			least = cpus
		}
	}
	return least
}

// stats reads each group's cpu.stat.
func (h hierarchy) stats(files fs.FS) []groupStat {
	out := make([]groupStat, len(h.dirs))
	for i, dir := range h.dirs {
		data, err := fs.ReadFile(files, path.Join(dir, "cpu.stat"))
		if err == nil {
			out[i] = parseGroupStat(string(data))
		}
	}
	return out
}

// parseGroupStat takes both versions: throttled_time is in nanoseconds (1),
// throttled_usec in microseconds (2). The root group of version 2 has neither.
func parseGroupStat(data string) (s groupStat) {
	for line := range strings.Lines(data) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			continue
		}
		switch key {
		case "nr_periods":
			s.ok, s.periods = true, n
		case "nr_throttled":
			s.throttled = n
		case "throttled_time":
			s.time = time.Duration(n)
		case "throttled_usec":
			s.time = time.Duration(n) * time.Microsecond
		}
	}
	return s
}

// throttled is the difference of two readings of the same groups: that of the
// group which was held back longest, or nil where no group tells.
func throttled(a, b []groupStat) (worst *Throttle) {
	for i := range min(len(a), len(b)) {
		if !a[i].ok || !b[i].ok {
			continue
		}
		d := Throttle{
			Periods:   int(max(0, b[i].periods-a[i].periods)),
			Throttled: int(max(0, b[i].throttled-a[i].throttled)),
			Time:      max(0, b[i].time-a[i].time),
		}
		if worst == nil || d.Time > worst.Time || d.Time == worst.Time && d.Throttled > worst.Throttled {
			worst = &d
		}
	}
	return worst
}
