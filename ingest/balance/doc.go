// Package balance counts the outcomes of each site's events in this process. The intake and the sink write to it. The
// balance endpoint and Prometheus read it.
//
// The only other packages of this module that it imports are schema/fair and schema/insights.
package balance
