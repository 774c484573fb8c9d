// Package brokertest starts the embedded broker in a test's process, behind a proxy. The proxy puts faults into the
// broker's answers, and can require TLS and a login.
//
// Of the packages of this module, it may import only cmd/engine/kafkaserver and cmd/engine/enginetest/eventually.
package brokertest
