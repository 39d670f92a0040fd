package perftest

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// A wrapped test has no method Deadline, which does not hide the bubble: in it
// nothing listens for signals, and no deadline is asked for.
func TestBubbleIsKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, tb := range []testing.TB{t, struct{ testing.TB }{t}} {
			_, has := deadlineOf(tb)
			require.False(t, has)
			ctx, stop := lifetime(tb)
			stop()
			<-ctx.Done()
		}
	})
}
