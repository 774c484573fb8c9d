// Package jsonschema helps write JSON schemas by hand, for types whose JSON differs from their fields. It imports
// nothing of ours.
package jsonschema
