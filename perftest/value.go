package perftest

import (
	"encoding/json"
	"math"
)

// Value is a figure that may be absent: it is then NaN in Go, which is never
// equal to, below or above anything, and null in JSON.
type Value float64

// Absent is the Value of what was not measured or is not defined.
var Absent = Value(math.NaN())

// Known reports whether v is there.
func (v Value) Known() bool { return !math.IsNaN(float64(v)) }

// Equal makes absent values equal to each other, for go-cmp.
func (v Value) Equal(w Value) bool { return v == w || !v.Known() && !w.Known() }

// MarshalJSON implements json.Marshaler: null for what is absent or infinite.
func (v Value) MarshalJSON() ([]byte, error) {
	if f := float64(v); !math.IsNaN(f) && !math.IsInf(f, 0) {
		return json.Marshal(f)
	}
	return []byte("null"), nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (v *Value) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		*v = Absent
		return nil
	}
	return json.Unmarshal(data, (*float64)(v))
}
