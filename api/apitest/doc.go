// Package apitest serves the whole table to tests: a server on its own database with two tenants, an example call of
// every operation, and helpers that create objects. It imports package api, so tests of packages below api must be
// external (package sites_test).
package apitest
