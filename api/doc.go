// Package api is the contract: one table of operations, and the frame that serves it over HTTP. A request goes through
// match, limits, authentication, decoding, validation, the operation's function, encoding and measuring, in this order and
// in one place; the functions see typed requests and a Caller, never fasthttp. Each resource has one file, which holds its
// rows of the table and their functions.
//
// It imports schema and store, and ingest/conversations, which is nothing but functions. Events and queries reach it through
// the interfaces in insights.go, so it must not import ingest or query.
package api
