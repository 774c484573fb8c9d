// Package webhooks sends events to receivers over HTTP, with signatures of the Standard Webhooks specification
// (https://www.standardwebhooks.com). Package api/jobs decides which events are sent, and when a delivery is retried.
// Of this module it imports only package outbound.
package webhooks
