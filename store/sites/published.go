package sites

import (
	"context"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// PublishedPart has the columns of a site space that decide which content a URL shows. For a site space at the root of
// a site, SectionID is nil and SectionDefault is true.
type PublishedPart = db.PublishedPartsRow

// Published is a site with its site spaces, in the order of the site's structure. The site may be unpublished: the
// caller must check whether the reader may see it. Callers share Parts, so they must not change them.
type Published struct {
	Site Site
	// ShareLink and ShareKey are the id and the key of the active share link that the reference names. They are "" if
	// there is no such link.
	ShareLink, ShareKey string
	// Redirects reports whether the site has redirects.
	Redirects bool
	Parts     []PublishedPart
}

// Row returns the site as a Row.
func (p *Published) Row() Row { return Row{Site: p.Site, SiteSpaces: int64(len(p.Parts))} }

// PublishedRef identifies a site by its id, or by a proved host name in lower case. It may also name a share link of
// the site by the link's id or key.
type PublishedRef struct{ Site, Hostname, ShareLink, ShareKey string }

// keptParts is the largest number of cached parts of all sites together. A part takes about 500 bytes.
const keptParts = 50_000

// keptSite is the cached data of one version of a site.
type keptSite struct {
	version string
	site    Site
	parts   []PublishedPart
}

func (k *keptSite) Size() int { return 1 + len(k.parts) }

// Published reads a site for its readers. Each call reads the site's version from Postgres. Published reads the other
// data only if the cache does not have this version.
func (s *Store) Published(ctx context.Context, ref PublishedRef) (Published, error) {
	now, err := s.db.Queries.PublishedVersion(ctx, db.PublishedVersionParams{
		ID: postgres.UnlessEmpty(ref.Site), Hostname: postgres.UnlessEmpty(ref.Hostname),
		ShareLink: postgres.UnlessEmpty(ref.ShareLink), ShareKey: postgres.UnlessEmpty(ref.ShareKey),
	})
	if err != nil {
		return Published{}, postgres.Interpret(err, "site")
	}
	k, ok := s.published.Get(now.ID)
	if !ok || k.version != now.Version {
		// The data may be newer than the version. Then the next call finds a newer version, and reads the data again.
		if k, err = s.readPublished(ctx, now.ID, now.Version); err != nil {
			return Published{}, err
		}
		s.published.Keep(now.ID, k)
	}
	return Published{
		Site: k.site, ShareLink: schema.Or(now.ShareLink, ""), ShareKey: schema.Or(now.ShareKey, ""),
		Redirects: now.HasRedirects, Parts: k.parts,
	}, nil
}

func (s *Store) readPublished(ctx context.Context, id, version string) (*keptSite, error) {
	site, err := s.db.Queries.SiteByID(ctx, id)
	if err != nil {
		return nil, postgres.Interpret(err, "site")
	}
	parts, err := s.db.Queries.PublishedParts(ctx, id)
	return &keptSite{version: version, site: site, parts: parts}, postgres.Interpret(err, "site")
}

// SpacePlace is the place at which readers find a space: a published site, and the part of the site that shows the
// space.
type SpacePlace struct {
	Site Site
	// ShareKey is the share key with which the reader may see the site. It is "" if no key is needed.
	ShareKey string
	Part     PublishedPart
}

// PlacesOfSpaces returns the places at which readers find spaces, by space, with a single statement. If several
// published sites show a space, it returns the site that most readers may see. It leaves out spaces that no published
// site shows.
func (s *Store) PlacesOfSpaces(ctx context.Context, ids ...string) (map[string]*SpacePlace, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	rows, err := s.db.Queries.PlacesOfSpaces(ctx, ids)
	places := make(map[string]*SpacePlace, len(rows))
	for _, row := range rows {
		places[row.SpaceID] = &SpacePlace{Site: row.Site, Part: PublishedPart{
			ID: row.ID, SpaceID: row.SpaceID, Path: row.Path, IsDefault: row.IsDefault, Condition: row.Condition,
			SectionID: row.SectionID, SectionPath: row.SectionPath, SectionDefault: row.SectionDefault,
			SectionNamed: row.SectionNamed, SectionCondition: row.SectionCondition,
		}}
	}
	return places, postgres.Interpret(err, "sites")
}
