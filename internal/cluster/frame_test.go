package cluster

import (
	"bytes"
	"io"
	"runtime"
	"testing"

	"github.com/slogate/slogate/internal/meet"
	"github.com/stretchr/testify/require"
)

// Frames come back as they were sent, until the bytes end; what is no frame is
// an error, and none takes more memory than its kind may.
func FuzzFrames(f *testing.F) {
	f.Add(appendFrame(appendFrame(nil, kindReady, []byte("load")), kindPong, pong{1, -2}.encode()))
	f.Add(appendFrame(nil, kindEnd, []byte(`{"result":"e30=","problem":"none","bytes":12}`)))
	f.Add(appendFrame(nil, kindLive, []byte(`{"done":3,"ttft_ns":1e9}`)))
	f.Add(appendFrame(nil, kindRecords, bytes.Repeat([]byte("{}\n"), 100)))
	f.Add([]byte{byte(kindEnd), 0x03, 0xff, 0xff, 0xff})
	f.Add([]byte{byte(kindPong), 0, 1, 0, 1, 0})
	f.Add([]byte{0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		in := bytes.NewReader(data)
		for {
			before := len(data) - in.Len()
			k, payload, err := readFrame(in)
			if err != nil {
				break
			}
			require.LessOrEqual(t, len(payload), k.limit())
			after := len(data) - in.Len()
			require.Equal(t, data[before:after], appendFrame(nil, k, payload))
			if m, err := decode(k, payload); err == nil {
				if text, ok := m.(string); ok {
					require.LessOrEqual(t, len(text), mostText+len("…"))
					require.NotContains(t, text, "\n")
				}
			}
			if _, err := checkHello([]byte(secret), payload, payload); err == nil {
				t.Fatal("a hello without the token")
			}
		}
	})
}

// What announces much and sends little takes little.
func TestFramesTakeWhatCame(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, _, err := readFrame(bytes.NewReader([]byte{byte(kindEnd), 0x03, 0xff, 0xff, 0xff, 1, 2, 3}))
	runtime.ReadMemStats(&after)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20))
	_, _, err = readFrame(bytes.NewReader([]byte{byte(kindReady), 0, 1, 0, 1}))
	require.ErrorContains(t, err, "65537 bytes, more than 65536")
	_, _, err = readFrame(bytes.NewReader([]byte{byte(kindReady), 0, 0, 0, 0}), kindHello)
	require.ErrorContains(t, err, "not one of this protocol's here")
}

// The sum is that of each field, by hand.
func TestLivePlus(t *testing.T) {
	a := meet.Live{Warmup: true, InFlight: 1, Done: 2, Failed: 3, Cancelled: 4, WarmupDone: 5, WarmupFailed: 6, Output: 7, Window: 8, TTFT: 9, WithTTFT: 10, TPOT: 11, WithTPOT: 12}
	require.Equal(t, meet.Live{Warmup: true, InFlight: 2, Done: 4, Failed: 6, Cancelled: 8, WarmupDone: 10, WarmupFailed: 12, Output: 14, Window: 8, TTFT: 18, WithTTFT: 20, TPOT: 22, WithTPOT: 24}, a.Plus(a))
}
