package figure

import "math"

// Heat counts gaps between tokens by time and by size.
type Heat struct {
	ID      string  `json:"id"`
	Title   string  `json:"-"`
	Caption string  `json:"-"`
	End     float64 `json:"end"`     // seconds at the right edge; the left one is 0
	Columns int     `json:"columns"` // of equal width
	Rows    int     `json:"rows"`    // of equal ratio, from Low to High
	Low     float64 `json:"low"`     // seconds at the bottom edge
	High    float64 `json:"high"`    // seconds at the top edge
	// Counts has Columns after Columns of Rows, the smallest gaps first.
	Counts []uint32 `json:"-"`
}

// Edge is the lower edge of a row, in seconds.
func (h *Heat) Edge(row int) float64 {
	return h.Low * math.Pow(h.High/h.Low, float64(row)/float64(h.Rows))
}

// Column gives the counts of one.
func (h *Heat) Column(i int) []uint32 { return h.Counts[i*h.Rows : (i+1)*h.Rows] }

// Timeline has a bar a request: its wait, the time to its first token, and the
// time from there to its end.
type Timeline struct {
	ID      string `json:"id"`
	Title   string `json:"-"`
	Caption string `json:"-"`
	// Tick is the unit of the columns' times, in seconds.
	Tick    float64  `json:"tick"`
	Classes []string `json:"classes"` // of failures; Bar.Class counts them from 1
	Parts   []string `json:"parts"`   // of the run, at most four
	Bars    []Bar    `json:"-"`       // by start
}

// NoToken stands for the time to a first token that never came.
const NoToken = math.MaxUint32

// Bar is one request. Times are in ticks.
type Bar struct {
	Start  uint32 // when the load wanted it, after the run's start
	Queue  uint32 // from there to its sending
	First  uint32 // from its sending to its first token, or [NoToken]
	Length uint32 // from its sending to its end
	Tokens uint32 // of output, as far as they are known
	Index  uint32 // of the request, as in requests.jsonl
	Class  uint8  // 0 for a success, at most 63
	Part   uint8  // of the run: a place in Timeline.Parts, of which only the first is in the figures
}
