package outbound

// Reason is a reason why a host was not reached, or why its answer was not accepted. The variable Reasons lists all
// reasons.
type Reason struct {
	Label     string // short unique name; only tests read it
	Retryable bool   // whether the same request may succeed later
	Text      string // end of the sentence "<host> ..." for users
	Doc       string // explanation in whole sentences; only tests read it
}

// These are the reasons why a host is not reached, or why its answer is not accepted. Error.Error makes messages for
// users from Text. Callers use Retryable to decide whether they send the request again.
var (
	InvalidAddress  = &Reason{"invalid_address", false, "is not an address that can be reached", "The URL or host is malformed, or written in a way that programs read differently."}
	RefusedPort     = &Reason{"refused_port", false, "is not reached on this port", "HTTP uses the ports 80, 443 and those above 1023, but for those of other protocols."}
	RefusedNetwork  = &Reason{"refused_network", false, "is not on the public network", "The host is an address, or has one among its addresses, that is not public and that OCTAVO_OUTBOUND_ALLOW does not open."}
	HostNotFound    = &Reason{"host_not_found", false, "has no address", "DNS knows no address of the host."}
	LookupFailed    = &Reason{"lookup_failed", true, "cannot be looked up now", "DNS did not answer, or answered with a failure."}
	ConnectFailed   = &Reason{"connect_failed", true, "accepted no connection", "No address of the host accepted a connection."}
	TLSFailed       = &Reason{"tls_failed", false, "has no TLS certificate that can be trusted", "TLS failed: the certificate is expired, for another host or of an unknown authority, or the server does not speak TLS."}
	TimedOut        = &Reason{"timed_out", true, "did not answer in time", "A connection or an answer took longer than its limit."}
	ConnectionLost  = &Reason{"connection_lost", true, "ended the connection before its answer was complete", "The connection broke."}
	BadResponse     = &Reason{"bad_response", false, "gave an answer that is not understood", "The answer is not HTTP, or has an encoding that was not asked for."}
	TooLarge        = &Reason{"too_large", false, "gave an answer that is too large", "The answer has more bytes, as sent or when inflated, than its limit."}
	TooManyHops     = &Reason{"too_many_redirects", false, "redirects more often than is followed", "The answer is a redirect beyond the limit, which is 0 for some uses."}
	RefusedRedirect = &Reason{"refused_redirect", false, "redirects to where no redirect is followed", "A redirect leads from https to http, to another scheme, or would send a body to another host."}
	Canceled        = &Reason{"canceled", true, "was not waited for", "Octavo gave up, for instance because it stops."}

	Reasons = []*Reason{
		InvalidAddress, RefusedPort, RefusedNetwork, HostNotFound, LookupFailed, ConnectFailed, TLSFailed, TimedOut, ConnectionLost,
		BadResponse, TooLarge, TooManyHops, RefusedRedirect, Canceled,
	}
)
