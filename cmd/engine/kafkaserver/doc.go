// Package kafkaserver runs the embedded event log: one broker that speaks Kafka's protocol on loopback and keeps what it acknowledged,
// messages and group offsets, on disk through kill -9.
//
// It is the process behind `octavo engine kafka`. Of this module it imports only cmd/engine/supervise/dirlock.
package kafkaserver
