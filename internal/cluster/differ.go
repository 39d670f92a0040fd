package cluster

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// difference names the first place at which two fingerprints differ, and both
// values there, bounded.
func difference(ours, theirs []byte) string {
	var a, b any
	if json.Unmarshal(ours, &a) != nil || json.Unmarshal(theirs, &b) != nil {
		return "it has no fingerprint"
	}
	path, x, y := differ("", a, b)
	return fmt.Sprintf("%s is %s, and shard 0's is %s", strings.TrimPrefix(path, "fingerprint."), short(y), short(x))
}

// differ finds it in trees of JSON values.
func differ(path string, a, b any) (string, any, any) {
	x, ok1 := a.(map[string]any)
	y, ok2 := b.(map[string]any)
	if !ok1 || !ok2 {
		return path, a, b
	}
	keys := maps.Clone(x)
	maps.Copy(keys, y)
	for _, k := range slices.Sorted(maps.Keys(keys)) {
		if reflect.DeepEqual(x[k], y[k]) {
			continue
		}
		below := k
		if path != "" {
			below = path + "." + k
		}
		return differ(below, x[k], y[k])
	}
	return path, a, b
}

func short(v any) string {
	data, _ := json.Marshal(v)
	if len(data) > 60 {
		return cleaned(string(data[:60])) + "…"
	}
	return cleaned(string(data))
}
