// Package mergeexpr evaluates the expressions of custom merge rules: CEL expressions (https://cel.dev) about the facts
// of a merge. Expressions are type-checked when they are stored, and can read only the facts. Their cost, and the size
// of each value, are bounded. The package imports no other package of this module.
package mergeexpr
