// Package webhooks sends events to receivers over HTTP, signed as the Standard Webhooks specification has it
// (https://www.standardwebhooks.com). It knows neither what the events are nor when they are sent again: package api/jobs does. It
// imports of Octavo only package outbound.
package webhooks
