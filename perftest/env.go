package perftest

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/slogate/slogate/internal/load"
	"github.com/slogate/slogate/internal/report/chart"
)

// Flags of the test binary, the twins of the environment variables. There is
// none for the API key: a command line can be read by every user of a machine.
var (
	flagURL      = flag.String("perf.url", "", "server to measure (PERFTEST_URL)")
	flagModel    = flag.String("perf.model", "", "model to ask for (PERFTEST_MODEL)")
	flagResults  = flag.String("perf.results", "", "folder for results (PERFTEST_RESULTS)")
	flagShard    = flag.String("perf.shard", "", "part i/n of the load that this process sends (PERFTEST_SHARD)")
	flagCharts   = flag.String("perf.charts", "", "formats of chart files beside report.html: svg, png or both (PERFTEST_CHARTS)")
	flagCompare  = flag.String("perf.compare", "", "folders of results to compare, by commas: no test is run")
	flagReplay   = flag.String("perf.replay", "", "folders with stored runs, by commas, to judge and report again: nothing is sent (PERFTEST_REPLAY)")
	flagMissing  = flag.Bool("perf.missing", false, "replay a run of which shards are missing, as a partial one (PERFTEST_MISSING)")
	flagLive     = flag.String("perf.live", "", "address of a page that shows the runs under way and can stop them, such as 127.0.0.1:8088 (PERFTEST_LIVE)")
	flagOutside  = flag.Bool("perf.live-outside", false, "let that page be reached from other machines (PERFTEST_LIVE_OUTSIDE)")
	flagUpdate   = flag.Bool("perf.update", false, "append what was measured to the baselines (PERFTEST_UPDATE)")
	flagRequired = flag.Bool("perf.required", false, "fail without a server or without a run (PERFTEST_REQUIRED)")
)

// settings are the environment's and the flags' wishes. They are read when a
// run starts and never earlier, so that go test sees which variables a test
// depends on.
type settings struct {
	url, model, results string
	key                 Secret
	chartsText          string
	live                string // address of the live page
	liveOutside         bool   // it may be one that other machines reach
	replay              string // folders with stored runs
	missing             bool   // shards of theirs may be
	required            bool
	update              bool // of baselines
	bottleneck          string
	shardText           string
	rendezvous          bool   // the shards of the load meet
	shards              string // how many there are, where an engine numbers them
	token               bool   // they have a secret to meet with
	nonceText           string
	nonce               uint64     // of nonceText, once it is checked; 0 for one of the run's own
	shard               load.Shard // of shardText, once it is checked
}

// parseNonce reads a run's number; empty is one of the run's own.
func parseNonce(text string) (uint64, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(text, 10, 53)
	if err != nil || n == 0 {
		return 0, badField("PERFTEST_NONCE", fmt.Sprintf("%q", text), "set it to a whole number from 1 to 2^53-1")
	}
	return n, nil
}

// parseShard reads "i/n": part i, from 0, of n. Empty is the whole load.
func parseShard(text string) (load.Shard, error) {
	if text == "" {
		return load.Shard{}, nil
	}
	i, n, ok := strings.Cut(text, "/")
	index, err1 := strconv.Atoi(i)
	count, err2 := strconv.Atoi(n)
	if !ok || err1 != nil || err2 != nil || count < 1 || index < 0 || index >= count {
		return load.Shard{}, badField("PERFTEST_SHARD", fmt.Sprintf("%q", text), `set it to "i/n" with i from 0 to n-1, such as "0/4"`)
	}
	return load.Shard{Index: index, Count: count}, nil
}

// bottleneckWarns is the one value of PERFTEST_BOTTLENECK.
const bottleneckWarns = "warn"

// warnsOfBottleneck says that a run is judged although its client was the
// bottleneck.
func (s settings) warnsOfBottleneck() bool { return s.bottleneck == bottleneckWarns }

// parseCharts reads the formats of chart files; empty is none.
func parseCharts(text string) (formats []string, err error) {
	if text == "" {
		return nil, nil
	}
	for _, f := range strings.Split(text, ",") {
		if f = strings.TrimSpace(f); !slices.Contains(chart.Formats, f) {
			return nil, badField("PERFTEST_CHARTS", fmt.Sprintf("%q", text), `set it to "svg", "png" or "svg,png"`)
		}
		formats = append(formats, f)
	}
	return formats, nil
}

func readSettings() settings {
	return settings{
		url:         either(*flagURL, "PERFTEST_URL"),
		model:       either(*flagModel, "PERFTEST_MODEL"),
		results:     either(*flagResults, "PERFTEST_RESULTS"),
		key:         Secret(either(os.Getenv("PERFTEST_API_KEY"), "OPENAI_API_KEY")),
		bottleneck:  os.Getenv("PERFTEST_BOTTLENECK"),
		shardText:   either(*flagShard, "PERFTEST_SHARD"),
		rendezvous:  os.Getenv("PERFTEST_RENDEZVOUS") != "",
		shards:      os.Getenv("PERFTEST_SHARDS"),
		token:       os.Getenv("PERFTEST_TOKEN") != "",
		nonceText:   os.Getenv("PERFTEST_NONCE"),
		live:        either(*flagLive, "PERFTEST_LIVE"),
		liveOutside: *flagOutside || truthy(os.Getenv("PERFTEST_LIVE_OUTSIDE")),
		replay:      either(*flagReplay, "PERFTEST_REPLAY"),
		missing:     *flagMissing || truthy(os.Getenv("PERFTEST_MISSING")),
		chartsText:  either(*flagCharts, "PERFTEST_CHARTS"),
		update:      *flagUpdate || truthy(os.Getenv("PERFTEST_UPDATE")),
		required:    *flagRequired || truthy(os.Getenv("PERFTEST_REQUIRED")),
	}
}

// either is given, or else the environment's variable.
func either(given, variable string) string {
	if given != "" {
		return given
	}
	return os.Getenv(variable)
}

func truthy(s string) bool { return s != "" && s != "0" && s != "false" }

// TargetFromEnv gives the target that PERFTEST_URL names, with PERFTEST_MODEL
// and PERFTEST_API_KEY (or OPENAI_API_KEY), and whether there is one. Without
// a URL the model is all that it holds.
func TargetFromEnv() (Target, bool) {
	s := readSettings()
	return Target{URL: s.url, Model: s.model, APIKey: s.key}, s.url != ""
}

// Required reports whether PERFTEST_REQUIRED (or -perf.required) asks for a
// real server and at least one run.
func Required() bool { return readSettings().required }
