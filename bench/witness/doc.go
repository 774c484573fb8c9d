// Package witness sends events under load, remembers how each request ended, and compares that with what is stored: the judge of
// runs that inject faults (bench/chaos, bench/powercut).
//
// It knows the product from outside only: its HTTP interface, its command, its events table.
package witness
