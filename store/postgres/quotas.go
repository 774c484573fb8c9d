package postgres

import (
	"context"
	"fmt"
	"math"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
)

// Quotas limit the stored data. 0 means no limit. The tags have the names, defaults and meanings of the settings. Each
// default is higher than any number for which the service is designed.
type Quotas struct {
	Organizations  int64 `env:"ORGANIZATIONS" default:"1000" help:"Organizations that one user is an admin of, when creating another; 0: no bound."`
	Members        int64 `env:"MEMBERS" default:"100000" help:"Members of an organization and people invited by e-mail; 0: no bound."`
	Teams          int64 `env:"TEAMS" default:"10000" help:"Teams of an organization; 0: no bound."`
	InviteLinks    int64 `env:"INVITE_LINKS" default:"1000" help:"Link invites to an organization; 0: no bound."`
	InviteMails    int64 `env:"INVITE_MAILS" default:"1000" help:"Invites that an organization sends by mail in a day (UTC); 0: no bound."`
	UserMails      int64 `env:"USER_MAILS" default:"1000" help:"Invites by mail of a user a day (UTC); 0: no bound."`
	AllMails       int64 `env:"ALL_MAILS" default:"20000" help:"Invites by mail of all nodes a day (UTC); 0: no bound."`
	Collections    int64 `env:"COLLECTIONS" default:"20000" help:"Collections of an organization; 0: no bound."`
	Spaces         int64 `env:"SPACES" default:"20000" help:"Spaces of an organization; 0: no bound."`
	Sites          int64 `env:"SITES" default:"20000" help:"Sites of an organization; 0: no bound."`
	Integrations   int64 `env:"INTEGRATIONS" default:"1000" help:"Integrations that an organization publishes; 0: no bound."`
	OpenAPISpecs   int64 `name:"openapi-specs" env:"OPENAPI_SPECS" default:"1000" help:"OpenAPI specifications of an organization; 0: no bound."`
	Conversations  int64 `env:"CONVERSATIONS" default:"500000" help:"Conversations of an organization; 0: no bound."`
	Webhooks       int64 `env:"WEBHOOKS" default:"100" help:"Webhooks of an organization; 0: no bound."`
	ChangeRequests int64 `env:"CHANGE_REQUESTS" default:"10000" help:"Change requests of a space that are open or drafts; 0: no bound."`
	Comments       int64 `env:"COMMENTS" default:"500000" help:"Comments on a space or on a change request; 0: no bound."`
	Replies        int64 `env:"REPLIES" default:"10000" help:"Replies to a comment; 0: no bound."`

	PublishableKeys int64 `env:"PUBLISHABLE_KEYS" default:"20" help:"Publishable keys of a site; 0: no bound."`

	// Octavo also makes annotations itself. If their number reaches the quota, the oldest of them are deleted.
	Annotations int64 `env:"ANNOTATIONS" default:"2000" help:"Annotations of each kind of a site; 0: no bound."`

	SavedSegments      int64 `env:"SAVED_SEGMENTS" default:"200" help:"Saved segments of a site or user; 0: no bound."`
	InsightsTokens     int64 `env:"INSIGHTS_TOKENS" default:"50" help:"Read-only tokens of a site; 0: no bound."`
	InsightsShareLinks int64 `env:"INSIGHTS_SHARE_LINKS" default:"200" help:"Share links of a site; 0: no bound."`

	FileBytes schema.ByteSize `env:"FILE_BYTES" default:"50GiB" help:"Size of the files of an organization; 0: no bound."`
}

// count is a function that returns the number of objects of a quota. It stops counting when it has counted `bound`
// objects.
type count func(ctx context.Context, q *db.Queries, subject string, bound int32) (int64, error)

// Quota is a quota. `what` is its name in error messages, `setting` is the name of its setting, and `count` counts
// its objects. The count stops at the quota's limit, so that its cost is limited too.
type Quota struct {
	what    string
	setting string
	limit   func(Quotas) int64
	count   count
}

