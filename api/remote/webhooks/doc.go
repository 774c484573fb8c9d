// Package webhooks sends events to receivers over HTTP, with signatures of the Standard Webhooks specification
// (https://www.standardwebhooks.com). Package api/jobs decides which events are sent, and when a delivery is retried.
// The only other package of this module that it imports is outbound.
package webhooks
