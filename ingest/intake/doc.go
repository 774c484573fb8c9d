// Package intake accepts visitor events. It decodes a request's body, validates and enriches its events, and appends
// them to the log as one message. Accept returns when the message is durable.
//
//   - scan.go reads JSON, and decode.go reads the request and its events
//   - unknown.go skips events of types that this version does not know
//   - validate*.go checks the sent values
//   - enrich*.go adds derived values: bots, agents and impostors, devices, places, campaigns
//   - admission.go limits the requests in flight
//   - keys.go makes requests with an Idempotency-Key safe to repeat, keys_recent.go answers repeats from memory
//   - door*.go accept batches of browsers. They use the daily salts of salts.go for visitors, and the table of
//     sessions.go for sessions. crowds.go finds sites whose proxy hides the addresses of visitors
//
// Accept allocates no memory. Strings of an event share the body's memory until the encoder copies them.
//
// This package imports schema and fair. Of the packages in ingest, it imports balance, eventlog and retry. It must not
// import sink, eventstore or deadletter.
package intake
