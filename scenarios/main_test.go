package scenarios

import (
	"os"
	"testing"

	"github.com/slogate/slogate/perftest"
)

// TestMain makes a run in which nothing ran red where PERFTEST_REQUIRED is set.
func TestMain(m *testing.M) { os.Exit(perftest.Main(m)) }
