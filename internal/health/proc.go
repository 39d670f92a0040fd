package health

import (
	"bufio"
	"io/fs"
	"strconv"
	"strings"
	"time"
)

// ticks are times of all CPUs of the machine together, in the kernel's unit
// (USER_HZ, 10 ms).
type ticks struct{ busy, idle, steal int64 }

// since is what passed after a. Idle and I/O time may run back by a tick.
func (t ticks) since(a ticks) ticks {
	return ticks{max(0, t.busy-a.busy), max(0, t.idle-a.idle), max(0, t.steal-a.steal)}
}

// readTicks reads the first line of /proc/stat (proc_stat(5)): user, nice,
// system, idle, iowait, irq, softirq, steal, and guest times that user and nice
// hold already.
func readTicks(files fs.FS) *ticks {
	line, ok := firstLine(files, "proc/stat")
	f := strings.Fields(line)
	if !ok || len(f) < 9 || f[0] != "cpu" {
		return nil
	}
	var v [8]int64
	for i := range v {
		n, err := strconv.ParseInt(f[i+1], 10, 64)
		if err != nil {
			return nil
		}
		v[i] = n
	}
	return &ticks{busy: v[0] + v[1] + v[2] + v[5] + v[6], idle: v[3] + v[4], steal: v[7]}
}

// readPressure reads for how long some thread has waited for a CPU since the
// machine started, from /proc/pressure/cpu.
func readPressure(files fs.FS) *time.Duration {
	line, ok := firstLine(files, "proc/pressure/cpu")
	_, total, found := strings.Cut(line, "total=")
	us, err := strconv.ParseInt(total, 10, 64)
	if !ok || !found || err != nil || !strings.HasPrefix(line, "some ") {
		return nil
	}
	return new(time.Duration(us) * time.Microsecond)
}

// firstLine reads no more than the beginning of a file: /proc/stat has a line
// for each CPU and thousands of interrupt counters.
func firstLine(files fs.FS, name string) (string, bool) {
	f, err := files.Open(name)
	if err != nil {
		return "", false
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	if !s.Scan() {
		return "", false
	}
	return s.Text(), true
}
