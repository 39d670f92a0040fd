package perftest

import "encoding/json"

// shownParams are the target's Params as a result may hold them: numbers and
// truth values tell runs apart and are no secrets, texts may be.
func (r *run) shownParams() json.RawMessage {
	all := map[string]any{}
	for name, raw := range r.params {
		var v any
		if json.Unmarshal(raw, &v) == nil {
			all[name] = withoutTexts(v)
		}
	}
	data, err := json.Marshal(all)
	if err != nil {
		return json.RawMessage("{}")
	}
	return data
}

func withoutTexts(v any) any {
	switch v := v.(type) {
	case string:
		return redacted
	case []any:
		for i := range v {
			v[i] = withoutTexts(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = withoutTexts(v[k])
		}
	}
	return v
}
