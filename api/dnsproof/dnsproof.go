// Package dnsproof looks up the DNS records that prove the ownership of a name. It imports no package of the API.
package dnsproof

import (
	"context"
	"errors"
	"net"
	"slices"
	"time"

	"github.com/octavo-docs/octavo/schema"
)

// Resolver looks up TXT records; *net.Resolver implements it.
type Resolver interface {
	LookupTXT(ctx context.Context, name string) ([]string, error)
}

// lookupTimeout bounds the lookup of one record.
const lookupTimeout = 5 * time.Second

// Prefix is the prefix of the text of every record that proves a name.
const Prefix = "octavo-domain-verification="

// Find returns an error if the name has no record that proves it. If the name servers do not answer, the error is also
// a failed precondition, because this server is not at fault.
func Find(ctx context.Context, resolver Resolver, record schema.DomainRecord) error {
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	// The trailing dot prevents the resolver from applying the host's search list.
	texts, err := resolver.LookupTXT(ctx, record.Name+".")
	if slices.Contains(texts, record.Value) {
		return nil
	}
	missing := schema.PreconditionFailed("no TXT record of " + record.Name + " is " + record.Value)
	if dns, ok := errors.AsType[*net.DNSError](err); err != nil && (!ok || !dns.IsNotFound) {
		missing = schema.PreconditionFailed("the TXT records of " + record.Name + " cannot be looked up now")
		missing.Cause = err
	}
	return missing
}
