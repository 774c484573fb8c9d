// Package provider calls the HTTP interfaces of the services that an operator names by a setting, such as a translator or a
// language model: a JSON document goes out, and a JSON document comes back. Its one job is that every way in which such a call can
// fail is one of a closed set of reasons, which say whether the same call may succeed later. What the documents mean is known by
// its users: package chat and package translation.
//
// It imports of Octavo only package outbound.
package provider
