// Package clienttest tests a running server with the published client, @gitbook/api 0.146.0. Its scenarios use a
// documentation site as people do, and call every operation of the contract. Every answer is checked against the
// client's own OpenAPI document. The package has only tests, so no other package may import it.
//
// lib/contract.mjs checks answers. lib/seed.mjs has the places where the seed adds to the document or contradicts it.
// scenarios/ has the scenarios. At the end, coverage.mjs reports the operations that no scenario has called. To run one
// scenario:
//
//	go run ./cmd/engine/enginetest/with -- go test ./api/clienttest -run 'TestPublishedClient/scenarios/collections' -v
package clienttest