// counted returns a `count` that runs a counting query. The parameters of all counting queries have the same fields.
func counted[P ~struct {
	Subject string
	Bound   int32
}](query func(*db.Queries, context.Context, P) (int64, error)) count {
	return func(ctx context.Context, q *db.Queries, subject string, bound int32) (int64, error) {
		return query(q, ctx, P(struct {
			Subject string
			Bound   int32
		}{subject, bound}))
	}
}

// known returns a `count` that runs a query which reads a stored number.
func known(query func(*db.Queries, context.Context, string) (int64, error)) count {
	return func(ctx context.Context, q *db.Queries, subject string, _ int32) (int64, error) {
		return query(q, ctx, subject)
	}
}

// This is the list of all quotas. The subject of a quota is the id of the object that its text names, for example an
// organization.
var (
	QuotaOrganizations = Quota{
		"organizations that one user is an admin of", "ORGANIZATIONS", func(q Quotas) int64 { return q.Organizations },
		counted((*db.Queries).CountAdministered),
	}
	QuotaMembers = Quota{
		"members and invited people of an organization", "MEMBERS", func(q Quotas) int64 { return q.Members },
		counted((*db.Queries).CountMembersUpTo),
	}
	QuotaTeams = Quota{
		"teams of an organization", "TEAMS", func(q Quotas) int64 { return q.Teams },
		counted((*db.Queries).CountTeamsUpTo),
	}
	QuotaInviteLinks = Quota{
		"link invites to an organization", "INVITE_LINKS", func(q Quotas) int64 { return q.InviteLinks },
		counted((*db.Queries).CountLinkInvitesUpTo),
	}
	QuotaInviteMails = Quota{
		"invites that an organization sends by mail in a day", "INVITE_MAILS",
		func(q Quotas) int64 { return q.InviteMails }, known((*db.Queries).MailsToday),
	}
	QuotaUserMails = Quota{"invites by mail that one user causes in a day", "USER_MAILS",
		func(q Quotas) int64 { return q.UserMails }, known((*db.Queries).MailsToday)}
	QuotaAllMails = Quota{"invites by mail that are sent in a day", "ALL_MAILS",
		func(q Quotas) int64 { return q.AllMails }, known((*db.Queries).MailsToday)}
	QuotaCollections = Quota{
		"collections of an organization", "COLLECTIONS", func(q Quotas) int64 { return q.Collections },
		counted((*db.Queries).CountCollectionsUpTo),
	}
	QuotaSpaces = Quota{
		"spaces of an organization", "SPACES", func(q Quotas) int64 { return q.Spaces },
		counted((*db.Queries).CountSpacesUpTo),
	}
	QuotaSites = Quota{
		"sites of an organization", "SITES", func(q Quotas) int64 { return q.Sites },
		counted((*db.Queries).CountSitesUpTo),
	}
	QuotaIntegrations = Quota{
		"integrations of an organization", "INTEGRATIONS", func(q Quotas) int64 { return q.Integrations },
		counted((*db.Queries).CountIntegrationsUpTo),
	}
	QuotaOpenAPISpecs = Quota{
		"OpenAPI specifications of an organization", "OPENAPI_SPECS", func(q Quotas) int64 { return q.OpenAPISpecs },
		counted((*db.Queries).CountOpenAPISpecsUpTo),
	}
	QuotaConversations = Quota{
		"conversations of an organization", "CONVERSATIONS", func(q Quotas) int64 { return q.Conversations },
		counted((*db.Queries).CountConversationsUpTo),
	}
	QuotaWebhooks = Quota{
		"webhooks of an organization", "WEBHOOKS", func(q Quotas) int64 { return q.Webhooks },
		counted((*db.Queries).CountWebhooksUpTo),
	}
	QuotaPublishableKeys = Quota{
		"publishable keys of a site", "PUBLISHABLE_KEYS", func(q Quotas) int64 { return q.PublishableKeys },
		counted((*db.Queries).CountPublishableKeysUpTo),
	}
	// The subject of QuotaSavedSegments is the id of a segment.
	QuotaSavedSegments = Quota{
		"saved segments of a site or of a user there", "SAVED_SEGMENTS",
		func(q Quotas) int64 { return q.SavedSegments },
		counted((*db.Queries).CountSavedSegmentsUpTo),
	}
	QuotaInsightsTokens = Quota{
		"read-only tokens of a site's insights", "INSIGHTS_TOKENS", func(q Quotas) int64 { return q.InsightsTokens },
		counted((*db.Queries).CountInsightsTokensUpTo),
	}
	QuotaInsightsShareLinks = Quota{
		"share links of a site's insights", "INSIGHTS_SHARE_LINKS",
		func(q Quotas) int64 { return q.InsightsShareLinks }, counted((*db.Queries).CountInsightsShareLinksUpTo),
	}
	QuotaAnnotations = Quota{
		"annotations of a site by hand", "ANNOTATIONS", func(q Quotas) int64 { return q.Annotations },
		counted((*db.Queries).CountAnnotationsUpTo),
	}

	QuotaChangeRequests = Quota{
		"open change requests and drafts of a space", "CHANGE_REQUESTS",
		func(q Quotas) int64 { return q.ChangeRequests }, known((*db.Queries).UnmergedChangeRequests),
	}
	QuotaSpaceComments = Quota{
		"comments on a space", "COMMENTS", func(q Quotas) int64 { return q.Comments },
		known((*db.Queries).CommentsOnSpace),
	}
	QuotaRequestComments = Quota{
		"comments on a change request", "COMMENTS", func(q Quotas) int64 { return q.Comments },
		known((*db.Queries).CommentsOnChangeRequest),
	}
	QuotaReplies = Quota{
		"replies to a comment", "REPLIES", func(q Quotas) int64 { return q.Replies },
		known((*db.Queries).RepliesToComment),
	}
	QuotaFileBytes = Quota{"bytes of the files of an organization", "FILE_BYTES", fileBytes,
		known((*db.Queries).BytesOfFiles)}
)

