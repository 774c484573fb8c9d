// Package witness sends events under load, records the outcome of each request, and compares the outcomes with the
// stored events. The fault runs use it (bench/chaos, bench/powercut).
//
// It uses only the product's HTTP interface, its command and its events table. Of this module it may import only
// bench/loadgen, bench/product and the names of the events table in schema/insights.
package witness
