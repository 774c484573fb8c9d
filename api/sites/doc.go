// Package sites implements the operations on sites: their settings, structure, addresses, redirects, share links and
// looks.
//
// It imports the frame, access and view. It must not import another package of operations. schema/condition checks the
// conditions of adaptive content.
package sites
