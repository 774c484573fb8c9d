// Package clienttest tests the contract with the published client, @gitbook/api 0.146.0. Its scenarios follow the use
// of a documentation site. They call every operation of a live server. Every answer is checked against the client's own
// OpenAPI document. The package holds tests only; no package may import it.
//
// lib/contract.mjs checks answers. lib/seed.mjs lists where the seed extends or contradicts the document. scenarios/
// has the scenarios. coverage.mjs reports at the end whether an operation was left out. To run one scenario:
//
//	go run ./cmd/engine/enginetest/with -- go test ./api/clienttest -run 'TestPublishedClient/scenarios/collections' -v
package clienttest
