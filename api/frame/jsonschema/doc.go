// Package jsonschema helps write JSON schemas by hand, for types whose JSON differs from their fields. It imports no
// other package of this module.
package jsonschema
