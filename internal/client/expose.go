package client

// Redact gives text without the client's secrets, on one line and bounded, for
// what a server said outside of an answer.
func (c *Client) Redact(text string) string { return c.redact.clean(text, maxRedacted) }

const maxRedacted = 500 // bytes
