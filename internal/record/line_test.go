package record

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"
)

// full is a record with a different value in each field.
func full() *Record {
	return &Record{
		Index: 7, Slot: 3, Tag: "long",
		Scheduled: 1_000_000_000, Ready: 1_000_000_002, Sent: 1_000_000_005, Wrote: 1_000_000_105, Connected: 1_000_020_000, Headers: 1_200_000_000,
		FirstEvent: 1_234_567_891, FirstToken: 1_234_567_892, SecondToken: 1_254_567_891, FirstAnswer: 1_254_567_891,
		LastToken: 1_300_000_000, UsageAt: 1_310_000_000, Done: 1_320_000_000, BodyEnd: 1_320_000_500,
		DNS: 0, Dial: 10_000, TLS: Absent, Reused: true, Resent: 1,
		Status: 200, FinishReason: "stop", AskedTokens: 64, IgnoreEOS: true, PlannedInput: 1024,
		InputTokens: 1023, OutputTokens: 3, CachedTokens: 0, ReasoningTokens: Absent, AudioTokens: 2, InputAudio: Absent,
		InputSource: SourceUsage, OutputSource: SourceTokenizer,
		DataEvents: 4, TokenEvents: 3, Coalesced: 1, MaxGap: 45_432_109, Bytes: 4096,
		Class: ClassTimeout, Phase: PhaseTotal, Message: "gave up \"after\" 1 s\n\u2028\x7f\xff é",
		FirstTokens: []int64{1_234_567_892, Absent, 1_254_567_891},
		Events: []Event{
			{At: 1_234_567_891, Kind: KindChoices},
			{At: 1_254_567_891, Kind: KindChoices | KindAnswer, Tokens: 2},
			{At: 1_254_567_891, Kind: KindChoices | KindReasoning | KindCoalesced, Tokens: 1},
			{At: 3_254_567_891, Kind: KindEnd | KindUsage | KindFinish},
		},
	}
}

func TestLineByHand(t *testing.T) {
	want := `{"index":7,"phase":"measured","slot":3,"turn":null,"choices":null,"items":null,"row":null,"tag":"long",` +
		`"scheduled_s":1,"ready_s":1.000000002,"sent_s":1.000000005,"wrote_s":1.000000105,"connected_s":1.00002,"headers_s":1.2,` +
		`"first_event_s":1.234567891,"first_token_s":1.234567892,"second_token_s":1.254567891,"first_answer_s":1.254567891,` +
		`"last_token_s":1.3,"usage_s":1.31,"done_s":1.32,"body_end_s":1.3200005,"choice_first_tokens_s":[1.234567892,null,1.254567891],` +
		`"dns_s":0,"dial_s":0.00001,"tls_s":null,"reused":true,"resent":1,` +
		`"status":200,"finish_reason":"stop","asked_tokens":64,"ignore_eos":true,"planned_input_tokens":1024,` +
		`"input_tokens":1023,"output_tokens":3,"cached_tokens":0,"reasoning_tokens":null,"audio_tokens":2,"input_audio_tokens":null,` +
		`"input_source":"usage","output_source":"tokenizer",` +
		`"data_events":4,"token_events":3,"coalesced":1,"max_gap_s":0.045432109,"bytes":4096,` +
		`"class":"timeout","failure_phase":"total","message":"gave up \"after\" 1 s\u000a\u2028\u007f` + "\ufffd é" + `",` +
		`"event_gaps_s":[0.234567886,0.02,0,2],"event_kinds":"01034538","event_tokens":[0,2,1,0]}` + "\n"
	if diff := cmp.Diff(want, string(appendLine(nil, full()))); diff != "" {
		t.Fatalf("line (-want +got):\n%s", diff)
	}
}

