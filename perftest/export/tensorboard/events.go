package tensorboard

import (
	"encoding/binary"
	"hash/crc32"
	"io"
	"math"
	"time"
)

// The files of TensorBoard are TFRecords: the length of the data (8 bytes, little
// endian), its checksum, the data, its checksum; the data is a protobuf message
// Event (tensorflow/core/util/event.proto and framework/summary.proto). What is
// needed of both is a page, which is why it is own code.

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// masked is a checksum as TFRecords have it: rotated and moved, since a
// checksum of data that holds its own checksum is a poor one
// (tensorflow/tsl/lib/hash/crc32c.h).
func masked(data []byte) uint32 {
	c := crc32.Checksum(data, castagnoli)
	return (c>>15 | c<<17) + 0xa282ead8
}

func writeRecord(w io.Writer, data []byte) error {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(data)))
	b = binary.LittleEndian.AppendUint32(b, masked(b))
	b = append(b, data...)
	b = binary.LittleEndian.AppendUint32(b, masked(data))
	_, err := w.Write(b)
	return err
}

// The fields of the messages that are written.
const (
	eventTime    = 1 // double, seconds since 1970
	eventStep    = 2 // int64
	eventVersion = 3 // string, of the first event
	eventSummary = 5

	summaryValue = 1
	valueTag     = 1
	valueSimple  = 2 // float

	wireVarint, wireDouble, wireBytes, wireFloat = 0, 1, 2, 5
)

func appendField(b []byte, field, wire uint64) []byte {
	return binary.AppendUvarint(b, field<<3|wire)
}

func appendBytes(b []byte, field uint64, data []byte) []byte {
	b = binary.AppendUvarint(appendField(b, field, wireBytes), uint64(len(data)))
	return append(b, data...)
}

func appendTime(b []byte, at time.Time) []byte {
	seconds := float64(at.UnixNano()) / 1e9
	return binary.LittleEndian.AppendUint64(appendField(b, eventTime, wireDouble), math.Float64bits(seconds))
}

// versionEvent is the first of each file.
func versionEvent(at time.Time) []byte {
	return appendBytes(appendTime(nil, at), eventVersion, []byte("brain.Event:2"))
}

// scalar is a figure and its name.
type scalar struct {
	tag   string
	value float64
}

// scalarEvent holds figures of one step.
func scalarEvent(at time.Time, step int64, scalars []scalar) []byte {
	var summary []byte
	for _, s := range scalars {
		v := appendBytes(nil, valueTag, []byte(s.tag))
		v = binary.LittleEndian.AppendUint32(appendField(v, valueSimple, wireFloat), math.Float32bits(float32(s.value)))
		summary = appendBytes(summary, summaryValue, v)
	}
	b := binary.AppendUvarint(appendField(appendTime(nil, at), eventStep, wireVarint), uint64(step))
	return appendBytes(b, eventSummary, summary)
}
