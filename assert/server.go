package assert

import "github.com/slogate/slogate/perftest"

// Server is a metric of the server's own, by the name that its /metrics has,
// in its unit; see [perftest.ServerMetrics], which has to ask for it. Labels
// choose among several series, else they are added up (of shares and averages,
// the largest counts):
//
//	assert.Server("vllm:num_requests_waiting", assert.Max).Below(10)
//	assert.Server(`vllm:request_success_total{finished_reason="length"}`, assert.Last).AtMost(0)
//
// Max, Min, Mean and percentiles are over the scrapes during the load: what
// was between two of them is not seen. A counter stands for its increase since
// the load began; its Last is that over the whole load.
func Server(series string, stat perftest.Stat) Number {
	return Number{metric: perftest.ServerMetric, stat: stat, series: series}
}
