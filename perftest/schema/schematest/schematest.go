// Package schematest holds the results of tests against the published schemas.
package schematest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/slogate/slogate/perftest/schema"
)

// mostLines bounds what is looked at of a file of lines.
const mostLines = 200

var compiled = sync.OnceValues(func() (map[string]*jsonschema.Schema, error) {
	all := map[string]*jsonschema.Schema{}
	c := jsonschema.NewCompiler()
	for name, data := range map[string][]byte{"result.json": schema.Result, "requests.jsonl": schema.Requests, "server.jsonl": schema.Server} {
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		if err != nil {
			return nil, err
		}
		if err = c.AddResource(name, doc); err != nil {
			return nil, err
		}
		if all[name], err = c.Compile(name); err != nil {
			return nil, err
		}
	}
	return all, nil
})

// AtEnd validates, when the test has ended, every result below dir. It is to
// be called after the folder was made.
func AtEnd(t testing.TB, dir string) {
	t.Cleanup(func() {
		if err := Folder(dir); err != nil {
			t.Errorf("a result is not of its schema: %v", err)
		}
	})
}

// Folder validates every result.json, requests.jsonl and server.jsonl below
// dir. A last line that a killed run has cut off is left out.
func Folder(dir string) error {
	all, err := compiled()
	if err != nil {
		return err
	}
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || all[d.Name()] == nil || d.IsDir() {
			return err
		}
		if filepath.Ext(path) == ".json" {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			return validate(all[d.Name()], path, data)
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		rd := bufio.NewReader(f)
		for n := 1; n <= mostLines; n++ {
			line, err := rd.ReadBytes('\n')
			if err == io.EOF {
				break
			}
			if err != nil {
				return err
			}
			key := d.Name() + shape(line)
			if _, done := valid.Load(key); done {
				continue
			}
			if err := validate(all[d.Name()], fmt.Sprintf("%s: line %d", path, n), line); err != nil {
				return err
			}
			valid.Store(key, true)
		}
		return nil
	})
}

// valid has the shapes of lines that were found to be of their schemas: thousands
// of lines are alike, and to look at one takes a hundred times as long as to
// know it again.
var valid sync.Map

// shape is a line with its numbers of several digits replaced by others that
// are as whole, as negative and as much above nothing: the schemas ask no more
// of a number, but for bounds of one digit.
func shape(line []byte) string {
	out := make([]byte, 0, len(line))
	text := false
	for i := 0; i < len(line); i++ {
		b := line[i]
		switch {
		case text && b == '\\' && i+1 < len(line):
			out = append(out, b)
			i++
			b = line[i]
		case b == '"':
			text = !text
		case !text && digit(b) && i+1 < len(line) && digit(line[i+1]):
			b = '0'
			for ; i < len(line) && digit(line[i]); i++ {
				if line[i] != '0' {
					b = '1'
				}
			}
			i--
			if b == '1' {
				out = append(out, b)
				b = '0'
			}
		}
		out = append(out, b)
	}
	return string(out)
}

func digit(b byte) bool { return '0' <= b && b <= '9' }

func validate(s *jsonschema.Schema, name string, data []byte) error {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err == nil {
		err = s.Validate(v)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
