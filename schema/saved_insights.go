package schema

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// These are the scopes of saved segments.
const (
	SegmentOfSite      = "site"
	SegmentOfOnePerson = "personal"
)

// SegmentScopes returns the scopes of saved segments. The first scope is the default.
func SegmentScopes() []string { return []string{SegmentOfSite, SegmentOfOnePerson} }

// SavedSegment is a named set of filters for insights. Queries refer to the segment by its id.
type SavedSegment struct {
	Object string `json:"object"`
	ID     string `json:"id"`
	Name   string `json:"name"`
	// Scope is `personal` if only the creator sees the segment, and otherwise `site`.
	Scope string `json:"scope" rules:"enum=segmentScope"`
	// Where has the conditions of the segment, in the form that conditions have in a query.
	Where jsontext.Value `json:"where"`
	// CreatedBy is the id of the user who made the segment. It is absent if the user was deleted.
	CreatedBy string       `json:"createdBy,omitempty"`
	CreatedAt time.Time    `json:"createdAt"`
	UpdatedAt time.Time    `json:"updatedAt"`
	URLs      LocationURLs `json:"urls"`
}

// Location returns the Location header of the response that creates the segment.
func (s SavedSegment) Location() string { return s.URLs.Location }

// InsightsToken is a token that can read the insights of one site.
type InsightsToken struct {
	Object string `json:"object"`
	ID     string `json:"id"`
	Name   string `json:"name"`
	// Token is the token itself. It is set only in the response that creates the token.
	Token     string    `json:"token,omitempty"`
	CreatedAt time.Time `json:"createdAt"`
	// ExpiresAt is absent if the token is valid until it is revoked.
	ExpiresAt *time.Time `json:"expiresAt,omitzero"`
	// LastUsedAt has a precision of one minute. It is absent if the token was never used.
	LastUsedAt *time.Time   `json:"lastUsedAt,omitzero"`
	URLs       LocationURLs `json:"urls"`
}

// Location returns the Location header of the response that creates the token.
func (t InsightsToken) Location() string { return t.URLs.Location }

// InsightsShareLink shows a part of a site's insights to everybody who has the link's secret. If the link has a
// password, the password is needed too.
type InsightsShareLink struct {
	Object string `json:"object"`
	ID     string `json:"id"`
	Name   string `json:"name"`
	// Secret opens the link. It is set only in the response that creates the link.
	Secret string `json:"secret,omitempty"`
	// Password is true if the link needs a password.
	Password bool `json:"password"`
	InsightsPart
	CreatedBy string    `json:"createdBy,omitempty"`
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
	// ExpiresAt is absent if the link is valid until it is deleted.
	ExpiresAt *time.Time   `json:"expiresAt,omitzero"`
	URLs      LocationURLs `json:"urls"`
}

// InsightsPart is the part of a site's insights that a share link shows.
type InsightsPart struct {
	// Where has conditions that every event must meet, in the form that conditions have in a query.
	Where jsontext.Value `json:"where"`
	// Segments has the ids of saved segments. Every event must be in all of these segments.
	Segments []string `json:"segments"`
	// Ranges has the ranges to which queries are limited, in the form that ranges have in a query. If the list is
	// empty, the range of a query is not limited.
	Ranges jsontext.Value `json:"ranges"`
	// Timezone is the time zone of the days in Ranges.
	Timezone string `json:"timezone"`
}

// Location returns the Location header of the response that creates the link.
func (l InsightsShareLink) Location() string { return l.URLs.Location }

// InsightsSession is the response to a client that opens a share link. With the token, the client can read the data
// that the link shows.
type InsightsSession struct {
	Object string `json:"object"`
	Token  string `json:"token"`
	// ExpiresAt is the time at which the token expires. The token becomes invalid earlier if the link expires or is
	// deleted, or gets another password.
	ExpiresAt    time.Time `json:"expiresAt"`
	Organization string    `json:"organization"`
	Site         string    `json:"site"`
}

// InsightsAccess describes the part of a site's insights that a caller may read.
type InsightsAccess struct {
	Object string       `json:"object"`
	Site   InsightsSite `json:"site"`
	// Part is the part that the caller's share link shows. It is absent if the caller may read all insights of the
	// site.
	Part *InsightsPart `json:"part,omitzero"`
	// ExpiresAt is the time at which the caller's token expires. It is absent if the token does not expire.
	ExpiresAt *time.Time `json:"expiresAt,omitzero"`
}

// InsightsSite has the data of a site that callers who read its insights may see.
type InsightsSite struct {
	ID           string `json:"id"`
	Organization string `json:"organization"`
	Title        string `json:"title"`
}
