// Package balance counts the outcomes of each site's events in this process. The intake and the sink write to it. The
// balance endpoint and Prometheus read it.
//
// Of this module it imports only fair and schema/insights.
package balance
