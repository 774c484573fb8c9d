// Package shape checks JSON against the contract: which members exist, and the form of each. It imports no package of
// the api.
package shape
