// Package kafkaserver runs the embedded event log: one broker that speaks Kafka's protocol on loopback and keeps what it acknowledged,
// messages and group offsets, on disk through kill -9. It asks every connection for the one user and password that it is started with.
//
// It is the process behind `octavo engine kafka`. Of this module it imports only cmd/engine/supervise/dirlock.
package kafkaserver
