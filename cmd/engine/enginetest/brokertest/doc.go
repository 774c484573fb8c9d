// Package brokertest starts the embedded broker in a test's process, behind a proxy that puts faults into its answers,
// and can ask for TLS and a login.
//
// Of this module it may import only cmd/engine/kafkaserver and cmd/engine/enginetest/eventually.
package brokertest
