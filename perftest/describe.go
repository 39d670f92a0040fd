package perftest

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"time"
	"unicode"
)

// describe gives a configuration as JSON: field names in snake case, durations
// in seconds under a name that ends in _s, numbers that JSON cannot hold and
// functions as null. What marshals itself does so.
func describe(v any) json.RawMessage {
	data, err := json.Marshal(described(reflect.ValueOf(v)))
	switch {
	case err != nil:
		return json.RawMessage("null") // it holds what is no JSON
	case len(data) > maxDescription: // it holds its prompts
		return fmt.Appendf(nil, `{"sha256":"%x"}`, sha256.Sum256(data))
	}
	return data
}

// maxDescription bounds what a result keeps of a configuration; of more, it
// keeps the hash.
const maxDescription = 64 << 10

func described(v reflect.Value) any {
	if !v.IsValid() {
		return nil
	}
	if v.CanInterface() {
		switch x := v.Interface().(type) {
		case time.Duration:
			return x.Seconds()
		case json.Marshaler, fmt.Stringer:
			if s, ok := x.(fmt.Stringer); ok && v.Kind() != reflect.Struct && v.Kind() != reflect.Pointer {
				return s.String()
			}
			if m, ok := x.(json.Marshaler); ok {
				return m
			}
		}
	}
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		fields, ok := described(v.Elem()).(map[string]any)
		if ok && v.Kind() == reflect.Interface { // which of its types it is
			fields["type"] = typeName(v.Elem().Interface())
			return fields
		}
		return described(v.Elem())
	case reflect.Struct:
		fields := map[string]any{}
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if !f.IsExported() || f.Tag.Get("json") == "-" {
				continue
			}
			name := snakeCase(f.Name)
			if f.Type == reflect.TypeFor[time.Duration]() {
				name += "_s"
			}
			fields[name] = described(v.Field(i))
		}
		return fields
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8 {
			return fmt.Sprintf("%d bytes", v.Len())
		}
		list := make([]any, 0, min(v.Len(), 1000))
		for i := range min(v.Len(), 1000) {
			list = append(list, described(v.Index(i)))
		}
		return list
	case reflect.Map:
		fields := map[string]any{}
		for _, k := range v.MapKeys() {
			fields[fmt.Sprint(k.Interface())] = described(v.MapIndex(k))
		}
		return fields
	case reflect.Float32, reflect.Float64:
		if f := v.Float(); math.IsNaN(f) || math.IsInf(f, 0) {
			return nil
		}
	case reflect.Func, reflect.Chan, reflect.UnsafePointer, reflect.Complex64, reflect.Complex128:
		return nil
	}
	if v.CanInterface() {
		return v.Interface()
	}
	return nil
}

// snakeCase writes a Go name as a key: IgnoreEOS as ignore_eos.
func snakeCase(name string) string {
	var b strings.Builder
	runes := []rune(strings.ReplaceAll(name, "IDs", "Ids"))
	for i, c := range runes {
		if unicode.IsUpper(c) && i > 0 &&
			(unicode.IsLower(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(c))
	}
	return b.String()
}
