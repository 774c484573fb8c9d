// Package jsonschema writes JSON schemas by hand, for types whose JSON is not what their fields look like. It imports nothing of
// ours.
package jsonschema
