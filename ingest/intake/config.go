package intake

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/octavo-docs/octavo/ingest/balance"
)

// Config configures an Intake. A zero field means the default named in its comment.
type Config struct {
	// Log receives the encoded messages. In production it is an *eventlog.Log. Required.
	Log Appender
	// Balances counts the outcomes of each site's events. Required.
	Balances *balance.Sites
	// HashKey is the key of visitor and session hashes. Its 16 secret bytes must never change, because otherwise every
	// visitor becomes a new visitor. Required.
	HashKey [16]byte
	// Places finds the country of an IP address. If it is nil, countries stay unknown.
	Places Locator

	// Keys records the Idempotency-Keys of requests, so that a repeated request is stored once. If it is nil,
	// Idempotency-Keys are ignored. With Keys, Log must be a SearchableLog.
	Keys Keys
	// KeyLease is the time for which a node may claim a key. The default is 30 s. The node appends within the first
	// third of this time, or does not append. So KeyLease/3 plus the log's AppendTimeout must be less than KeyLease.
	// KeyWait is the longest time that a request waits for another request with the same key. The default is 3 s.
	KeyLease time.Duration
	KeyWait  time.Duration

	// Salts provides the salts from which the ids of browsers' visitors are computed. If it is nil, batches of browsers
	// are refused.
	Salts *Salts
	// DoorSessions is the largest number of browsers' sessions that the node has in memory. The default is 1,048,576.
	// Each session takes 24 bytes. The node allocates this memory at the first batch.
	DoorSessions int
	// Logger receives warnings about browsers' batches; nil discards them.
	Logger *slog.Logger

	MaxFuture time.Duration // how far in the future a timestamp may be, default 1 h
	MaxPast   time.Duration // greatest age of a timestamp unless Client.AnyPast is set, default 30 days
	MaxEvents int           // largest number of events in a request, default 10,000

	// MaxInFlight and MaxBytesInFlight limit the number of requests in Accept and the bytes of their bodies. The same
	// number of requests and bytes may also wait until they are admitted. The defaults are 20,000 and 64 MiB.
	MaxInFlight      int
	MaxBytesInFlight int64
	AdmitWait        time.Duration // how long a request waits for admission, default 500 ms
}

func (c *Config) complete() error {
	c.MaxFuture = cmp.Or(c.MaxFuture, time.Hour)
	c.MaxPast = cmp.Or(c.MaxPast, 30*24*time.Hour)
	c.MaxEvents = cmp.Or(c.MaxEvents, 10_000)
	c.MaxInFlight = cmp.Or(c.MaxInFlight, 20_000)
	c.MaxBytesInFlight = cmp.Or(c.MaxBytesInFlight, 64<<20)
	c.AdmitWait = cmp.Or(c.AdmitWait, 500*time.Millisecond)
	c.DoorSessions = cmp.Or(c.DoorSessions, 1<<20)
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	c.KeyLease = cmp.Or(c.KeyLease, 30*time.Second)
	c.KeyWait = cmp.Or(c.KeyWait, 3*time.Second)
	switch {
	case c.Log == nil:
		return errors.New("cannot build the intake without a log")
	case c.Balances == nil:
		return errors.New("cannot build the intake without the sites' balances")
	case c.HashKey == [16]byte{}:
		return errors.New("cannot build the intake without a hash key")
	case c.Keys != nil && !isSearchable(c.Log):
		return errors.New("cannot remember idempotency keys with a log that cannot be searched")
	case c.KeyLease < 0 || c.KeyWait < 0:
		return errors.New("cannot remember idempotency keys for a negative time")
	case c.DoorSessions < 1:
		return errors.New("cannot build the intake without room for sessions")
	case c.MaxEvents < 1 || c.MaxEvents > maxEvents:
		return fmt.Errorf("cannot take %d events in one request: choose 1 to %d", c.MaxEvents, maxEvents)
	case c.MaxInFlight < 1 || c.MaxBytesInFlight < 1 || c.AdmitWait < 0 || c.MaxFuture < 0 || c.MaxPast < 0:
		return errors.New("cannot build the intake with a limit that is negative")
	}
	return nil
}

func isSearchable(log Appender) bool {
	_, ok := log.(SearchableLog)
	return ok
}
