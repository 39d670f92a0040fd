package report

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDuration(t *testing.T) {
	for _, c := range []struct {
		seconds float64
		want    string
	}{
		{0, "0s"},
		{4e-9, "4.00ns"},
		{850e-6, "850µs"},
		{999.4e-6, "999µs"},
		{999.6e-6, "1.00ms"},
		{0.021, "21.0ms"},
		{0.0123456, "12.3ms"},
		{0.312, "312ms"},
		{0.9996, "1.00s"},
		{1.2449, "1.24s"},
		{12.34, "12.3s"},
		{59.94, "59.9s"},
		{59.96, "1m00.0s"},
		{123.44, "2m03.4s"},
		{119.96, "2m00.0s"},
		{754.4, "12m34s"},
		{3599.6, "60m00s"},
		{3720, "1h02m"},
		{86400, "24h00m"},
		{-0.312, "-312ms"},
		{math.NaN(), "-"},
		{math.Inf(1), "-"},
	} {
		require.Equal(t, c.want, Duration(c.seconds), "%v s", c.seconds)
	}
}

func TestPercent(t *testing.T) {
	for _, c := range []struct {
		share float64
		want  string
	}{
		{0, "0%"},
		{1, "100%"},
		{0.5, "50%"},
		{0.0123, "1.23%"},
		{0.995, "99.5%"},
		{0.9996, "99.96%"},
		{0.999999, "99.9999%"},
		{0.00001, "0.00100%"},
		{12.4, "1240%"},
		{math.NaN(), "-"},
	} {
		require.Equal(t, c.want, Percent(c.share), "%v", c.share)
	}
}

func TestNumber(t *testing.T) {
	for _, c := range []struct {
		v    float64
		want string
	}{
		{0, "0"},
		{3, "3"},
		{2.3456, "2.346"},
		{21.5, "21.50"},
		{123.44, "123.4"},
		{1234.5, "1234"}, // to even
		{123456, "123456"},
		{0.012345, "0.01235"},
		{math.NaN(), "-"},
	} {
		require.Equal(t, c.want, Number(c.v), "%v", c.v)
	}
}

func TestUnitFormat(t *testing.T) {
	require.Equal(t, "1.24s", Seconds.Format(1.24))
	require.Equal(t, "1024", Tokens.Format(1024))
	require.Equal(t, "1234 tok/s", TokenRate.Format(1234.4))
	require.Equal(t, "12.34 req/s", RequestRate.Format(12.344))
	require.Equal(t, "35.00 req/s", RequestRate.Format(35))
	require.Equal(t, "99%", Share.Format(0.99))
	require.Equal(t, "-", TokenRate.Format(math.NaN()))
}

func TestUnitLimit(t *testing.T) {
	for _, c := range []struct {
		unit  Unit
		limit float64
		want  string
	}{
		{Seconds, 1, "1s"},
		{Seconds, 0.05, "50ms"},
		{Seconds, 0.0455, "45.5ms"},
		{Seconds, 1.23456, "1.23456s"},
		{Seconds, 90, "1m30s"},
		{Seconds, 60, "1m"},
		{Seconds, 3600, "1h"},
		{Seconds, 5400, "1h30m"},
		{Seconds, 0, "0s"},
		{Share, 0.99, "99%"},
		{Share, 0.07, "7%"},
		{Share, 0.9995, "99.95%"},
		{Tokens, 256, "256"},
		{TokenRate, 1000.5, "1000.5 tok/s"},
		{RequestRate, 12, "12 req/s"},
		{Seconds, math.NaN(), "-"},
	} {
		require.Equal(t, c.want, c.unit.Limit(c.limit))
	}
}

// A figure beside its limit shows on which side it lies.
func TestUnitBeside(t *testing.T) {
	for _, c := range []struct {
		unit     Unit
		v, limit float64
		want     string
	}{
		{Seconds, 0.312, 1, "312ms"},
		{Seconds, 0.9997, 1, "999.7ms"},
		{Seconds, 1.0004, 1, "1.0004s"},
		{Seconds, 1, 1, "1.00s"},
		{Share, 0.98996, 0.99, "98.996%"},
		{TokenRate, 1000.2, 1000, "1000.2 tok/s"},
		{Seconds, math.NaN(), 1, "-"},
	} {
		require.Equal(t, c.want, c.unit.Beside(c.v, c.limit), "%v beside %v", c.v, c.limit)
	}
}
