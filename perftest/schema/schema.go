// Package schema holds the JSON Schemas (draft 2020-12) of the files that a run
// leaves, for programs that read them without this module.
//
// The promise: within a version of result.json (its "version"), members are only
// added. None is removed, renamed, or given another type, unit or meaning; what
// is not known stays null. What cannot be had so makes a new version. A program
// that ignores the members that it does not know reads every later file of its
// version. [perftest.ReadResult] reads this version and all earlier ones, with
// requests.jsonl and server.jsonl beside it.
//
// A number is in the unit that its name ends in (_s is seconds, _per_s a
// second); the descriptions name every other unit.
package schema

import _ "embed"

// Result is the schema of result.json. It is made from package perftest's types
// and their comments.
//
//go:embed result.schema.json
var Result []byte

// Requests is the schema of a line of requests.jsonl.
//
//go:embed requests.schema.json
var Requests []byte

// Server is the schema of a line of server.jsonl.
//
//go:embed server.schema.json
var Server []byte
