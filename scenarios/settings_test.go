package scenarios

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slogate/slogate/perftest"
)

// size is how much a scenario sends, and of what length.
type size struct {
	levels                []int // concurrencies
	requests              int   // of each slot
	least                 int   // of a level
	input, output, prefix int   // tokens
}

// sized gives what PERFTEST_* asks for, and where that is nothing, the size for
// a real server or the one for the simulated server, which is over soon.
func sized(t *testing.T, target perftest.Target, onReal, onSimulated size) size {
	t.Helper()
	s := onReal
	if target.Simulated {
		s = onSimulated
	}
	s.levels = list(t, "PERFTEST_LEVELS", s.levels...)
	if asked := number(t, "PERFTEST_REQUESTS", 1, 0); asked > 0 {
		s.requests, s.least = asked, 0
	}
	s.input = number(t, "PERFTEST_INPUT_TOKENS", 1, s.input)
	s.output = number(t, "PERFTEST_OUTPUT_TOKENS", 1, s.output)
	s.prefix = number(t, "PERFTEST_PREFIX_TOKENS", 0, s.prefix)
	return s
}

// loads are closed loops, one for each level.
func (s size) loads() []perftest.Load {
	loads := make([]perftest.Load, len(s.levels))
	for i, c := range s.levels {
		loads[i] = perftest.Closed{Concurrency: c, Requests: max(s.requests*c, s.least)}
	}
	return loads
}

// warmup is one request for each slot of the widest level.
func (s size) warmup() perftest.Warmup {
	return perftest.Warmup{Requests: slices.Max(s.levels)}
}

// most is the number of requests of the widest level, warm-up included.
func (s size) most() (n int) {
	for _, c := range s.levels {
		n = max(n, max(s.requests*c, s.least)+s.warmup().Requests)
	}
	return n
}

// number is a variable's whole number, which has to be at least least.
func number(t *testing.T, variable string, least, unset int) int {
	t.Helper()
	return setting(t, variable, unset, func(s string) (int, string) { return parseNumber(s, least) })
}

// list is a variable's list of whole numbers above 0.
func list(t *testing.T, variable string, unset ...int) []int {
	t.Helper()
	return setting(t, variable, unset, parseList)
}

// speeds is a variable's list of numbers above 0.
func speeds(t *testing.T, variable string, unset ...float64) []float64 {
	t.Helper()
	return setting(t, variable, unset, parseSpeeds)
}

// yes is a variable's truth value.
func yes(t *testing.T, variable string, unset bool) bool {
	t.Helper()
	return setting(t, variable, unset, parseYes)
}

// ignoreEOS says whether answers are to go on up to the limit.
func ignoreEOS(t *testing.T) bool {
	t.Helper()
	return yes(t, "PERFTEST_IGNORE_EOS", true)
}

// setting reads a variable in the test and no earlier, so that go test sees
// that the test depends on it. A value that parse has a remedy for ends the
// test before anything is sent.
func setting[T any](t *testing.T, variable string, unset T, parse func(string) (value T, remedy string)) T {
	t.Helper()
	text := strings.TrimSpace(os.Getenv(variable))
	if text == "" {
		return unset
	}
	value, remedy := parse(text)
	if remedy != "" {
		t.Fatalf("%s is %.60q: set it to %s", variable, text, remedy)
	}
	return value
}

func parseNumber(s string, least int) (int, string) {
	const most = 1 << 24
	n, err := strconv.Atoi(s)
	if err != nil || n < least || n > most {
		return 0, fmt.Sprintf("a whole number from %d to %d", least, most)
	}
	return n, ""
}

func parseList(s string) ([]int, string) {
	return parseEach(s, `concurrencies above 0 with commas between, none of them twice, such as "1,4,8"`, func(s string) (int, bool) {
		n, err := strconv.Atoi(s)
		return n, err == nil && n > 0
	})
}

func parseSpeeds(s string) ([]float64, string) {
	return parseEach(s, `numbers above 0 with commas between, none of them twice, such as "0.5,1,2"`, func(s string) (float64, bool) {
		v, err := strconv.ParseFloat(s, 64)
		return v, err == nil && v > 0 && v <= 1e6
	})
}

// parseEach reads a list without a value that stands twice: the results of one
// would be taken for those of the other.
func parseEach[T cmp.Ordered](s, remedy string, parse func(string) (T, bool)) (values []T, _ string) {
	seen := map[T]bool{}
	for part := range strings.SplitSeq(s, ",") {
		v, ok := parse(strings.TrimSpace(part))
		if !ok || seen[v] {
			return nil, remedy
		}
		seen[v] = true
		values = append(values, v)
	}
	return values, ""
}

func parseYes(s string) (bool, string) {
	v, err := strconv.ParseBool(s)
	if err != nil {
		return false, `"true" or "false"`
	}
	return v, ""
}

func parseSize(s string) (wh [2]int, remedy string) {
	const most = 16384
	w, h, _ := strings.Cut(s, "x")
	for i, side := range []string{w, h} {
		n, err := strconv.Atoi(side)
		if err != nil || n < 1 || n > most {
			return wh, fmt.Sprintf(`width and height in pixels, each from 1 to %d, such as "512x512"`, most)
		}
		wh[i] = n
	}
	return wh, ""
}

// asPlanned holds the simulated server, which counts with the tokenizer of
// Qwen3, to the number of input tokens that was planned. What a real server
// counts is its own: a deviation is one of the result's warnings.
func asPlanned(t *testing.T, res *perftest.Result) {
	t.Helper()
	if !res.Simulated || os.Getenv("PERFTEST_TOKENIZER") != "" {
		return
	}
	require.Equal(t, res.Counts.Succeeded, res.Counts.PlannedServed)
	require.Zero(t, res.Counts.LargestDeviation, "%v", res.Warnings)
}

func TestSettings(t *testing.T) {
	for _, c := range []struct {
		parse func(string) (any, string)
		text  string
		want  any // nil for one that is refused
	}{
		{numberFrom(1), "64", 64},
		{numberFrom(0), "0", 0},
		{numberFrom(1), "0", nil},
		{numberFrom(1), "-3", nil},
		{numberFrom(1), "1k", nil},
		{numberFrom(1), "99999999999999999999", nil},
		{anyOf(parseList), "1,4, 8", []int{1, 4, 8}},
		{anyOf(parseList), "1,,8", nil},
		{anyOf(parseList), "0", nil},
		{anyOf(parseList), "4,4", nil},
		{anyOf(parseSpeeds), "0.5,2", []float64{0.5, 2}},
		{anyOf(parseSpeeds), "NaN", nil},
		{anyOf(parseSpeeds), "inf", nil},
		{anyOf(parseYes), "true", true},
		{anyOf(parseYes), "0", false},
		{anyOf(parseYes), "on", nil},
		{anyOf(parseSize), "640x480", [2]int{640, 480}},
		{anyOf(parseSize), "640", nil},
		{anyOf(parseSize), "0x480", nil},
		{anyOf(parseSize), "640x480x3", nil},
	} {
		got, remedy := c.parse(c.text)
		if c.want == nil {
			require.NotEmpty(t, remedy, c.text)
			continue
		}
		require.Empty(t, remedy, c.text)
		require.Equal(t, c.want, got)
	}
}

func numberFrom(least int) func(string) (any, string) {
	return anyOf(func(s string) (int, string) { return parseNumber(s, least) })
}

func anyOf[T any](parse func(string) (T, string)) func(string) (any, string) {
	return func(s string) (any, string) { return parse(s) }
}
