// Package witness sends events under load, records the outcome of each request, and compares the outcomes with the
// stored events. The fault runs use it (bench/chaos, bench/powercut).
//
// It uses only the product's HTTP interface, its command and its events table. The only other packages of this module
// that it may import are bench/loadgen, bench/product, and schema/insights for the names of the events table.
package witness
