// Package apitest runs a server with all of the API's operations for tests. Each server has its own database with two
// tenants. The package also has an example call of every operation, and functions that create objects. It imports
// package api, so the tests of a package below api must be in an external package, for example sites_test.
package apitest
