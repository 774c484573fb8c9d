// Package access decides which callers may do what. It identifies callers by their tokens. It finds the object that a
// request names, and the caller's rights on the object. It limits the rates of requests. RightsOf is the only function
// that decides which rights a user has.
//
// It imports schema and store. It must not import the frame, a package of operations, or fasthttp. A Guard gets header
// values and path parameters, but never the request itself.
package access