func TestLineOfAnUnknownRecord(t *testing.T) {
	var r Record
	r.Reset()
	r.Part = Warmup
	want := `{"index":0,"phase":"warmup","slot":0,"turn":null,"choices":null,"items":null,"row":null,"tag":null,` +
		`"scheduled_s":null,"ready_s":null,"sent_s":null,"wrote_s":null,"connected_s":null,"headers_s":null,` +
		`"first_event_s":null,"first_token_s":null,"second_token_s":null,"first_answer_s":null,` +
		`"last_token_s":null,"usage_s":null,"done_s":null,"body_end_s":null,"choice_first_tokens_s":null,` +
		`"dns_s":null,"dial_s":null,"tls_s":null,"reused":false,"resent":0,` +
		`"status":null,"finish_reason":null,"asked_tokens":null,"ignore_eos":false,"planned_input_tokens":null,` +
		`"input_tokens":null,"output_tokens":null,"cached_tokens":null,"reasoning_tokens":null,"audio_tokens":null,"input_audio_tokens":null,` +
		`"input_source":"none","output_source":"none",` +
		`"data_events":0,"token_events":0,"coalesced":0,"max_gap_s":null,"bytes":0,` +
		`"class":null,"failure_phase":null,"message":null,` +
		`"event_gaps_s":[],"event_kinds":""}` + "\n"
	if diff := cmp.Diff(want, string(appendLine(nil, &r))); diff != "" {
		t.Fatalf("line (-want +got):\n%s", diff)
	}
}

func TestSeconds(t *testing.T) {
	for ns, want := range map[int64]string{
		0: "0", 1: "0.000000001", 10: "0.00000001", 999_999_999: "0.999999999",
		1_000_000_000: "1", 1_500_000_000: "1.5", -2: "-0.000000002", -1_500_000_000: "-1.5",
		math.MaxInt64: "9223372036.854775807", math.MinInt64: "-9223372036.854775808",
	} {
		require.Equal(t, want, string(appendSeconds(nil, ns)))
		var back int64
		require.NoError(t, fixed(&back, []byte(want), 9))
		require.Equal(t, ns, back)
	}
}

// randomRecord makes a record whose fields are often at the edges.
func randomRecord(r *rand.Rand) *Record {
	stamp := func() int64 {
		switch r.IntN(6) {
		case 0:
			return Absent
		case 1:
			return 0
		case 2:
			return r.Int64()
		default:
			return r.Int64N(1 << 45)
		}
	}
	count := func() int { return r.IntN(3) * r.IntN(1<<30) }
	str := func() string {
		pool := []string{"", "stop", "none", "null", "a\"b\\c", "\u2028\u0085\u001b[31m", "é漢🙂", "\x00\t\r\n", "{}[],:", strings.Repeat("x", 500)}
		return pool[r.IntN(len(pool))]
	}
	x := &Record{
		Index: count(), Part: Part(r.IntN(4)), Slot: count(), Tag: str(),
		Scheduled: stamp(), Sent: stamp(), Wrote: stamp(), Connected: stamp(), Headers: stamp(), FirstEvent: stamp(),
		FirstToken: stamp(), SecondToken: stamp(), FirstAnswer: stamp(), LastToken: stamp(), UsageAt: stamp(), Done: stamp(), BodyEnd: stamp(),
		DNS: stamp(), Dial: stamp(), TLS: stamp(), Reused: r.IntN(2) == 0, Resent: count(),
		Status: count(), FinishReason: str(), AskedTokens: count(), IgnoreEOS: r.IntN(2) == 0, PlannedInput: count(),
		InputTokens: stamp(), OutputTokens: stamp(), CachedTokens: stamp(), ReasoningTokens: stamp(), AudioTokens: stamp(), InputAudio: stamp(),
		InputSource: str(), OutputSource: str(),
		DataEvents: count(), TokenEvents: count(), Coalesced: count(), MaxGap: stamp(), Bytes: int64(count()),
		Class: str(), Phase: str(), Message: str(),
	}
	for range r.IntN(2) * r.IntN(5) {
		x.FirstTokens = append(x.FirstTokens, stamp())
	}
	for range r.IntN(3) * r.IntN(100) {
		x.Events = append(x.Events, Event{At: stamp(), Kind: Kind(r.IntN(256)), Tokens: int32(r.IntN(2) * int(r.Int32()))})
	}
	return x
}

func TestRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var want []*Record
	var file []byte
	for range 600 {
		x := randomRecord(r)
		want = append(want, x)
		start := len(file)
		file = appendLine(file, x)
		line := file[start : len(file)-1]
		require.True(t, json.Valid(line), "%s", line)
		require.NotContains(t, string(line), "\n")
	}
	rd := NewReader(strings.NewReader(string(file)))
	var got Record
	for i, x := range want {
		require.NoError(t, rd.Next(&got))
		if diff := cmp.Diff(*x, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("record %d (-want +got):\n%s", i, diff)
		}
	}
	require.Error(t, rd.Next(&got))
}
