// Package sites implements the operations on sites: their settings, structure, addresses, redirects, share links and
// looks.
//
// Like every domain it imports the frame, access, view and mergerules, and no other domain.
package sites
