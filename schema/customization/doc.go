// Package customization defines how a published site looks and behaves. customization.go has the settings, defaults.go
// has their defaults, and values.go has the values of their enumerations. merge.go and actions.go make the effective
// settings from settings and overrides. published.go has the response with everything that a front end needs to show a
// site.
//
// The only other package of this module that it imports is schema.
package customization
