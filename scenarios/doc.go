// Package scenarios has one test file a model family, ready to be pointed at a
// real server:
//
//	PERFTEST_URL=http://host:8000 go test ./scenarios -run 'TestQwen3$'
//
// Without PERFTEST_URL a simulated server is measured, and every output says so.
// Each test then takes a few seconds.
//
// # The one line
//
// xLLM's guide has a shell script around EvalScope with MODEL, INPUT_TOKENS,
// OUTPUT_TOKENS, PREFIX_TOKENS and TOKENIZE_PROMPT. Here it is this line:
//
//	PERFTEST_URL=http://127.0.0.1:8000 PERFTEST_MODEL=Qwen3-32B PERFTEST_LEVELS=1,4,8 PERFTEST_REQUESTS=32 PERFTEST_INPUT_TOKENS=1024 PERFTEST_OUTPUT_TOKENS=256 PERFTEST_PREFIX_TOKENS=512 PERFTEST_TOKENIZE_PROMPT=true go test -v -timeout 1h ./scenarios -run 'TestQwen3$'
//
// For a model that is not of Qwen3, PERFTEST_TOKENIZER names its folder. Without
// it, and without lengths that were asked for, TestQwen3 sends prompts that come
// with slogate, so that a first run against any server works.
//
// # Environment
//
// Beside the variables that package perftest lists, the tests read these. One
// that is not set means the test's own value; one that cannot be read ends the
// test before anything is sent.
//
//	PERFTEST_LEVELS           concurrencies, one sub-test each: 1,4,8
//	PERFTEST_REQUESTS         requests of each slot of a level: of 32, a level of 4 sends 128
//	PERFTEST_INPUT_TOKENS     input tokens of a request, chat template included: of TestQwen3VL
//	                          without the pictures, of TestEmbeddings one text, of TestRerank one
//	                          document, of TestTraceReplay the most (longer rows are left out)
//	PERFTEST_OUTPUT_TOKENS    output tokens of a request; of TestTraceReplay the most
//	PERFTEST_PREFIX_TOKENS    input tokens that all prompts begin with and share
//	PERFTEST_TOKENIZE_PROMPT  true: TestQwen3 sends token ids to /v1/completions, as
//	                          TestQwen3TokenIDs does anyhow
//	PERFTEST_IGNORE_EOS       false: leave out ignore_eos, which servers other than vLLM, SGLang,
//	                          xLLM and their like may refuse; answers may then be shorter
//	PERFTEST_TOKENIZER        the model's tokenizer: its folder, its tokenizer.json, or the name
//	                          of a built-in one; by default Qwen3's, for its models
//	PERFTEST_PREFIX_CACHE     true: TestQwen3PrefixCache insists that a shared prefix lowers TTFT,
//	                          although the server does not say what it took from its cache
//	PERFTEST_IMAGES           pictures in a request of TestQwen3VL: 1
//	PERFTEST_IMAGE_SIZE       their width and height in pixels: 512x512
//	PERFTEST_BATCH            texts in a request of TestEmbeddings: 8
//	PERFTEST_DOCUMENTS        documents in a request of TestRerank: 10
//	PERFTEST_TRACE            the trace of TestTraceReplay, see fixtures.Trace; a relative path
//	                          counts from this folder
//	PERFTEST_SPEEDS           speeds at which it is replayed, one sub-test each: 1
//
// # Objectives
//
// The objectives are examples: set them, in the test, to what your users need. A
// test binary ends after ten minutes unless -timeout says otherwise, and one run
// of several tests is one binary.
package scenarios
