package health

import (
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestGroups(t *testing.T) {
	const unified = "sys/fs/cgroup"
	for name, want := range map[string]struct {
		hierarchy
		quota    float64
		throttle *Throttle
	}{
		"v2": {hierarchy{true, []string{unified}}, 1.5, &Throttle{Periods: 100, Throttled: 14, Time: 1200 * time.Millisecond}},
		"v2-nested": {hierarchy{true, []string{
			unified + "/my tests.slice/ci.slice/runner.service", unified + "/my tests.slice/ci.slice", unified + "/my tests.slice", unified,
		}}, .5, &Throttle{Periods: 10, Throttled: 5, Time: 400 * time.Millisecond}},
		"v1":      {hierarchy{false, []string{"sys/fs/cgroup/cpu,cpuacct"}}, 2.5, &Throttle{Periods: 200, Throttled: 1, Time: 7500 * time.Microsecond}},
		"v1-root": {hierarchy{false, []string{"sys/fs/cgroup/cpu"}}, 0, &Throttle{}},
	} {
		t.Run(name, func(t *testing.T) {
			begin, end := fixture(t, name)
			h := findGroup(begin)
			require.Equal(t, want.hierarchy, h)
			require.Equal(t, want.quota, h.quota(begin))
			require.Equal(t, want.throttle, throttled(h.stats(begin), h.stats(end)))
		})
	}
}

func TestNoGroup(t *testing.T) {
	s := &staged{files: emptyFS}
	h := findGroup(s)
	require.Zero(t, h)
	require.Zero(t, h.quota(s))
	require.Nil(t, throttled(h.stats(s), h.stats(s)))
	_, _, ok := cpuGroup("1:memory:/a\n")
	require.False(t, ok)
	_, _, ok = cpuMount("30 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", false)
	require.False(t, ok)
}

// Odd mount points end the way up, too.
func TestGroupMountedAnywhere(t *testing.T) {
	for point, want := range map[string][]string{"/": {"a", "."}, "/../c": {"c/a", "c"}, "c": {"c/a", "c"}} {
		files := fstest.MapFS{
			"proc/self/cgroup":    {Data: []byte("0::/a\n")},
			"proc/self/mountinfo": {Data: []byte("1 1 0:1 / " + point + " rw - cgroup2 c rw\n")},
			"a/cpu.max":           {}, "c/a/cpu.max": {},
		}
		require.Equal(t, want, findGroup(files).dirs, point)
	}
}

func TestWithin(t *testing.T) {
	for _, c := range []struct{ root, group, want string }{
		{"/", "/", "/"},
		{"/", "/a/b", "/a/b"},
		{"/docker/x", "/docker/x", ""},
		{"/docker/x", "/docker/x/y", "/y"},
		{"/docker/x", "/docker/xy", ""}, // another group
		{"/", "/../other", ""},          // outside the namespace
	} {
		require.Equal(t, c.want, within(c.root, c.group), "%v", c)
	}
}
