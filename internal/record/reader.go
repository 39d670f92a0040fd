package record

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// maxLine is the longest line that a Reader takes: some four million events.
const maxLine = 64 << 20

// ErrTorn says that the file ends within a line, as it does when the run was
// killed or the disk was full. The records before it are whole.
var ErrTorn = errors.New("the last line is cut off: the run was killed, or the disk was full")

// errTooLong ends the reading, since what follows cannot be told from the line.
var errTooLong = fmt.Errorf("longer than %d bytes: this is no file of requests", maxLine)

// LineError says what is wrong with a line.
type LineError struct {
	Line  int    // from 1
	Field string // empty when it is about the whole line
	Err   error
}

// Error implements error.
func (e *LineError) Error() string {
	if e.Field == "" {
		return fmt.Sprintf("line %d: %v", e.Line, e.Err)
	}
	return fmt.Sprintf("line %d: %s: %v", e.Line, e.Field, e.Err)
}

// Unwrap gives the error without its place.
func (e *LineError) Unwrap() error { return e.Err }

// Reader reads what a [Writer] wrote: the same records, to the nanosecond. A
// member that it does not know is passed over and one that is missing is
// unknown, so that files of other versions can be read; everything else that a
// Writer would not write is an error.
type Reader struct {
	// WithoutEvents passes over the events of each record, which are most of a
	// line, unread.
	WithoutEvents bool

	in    *bufio.Reader
	long  []byte // a line that does not fit into in's buffer
	lines int
	err   error // what ended the reading

	events  lists
	strings map[string]string // short texts come again and again
}

// NewReader makes a Reader of in, which should be at the start of a line.
func NewReader(in io.Reader) *Reader {
	return &Reader{in: bufio.NewReaderSize(in, 64<<10), strings: map[string]string{}}
}

// Next reads the next record into r, whose events it uses again. At the end it
// gives [io.EOF], or an error that is [ErrTorn] when the last line is cut off.
// After a [LineError] about a field or the form of a line, Next goes on with
// the line after it; every other error stays.
func (rd *Reader) Next(r *Record) error {
	for rd.err == nil {
		line, err := rd.line()
		if err != nil {
			rd.err = err // given after this line
		}
		rd.lines++
		if blank(line) {
			continue
		}
		p := parser{in: line, reader: rd}
		bad := p.record(r)
		switch {
		case err == nil && bad == nil:
			return nil
		case err == nil:
			return &LineError{rd.lines, p.field, bad}
		case err == io.EOF && bad == nil:
			return nil // whole, but for its newline
		case err == io.EOF:
			rd.err = &LineError{Line: rd.lines, Err: ErrTorn}
		default:
			rd.err = &LineError{Line: rd.lines, Err: err}
		}
	}
	return rd.err
}

// line gives the next line, which stays valid until the next call. With an
// error it gives what there is of the last one.
func (rd *Reader) line() ([]byte, error) {
	rd.long = rd.long[:0]
	for {
		part, err := rd.in.ReadSlice('\n')
		if len(rd.long) == 0 && err != bufio.ErrBufferFull {
			return part, err
		}
		if len(rd.long)+len(part) > maxLine {
			return part, errTooLong
		}
		rd.long = append(rd.long, part...)
		if err != bufio.ErrBufferFull {
			return rd.long, err
		}
	}
}

func blank(line []byte) bool {
	for _, c := range line {
		if !isSpace(c) {
			return false
		}
	}
	return true
}

// text gives b as a string, the same one for the same short text.
func (rd *Reader) text(b []byte) string {
	const most, longest = 1024, 64
	if s, ok := rd.strings[string(b)]; ok {
		return s
	}
	s := string(b)
	if len(s) <= longest && len(rd.strings) < most {
		rd.strings[s] = s
	}
	return s
}
