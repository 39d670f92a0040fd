package perftest

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// storedRun is one run in stored folders: one, or one a shard.
type storedRun struct {
	started time.Time
	shards  int
	folders []string
}

// storedHead is the part of a result.json by which a run is found.
type storedHead struct {
	Name      string    `json:"name"`
	Test      string    `json:"test"`
	Package   string    `json:"package"`
	Started   time.Time `json:"started"`
	Simulated bool      `json:"simulated"`
	Target    struct {
		URL   string `json:"url"`
		Model string `json:"model"`
	} `json:"target"`
	Scenario struct {
		Nonce uint64 `json:"nonce"`
		Load  struct {
			Index int `json:"shard_index"`
			Count int `json:"shard_count"`
		} `json:"load"`
	} `json:"scenario"`
	folder string
}

// mine reports whether it is of this package, where that is known.
func (h *storedHead) mine() bool {
	return h.Package == "" || testPackage() == "" || h.Package == testPackage()
}

// storedRuns are the runs of one scenario of a test in and below folders, from
// the oldest to the newest.
func storedRuns(folders []string, test, name string) ([]*storedRun, error) {
	heads, err := storedHeads(folders)
	if err != nil {
		return nil, err
	}
	var mine []storedHead
	others := map[string]bool{}
	for _, h := range heads {
		if h.Test == test && h.Name == name && h.mine() {
			mine = append(mine, h)
			continue
		}
		label := h.Test
		if h.Name != h.Test {
			label += fmt.Sprintf(" (scenario %q)", h.Name)
		}
		others[label+" of "+h.Package] = true
	}
	if len(mine) == 0 {
		return nil, noneOf(folders, test, name, others)
	}
	slices.SortStableFunc(mine, func(a, b storedHead) int { return a.Started.Compare(b.Started) })
	return grouped(mine), nil
}

// grouped puts the shards of a run together: of each, the first with the
// first of the others, in the order of their starts.
func grouped(heads []storedHead) (runs []*storedRun) {
	type plan struct {
		nonce uint64
		count int
	}
	of := map[plan][]*storedRun{}
	seen := map[plan]map[int]int{} // runs of a shard's index
	for _, h := range heads {
		p := plan{h.Scenario.Nonce, max(1, h.Scenario.Load.Count)}
		if p.count == 1 {
			runs = append(runs, &storedRun{h.Started, 1, []string{h.folder}})
			continue
		}
		if seen[p] == nil {
			seen[p] = map[int]int{}
		}
		i := seen[p][h.Scenario.Load.Index]
		seen[p][h.Scenario.Load.Index]++
		if i == len(of[p]) {
			run := &storedRun{started: h.Started, shards: p.count}
			of[p], runs = append(of[p], run), append(runs, run)
		}
		of[p][i].folders = append(of[p][i].folders, h.folder)
	}
	slices.SortStableFunc(runs, func(a, b *storedRun) int { return a.started.Compare(b.started) })
	return runs
}

// noneOf says that no stored run is the scenario's, and whose there are.
func noneOf(folders []string, test, name string, others map[string]bool) error {
	what := test
	if name != test {
		what += fmt.Sprintf(", scenario %q", name)
	}
	if pkg := testPackage(); pkg != "" {
		what += " of " + pkg
	}
	if len(others) == 0 {
		return badField("PERFTEST_REPLAY", fmt.Sprintf("%q", strings.Join(folders, ",")), "there is no result.json in it or below; name the folder of a stored run, or one above it (a relative one counts from the package's folder)")
	}
	names := slices.Sorted(maps.Keys(others))
	const most = 5
	if n := len(names); n > most {
		names = append(names[:most], fmt.Sprintf("%d more", n-most))
	}
	return badField("PERFTEST_REPLAY", fmt.Sprintf("%q", strings.Join(folders, ",")), fmt.Sprintf("it holds no run of %s, but of %s: name another folder, or choose the test by -run", what, strings.Join(names, ", ")))
}

// storedHeads finds the results in and below folders, each once.
func storedHeads(folders []string) (heads []storedHead, err error) {
	seen := map[string]bool{}
	for _, folder := range folders {
		folder = strings.TrimSpace(folder)
		if !filepath.IsAbs(folder) {
			folder = filepath.Join(packageDir, folder)
		}
		root, err := filepath.EvalSymlinks(folder)
		if err != nil {
			return nil, badField("PERFTEST_REPLAY", fmt.Sprintf("%q", folder), "it cannot be read ("+cause(err)+"): name the folder of a stored run, or one above it (a relative one counts from the package's folder)")
		}
		err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() && d.Name() == partsDir && seen[filepath.Dir(path)] {
				return fs.SkipDir // which the result beside it is made of
			}
			if err != nil || d.IsDir() || d.Name() != resultFile || seen[filepath.Dir(path)] {
				return err
			}
			seen[filepath.Dir(path)] = true
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			h := storedHead{folder: filepath.Dir(path)}
			if err := json.Unmarshal(data, &h); err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			heads = append(heads, h)
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("PERFTEST_REPLAY: %w", err)
		}
	}
	return heads, nil
}
