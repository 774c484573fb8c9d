// Package brokertest starts the embedded broker in a test's process, behind a proxy. The proxy puts faults into the
// broker's answers, and can require TLS and a login.
//
// The only other packages of this module that it may import are cmd/engine/kafkaserver and
// cmd/engine/enginetest/eventually.
package brokertest
