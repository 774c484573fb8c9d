// Package witness sends events under load, records how each request ended, and compares that with what is stored. It
// judges the runs that inject faults (bench/chaos, bench/powercut).
//
// It knows the product only from outside: its HTTP interface, its command, its events table. Of this module it may
// import only bench/loadgen, bench/product and the names of the events table in schema/insights.
package witness
