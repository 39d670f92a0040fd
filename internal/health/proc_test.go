package health

import (
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"
)

// user 1000, nice 50, system 300, irq 10 and softirq 40 are busy: 1400; idle
// 8000 and iowait 200: 8200. Guest times are in user and nice already.
func TestTicks(t *testing.T) {
	begin, end := fixture(t, "v2")
	a, b := readTicks(begin), readTicks(end)
	require.Equal(t, &ticks{busy: 1400, idle: 8200, steal: 100}, a)
	// 2500 + 60 + 590 + 30 + 60 = 3240; 10000 + 299 = 10299.
	require.Equal(t, &ticks{busy: 3240, idle: 10299, steal: 180}, b)
	require.Equal(t, ticks{busy: 1840, idle: 2099, steal: 80}, b.since(*a))
	require.Equal(t, ticks{}, a.since(*b), "counters that run back")
}

func TestPressure(t *testing.T) {
	begin, end := fixture(t, "v2")
	require.Equal(t, new(time.Second), readPressure(begin))
	require.Equal(t, new(3500*time.Millisecond), readPressure(end))
}

func TestProcThatTellsNothing(t *testing.T) {
	for _, text := range []string{"", "\n", "cpu", "cpu 1 2 3 4 5 6 7", "cpu  1 2 3 4 5 6 7 x", "cpu0 1 2 3 4 5 6 7 8 9", "intr 1 2 3 4 5 6 7 8 9"} {
		require.Nil(t, readTicks(fstest.MapFS{"proc/stat": {Data: []byte(text)}}), text)
	}
	for _, text := range []string{"", "some avg10=0", "some total=", "some total=1x", "full avg10=0 total=5"} {
		require.Nil(t, readPressure(fstest.MapFS{"proc/pressure/cpu": {Data: []byte(text)}}), text)
	}
	require.Nil(t, readTicks(fstest.MapFS{}))
	require.Nil(t, readPressure(fstest.MapFS{}))
}

func FuzzSystemFiles(f *testing.F) {
	f.Add("cpu 1 2 3 4 5 6 7 8\n", "some total=5\n", "0::/a\n", "1 1 0:1 / /c rw - cgroup2 c rw\n", "nr_periods 1\n", "5 10\n")
	f.Add("cpu", "some", "1:cpu:/a/../..\n", "1 1 0:1 /a /c\\040d rw - cgroup c rw,cpu\n", "throttled_time x\n", "max 1")
	f.Fuzz(func(t *testing.T, stat, pressure, own, mounts, groupStat, quota string) {
		files := fstest.MapFS{}
		for name, text := range map[string]string{
			"proc/stat": stat, "proc/pressure/cpu": pressure, "proc/self/cgroup": own, "proc/self/mountinfo": mounts,
			"c/cpu.stat": groupStat, "c/a/cpu.stat": groupStat, "c/a/cpu.max": quota, "c/cpu.max": quota,
			"c/cpu.cfs_quota_us": quota, "c/cpu.cfs_period_us": quota,
		} {
			files[name] = &fstest.MapFile{Data: []byte(text)}
		}
		w := &Watch{sys: (&staged{files: files}).system(), group: findGroup(files)}
		a := w.sample()
		var r Readings
		r.fill(a, a, 2)
		require.GreaterOrEqual(t, w.group.quota(files), 0.0)
		require.LessOrEqual(t, w.usable(), float64(1<<20))
	})
}
