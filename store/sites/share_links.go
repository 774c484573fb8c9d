package sites

import (
	"context"
	"crypto/rand"
	"regexp"
	"strings"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// ShareLink is a row of the table share_links. Only users who may manage the site may see the key.
type ShareLink = db.ShareLink

// newShareKey returns a new key that nobody can guess. It has 26 letters and digits.
func newShareKey() string { return strings.ToLower(rand.Text()) }

var shareKey = regexp.MustCompile(`^~[a-z2-7]{26}$`)

// IsShareKey reports whether a segment of a URL's path is "~" followed by a share key. Other segments that begin with
// "~" belong to pages, or to files of front ends (~gitbook).
func IsShareKey(segment string) bool { return shareKey.MatchString(segment) }

// CreateShareLink adds an active link with a key that nobody can guess.
func (s *Store) CreateShareLink(ctx context.Context, siteID, name string) (ShareLink, error) {
	row, err := s.db.Queries.InsertShareLink(ctx, db.InsertShareLinkParams{
		ID: schema.NewID(), SiteID: siteID, Name: name, Key: newShareKey(),
	})
	return row, postgres.Interpret(err, "share link")
}

// ShareLinkChange has the new values of a share link. Nil fields leave the value unchanged.
type ShareLinkChange struct {
	Name   *string
	Active *bool
}

// UpdateShareLink changes a share link.
func (s *Store) UpdateShareLink(ctx context.Context, siteID, id string, change ShareLinkChange) (ShareLink, error) {
	row, err := s.db.Queries.UpdateShareLink(ctx, db.UpdateShareLinkParams{
		SiteID: siteID, ID: id, Name: change.Name, Active: change.Active,
	})
	return row, postgres.Interpret(err, "share link")
}

// DeleteShareLink removes a share link, if it exists.
func (s *Store) DeleteShareLink(ctx context.Context, siteID, id string) error {
	return postgres.Interpret(s.db.Queries.DeleteShareLink(ctx, db.DeleteShareLinkParams{
		SiteID: siteID, ID: id,
	}), "share link")
}

// ShareKey returns the share key in a text. The text may be the key, "~" followed by the key, or a published URL with
// the key.
func ShareKey(text string) string {
	key := text[strings.LastIndexByte(text, '~')+1:]
	key, _, _ = strings.Cut(key, "/")
	return key
}

// ShareKeyOpens reports whether a key belongs to an active share link of the site.
func (s *Store) ShareKeyOpens(ctx context.Context, siteID, key string) (bool, error) {
	opens, err := s.db.Queries.ActiveShareKey(ctx, db.ActiveShareKeyParams{SiteID: siteID, Key: key})
	return opens, postgres.Interpret(err, "share link")
}

// ListShareLinks lists a site's share links, the oldest first. The list begins after the id `after`. If `search` is
// set, the list has only links whose name contains this text, or whose key the text contains.
func (s *Store) ListShareLinks(
	ctx context.Context, siteID string, search *string, after string, size int,
) (postgres.Page[ShareLink], error) {
	var key *string
	if search != nil {
		key = new(ShareKey(*search))
	}
	total, err := s.db.Planned.CountShareLinks(ctx, db.CountShareLinksParams{SiteID: siteID, Search: search, Key: key})
	if err != nil {
		return postgres.Page[ShareLink]{}, postgres.Interpret(err, "share links")
	}
	rows, err := s.db.Planned.ListShareLinks(ctx, db.ListShareLinksParams{
		SiteID: siteID, Search: search, Key: key, After: after, PageSize: postgres.PageSize(size),
	})
	if err != nil {
		return postgres.Page[ShareLink]{}, postgres.Interpret(err, "share links")
	}
	return postgres.PageOf(rows, size, total), nil
}
