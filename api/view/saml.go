package view

import (
	"crypto/sha256"
	"fmt"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/saml"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/people"
	"github.com/octavo-docs/octavo/store/orgs"
)

func (v Presenter) SAMLService(organization, id string) people.SAMLService {
	return people.SAMLService{
		ACSURL:   v.API("orgs", organization, "saml", id, "acs"),
		StartURL: v.API("orgs", organization, "saml", id, "start"),
		EntityID: v.API("orgs", organization, "saml", id, "metadata"),
	}
}

func (v Presenter) SAMLProvider(
	rights access.Rights, row orgs.SAMLProvider, teams map[string]orgs.TeamRow,
) people.SAMLProvider {
	location := v.API("orgs", row.OrganizationID, "saml", row.ID)
	p := people.SAMLProvider{
		Object: "saml-provider", ID: row.ID, Label: row.Label, EntityID: schema.Or(row.EntityID, ""), Certificate: schema.Or(row.Certificate, ""),
		// The contract requires an absolute URI even if no address is set. This URI leads nowhere.
		SSOURL: schema.Or(row.SsoUrl, people.NoSSOURL), DefaultRole: schema.RoleFromNullable(row.DefaultRole),
		CreatedAt: row.CreatedAt.UTC(),
		Status:    people.SAMLPending, Service: v.SAMLService(row.OrganizationID, row.ID),
		URLs: schema.LocationURLs{Location: location},
	}
	// ParseCertificates fails only if the text is empty, because the store has only valid certificates.
	certificates, _ := saml.ParseCertificates(p.Certificate)
	p.Certificates = make([]people.SAMLCertificate, len(certificates))
	for i, c := range certificates {
		p.Certificates[i] = people.SAMLCertificate{
			SHA256: fmt.Sprintf("%x", sha256.Sum256(c.Raw)), NotBefore: c.NotBefore.UTC(), NotAfter: c.NotAfter.UTC(),
		}
	}
	if row.Active {
		p.Status = people.SAMLActive
	}
	if team, ok := teams[schema.Or(row.DefaultTeamID, "")]; ok {
		resource := Team(rights)(team)
		p.DefaultTeam = &resource
	}
	return p
}
