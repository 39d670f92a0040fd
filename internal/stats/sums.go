package stats

import (
	"math"
	"math/big"
	"math/bits"
)

// sums holds what mean and deviation need, as exact integers: they then depend
// neither on the order of the samples nor on their number. Samples are 0 or more.
type sums struct {
	n         int
	low, high int64
	total     wide
	squares   wide
}

func (s *sums) add(v int64) {
	if s.n == 0 {
		s.low, s.high = v, v
	}
	s.low, s.high = min(s.low, v), max(s.high, v)
	s.n++
	s.total.add(wide{uint64(v)})
	hi, lo := bits.Mul64(uint64(v), uint64(v))
	s.squares.add(wide{lo, hi})
}

func (s *sums) merge(o sums) {
	if o.n == 0 {
		return
	}
	if s.n == 0 {
		s.low, s.high = o.low, o.high
	}
	s.low, s.high = min(s.low, o.low), max(s.high, o.high)
	s.n += o.n
	s.total.add(o.total)
	s.squares.add(o.squares)
}

func (s *sums) summary() Summary {
	out := Summary{N: s.n, Mean: math.NaN(), StdDev: math.NaN(), Min: math.NaN(), Max: math.NaN()}
	if s.n == 0 {
		return out
	}
	out.Min, out.Max = float64(s.low), float64(s.high)
	n, total := big.NewInt(int64(s.n)), s.total.big()
	out.Mean, _ = new(big.Rat).SetFrac(total, n).Float64()
	if s.n > 1 {
		// (n*sum(x^2) - sum(x)^2) / (n*(n-1)): cancels nothing in integers.
		up := new(big.Int).Mul(n, s.squares.big())
		up.Sub(up, new(big.Int).Mul(total, total))
		down := new(big.Int).Mul(n, big.NewInt(int64(s.n-1)))
		variance, _ := new(big.Rat).SetFrac(up, down).Float64()
		out.StdDev = math.Sqrt(variance)
	}
	return out
}

// wide is an unsigned integer of 192 bits, lowest word first. Squares of int64
// need 126 bits, so that no number of samples overflows it.
type wide [3]uint64

func (w *wide) add(o wide) {
	var carry uint64
	w[0], carry = bits.Add64(w[0], o[0], 0)
	w[1], carry = bits.Add64(w[1], o[1], carry)
	w[2], _ = bits.Add64(w[2], o[2], carry)
}

func (w wide) big() *big.Int {
	out := new(big.Int).SetUint64(w[2])
	for _, word := range []uint64{w[1], w[0]} {
		out.Lsh(out, 64)
		out.Or(out, new(big.Int).SetUint64(word))
	}
	return out
}
