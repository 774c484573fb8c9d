// Package shape checks that JSON values have the members that the contract names, and that each member has the right
// form. It does not import package api or a package below it.
package shape
