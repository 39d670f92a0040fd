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
			if err := validate(all[d.Name()], fmt.Sprintf("%s: line %d", path, n), line); err != nil {
				return err
			}
		}
		return nil
	})
}

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
