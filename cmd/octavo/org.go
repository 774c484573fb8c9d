package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/postgres"
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

// SiteCmd groups the operator's commands for sites.
type SiteCmd struct {
	Check         CheckCmd         `cmd:"" help:"Load a page, and say whether its events would arrive."`
	Snippet       SnippetCmd       `cmd:"" help:"Print what a site needs so that its readers' browsers send events."`
	ProveHostname ProveHostnameCmd `cmd:"" help:"Confirm that a hostname belongs to a site, such as a subdomain of the operator's own, when it cannot be proved by DNS."`
}

// ProveHostnameCmd is `octavo site prove-hostname`.
type ProveHostnameCmd struct {
	Settings `embed:""`
	Site     string `arg:"" help:"The site's id."`
	Hostname string `arg:"" help:"The site's hostname."`
}

// Run records that the hostname belongs to the site.
func (c *ProveHostnameCmd) Run() error {
	return withStore(&c.Settings, "site prove-hostname", func(ctx context.Context, st *store.Store) error {
		name := strings.ToLower(c.Hostname)
		if _, err := st.Sites.ProveHostname(ctx, c.Site, name, postgres.ProvedByOperator); err != nil {
			return err
		}
		fmt.Fprintf(os.Stderr, "%s now leads to the site %s.\n", name, c.Site)
		return nil
	})
}

// Run records that the e-mail domain belongs to the organization.
func (c *ProveDomainCmd) Run() error {
	return withStore(&c.Settings, "org prove-domain", func(ctx context.Context, st *store.Store) error {
		if err := st.Orgs.ProveDomain(ctx, c.Organization, c.Domain, postgres.ProvedByOperator); err != nil {
			return err
		}
		fmt.Fprintf(os.Stderr, "People with an address at %s may now join %s.\n", c.Domain, c.Organization)
		return nil
	})
}
