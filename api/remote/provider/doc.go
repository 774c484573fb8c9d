// Package provider calls the HTTP interfaces of the services that an operator names by a setting, such as a translator
// or a language model: a JSON document goes out, and a JSON document comes back. Every failure has a reason from a
// closed set, which says whether a retry may succeed. The documents' meaning is up to the callers: packages chat and
// translation.
//
// It imports of Octavo only package outbound.
package provider
