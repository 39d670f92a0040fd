package cluster

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/slogate/slogate/internal/meet"
)

// protocol is the version of this protocol.
const protocol = 3

const challengeBytes = 32

// hello is what a shard says of itself.
type hello struct {
	Protocol    int    `json:"protocol"`
	Version     string `json:"version"`
	Index       int    `json:"index"`
	Count       int    `json:"count"`
	Instance    string `json:"instance"` // of the process
	Number      int    `json:"run"`      // of the run, from 1
	Test        string `json:"test"`
	Fingerprint []byte `json:"fingerprint"`
	Epoch       int64  `json:"epoch_ns"` // on the shard's clock
	Challenge   []byte `json:"challenge"`
}

// welcome is the answer to a shard that is taken.
type welcome struct {
	Nonce uint64 `json:"nonce"`
	Proof []byte `json:"proof"`
}

// refusal is the answer to one that is not.
type refusal struct {
	Reason string `json:"reason"`
	Later  bool   `json:"later"` // it may come again
	ends   error  // why the run ends with it; nil when it goes on
}

// start is the instant of a phase, on the shard's clock.
type start struct {
	Phase string `json:"phase"`
	At    int64  `json:"at_ns"`
}

// end is a shard's result, in the end and where it pauses.
type end struct {
	Result  []byte `json:"result"`
	Taken   int    `json:"taken"`
	Problem string `json:"problem"`
	Bytes   int64  `json:"bytes"` // of records that were sent before
}

// resume is by how many requests of all shards a run goes on that has paused.
type resume struct {
	Requests int `json:"requests"`
}

// pong answers the ping of the same id.
type pong struct {
	id    uint64
	clock int64
}

func (p pong) encode() []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, p.id), uint64(p.clock))
}

func decodePong(data []byte) (pong, error) {
	if len(data) != 16 {
		return pong{}, errors.New("a pong of another size")
	}
	return pong{binary.BigEndian.Uint64(data), int64(binary.BigEndian.Uint64(data[8:]))}, nil
}

// decode reads what a shard sends after its hello.
func decode(k kind, data []byte) (any, error) {
	switch k {
	case kindPong:
		return decodePong(data)
	case kindReady, kindFailed:
		return cleaned(string(data)), nil
	case kindRecords:
		return data, nil
	case kindLive:
		return decodeJSON[meet.Live](data)
	case kindEnd, kindPause:
		return decodeJSON[end](data)
	}
	return nil, fmt.Errorf("frame of kind %d, which a shard does not send", k)
}

func decodeJSON[T any](data []byte) (v T, err error) {
	err = json.Unmarshal(data, &v)
	return v, err
}

func newChallenge() []byte {
	c := make([]byte, challengeBytes)
	_, _ = rand.Read(c) // never fails
	return c
}

// proof shows that who makes it knows the token, to who made the challenge.
// role keeps one side's proof from being the other's.
func proof(token []byte, role string, parts ...[]byte) []byte {
	m := hmac.New(sha256.New, token)
	for _, part := range append([][]byte{[]byte("slogate/" + role)}, parts...) {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(part)))
		m.Write(n[:])
		m.Write(part)
	}
	return m.Sum(nil)
}

// signed is a hello with its proof before it.
func (h *hello) signed(token, challenge []byte) ([]byte, error) {
	data, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	return append(proof(token, "shard", challenge, data), data...), nil
}

var errToken = errors.New("its PERFTEST_TOKEN is another than shard 0's, and all need the same")

// checkHello reads a signed hello. Nothing of it is looked at before its proof
// has held.
func checkHello(token, challenge, signed []byte) (h hello, err error) {
	if len(signed) < sha256.Size {
		return h, errors.New("a hello that is too short")
	}
	data := signed[sha256.Size:]
	if !hmac.Equal(signed[:sha256.Size], proof(token, "shard", challenge, data)) {
		return h, errToken
	}
	if err = json.Unmarshal(data, &h); err != nil {
		return h, err
	}
	if len(h.Challenge) != challengeBytes {
		return h, errors.New("a hello without a challenge")
	}
	return h, nil
}
