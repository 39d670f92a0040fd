package perftest_test

import (
	"fmt"
	"log"

	"github.com/slogate/slogate/perftest"
)

// One stream has a TTFT of 50, 200 or 400 ms, depending on the tool.
func ExampleResult_Peers() {
	res, err := perftest.ReadResult("testdata/worked")
	if err != nil {
		log.Fatal(err)
	}
	peers, err := res.Peers()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(peers)
	// Output:
	// What other tools would have printed for TestWorked SIMULATED
	// tool               TTFT      p99  latency     p99     TPOT      p99      ITL      p99
	// --------------  -------  -------  -------  ------  -------  -------  -------  -------
	// slogate         200.0ms  200.0ms   1.015s  1.015s  20.00ms  20.00ms  20.00ms  20.00ms
	// EvalScope       50.00ms  50.00ms   1.015s  1.015s  24.12ms  24.12ms  22.86ms  150.0ms
	// AIPerf          200.0ms  200.0ms   1.000s  1.000s  20.00ms  20.00ms  20.00ms  20.00ms
	// GuideLLM        200.0ms  200.0ms   1.015s  1.015s  24.39ms  24.39ms  20.00ms  20.00ms
	// vLLM bench      50.00ms  50.00ms   1.015s  1.015s  24.12ms  24.12ms  22.86ms  96.70ms
	// SGLang bench    200.0ms  200.0ms   1.015s  1.015s  20.38ms  20.38ms  20.00ms  20.00ms
	// genai-bench     200.0ms  200.0ms   1.015s  1.015s  20.38ms  20.38ms        -        -
	// inference-perf  400.0ms  400.0ms   1.020s  1.020s  20.00ms  20.00ms  20.00ms  20.00ms
	// Means, and p99 by each tool's own rule. Why they differ:
	// - slogate: first token of any kind, end mark of the answer, gaps between token events; percentiles linear
	// - EvalScope: first event with choices, be it a role without text; ends with the usage event; gaps of all events with choices; p99 is sorted[n*99/100]
	// - AIPerf: as here, but the answer ends with its last token; what is TPOT here is called ITL, and ITL here ICL
	// - GuideLLM: TPOT is the time to the last token over all tokens, TTFT inside; ITL is a mean a request, weighted by tokens - 1; percentiles are samples, never between two
	// - vLLM bench: first event with choices, be it a role without text; ends with the usage event, or since pull request 55508 with the finish reason; gaps of all events with choices
	// - SGLang bench: ends with the last line, end mark included; TPOT has the wait for it; takes the tokens asked for as the tokens sent where there is no usage; does not see a tool call's arguments or audio
	// - genai-bench: ends with the usage event; TPOT has the wait for it; no gaps between tokens; leaves out answers of more than 1000 tokens a second; does not see a tool call's arguments or audio
	// - inference-perf: reasoning, a tool call's arguments and audio do not exist for it: first and last text, tokens of the text counted anew; ends with the body, after the end mark
}

// A figure under the peer's own name.
func ExampleResult_As() {
	res, err := perftest.ReadResult("testdata/worked")
	if err != nil {
		log.Fatal(err)
	}
	reading, err := res.As(perftest.EvalScope)
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range reading.Figures {
		fmt.Printf("%-8s beside %-8s %4d  mean %6.1f ms  p99 %6.1f ms\n", f.Name, f.Metric, f.Count, 1000*f.Mean, 1000*f.P(99))
	}
	// Output:
	// TTFT     beside ttft        1  mean   50.0 ms  p99   50.0 ms
	// Latency  beside latency     1  mean 1015.0 ms  p99 1015.0 ms
	// TPOT     beside tpot        1  mean   24.1 ms  p99   24.1 ms
	// ITL      beside itl        42  mean   22.9 ms  p99  150.0 ms
}
