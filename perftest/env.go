package perftest

import (
	"flag"
	"os"
)

// Flags of the test binary, the twins of the environment variables. There is
// none for the API key: a command line can be read by every user of a machine.
var (
	flagURL      = flag.String("perf.url", "", "server to measure (PERFTEST_URL)")
	flagModel    = flag.String("perf.model", "", "model to ask for (PERFTEST_MODEL)")
	flagResults  = flag.String("perf.results", "", "folder for results (PERFTEST_RESULTS)")
	flagRequired = flag.Bool("perf.required", false, "fail without a server or without a run (PERFTEST_REQUIRED)")
)

// settings are the environment's and the flags' wishes. They are read when a
// run starts and never earlier, so that go test sees which variables a test
// depends on.
type settings struct {
	url, model, results string
	key                 Secret
	required            bool
}

func readSettings() settings {
	return settings{
		url:      either(*flagURL, "PERFTEST_URL"),
		model:    either(*flagModel, "PERFTEST_MODEL"),
		results:  either(*flagResults, "PERFTEST_RESULTS"),
		key:      Secret(either(os.Getenv("PERFTEST_API_KEY"), "OPENAI_API_KEY")),
		required: *flagRequired || truthy(os.Getenv("PERFTEST_REQUIRED")),
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
