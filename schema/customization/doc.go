// Package customization defines how a published site looks and behaves: customization.go has the settings, defaults.go
// and values.go their defaults and closed sets, merge.go and actions.go the way from settings and overrides to the
// effective settings, and published.go the answer with all that shows a site.
//
// Of this module it imports package schema and nothing else.
package customization
