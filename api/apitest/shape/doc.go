// Package shape checks JSON against what the contract says of it: which members there are, and what each of them looks like.
// It imports nothing of the api.
package shape
