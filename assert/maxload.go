package assert

import (
	"fmt"

	"github.com/slogate/slogate/perftest"
)

// MaxLoadAtLeast asks for a capacity: that a search by [perftest.MaxLoad] has
// confirmed a load of at least least, a concurrency or requests a second. It
// reports whether it has: with one logged line when it has, else with an error
// that shows all probes.
//
// A search that was cut short, or that the client could not follow, has
// confirmed nothing.
func MaxLoadAtLeast(t TestingT, found *perftest.Capacity, least float64) bool {
	t.Helper()
	switch {
	case found == nil:
		t.Errorf("assert.MaxLoadAtLeast: the search is nil: give it the result of perftest.MaxLoad")
		return false
	case !(least > 0):
		t.Errorf("assert.MaxLoadAtLeast: the least load is %v: give a number above 0", least)
		return false
	}
	if where := found.Elsewhere(); where != "" {
		t.Logf("assert.MaxLoadAtLeast: the verdict is %s", where)
		return true
	}
	asked := fmt.Sprintf("max load at least %g %s", least, found.Unit)
	switch {
	case float64(found.Lo) >= least:
		t.Logf("PASS %s: %.4g is confirmed", asked, float64(found.Lo))
		return true
	case found.Confirmed() || found.CutShort == "" && found.ClientLimit == 0:
		t.Errorf("FAIL %s: %.4g is confirmed\n%s", asked, float64(found.Lo), found.Table())
	default:
		t.Errorf("INVALID %s: the search could not end\n%s", asked, found.Table())
	}
	return false
}
