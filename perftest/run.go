package perftest

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/slogate/slogate/internal/bubble"
	"github.com/slogate/slogate/internal/meet"
	"github.com/slogate/slogate/internal/report"
)

// Run measures s and gives the result, which it has written and shown. Its
// fatal errors are those of a broken set-up: a bad configuration, found before
// any load is sent, or a server that the preflight cannot use. A failed
// request breaks nothing: it is counted. A run that ended before its plan
// (Ctrl-C, the test's deadline) fails the test and gives what it has.
//
// Whether the figures are good enough is for package assert to say.
//
// With PERFTEST_REPLAY nothing is sent: the result is the stored one of the same
// scenario of the same test, and its page is written anew into a new folder.
//
// With Scenario.Repeat the scenario runs so often, and the result is that of
// the last run, which knows the others.
func Run(t testing.TB, s Scenario) *Result {
	t.Helper()
	return runAs(t, s, passage{})
}

// runOnce is one run, which may go on where an earlier one has ended.
func runOnce(t testing.TB, s Scenario, from passage) *Result {
	t.Helper()
	runs.Add(1)
	n := notesOf(t)
	fatal := func(format string, args ...any) {
		t.Helper()
		t.Fatalf("%s", n.failed(format, args...))
	}
	wrong := func(format string, args ...any) {
		t.Helper()
		t.Errorf("%s", n.failed(format, args...))
	}
	if err := keepUncached(); err != nil {
		fatal("go test would answer the next run from its cache, since %s cannot be kept (%v): use -count=1, or make the folder writable", stateRoot(), err)
	}
	if interrupted.Load() {
		fatal("not run: interrupted")
	}
	if which := lost.Load(); which != nil {
		fatal("not run: a shard was lost in an earlier run (%s)", *which)
	}
	set := readSettings()
	if s.Name == "" {
		s.Name = t.Name()
	}
	shown := report.Escape(s.Name)
	if set.replay != "" {
		return replayRun(t, s, from, set)
	}
	if s.Target.Simulated && set.required {
		fatal("PERFTEST_REQUIRED is set and the target is simulated: set PERFTEST_URL to the server to measure")
	}
	live, err := set.liveOn(t)
	if err != nil {
		fatal("%s: %v", shown, err)
	}
	ctx, stop := lifetime(t)
	defer stop()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r := &run{cancel: cancel, live: live, scenario: s, from: from, settings: set, test: t.Name(), bubble: bubble.Inside(), grace: graceWithin(t), until: mergedBy(t), logf: func(format string, args ...any) { t.Helper(); t.Logf(format, args...) }}
	over, err := r.countMeeting()
	if err != nil {
		fatal("%s: %v", shown, err)
	}
	defer over()
	defer r.close()
	if err := r.setUp(ctx); errors.Is(err, errShort) {
		t.Skipf("%s: %v", shown, err)
	} else if err != nil {
		for _, why := range []error{context.Cause(ctx), err} {
			if errors.As(why, new(meet.Gone)) {
				noteLost(s.Name, report.Escape(why.Error()))
			}
		}
		err = stopped(ctx, err)
		r.leave(err.Error())
		fatal("%s: %v", shown, err)
	}
	res, err := r.measure(ctx)
	res, err = r.conclude(ctx, t, res, err)
	if err != nil {
		r.leave(err.Error())
	}
	switch {
	case res.elsewhere == "":
	case err != nil:
		fatal("%s: %v", shown, err)
	case res.over:
		t.Skipf("%s: shard 0 has ended the test: the verdict is %s", shown, res.elsewhere)
	default:
		return res
	}
	if !from.probe {
		r.show(t, res)
		n.result(res)
	}
	t.Cleanup(func() { t.Helper(); res.writeReport(t) })
	switch {
	case err != nil:
		fatal("%s: %v", shown, err)
	case res.Ended == endedInterrupted:
		wrong("%s: interrupted after %d requests: the result is partial", shown, res.begun())
	case res.Ended == endedDeadline:
		wrong("%s: stopped after %d of %s requests, %v before the test's deadline: raise go test's -timeout or send less",
			shown, res.begun(), planned(res.Counts.Planned), untilDeadline(t).Round(time.Second))
	case res.Ended == endedLost:
		wrong("%s: INVALID: stopped after %d of %s requests: %s", shown, res.Counts.Sent, planned(res.Counts.Planned), r.lost)
	case res.Ended == endedMustFail && from.probe:
	case res.Ended == endedMustFail:
		wrong("%s: stopped after %d of %s requests: %s", shown, res.Counts.Sent, planned(res.Counts.Planned), r.lost)
	case res.Counts.Sent == 0:
		fatal("%s: the workload gave no request to measure", shown)
	}
	return res
}

// The ways in which a run ends.
const (
	endedComplete    = "complete"
	endedDeadline    = "deadline"
	endedInterrupted = "interrupted"
	endedMustFail    = "must fail" // a gate that no further request could have saved
	endedError       = "error"
)

// ended says how a run with this context and error ended.
func ended(ctx context.Context, err error) string {
	var byRoot meet.Stopped
	switch cause := context.Cause(ctx); {
	case errors.As(cause, &byRoot):
		return string(byRoot)
	case errors.As(cause, new(lostShard)):
		return endedLost
	case errors.Is(cause, errInterrupted):
		return endedInterrupted
	case errors.Is(cause, errDeadline):
		return endedDeadline
	case errors.Is(cause, errMustFail):
		return endedMustFail
	case err != nil || cause != nil:
		return endedError
	}
	return endedComplete
}

// stopped names the reason where the set-up failed because it was stopped.
func stopped(ctx context.Context, err error) error {
	switch ended(ctx, nil) {
	case endedInterrupted:
		return errors.New("not run: interrupted")
	case endedLost:
		return fmt.Errorf("INVALID: %s", report.Escape(context.Cause(ctx).Error()))
	case endedDeadline:
		return fmt.Errorf("%w (the test's deadline came before the load: raise go test's -timeout)", err)
	}
	return err
}

func planned(n int) string {
	if n == 0 {
		return "the planned"
	}
	return fmt.Sprint(n)
}

func untilDeadline(t testing.TB) time.Duration {
	d, _ := deadlineOf(t)
	return time.Until(d)
}

// testPackage is the import path of the package under test, as the go command
// has written it into the test binary; empty in any other program.
func testPackage() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		if path, isTest := strings.CutSuffix(info.Path, ".test"); isTest {
			return path
		}
	}
	return ""
}
