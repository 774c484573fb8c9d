// Package mergeexpr evaluates the expressions of custom merge rules: CEL (https://cel.dev) over the facts of a merge.
// Expressions are type-checked when they are written, and see nothing but the facts. Their cost, and the size of each
// value, are bounded. The package imports nothing of this module.
package mergeexpr
