package record

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
)

// parser reads one line. field is the member it is at.
type parser struct {
	in     []byte
	at     int
	field  string
	reader *Reader
}

// lists are the members that make up a record's events.
type lists struct {
	gaps, tokens []int64
	kinds        []byte
}

var (
	errObject = errors.New("no JSON object")
	errExcess = errors.New("something follows the object")
)

// record reads the whole line into r.
func (p *parser) record(r *Record) error {
	r.Reset()
	ev := &p.reader.events
	ev.gaps, ev.tokens, ev.kinds = ev.gaps[:0], ev.tokens[:0], ev.kinds[:0]
	if !p.take('{') {
		return errObject
	}
	var seen uint64 // a bit a column, then one for each list
	for next := 0; ; {
		p.field = ""
		quoted := p.value()
		if len(quoted) == 0 || quoted[0] != '"' || !p.take(':') {
			return errObject
		}
		key, plain := plainString(quoted) // as every known key is
		if !plain && !json.Valid(quoted) {
			return errObject
		}
		i := find(key, next)
		if i >= 0 {
			p.field = name(i)
			if seen&(1<<i) != 0 {
				return errors.New("is there twice")
			}
			seen |= 1 << i
			next = i + 1
		}
		if i >= columnGaps && p.reader.WithoutEvents {
			p.pass()
		} else if err := p.set(r, i, p.value()); err != nil {
			return err
		}
		if !p.take(',') {
			break
		}
	}
	p.field = ""
	if !p.take('}') {
		return errObject
	}
	if p.skip(); p.at < len(p.in) {
		return errExcess
	}
	for _, i := range []int{columnIndex, columnPhase} {
		if seen&(1<<i) == 0 {
			p.field = name(i)
			return errors.New("is missing")
		}
	}
	return p.setEvents(r)
}

// Places of what every line must have, and of the lists behind the columns.
const (
	columnIndex  = 0
	columnPhase  = 1
	columnGaps   = len(columns)
	columnKinds  = columnGaps + 1
	columnTokens = columnGaps + 2
)

func name(i int) string {
	switch i {
	case columnGaps:
		return keyGaps
	case columnKinds:
		return keyKinds
	case columnTokens:
		return keyTokens
	}
	return columns[i].key
}

// find gives the place of key, -1 when it is unknown. It looks at place next
// first, as lines have their columns in order.
func find(key []byte, next int) int {
	if next <= columnTokens && string(key) == name(next) {
		return next
	}
	for i := range columnTokens + 1 {
		if string(key) == name(i) {
			return i
		}
	}
	return -1
}

// set puts the value of column i into r.
func (p *parser) set(r *Record, i int, value []byte) error {
	ev := &p.reader.events
	switch i {
	case -1:
		if !json.Valid(value) {
			return errObject
		}
		return nil
	case columnGaps:
		return fixedList(&ev.gaps, value, 9, false)
	case columnTokens:
		return fixedList(&ev.tokens, value, 0, false)
	case columnKinds:
		digits, ok := plainString(value)
		if !ok {
			return unlike(value, "a string of hexadecimal digits")
		}
		var err error
		ev.kinds, err = hex.AppendDecode(ev.kinds, digits)
		return err
	}
	null := string(value) == "null"
	var err error
	switch v := columns[i].at(r).(type) {
	case *seconds:
		err = fixedOr(Absent, null, (*int64)(v), value, 9)
	case *stamps:
		if !null {
			err = fixedList((*[]int64)(v), value, 9, true)
		}
	case *tally:
		err = fixedOr(Absent, null, (*int64)(v), value, 0)
	case *nonzero:
		var n int64
		err = fixedOr(0, null, &n, value, 0)
		*v = nonzero(n)
	case *int:
		var n int64
		err = fixed(&n, value, 0)
		*v = int(n)
	case *int64:
		err = fixed(v, value, 0)
	case *bool:
		*v = string(value) == "true"
		if !*v && string(value) != "false" {
			err = unlike(value, "true or false")
		}
	case *phase:
		name, quoted := plainString(value)
		i := slices.Index(partNames[:], string(name))
		if !quoted || i < 0 {
			return unlike(value, `"measured", "warmup", "start" or "padding"`)
		}
		*v = phase(i)
	case *text:
		*v = ""
		if !null {
			err = p.text((*string)(v), value)
		}
	}
	return err
}

// setEvents makes the record's events of the lists.
func (p *parser) setEvents(r *Record) error {
	ev := &p.reader.events
	if len(ev.kinds) != len(ev.gaps) {
		p.field = keyKinds
		return fmt.Errorf("is about %d events and %s about %d", len(ev.kinds), keyGaps, len(ev.gaps))
	}
	if len(ev.tokens) != 0 && len(ev.tokens) != len(ev.gaps) {
		p.field = keyTokens
		return fmt.Errorf("is about %d events and %s about %d", len(ev.tokens), keyGaps, len(ev.gaps))
	}
	at := gapBase(r)
	for i, gap := range ev.gaps {
		at += gap
		e := Event{At: at, Kind: Kind(ev.kinds[i])}
		if len(ev.tokens) != 0 {
			n := ev.tokens[i]
			if n < math.MinInt32 || n > math.MaxInt32 {
				p.field = keyTokens
				return fmt.Errorf("%d is out of range", n)
			}
			e.Tokens = int32(n)
		}
		r.Events = append(r.Events, e)
	}
	return nil
}

// text reads a JSON string.
func (p *parser) text(dst *string, value []byte) error {
	if plain, ok := plainString(value); ok {
		*dst = p.reader.text(plain)
		return nil
	}
	if json.Unmarshal(value, dst) != nil {
		return unlike(value, "a string")
	}
	return nil
}

func unlike(value []byte, want string) error {
	const most = 40
	if len(value) > most {
		return fmt.Errorf("%q... is not %s", bytes.ToValidUTF8(value[:most], nil), want)
	}
	return fmt.Errorf("%q is not %s", value, want)
}
