// Package balance counts what became of each site's events in this process. The
// intake and the sink write to it; the balance endpoint and Prometheus read it.
//
// It imports fair and schema/insights, and nothing else of ours.
package balance
