// Package clienttest proves the contract with the published client, @gitbook/api 0.146.0: it drives a live server through every
// operation, in scenarios that follow what people do with a documentation site, and every answer is checked against the client's own
// OpenAPI document. It holds tests only; nothing may import it.
//
// lib/contract.mjs is the judge, lib/seed.mjs lists where the seed goes beyond or against the document, scenarios/ are the stories, and
// coverage.mjs says at the end whether an operation was left out. One scenario by itself:
//
//	go run ./cmd/engine/enginetest/with -- go test ./api/clienttest -run 'TestPublishedClient/scenarios/collections' -v
package clienttest
