// Package view presents resources: it builds their JSON and their `urls` from store rows.
//
// It imports schema, store and access. It must not import the frame or a package of operations, such as api/sites.
package view
