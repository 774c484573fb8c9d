// Package customization defines how a published site looks and behaves. customization.go has the settings, defaults.go
// their defaults, and values.go their closed sets. merge.go and actions.go make the effective settings from settings
// and overrides. published.go has the answer with everything that a front end needs to show a site.
//
// Of this module it imports only package schema.
package customization