// Within returns an error if the additions of a transaction exceed the quota. The error makes the transaction roll
// back. Concurrent transactions do not see each other's rows. So each concurrent request may exceed the quota by its
// own additions.
func (d *DB) Within(ctx context.Context, q *db.Queries, of Quota, subject string) error {
	limit := of.limit(d.quotas)
	if limit <= 0 {
		return nil
	}
	n, err := of.count(ctx, q, subject, int32(min(limit+1, 1<<30))) // min limits the value to an int32
	if err != nil {
		return Interpret(err, of.what)
	}
	if n > limit {
		return of.refusal(limit)
	}
	return nil
}

func (of Quota) refusal(limit int64) error {
	return schema.Forbidden(fmt.Sprintf("the quota of %d %s is reached (OCTAVO_QUOTA_%s)", limit, of.what, of.setting))
}

// Bound returns the limit of a quota, for a statement that checks the quota itself.
func (d *DB) Bound(of Quota) int64 {
	if limit := of.limit(d.quotas); limit > 0 {
		return limit
	}
	return math.MaxInt64
}

// Full returns the error for a statement with Bound that has changed nothing. Either the quota is reached, or the
// object to extend does not exist.
func (d *DB) Full(ctx context.Context, q *db.Queries, of Quota, subject string) error {
	n, err := of.count(ctx, q, subject, 0)
	if err == nil && n >= d.Bound(of) {
		return of.refusal(d.Bound(of))
	}
	if err == nil {
		err = pgx.ErrNoRows
	}
	return err
}

func fileBytes(q Quotas) int64 { return int64(q.FileBytes) }
