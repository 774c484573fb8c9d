package orgs

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/dnsproof"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/orgs"
	"github.com/octavo-docs/octavo/store/postgres"
)

// emailDomains has the operations on an organization's e-mail domains. People with an address in such a domain may join
// the organization.
type emailDomains struct {
	store    *store.Store
	resolver dnsproof.Resolver
}

func emailDomainOperations(h *emailDomains) []frame.Operation {
	const base = "/orgs/{organizationId}/email-domains"
	return []frame.Operation{
		{
			Method: http.MethodGet, Path: base, ID: "listEmailDomainsInOrganization", Tag: "organizations",
			Doc:   "List the e-mail domains of an organization, with the DNS record that proves each.",
			Scope: access.Having(access.RightAdmin, access.OnOrganization), Status: http.StatusOK, Handler: frame.Handle(h.list),
		},
		{
			Method: http.MethodPost, Path: base + "/{domain}/prove", ID: "proveEmailDomainInOrganization", Tag: "organizations",
			Doc:   "Look for the DNS record that proves an e-mail domain, and open the organization to the domain's people.",
			Scope: access.Having(access.RightAdmin, access.OnOrganization), Status: http.StatusOK, Handler: frame.Handle(h.prove),
		},
	}
}

// list returns all domains on one page, because an organization has at most 100 of them.
func (h *emailDomains) list(ctx context.Context, c *access.Caller, _ *struct{}) (schema.List[schema.EmailDomain], error) {
	domains, err := h.store.Orgs.EmailDomains(ctx, c.Organization.Organization)
	list := schema.List[schema.EmailDomain]{Items: make([]schema.EmailDomain, len(domains)), Count: int64(len(domains))}
	for i, domain := range domains {
		list.Items[i] = emailDomain(domain)
	}
	return list, err
}

type proveDomainRequest struct {
	Domain string `path:"domain"`
}

func (h *emailDomains) prove(ctx context.Context, c *access.Caller, r *proveDomainRequest) (schema.EmailDomain, error) {
	organization, name := c.Organization.Organization, strings.ToLower(r.Domain)
	domain, err := h.find(ctx, organization, name)
	if err != nil || domain.ProvedAt != nil {
		return emailDomain(domain), err
	}
	if err := dnsproof.Find(ctx, h.resolver, domainRecord(domain)); err != nil {
		return schema.EmailDomain{}, err
	}
	if err := h.store.Orgs.ProveDomain(ctx, organization.ID, name, postgres.ProvedByDNS); err != nil {
		return schema.EmailDomain{}, err
	}
	domain, err = h.find(ctx, organization, name)
	return emailDomain(domain), err
}

func (h *emailDomains) find(
	ctx context.Context, organization orgs.Organization, name string,
) (orgs.EmailDomain, error) {
	domains, err := h.store.Orgs.EmailDomains(ctx, organization)
	if err != nil {
		return orgs.EmailDomain{}, err
	}
	at := slices.IndexFunc(domains, func(d orgs.EmailDomain) bool { return d.Domain == name })
	if at < 0 {
		return orgs.EmailDomain{}, schema.NotFound("email domain")
	}
	return domains[at], nil
}

func emailDomain(d orgs.EmailDomain) schema.EmailDomain {
	return schema.EmailDomain{
		Object: "email-domain", Domain: d.Domain, Proved: d.ProvedAt != nil, ProvedBy: d.ProvedBy, ProvedAt: schema.UTC(d.ProvedAt),
		Record: domainRecord(d),
	}
}

func domainRecord(d orgs.EmailDomain) schema.DomainRecord {
	return schema.DomainRecord{Type: "TXT", Name: d.Domain, Value: dnsproof.Prefix + d.Token}
}
