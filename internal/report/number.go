package report

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// Unit is what a figure is counted in.
type Unit uint8

// The units.
const (
	Seconds     Unit = iota
	Tokens           // a request
	TokenRate        // tokens a second
	RequestRate      // requests a second
	Share            // from 0 to 1, shown in percent
)

// Format shows v with its unit and about three significant digits (four for
// tokens and rates); "-" when v is absent.
func (u Unit) Format(v float64) string { return u.format(v, 0) }

// format shows v with extra more digits than usual.
func (u Unit) format(v float64, extra int) string {
	switch u {
	case Seconds:
		return duration(v, 3+extra)
	case Share:
		return percent(v, 3+extra)
	}
	s := number(v, 4+extra)
	if u == Tokens {
		s = trimInteger(s)
	}
	return withSuffix(s, u.suffix())
}

// suffix follows a number that is neither a duration nor a percentage.
func (u Unit) suffix() string {
	switch u {
	case TokenRate:
		return " tok/s"
	case RequestRate:
		return " req/s"
	}
	return ""
}

func withSuffix(s, suffix string) string {
	if s == absent {
		return s
	}
	return s + suffix
}

// Limit shows a limit as its author wrote it: every digit that it has, and
// none more.
func (u Unit) Limit(v float64) string {
	if !finite(v) {
		return absent
	}
	switch u {
	case Seconds:
		s := time.Duration(math.Round(v * 1e9)).String()
		if strings.HasSuffix(s, "m0s") {
			s = strings.TrimSuffix(s, "0s")
		}
		if strings.HasSuffix(s, "h0m") {
			s = strings.TrimSuffix(s, "0m")
		}
		return s
	case Share:
		return shortest(v*100) + "%"
	}
	return shortest(v) + u.suffix()
}

// Beside shows v with as many digits as it takes for the eye to see on which
// side of limit it lies: 999.7ms, not 1.00s, beside a limit of 1s.
func (u Unit) Beside(v, limit float64) string {
	for extra := range 6 {
		s := u.format(v, extra)
		if v == limit || s != u.format(limit, extra) {
			return s
		}
	}
	return u.Limit(v)
}

// Duration shows seconds: 850µs, 31.2ms, 1.24s, 2m03.4s, 1h02m.
func Duration(seconds float64) string { return duration(seconds, 3) }

func duration(v float64, digits int) string {
	if !finite(v) {
		return absent
	}
	if v < 0 {
		return "-" + duration(-v, digits)
	}
	// Round first: 999.9ms is 1.00s, and 59.99s a minute.
	switch r := round(v, digits); {
	case r == 0:
		return "0s"
	case r < 1e-6:
		return significant(v*1e9, digits) + "ns"
	case r < 1e-3:
		return significant(v*1e6, digits) + "µs"
	case r < 1:
		return significant(v*1e3, digits) + "ms"
	case r < 60:
		return significant(v, digits) + "s"
	}
	return clock(v, max(0, digits-2))
}

// clock shows a minute or more, with decimals of a second below ten minutes.
func clock(v float64, decimals int) string {
	if v >= 600 {
		decimals = max(0, decimals-1)
	}
	if v >= 3600 && decimals == 0 {
		m := int64(math.Round(v / 60))
		return strconv.FormatInt(m/60, 10) + "h" + pad(strconv.FormatInt(m%60, 10), 2) + "m"
	}
	scale := math.Pow10(decimals)
	ticks := int64(math.Round(v * scale)) // rounded once, so that no "60s" can appear
	min, rest := ticks/int64(60*scale), ticks%int64(60*scale)
	sec := strconv.FormatFloat(float64(rest)/scale, 'f', decimals, 64)
	width := 2
	if decimals > 0 {
		width += 1 + decimals
	}
	return strconv.FormatInt(min, 10) + "m" + pad(sec, width) + "s"
}

func pad(s string, width int) string {
	return strings.Repeat("0", max(0, width-len(s))) + s
}

// Percent shows a share: 0.0123 as 1.23%. Only nothing at all is 0%, and only
// the whole is 100%.
func Percent(share float64) string { return percent(share, 3) }

func percent(share float64, digits int) string {
	if !finite(share) {
		return absent
	}
	for share > 0 && share < 1 && digits < 12 && round(share*100, digits) == 100 {
		digits++
	}
	return trimInteger(significant(share*100, digits)) + "%"
}

// Number shows a count that may be a mean: four significant digits, all digits
// of the integer part, and no decimals on a whole number.
func Number(v float64) string { return Tokens.Format(v) }

func number(v float64, digits int) string {
	if !finite(v) {
		return absent
	}
	return significant(v, digits)
}

// trimInteger drops decimals that are all zero.
func trimInteger(s string) string {
	if whole, frac, ok := strings.Cut(s, "."); ok && strings.Trim(frac, "0") == "" {
		return whole
	}
	return s
}

// significant shows v with so many significant digits, and never fewer than
// those of its integer part.
func significant(v float64, digits int) string {
	if v == 0 {
		return "0"
	}
	_, exp, _ := strings.Cut(strconv.FormatFloat(v, 'e', digits-1, 64), "e")
	e, _ := strconv.Atoi(exp)
	return strconv.FormatFloat(v, 'f', max(0, digits-1-e), 64)
}

// round is v with so many significant digits.
func round(v float64, digits int) float64 {
	r, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'e', digits-1, 64), 64)
	return r
}

// shortest shows v, freed of the last bit's noise (0.07*100 is 7).
func shortest(v float64) string {
	return strconv.FormatFloat(round(v, 12), 'f', -1, 64)
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
