// Package access decides who may do what: it identifies callers by their tokens, finds the object that a request names and the
// caller's rights on it, and limits request rates. RightsOf is the single rule for rights.
//
// It imports schema and store. It must not import the frame, a domain, or fasthttp: a Guard gets header values and path
// parameters, not a request.
package access
