package tensorboard

import (
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/slogate/slogate/perftest/export/internal/exporttest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type event struct {
	at      float64
	step    uint64
	version string
	scalars map[string]float64
}

// read is a second reader: protobuf's own wire package, and the checksum by
// its definition, rotated right by 15 bits.
func read(t *testing.T, data []byte) (all []event) {
	check := func(of []byte, want uint32) {
		t.Helper()
		c := crc32.New(crc32.MakeTable(0x82f63b78))
		_, _ = c.Write(of)
		sum := c.Sum32()
		require.Equal(t, want, uint32(uint64(sum>>15|sum<<17)+0xa282ead8))
	}
	for len(data) > 0 {
		n := binary.LittleEndian.Uint64(data)
		check(data[:8], binary.LittleEndian.Uint32(data[8:]))
		record := data[12 : 12+n]
		check(record, binary.LittleEndian.Uint32(data[12+n:]))
		data = data[16+n:]
		e := event{scalars: map[string]float64{}}
		fields(t, record, func(n protowire.Number, number uint64, text []byte) {
			switch n {
			case 1:
				e.at = math.Float64frombits(number)
			case 2:
				e.step = number
			case 3:
				e.version = string(text)
			case 5:
				fields(t, text, func(_ protowire.Number, _ uint64, value []byte) {
					tag := ""
					fields(t, value, func(n protowire.Number, number uint64, text []byte) {
						if n == 1 {
							tag = string(text)
						} else {
							e.scalars[tag] = float64(math.Float32frombits(uint32(number)))
						}
					})
				})
			}
		})
		all = append(all, e)
	}
	return all
}

func fields(t *testing.T, b []byte, f func(protowire.Number, uint64, []byte)) {
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		require.Positive(t, n)
		b = b[n:]
		var number uint64
		var text []byte
		switch typ {
		case protowire.VarintType:
			number, n = protowire.ConsumeVarint(b)
		case protowire.Fixed64Type:
			number, n = protowire.ConsumeFixed64(b)
		case protowire.Fixed32Type:
			var v uint32
			v, n = protowire.ConsumeFixed32(b)
			number = uint64(v)
		case protowire.BytesType:
			text, n = protowire.ConsumeBytes(b)
		}
		require.Positive(t, n)
		b = b[n:]
		f(num, number, text)
	}
}

// The first event of every file that TensorFlow writes, but for its time:
// known bytes.
func TestVersionEvent(t *testing.T) {
	var b strings.Builder
	require.NoError(t, writeRecord(&b, versionEvent(time.Unix(0, 0))))
	require.Equal(t, "1800000000000000"+"a37f4b22", hex.EncodeToString([]byte(b.String()[:12])))
	require.Equal(t, "09"+"0000000000000000"+"1a0d"+hex.EncodeToString([]byte("brain.Event:2")), hex.EncodeToString([]byte(b.String()[12:36])))
}

func TestRun(t *testing.T) {
	dir := t.TempDir()
	res := exporttest.Run(t, Start(t, dir))
	exporttest.WarnsNot(t, res)
	names, err := filepath.Glob(filepath.Join(dir, "export", "*", "events.out.tfevents.*"))
	require.NoError(t, err)
	require.Len(t, names, 1)
	data, err := os.ReadFile(names[0])
	require.NoError(t, err)
	all := read(t, data)
	require.Equal(t, "brain.Event:2", all[0].version)
	last := all[len(all)-1]
	require.Equal(t, 9., last.scalars["live/succeeded"])
	require.Equal(t, 1., last.scalars["live/failed"])
	require.Equal(t, 0., last.scalars["live/in_flight"])
	require.InEpsilon(t, float64(res.Metrics.TTFT.Mean), last.scalars["live/mean_ttft_s"], 1e-6)
	require.InDelta(t, float64(res.Started.UnixNano())/1e9+float64(res.Duration), last.at, 5)
	if len(all) == 2 { // all of it in one second
		require.InEpsilon(t, float64(res.Metrics.TTFT.Mean), last.scalars["requests/ttft_s"], 1e-6)
		require.InEpsilon(t, float64(res.Metrics.Latency.Mean), last.scalars["requests/latency_s"], 1e-6)
	}
}

func TestNoRoom(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "runs")
	e := Start(t, dir)
	require.NoError(t, os.Remove(dir))
	require.NoError(t, os.WriteFile(dir, nil, 0o644)) // in its place
	exporttest.WarnsOnce(t, e, "the event file is incomplete: mkdir")
}

func TestFileName(t *testing.T) {
	for name, want := range map[string]string{"TestX/c=1": "TestX_c=1", "../..": "_", "a\x1b:b": "a__b", strings.Repeat("é", 60): strings.Repeat("é", 50)} {
		require.Equal(t, want, fileName(name))
	}
}
