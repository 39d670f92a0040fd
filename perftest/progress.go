package perftest

import (
	"io"
	"os"
	"testing"
	"time"

	"github.com/slogate/slogate/internal/report"
)

// startProgress shows the run while it goes on. In a bubble hours are over in
// seconds, and nobody follows them.
func (d *driver) startProgress() *report.Progress {
	if d.bubble {
		return nil
	}
	var log io.Writer
	if testing.Testing() && testing.Verbose() {
		log = os.Stdout
	}
	return report.StartProgress(func() report.Live { return d.live().line(d.scenario) }, log)
}

// line is l for the progress line, which shows nothing for 0.
func (l Live) line(s Scenario) report.Live {
	known := func(v Value) float64 {
		if v.Known() {
			return float64(v)
		}
		return 0
	}
	duration := func(v Value) time.Duration { return time.Duration(known(v) * 1e9) }
	return report.Live{
		Scenario: s.Name, Simulated: s.Target.Simulated, Warmup: l.Warmup,
		Done: l.Done, Asked: l.Asked, InFlight: l.InFlight, Failed: l.Failed,
		Elapsed: duration(l.Elapsed), Limit: duration(l.Limit),
		RequestRate: known(l.Requests), OutputRate: known(l.Output), TTFT: known(l.TTFT), TPOT: known(l.TPOT),
	}
}
