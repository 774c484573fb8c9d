// Package apitest serves the whole table to tests: a server on a database of its own with two tenants in it, an example call of
// every operation, and the objects that tests make. It imports package api, so the tests of packages below api are external ones
// (package sites_test).
package apitest
