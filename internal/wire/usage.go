package wire

// absent is what Usage holds for a count that the server does not say.
const absent = -1

// unknown is the Usage of which nothing is known.
var unknown = Usage{Input: absent, Output: absent, Cached: absent, Reasoning: absent, Audio: absent, InputAudio: absent}

// set makes u the event's usage, if it says anything.
func (e *Event) set(u Usage) {
	if u.Input >= 0 || u.Output >= 0 {
		e.HasUsage, e.Usage = true, u
	}
}

// usage reads a usage object under the names of OpenAI's chat and Responses
// APIs and of those who follow them. One without any count is none.
func (c *cursor) usage(e *Event) {
	if !c.object() {
		return
	}
	u := unknown
	for ok := c.enter('{'); ok; ok = c.next('}') {
		switch string(c.key()) {
		case "prompt_tokens", "input_tokens":
			u.Input = max(u.Input, c.count())
		case "completion_tokens", "output_tokens":
			u.Output = max(u.Output, c.count())
		case "prompt_tokens_details", "input_tokens_details":
			c.details(&u, false)
		case "completion_tokens_details", "output_tokens_details":
			c.details(&u, true)
		case "prompt_cache_hit_tokens", // DeepSeek
			"cached_tokens": // Moonshot
			u.Cached = max(u.Cached, c.count())
		case "reasoning_tokens": // SGLang
			u.Reasoning = max(u.Reasoning, c.count())
		default:
			c.skip()
		}
	}
	e.set(u)
}

// details reads the parts of a count, of the output's or of the input's.
func (c *cursor) details(u *Usage, output bool) {
	if !c.object() {
		return
	}
	for ok := c.enter('{'); ok; ok = c.next('}') {
		switch string(c.key()) {
		case "cached_tokens":
			u.Cached = max(u.Cached, c.count())
		case "reasoning_tokens":
			u.Reasoning = max(u.Reasoning, c.count())
		case "audio_tokens":
			if n := c.count(); output {
				u.Audio = max(u.Audio, n)
			} else {
				u.InputAudio = max(u.InputAudio, n)
			}
		default:
			c.skip()
		}
	}
}

// nestedUsage reads an object that may hold a usage object.
func (c *cursor) nestedUsage(e *Event) {
	if !c.object() {
		return
	}
	for ok := c.enter('{'); ok; ok = c.next('}') {
		if string(c.key()) == "usage" {
			c.usage(e)
		} else {
			c.skip()
		}
	}
}
