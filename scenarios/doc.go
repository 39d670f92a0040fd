// Package scenarios has one test file a model family, ready to be pointed at a
// real server:
//
//	PERFTEST_URL=http://host:8000 go test ./scenarios -run Qwen3
//
// Without PERFTEST_URL a simulated server is measured, and every output says so.
package scenarios
