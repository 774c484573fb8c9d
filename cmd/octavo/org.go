package main

import (
	"context"
	"fmt"
	"os"

	"github.com/octavo-docs/octavo/store"
)

// OrgCmd groups the operator's commands for organizations.
type OrgCmd struct {
	ProveDomain ProveDomainCmd `cmd:"" help:"Confirm that an e-mail domain belongs to an organization, when it cannot be proved by DNS."`
}

// ProveDomainCmd is `octavo org prove-domain`.
type ProveDomainCmd struct {
	Settings     `embed:""`
	Organization string `arg:"" help:"The organization's id."`
	Domain       string `arg:"" help:"One of the organization's emailDomains."`
}

// Run proves the domain.
func (c *ProveDomainCmd) Run() error {
	return withStore(&c.Settings, func(ctx context.Context, st *store.Store) error {
		if err := st.ProveDomain(ctx, c.Organization, c.Domain, store.ProvedByOperator); err != nil {
			return err
		}
		fmt.Fprintf(os.Stderr, "People with an address at %s may now join %s.\n", c.Domain, c.Organization)
		return nil
	})
}
