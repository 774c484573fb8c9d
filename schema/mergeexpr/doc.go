// Package mergeexpr evaluates the expressions of custom merge rules: CEL (https://cel.dev) over the facts of a merge. Expressions are
// type-checked when they are written, see nothing but the facts, and have a bounded cost. The package imports nothing of this module.
package mergeexpr
