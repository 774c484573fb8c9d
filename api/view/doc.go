// Package view presents resources: it makes their JSON, and their urls, from what the store gives.
//
// It imports schema, store and access. It must not import the frame or a domain.
package view
