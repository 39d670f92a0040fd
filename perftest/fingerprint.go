package perftest

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/go-cmp/cmp"
)

// Fingerprint is what makes runs comparable: two with the same one ran the
// same load of the same workload at the same sort of server from the same sort
// of machine. It holds no address and no secret.
type Fingerprint struct {
	// Simulated says that no real server was measured.
	Simulated bool              `json:"simulated"`
	Target    FingerprintTarget `json:"target"`
	// Workload is its type and configuration, with the names of files without
	// their folders.
	Workload any `json:"workload"`
	// Data are the hashes of the files and folders that fields of the workload
	// named Path name; for a folder, of the names and sizes of what is in it.
	Data map[string]string `json:"data,omitempty"`
	// Load is the load's type, configuration and shard, and the warm-up.
	Load any `json:"load"`
	// Slogate is the version of this module, as go.mod has it.
	Slogate string `json:"slogate"`
	// Host is the sort of machine that the client ran on.
	Host FingerprintHost `json:"host"`
}

// FingerprintTarget is the part of a [Fingerprint] that is about the server.
type FingerprintTarget struct {
	Model        string            `json:"model"`
	API          string            `json:"api"`
	NoStream     bool              `json:"no_stream"`
	Params       any               `json:"params,omitempty"` // texts are "[redacted]"
	Accelerators int               `json:"accelerators"`
	Labels       map[string]string `json:"labels,omitempty"` // the user's
}

// FingerprintHost is the part of a [Fingerprint] that is about the client's
// machine.
type FingerprintHost struct {
	CPU  string `json:"cpu"`
	CPUs int    `json:"cpus"` // that the process may use
	OS   string `json:"os"`
	Arch string `json:"arch"`
}

// Fingerprint is what other runs are compared with r by. The error is one of a
// file of the workload that cannot be read.
func (r *Result) Fingerprint() (Fingerprint, error) {
	s := r.Scenario
	f := Fingerprint{
		Simulated: r.Simulated, Slogate: r.Environment.Version,
		Target: FingerprintTarget{
			Model: r.Target.Model, API: r.Target.API, NoStream: r.Target.NoStream,
			Params: plain(r.Target.Params), Accelerators: r.Target.Accelerators, Labels: r.Target.Labels,
		},
		Load: map[string]any{
			"type": s.Load.Type, "config": plain(s.Load.Config), "shards": s.Load.ShardCount,
			"warmup_requests": s.WarmupRequests, "warmup_duration_s": s.WarmupDuration, "warmup_concurrency": s.WarmupSlots,
			"short_is_failure": s.ShortIsFailure, "cold_connections": s.ColdConnections,
		},
		Host: FingerprintHost{CPU: r.Environment.CPU, CPUs: r.Environment.CPUs, OS: r.Environment.OS, Arch: r.Environment.Arch},
	}
	if n := s.TurnsInFlight; n > 0 {
		f.Load.(map[string]any)["turns_in_flight"] = n
	}
	workload := plain(s.Workload)
	data := map[string]string{}
	if err := hashPaths(workload, data); err != nil {
		return f, err
	}
	f.Workload = map[string]any{"type": s.WorkloadType, "config": workload}
	if len(data) > 0 {
		f.Data = data
	}
	return f, nil
}

// plain is JSON as maps and lists; nil where there is none.
func plain(data json.RawMessage) (v any) {
	_ = json.Unmarshal(data, &v)
	return v
}

// differs shows how a fingerprint differs from a baseline's, by go-cmp; empty
// when it does not. Both are compared as JSON, so that fields which only a later
// version has are seen.
func (f Fingerprint) differs(baseline Fingerprint) string {
	return cmp.Diff(baseline.tree(), f.tree())
}

// tree is f as JSON has it.
func (f Fingerprint) tree() any {
	data, err := json.Marshal(f)
	if err != nil {
		return nil // it is made of JSON
	}
	return plain(data)
}

// sameLoad is f without what a comparison of two servers is about.
func (f Fingerprint) sameLoad() Fingerprint {
	f.Target = FingerprintTarget{}
	return f
}

// hashPaths adds the hashes of the files that v names under "path", and cuts
// the folders off them: those of one machine are not those of another.
func hashPaths(v any, hashes map[string]string) error {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			if err := hashPaths(e, hashes); err != nil {
				return err
			}
		}
	case map[string]any:
		for k, e := range v {
			path, isText := e.(string)
			switch {
			case !isText:
				if err := hashPaths(e, hashes); err != nil {
					return err
				}
			case filepath.IsAbs(path):
				v[k] = filepath.Base(path)
			}
			if k != "path" || !isText || path == "" {
				continue
			}
			if !filepath.IsAbs(path) {
				path = filepath.Join(packageDir, path)
			}
			hash, err := hashOf(path)
			if err != nil {
				return badField("Workload.Path", fmt.Sprintf("%q", e), "its hash is part of what makes runs comparable, and it cannot be read ("+cause(err)+")")
			}
			hashes[filepath.Base(path)] = hash
		}
	}
	return nil
}

// hashOf is the SHA-256 of a file, or of the names and sizes of a folder's
// files. A pipe, which has been read, has none.
func hashOf(path string) (string, error) {
	h := sha256.New()
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "", err
	case info.IsDir():
		err = filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			info, err := d.Info()
			if err == nil {
				rel, _ := filepath.Rel(path, name)
				fmt.Fprintf(h, "%q %d\n", filepath.ToSlash(rel), info.Size())
			}
			return err
		})
	case !info.Mode().IsRegular():
		return "no file", nil
	default:
		var f *os.File
		if f, err = os.Open(path); err == nil {
			defer f.Close()
			_, err = io.Copy(h, f)
		}
	}
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}

// shownLabels are the target's labels without the secrets of the run.
func (r *run) shownLabels() map[string]string {
	if len(r.scenario.Target.Labels) == 0 {
		return nil
	}
	shown := map[string]string{}
	for k, v := range r.scenario.Target.Labels {
		shown[r.client.Redact(k)] = r.client.Redact(v)
	}
	return shown
}

// same reports whether two fingerprints are the same.
func (f Fingerprint) same(g Fingerprint) bool { return cmp.Equal(f.tree(), g.tree()) }
