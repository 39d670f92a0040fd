package load

import "math/rand/v2"

// What randomness is used for; each use has a stream of its own, so that one
// seed serves them all and none shows in another.
const (
	forGaps uint64 = iota + 1
	forCancels
	forThinks
)

// stream is seeded randomness that is addressed by an index: what is drawn for
// index i depends on the seed, the use and i alone, not on what was drawn
// before. It is for one goroutine.
type stream struct {
	key uint64
	pcg rand.PCG
	*rand.Rand
}

func newStream(seed, use uint64) *stream {
	s := &stream{key: mix(mix(seed) + use)}
	s.Rand = rand.New(&s.pcg)
	return s
}

// at makes the draws for index i the next ones.
func (s *stream) at(i uint64) *stream {
	// PCG's first draws from neighbouring seeds resemble each other; those from
	// mixed ones do not.
	s.pcg.Seed(s.key, mix(s.key^mix(i)))
	return s
}

// mix is the finaliser of SplitMix64 (Steele, Lea and Flood, "Fast splittable
// pseudorandom number generators", 2014): a bijection in which each bit of x
// reaches each bit of the result. The constant keeps 0 from being itself.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
