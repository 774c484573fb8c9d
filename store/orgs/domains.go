package orgs

import (
	"context"
	"strings"
	"time"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// EmailDomain is an e-mail domain of an organization. Users with an address of the domain may join the organization, as
// soon as the organization has proved that it owns the domain.
type EmailDomain struct {
	// Domain is the name in lower case.
	Domain string
	// Token is the text that a TXT record of the domain must have.
	Token string
	// ProvedAt is nil until the domain is proved.
	ProvedAt *time.Time
	ProvedBy string
}

// EmailDomains returns the e-mail domains in an organization's settings, without duplicates.
func (s *Store) EmailDomains(ctx context.Context, organization Organization) ([]EmailDomain, error) {
	key, err := s.db.Key(ctx, postgres.DomainKey)
	if err != nil {
		return nil, err
	}
	proofs, err := s.db.Queries.DomainProofs(ctx, organization.ID)
	if err != nil {
		return nil, postgres.Interpret(err, "email domains")
	}
	proved := map[string]db.DomainProof{}
	for _, proof := range proofs {
		proved[proof.Domain] = proof
	}
	var names []string
	for _, domain := range organization.EmailDomains {
		names = append(names, strings.ToLower(domain))
	}
	names = postgres.Distinct(names)
	domains := make([]EmailDomain, len(names))
	for i, name := range names {
		domains[i] = EmailDomain{Domain: name, Token: postgres.DomainToken(key, organization.ID, name)}
		if proof, ok := proved[name]; ok {
			domains[i].ProvedAt, domains[i].ProvedBy = &proof.ProvedAt, proof.ProvedBy
		}
	}
	return domains, nil
}

// ProveDomain records that an organization owns a domain in its settings. Users with an address of the domain may then
// join.
func (s *Store) ProveDomain(ctx context.Context, organizationID, domain, provedBy string) error {
	n, err := s.db.Queries.ProveDomain(ctx, db.ProveDomainParams{
		OrganizationID: organizationID, Domain: domain, ProvedBy: provedBy,
	})
	if err == nil && n == 0 {
		return schema.NotFound("email domain")
	}
	return postgres.Interpret(err, "email domain")
}
