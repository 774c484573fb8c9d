// Package outbound reaches hosts that users name: Git, webhooks, specifications, embeds, front ends, mail, identity
// providers and other providers. Nothing else in the product connects to such a host; a linter looks for that.
//
// Its one job is that a user's address leads to the public network only. It resolves a name once, checks every answer
// against a table of networks, and connects to a checked address, again for each redirect. The operator may open networks
// and hosts (OCTAVO_OUTBOUND_ALLOW), but never those rows of the table that nobody may open, such as the metadata services
// of clouds.
//
// Ports: HTTP uses 80, 443 and those above 1023, without the ports of protocols that would take a request's lines for
// commands. DialContext takes every port, because the protocol of its caller names it: a caller whose users choose the port
// restricts it.
//
// Errors have one of a closed set of reasons and a message that a user may read: it names the host that the user typed, and
// neither the addresses behind it nor where it redirects to. The cause, which names both, is for logs.
//
// The package imports nothing of Octavo. Proxies of the environment are not used, because a proxy would resolve names itself.
package outbound
