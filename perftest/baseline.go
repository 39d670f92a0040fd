package perftest

import (
	"fmt"
	"math"
	"path/filepath"
	"time"
)

// Baseline is what runs are compared with, and how; zero works. It is a file
// of earlier runs, unless Result names others.
type Baseline struct {
	// File of the baseline, JSON lines with a run each; empty means
	// testdata/perftest/<test>.jsonl. A relative path counts from the package's
	// folder. It belongs under version control: PERFTEST_UPDATE=1 (or
	// -perf.update) appends to it and changes nothing in it.
	File string
	// Result, unless nil, is the baseline in place of a file: the other side of
	// an [AB], or a stored one. The targets may then differ.
	Result *Result
	// Tolerance is the share by which a figure may be worse and is no
	// regression; 0 means 0.05.
	Tolerance float64
	// Margin is the share by which it has to be proved not to be worse to be
	// OK, at least Tolerance; 0 means 0.10, or Tolerance if that is more.
	Margin float64
	// Alpha is the chance of a false REGRESSED of all figures together, and of
	// a false OK of each; 0 means 0.05.
	Alpha float64
	// Proved makes INCONCLUSIVE red: only runs that are proved not to be worse
	// than Margin are green.
	Proved bool
	// LogIncomparable makes INCOMPARABLE no error, but a message.
	LogIncomparable bool
}

// Outcomes of a [Comparison], beside Inconclusive and Invalid.
const (
	Unchanged    Outcome = "OK"           // proved not to be worse than the margin
	Improved     Outcome = "IMPROVED"     // OK, and a figure is proved to be better than the tolerance
	Regressed    Outcome = "REGRESSED"    // a figure is proved to be worse than the tolerance
	Incomparable Outcome = "INCOMPARABLE" // the baseline's runs ran something else, or elsewhere
	NoBaseline   Outcome = "NO BASELINE"  // there is none yet
)

// Comparison is what runs say against those of a baseline.
type Comparison struct {
	Outcome Outcome `json:"outcome"` // the worst of the figures that gate
	// Advisory says that a single run was compared: a hint and no evidence,
	// since no single run tells what runs differ by.
	Advisory bool `json:"advisory"`
	// Reason says why, in one line.
	Reason    string `json:"reason"`
	Baseline  int    `json:"baseline_runs"`  // how many were compared with
	Candidate int    `json:"candidate_runs"` // how many were compared
	// MoreRuns is how many more on each side would probably decide an
	// INCONCLUSIVE one; 0 where none are needed or ten would not do.
	MoreRuns int `json:"more_runs"`
	// Changes has a figure each: those that gate first, then those that advise.
	Changes []Change `json:"changes"`
	// Differs shows, for INCOMPARABLE, how the fingerprint differs from that
	// of the baseline's last run.
	Differs string `json:"differs,omitempty"`
	// File of the baseline; empty where it was a result.
	File      string    `json:"file,omitempty"`
	Commit    string    `json:"commit,omitempty"` // of the baseline's last run
	Time      time.Time `json:"time,omitzero"`    // of the baseline's last run
	Tolerance float64   `json:"tolerance"`        // the share by which a figure may be worse
	Margin    float64   `json:"margin"`           // the share that it is proved not to exceed
}

// Change is one figure of the runs against the baseline's.
type Change struct {
	Metric  Metric  `json:"metric"`         // what the figure is of
	Stat    Stat    `json:"stat,omitempty"` // which figure; empty for a metric that is one number
	Gates   bool    `json:"gates"`          // it decides; else it is advice
	Outcome Outcome `json:"outcome"`        // of this figure alone
	// Reason says why where the figures cannot.
	Reason    string `json:"reason,omitempty"`
	Baseline  Value  `json:"baseline"`    // geometric mean over its runs, in the metric's unit
	Candidate Value  `json:"candidate"`   // the same of the runs that are compared
	Ratio     Value  `json:"ratio"`       // candidate over baseline
	Lower     Value  `json:"ratio_lower"` // one-sided bound of the ratio, at level Alpha
	Upper     Value  `json:"ratio_upper"` // the other one
	// Detectable is the least change, as a share, that such runs find four
	// times in five.
	Detectable Value `json:"detectable"`
	// P is the level at which the figure is found to be worse than the
	// tolerance.
	P Value `json:"p"`
	// Permutation is the level at which an exact permutation of the runs finds
	// the figure worse at all; absent where there are too many runs for it, or
	// a single one.
	Permutation Value `json:"permutation_p"`
}

// check refuses what no runs could be compared by.
func (b Baseline) check() error {
	share := func(v float64) bool { return v >= 0 && !math.IsInf(v, 0) }
	switch {
	case !share(b.Tolerance):
		return badField("Baseline.Tolerance", b.Tolerance, "set a share such as 0.10 for 10%, or 0 for 0.05")
	case !share(b.Margin):
		return badField("Baseline.Margin", b.Margin, "set a share such as 0.10 for 10%, or 0 for that")
	case b.Margin > 0 && b.Margin < b.tolerance():
		return badField("Baseline.Margin", b.Margin, fmt.Sprintf("set it to Tolerance, %v, or more", b.tolerance()))
	case !(b.Alpha >= 0 && b.Alpha < 0.5):
		return badField("Baseline.Alpha", b.Alpha, "set a level between 0 and 0.5, or 0 for 0.05")
	case b.Result != nil && b.File != "":
		return badField("Baseline.File", fmt.Sprintf("%q", b.File), "leave it empty: Result is the baseline")
	}
	return nil
}

func (b Baseline) tolerance() float64 {
	if b.Tolerance == 0 {
		return 0.05
	}
	return b.Tolerance
}

func (b Baseline) margin() float64 {
	if b.Margin == 0 {
		return max(0.10, b.tolerance())
	}
	return b.Margin
}

func (b Baseline) alpha() float64 {
	if b.Alpha == 0 {
		return 0.05
	}
	return b.Alpha
}

// file is the path of the baseline of a test, and path the same as it is shown:
// from the package's folder.
func (b Baseline) file(test string) (file, shown string) {
	shown = b.File
	if shown == "" {
		shown = filepath.Join("testdata", "perftest", filepath.FromSlash(safePath(test))+".jsonl")
	}
	if filepath.IsAbs(shown) {
		return shown, shown
	}
	return filepath.Join(packageDir, shown), shown
}
