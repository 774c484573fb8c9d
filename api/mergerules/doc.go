// Package mergerules has the merge rules of organizations and spaces in requests: their types, their validation and
// their stored form. It is a separate package because organizations and spaces are in different domains, and both
// import it.
package mergerules
