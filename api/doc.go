// Package api is the contract: one table of operations (table.go), which has a line per domain. It puts the table, the frame
// that serves it and the parts that operations need together, and holds no rule about HTTP, rights or resources itself.
//
// The folders below it, from the bottom:
//
//	access      who may do what: rights, scopes, callers, tokens, rates
//	frame       everything that serves any table: routing, limits, bodies, decoding, checks, encoding, metrics, health
//	frame/rules, frame/jsonschema, frame/openapi
//	            what members of requests must satisfy, and the OpenAPI document that says so
//	view        what presents resources: their JSON and their urls
//	mergerules  the merge rules of organizations and spaces in requests
//	orgs, sites, content, apps, insights
//	            the operations by domain: in one file per resource its rows, request types and functions
//	apitest     the served table for tests, with an example call of every operation
//	clienttest  the published client against a live server
//
// Domains do not import each other: what two of them need is in view, access, mergerules or schema. Nothing but cmd and tests
// imports this package.
//
// # Adding an operation
//
// An operation of an existing resource, say GET /spaces/{spaceId}/git/branches, takes five files, each written once:
//
//  1. schema/git.go: the type of the answer.
//  2. store/queries/git.sql: the statement; go generate ./store writes store/db.
//  3. store/git.go: the method of the store.
//  4. api/content/gitsync.go: the row, the request's type with its rules, and the function. A name that a rule uses for the first
//     time goes into api/content/vocabulary.go; how the row is presented, into api/view.
//  5. api/apitest/examples_content.go: the example by which every test of the whole table calls the operation. Without one these
//     tests fail and name the operation.
//
// go run ./cmd/gen then writes OPERATIONS.md and openapi.json. The tests of the table (go test ./api) judge the operation by its
// row: tokens, rights, other tenants, limits, bad input, its description. A test in api/content says what it does. A resource of
// its own has its own file, and a line in its domain's table.go. An operation on a new kind of object has a finder in
// api/access/objects.go.
package api
