// Package api has the table of all operations (table.go). A domain is a package with operations, such as sites, and has
// one line in the table. Package api connects the table, the frame that serves it, and the dependencies of the
// operations. It has no rules about HTTP, rights or resources.
//
// The folders below it, from the bottom:
//
//	access      who may do what: rights, scopes, callers, tokens, rates
//	frame       everything that serves any table: routing, limits, bodies, decoding, checks, encoding, metrics, health
//	view        the presentation of resources: their JSON and their urls
//	mergerules  the merge rules of organizations and spaces in requests
//	saml        the messages of SAML logins
//	dnsproof    the DNS records that prove names
//	orgs        organizations, people, teams, single sign-on, and the operations on jobs
//	sites       sites: settings, structure, redirects, share links, looks
//	content     collections and spaces: pages, change requests, comments, search, exports, Git
//	apps        integrations, OpenAPI specifications, conversations
//	insights    events, queries, erasure
//	dashboard   the page at which people read insights, and its sessions
//	docs        the reference: pages that describe the operations, and guides
//	tracker     the script that pages load, and the snippets that load it
//	remote      clients of other hosts: Git, mail, webhooks, translators, pages on the web
//	jobs        what runs in the background: one file per kind of job
//	apitest     the served table for tests, with an example call of every operation
//	clienttest  the published client against a live server
//	browsertest our pages in a browser
//
// A domain has one file for each resource, with the rows of the table about this resource, the request types and the
// functions. A domain must not import another domain. Code that two domains need is in view, access, mergerules or
// schema. Only cmd and tests import this package.
//
// # Adding an operation
//
// Adding an operation to an existing resource, say GET /spaces/{spaceId}/git/branches, takes changes in five files:
//
//  1. In schema/git.go, declare the type of the answer.
//  2. In store/queries/git.sql, write the SQL statement. go generate ./store then writes its Go function to store/db.
//  3. In store/content_git.go, write the method of the store that runs the statement.
//  4. In api/content/gitsync.go, add the operation to the table of operations. Also write the type of its request, with
//     the rules for the members, and the function that answers the request. Add new names in rules to
//     api/content/vocabulary.go. If the answer has a new form, write the function for its presentation in api/view.
//  5. In api/apitest/examples_content.go, add an example call. The tests of the whole table use it. Without an example,
//     these tests fail and name the operation.
//
// go run ./cmd/gen then writes OPERATIONS.md and openapi.json. The tests of the table (go test ./api) check that the
// operation does what its row says: about tokens, rights, other organizations, limits, bad input and the description. A
// test in api/content checks what the operation does. The operations of a new resource are in a file of their own, and
// have a line in their domain's table.go. An operation on a new kind of object needs a function in
// api/access/objects.go that finds the object.
package api
