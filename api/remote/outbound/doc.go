// Package outbound reaches hosts that users name: Git, webhooks, specifications, embeds, front ends, mail, identity
// providers and other providers. No other package connects to these hosts; a linter checks this.
//
// It makes sure that a user's address leads only to the public network. It resolves a name once, checks every answer
// against a table of networks, and connects to a checked address. It repeats this for each redirect. The operator may
// allow networks and hosts (OCTAVO_OUTBOUND_ALLOW). Some rows of the table can never be allowed, such as the metadata
// services of clouds.
//
// HTTP uses the port 80, the port 443 and the ports above 1023, except ports of protocols that could read a request's
// lines as commands. DialContext allows every port, because its caller's protocol defines the port. If users choose the
// port, the caller must restrict it.
//
// An error has a reason from a closed set, and a message for users. The message names the host that the user typed. It
// contains neither the host's addresses nor the targets of redirects. The cause names them, and is for logs.
//
// The package imports no other package of this module. Proxies of the environment are not used, because a proxy would
// resolve names itself.
package outbound
