// Package access decides about rights. It identifies callers by their tokens. It finds the object that a request names,
// and the caller's rights on the object. It limits request rates. RightsOf is the single rule for rights.
//
// It imports schema and store. It must not import the frame, a domain, or fasthttp. A Guard gets header values and path
// parameters, but never the request itself.
package access
