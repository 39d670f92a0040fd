// Package parquet writes the requests of a run as Parquet, for tools that read
// columns: the same columns as requests.jsonl, by the same names, at a fraction
// of the size.
//
//	res := perftest.Run(t, …)
//	path, err := parquet.Write(res)
//
// It is built on parquet-go, which writes all of the format in Go.
package parquet

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/parquet-go/parquet-go"

	"github.com/slogate/slogate/perftest"
)

// File is the name of what is written, beside requests.jsonl.
const File = "requests.parquet"

// What is held in memory at a time.
const (
	batch    = 256
	groupOf  = 20_000 // rows of a row group
	lineSize = 1 << 20
)

// Write writes requests.parquet into the folder of res, whole or not at all,
// and gives its path. A last line of requests.jsonl that is cut off, as a run
// that was killed leaves it, is left out.
func Write(res *perftest.Result) (path string, err error) {
	if res == nil || res.Dir == "" {
		return "", errors.New("parquet: the result has no folder: give it the result of perftest.Run or perftest.ReadResult")
	}
	path = filepath.Join(res.Dir, File)
	in, err := os.Open(filepath.Join(res.Dir, "requests.jsonl"))
	if err != nil {
		return "", fmt.Errorf("parquet: %w", err)
	}
	defer in.Close()
	out, err := os.Create(path + ".tmp")
	if err != nil {
		return "", fmt.Errorf("parquet: %w", err)
	}
	err = convert(out, in)
	if closed := out.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(path+".tmp", path)
	}
	if err != nil {
		_ = os.Remove(path + ".tmp")
		return "", fmt.Errorf("parquet: %w", err)
	}
	return path, nil
}

func convert(out io.Writer, in io.Reader) error {
	w := parquet.NewGenericWriter[row](out, parquet.Compression(&parquet.Zstd), parquet.MaxRowsPerRowGroup(groupOf), parquet.CreatedBy("slogate", "", ""))
	rows := make([]row, 0, batch)
	rd := bufio.NewReaderSize(in, lineSize)
	for n := 1; ; n++ {
		line, err := rd.ReadBytes('\n')
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		var one row
		if err := json.Unmarshal(line, &one); err != nil {
			return fmt.Errorf("requests.jsonl: line %d: %w", n, err)
		}
		if rows = append(rows, one); len(rows) == batch {
			if _, err := w.Write(rows); err != nil {
				return err
			}
			rows = rows[:0]
		}
	}
	if _, err := w.Write(rows); err != nil {
		return err
	}
	return w.Close()
}
