// Package view builds the API form of resources from store rows: their JSON with their `urls`.
//
// It imports schema, store and access. It must not import the frame or a package of operations, such as api/sites.
package view
