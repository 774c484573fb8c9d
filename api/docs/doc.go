// Package docs makes the reference: the pages at /docs that describe the operations of a table to people and to
// programs.
//
//	docs.go      the pages of a table, built when a page is requested for the first time
//	sections.go  the groups of operations and their order
//	operation.go an operation as a page shows it
//	schema.go    members of parameters and bodies, from the OpenAPI document
//	meanings.txt what members mean, where the document does not say it
//	request.go   an example request, before it is written in a language
//	writers.go   the example request in curl, JavaScript, Go and Python: a row each
//	examples.go  requests and answers that tests made (examples.json)
//	client.go    the methods of the published client (client.txt)
//	guides       the first page and the guides, as Markdown; tests run their commands
//	guides.go    the guides as HTML
//	html.go      pages as HTML
//	twin.go      pages as Markdown, and llms.txt
//	search.go    the index of the search
//	templates    the pages' HTML and Markdown
//	assets       style, script and icon
//
// # Why pages are built in memory
//
// The first request builds all pages from the table and the OpenAPI document. TestBuildIsFast limits the time that this
// takes. If the repository had a copy of each page, it would have three megabytes that change with each operation. The
// frame compresses a page when it is first requested, and answers with an ETag.
//
// # Adding
//
// A new operation needs only an example in package apitest, the meaning of each new member in meanings.txt, and a run
// of `go test ./api/docs -record`. This command writes examples.json and client.txt. A new tag needs a row in
// sections.go. A new guide needs a file, a row in guides.go, and a row in cmd/octavo/sessions_test.go for its commands.
//
// Readers see all contents of a page without the script. The script adds the search, stores the chosen language, and
// sends requests from the page ("Try it"). It stores a pasted token only in memory. Only authorization() in
// assets/docs.js adds the token to requests.
package docs
