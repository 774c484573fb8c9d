// Package brokertest starts the embedded broker in a test's process, behind a proxy. The proxy puts faults into the
// broker's answers, and can require TLS and a login.
//
// It may import only cmd/engine/kafkaserver and cmd/engine/enginetest/eventually of this module.
package brokertest
