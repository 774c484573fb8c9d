// Package access says who may do what: it knows callers by their tokens, finds the object that a request names and the rights
// that the caller has on it, and counts how often callers ask. RightsOf is the one rule of rights.
//
// It imports schema and store. It must not import the frame, a domain, or fasthttp: a Guard is given header values and a path's
// parameters, not a request.
package access
