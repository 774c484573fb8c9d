// Package outbound connects to hosts that users name: for Git, webhooks, specifications, embeds, front ends, mail,
// identity providers and other providers. No other package may connect to these hosts. A linter checks this.
//
// The package makes sure that an address of a user leads only to the public network. It resolves a name once, checks
// every address in the answer against a table of networks, and connects to a checked address. It does this again for
// each redirect. The operator may allow networks and hosts (OCTAVO_OUTBOUND_ALLOW). Some networks in the table can
// never be allowed, such as the metadata services of clouds.
//
// For HTTP, the ports 80 and 443 and the ports above 1023 are allowed. Ports above 1023 are refused if their protocol
// could execute the lines of a request as commands. DialContext allows every port, because the protocol of its caller
// defines the port. If users choose the port, the caller must restrict it.
//
// An error has a reason from a fixed set, and a message for users. The message names the host that the user typed. It
// contains neither the addresses of the host nor the targets of redirects. The cause of the error contains them, and is
// only for logs.
//
// The package imports no other package of this module. It does not use the proxies of the environment, because a proxy
// would resolve names itself.
package outbound
