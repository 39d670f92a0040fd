package wire

import (
	"encoding/json"
	"errors"
)

const (
	maxModels    = 1000 // names that Models gives at most
	maxModelName = 500  // longest name, in bytes; a longer one is left out
)

// Models gives the names in a list of models, in the server's order: that of
// OpenAI's GET /v1/models, or Ollama's GET /api/tags. The caller bounds body.
// Its error says that body is no such list; an empty list is none.
func Models(body []byte) ([]string, error) {
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
		Models []struct {
			Name string `json:"name"`
		} `json:"models"`
	}
	if err := json.Unmarshal(body, &list); err != nil {
		return nil, errors.New("no list of models: " + ErrorMessage(body))
	}
	var names []string
	for _, m := range list.Data {
		names = append(names, m.ID)
	}
	if len(names) == 0 {
		for _, m := range list.Models {
			names = append(names, m.Name)
		}
	}
	if list.Data == nil && list.Models == nil {
		return nil, errors.New("no list of models: " + ErrorMessage(body))
	}
	kept := names[:0]
	for _, name := range names {
		if name != "" && len(name) <= maxModelName && len(kept) < maxModels {
			kept = append(kept, name)
		}
	}
	return kept, nil
}
