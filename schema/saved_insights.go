package schema

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Scopes of saved segments.
const (
	SegmentOfSite      = "site"
	SegmentOfOnePerson = "personal"
)

// SegmentScopes are the scopes of saved segments, the default first.
func SegmentScopes() []string { return []string{SegmentOfSite, SegmentOfOnePerson} }

// SavedSegment has filters for insights. Queries refer to it by its id.
type SavedSegment struct {
	Object string `json:"object"`
	ID     string `json:"id"`
	Name   string `json:"name"`
	// Scope is site, or personal for a segment that only its creator sees.
	Scope string `json:"scope" rules:"enum=segmentScope"`
	// Where has the conditions in the form of a query.
	Where jsontext.Value `json:"where"`
	// CreatedBy is the id of the user who made the segment. It is absent if the user was deleted.
	CreatedBy string       `json:"createdBy,omitempty"`
	CreatedAt time.Time    `json:"createdAt"`
	UpdatedAt time.Time    `json:"updatedAt"`
	URLs      LocationURLs `json:"urls"`
}

// Location returns the Location header of the response that creates the segment.
func (s SavedSegment) Location() string { return s.URLs.Location }

// InsightsToken reads the insights of one site.
type InsightsToken struct {
	Object string `json:"object"`
	ID     string `json:"id"`
	Name   string `json:"name"`
	// Token is the token itself. Only the answer to the token's creation has it.
	Token     string    `json:"token,omitempty"`
	CreatedAt time.Time `json:"createdAt"`
	// ExpiresAt is absent for a token that works until it is revoked.
	ExpiresAt *time.Time `json:"expiresAt,omitzero"`
	// LastUsedAt is exact to a minute. It is absent for a token that was never used.
	LastUsedAt *time.Time   `json:"lastUsedAt,omitzero"`
	URLs       LocationURLs `json:"urls"`
}

// Location returns the Location header of the response that creates the token.
func (t InsightsToken) Location() string { return t.URLs.Location }

// InsightsShareLink shows a part of a site's insights to everybody who has its secret, and also its password if it is
// set.
type InsightsShareLink struct {
	Object string `json:"object"`
	ID     string `json:"id"`
	Name   string `json:"name"`
	// Secret opens the link. Only the answer to the link's creation has it.
	Secret string `json:"secret,omitempty"`
	// Password reports whether the link needs a password.
	Password bool `json:"password"`
	InsightsPart
	CreatedBy string    `json:"createdBy,omitempty"`
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
	// ExpiresAt is absent for a link that works until it is deleted.
	ExpiresAt *time.Time   `json:"expiresAt,omitzero"`
	URLs      LocationURLs `json:"urls"`
}

// InsightsPart is the part of a site's insights that a share link shows.
type InsightsPart struct {
	// Where has the conditions that every query must meet, in the form of a query.
	Where jsontext.Value `json:"where"`
	// Segments are saved segments. Every event must be in all of them.
	Segments []string `json:"segments"`
	// Ranges are the ranges to which queries are cut, in the form of a query. If the list is empty, queries are not
	// cut.
	Ranges jsontext.Value `json:"ranges"`
	// Timezone is the zone of the ranges' days.
	Timezone string `json:"timezone"`
}

// Location returns the Location header of the response that creates the link.
func (l InsightsShareLink) Location() string { return l.URLs.Location }

// InsightsSession is the answer to opening a share link. Its token reads the data that the link shows.
type InsightsSession struct {
	Object string `json:"object"`
	Token  string `json:"token"`
	// ExpiresAt is the time when the token ends. It ends earlier if the link ends or gets another password.
	ExpiresAt    time.Time `json:"expiresAt"`
	Organization string    `json:"organization"`
	Site         string    `json:"site"`
}

// InsightsAccess describes the part of a site's insights that a caller reads.
type InsightsAccess struct {
	Object string       `json:"object"`
	Site   InsightsSite `json:"site"`
	// Part is the part that the caller's share link shows. It is absent for a caller who reads everything.
	Part *InsightsPart `json:"part,omitzero"`
	// ExpiresAt is the time when the caller's token ends, if it ends at all.
	ExpiresAt *time.Time `json:"expiresAt,omitzero"`
}

// InsightsSite describes a site to callers that read its insights.
type InsightsSite struct {
	ID           string `json:"id"`
	Organization string `json:"organization"`
	Title        string `json:"title"`
}
