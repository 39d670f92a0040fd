package parquet

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"

	"github.com/slogate/slogate/perftest"
	"github.com/slogate/slogate/perftest/export/internal/exporttest"
	"github.com/slogate/slogate/perftest/schema"
)

// The file holds what requests.jsonl does: the rows are read back without the
// type that wrote them.
func TestWrite(t *testing.T) {
	res := exporttest.Run(t)
	path, err := Write(res)
	require.NoError(t, err)
	require.Equal(t, filepath.Join(res.Dir, "requests.parquet"), path)
	data, err := os.ReadFile(filepath.Join(res.Dir, "requests.jsonl"))
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	require.Len(t, lines, 12)

	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	info, err := f.Stat()
	require.NoError(t, err)
	file, err := parquet.OpenFile(f, info.Size())
	require.NoError(t, err)
	require.Equal(t, int64(12), file.NumRows())
	rd := parquet.NewGenericReader[map[string]any](f, file.Schema())
	defer rd.Close()
	for i, line := range lines {
		got := []map[string]any{{}}
		n, _ := rd.Read(got)
		require.Equal(t, 1, n)
		var want map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &want))
		for k, v := range want {
			if list, ok := v.([]any); ok && len(list) == 0 {
				v = nil
			}
			have, err := json.Marshal(got[0][k])
			require.NoError(t, err)
			var plain any
			require.NoError(t, json.Unmarshal(have, &plain))
			if list, ok := plain.([]any); ok && len(list) == 0 {
				plain = nil
			}
			if d := cmp.Diff(v, plain); d != "" {
				t.Errorf("row %d, %s (-jsonl +parquet):\n%s", i, k, d)
			}
		}
	}
}

// Every column of requests.jsonl is one here.
func TestColumns(t *testing.T) {
	var s struct{ Properties map[string]any }
	require.NoError(t, json.Unmarshal(schema.Requests, &s))
	for f := range reflect.TypeFor[row]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("parquet"), ",")
		require.Equal(t, f.Tag.Get("json"), name)
		require.Contains(t, s.Properties, name)
		delete(s.Properties, name)
	}
	require.Empty(t, s.Properties, "columns that are missing")
}

func TestWriteOld(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS("../../testdata/stored")))
	res, err := perftest.ReadResult(dir)
	require.NoError(t, err)
	_, err = Write(res)
	require.NoError(t, err)
	require.FileExists(t, filepath.Join(dir, File))
}

func TestWriteErrors(t *testing.T) {
	_, err := Write(nil)
	require.ErrorContains(t, err, "the result has no folder")
	dir := t.TempDir()
	_, err = Write(&perftest.Result{Dir: dir})
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "requests.jsonl"), []byte("{\"index\":0}\n{\"index\":\"x\"}\n{\"ind"), 0o644))
	_, err = Write(&perftest.Result{Dir: dir})
	require.ErrorContains(t, err, "requests.jsonl: line 2")
	left, err := filepath.Glob(filepath.Join(dir, "*.parquet*"))
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestNotInCore(t *testing.T) { exporttest.NotInCore(t, "parquet", "klauspost/compress") }

// A choice without a token has no stamp, not one of 0.
func TestNullInList(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "requests.jsonl"), []byte(`{"index":0,"phase":"measured","choice_first_tokens_s":[0.5,null,0.25],"event_gaps_s":[0.1]}`+"\n"), 0o644))
	path, err := Write(&perftest.Result{Dir: dir})
	require.NoError(t, err)
	rows, err := parquet.ReadFile[row](path)
	require.NoError(t, err)
	got := rows[0].ChoiceFirstTokensS
	require.Len(t, got, 3)
	require.Nil(t, got[1])
	require.Equal(t, 0.25, *got[2])
}
