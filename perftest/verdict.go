package perftest

// Outcome is what a verdict says.
type Outcome string

// The outcomes. Only Pass is green.
const (
	Pass         Outcome = "PASS"
	Fail         Outcome = "FAIL"
	Inconclusive Outcome = "INCONCLUSIVE" // the evidence neither proves nor refutes it
	Invalid      Outcome = "INVALID"      // the run cannot tell: nothing was measured, it ended early, or the client was the bottleneck
)

// Verdict is the judgement of one SLO on one result.
type Verdict struct {
	SLO SLO `json:"slo"`
	// Outcome is what the evidence says: a PASS or FAIL is proven at Confidence.
	Outcome Outcome `json:"outcome"`
	// Point is what the measured figure itself says, whatever it is worth: PASS
	// or FAIL, or INVALID where Outcome is. A proven Outcome never contradicts
	// it.
	Point Outcome `json:"point"`
	// Gate says that Outcome decides, as for assert.Gate; else Point does.
	Gate bool `json:"gate"`
	// Binding marks the objective, of those judged together, that is nearest to
	// its limit or farthest beyond it; none of them when all are INVALID.
	Binding bool `json:"binding"`

	// Measured is the figure in the metric's unit: a percentile is that of
	// table and JSON (type 7) over the successes. Absent when there is none.
	Measured Value `json:"measured"`
	// Samples is the number of requests judged, failures included.
	Samples int `json:"samples"`
	// Over is how many of Samples miss the limit, for percentiles and Max;
	// Allowed is how many may.
	Over    int `json:"over"`
	Allowed int `json:"allowed"`
	// Failed is how many of Samples failed: each is over every limit.
	Failed int `json:"failed"`

	// Confidence is that of Outcome and of the bounds below, 0 to 1; 0 where
	// nothing was tested.
	Confidence float64 `json:"confidence"`
	// MeasuredBound is the bound of the figure on its bad side: with Confidence
	// the true p99 is not above it. Absent when the samples are too few for one.
	MeasuredBound Value `json:"measured_bound"`
	// ShareLower is the lower bound of the share of requests that miss the
	// limit, at Confidence; absent for means and rates.
	ShareLower Value `json:"share_over_lower"`
	// ShareUpper is the upper bound of the same share.
	ShareUpper Value `json:"share_over_upper"`
	// DesignEffect is by how much the variance of the share is larger than
	// that of independent requests (1 or more); absent for means and rates.
	DesignEffect Value `json:"design_effect"`
	// Effective is how many independent requests Samples are worth.
	Effective Value `json:"effective_samples"`
	// Needed is how many samples would have decided at the same share and
	// pace; 0 when it is decided or no number would.
	Needed int `json:"needed"`

	// Reason says in a line why Point is what it is.
	Reason string `json:"reason"`
	// Evidence says in a line why Outcome is what it is.
	Evidence string `json:"evidence"`
}

// Decided is the outcome that decides: Outcome for a gate, else Point.
func (v Verdict) Decided() Outcome {
	if v.Gate {
		return v.Outcome
	}
	return v.Point
}
