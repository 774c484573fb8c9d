package audit

import "strings"

// auditedTable is a row of the list of audited tables. It describes which columns of a database table the audit log
// shows, or why the log does not show the table.
type auditedTable struct {
	name string
	// object is the log's name for the kind of object in the table. It is "" for exempt tables.
	object string
	// in has the SQL expressions for a row's organization, site and space.
	in auditPlace
	// id is the SQL expression of the object's id. In this expression, `r` is a row of the database table. `key`
	// lists the columns that identify a row and never change.
	id, key string
	// columns lists the names of the shown columns. The log writes the names in camel case. A change of other columns
	// creates no entry. A name that begins with # is a column with large values, so the log shows the value's hash. A
	// name that begins with ! is a secret column, so the log shows only that it changed. If `columns` contains
	// organization_id, a row may move to another organization. Then both organizations get an entry.
	columns string
	// exempt is the reason why changes of the table create no entries.
	exempt string
}

// auditPlace has SQL expressions for the organization, the site and the space of an audited table's row, which they
// call `r`. `join` joins `r` with the row of its owner, for example of its site. If `r` is deleted together with its
// owner, the join finds no owner. Then the log has an entry only for the owner.
type auditPlace struct{ join, organization, site, space string }

var (
	inInstallation  = auditPlace{"", "null::text", "null", "null"}
	inOrganization  = auditPlace{"", "r.organization_id", "null", "null"}
	inSite          = auditPlace{"join sites s on s.id = r.site_id", "s.organization_id", "s.id", "null"}
	inSpace         = auditPlace{"join spaces p on p.id = r.space_id", "p.organization_id", "null", "p.id"}
	inChangeRequest = auditPlace{"join change_requests c on c.id = r.change_request_id", "c.organization_id", "null", "c.space_id"}
)

// with returns a copy of the place that has other expressions for the site and the space.
func (p auditPlace) with(site, space string) auditPlace {
	p.site, p.space = site, space
	return p
}

// Each constant is a reason why a table is exempt.
const (
	auditDerived  = "It is derived from what has entries."
	auditContents = "It holds contents: the entries of what they belong to name revisions, versions or hashes."
	auditEvents   = "It belongs to the path of events, which nobody edits."
	auditLibrary  = "It belongs to a library."
)

// auditedTables returns an entry for every table of the database.
func auditedTables() []auditedTable {
	ownID := func(name, object string, in auditPlace, columns string) auditedTable {
		return auditedTable{name: name, object: object, in: in, id: "r.id", key: "id", columns: columns}
	}
	keyed := func(name, object string, in auditPlace, id, key, columns string) auditedTable {
		return auditedTable{name: name, object: object, in: in, id: id, key: key, columns: columns}
	}
	exempt := func(reason string, names ...string) (rows []auditedTable) {
		for _, name := range names {
			rows = append(rows, auditedTable{name: name, exempt: reason})
		}
		return rows
	}
	rows := []auditedTable{
		ownID("organizations", "organization", auditPlace{"", "case when r.deleted_at is null then r.id end", "null", "null"},
			"title type plan email_domains invite_links default_role hostname logo default_site merge_rules sso ai deleted_at"),
		ownID("users", "user", inInstallation, "display_name email photo_url"),
		ownID("tokens", "token", auditPlace{"left join sites s on s.id = r.site_id", "s.organization_id", "s.id", "null"},
			"kind name user_id site_id expires_at revoked_at !hash"),
		keyed("secrets", "installation-key", inInstallation, "r.name", "name", "!value"),
		// The other columns are left out, because they change every minute.
		keyed("clock", "clock", inInstallation, "'clock'", "the", "confirmed_at"),
		keyed("event_rows_accepted", "lost-events", inInstallation, "r.month::text", "month", "rows"),
		keyed("event_rows_restored", "restored-events", inInstallation, "r.number::text", "number",
			"month rows copy damaged restored_at"),
		keyed("accepted_losses", "lost-data", inInstallation, "r.engine", "engine", "loss accepted_at"),
		keyed("site_token_keys", "site-token-key", inInstallation, "r.name", "name", "!sealed"),

		keyed("memberships", "member", inOrganization, "r.user_id", "organization_id user_id", "role sso"),
		ownID("teams", "team", inOrganization, "title"),
		keyed("team_members", "team-member", auditPlace{"join teams t on t.id = r.team_id", "t.organization_id", "null", "null"},
			"r.user_id", "team_id user_id", "team_id user_id role"),
		// In each row, exactly two of these key columns are not null.
		keyed("grants", "permission", inOrganization.with("null", "r.space_id"), "coalesce(r.user_id, r.team_id)",
			"collection_id? space_id? user_id? team_id?", "collection_id space_id user_id team_id role"),
		ownID("link_invites", "link-invite", inOrganization, "role space_id collection_id created_by expires_at"),
		keyed("email_invites", "email-invite", inOrganization, "r.user_id", "organization_id user_id", "email role sso expires_at mail_state !link_hash"),
		keyed("domain_proofs", "email-domain", inOrganization, "r.domain", "organization_id domain", "proved_by"),
		ownID("saml_providers", "saml-provider", inOrganization,
			"label entity_id #certificate sso_url default_team_id default_role"),
		keyed("saml_identities", "saml-identity", inOrganization, "r.user_id", "provider_id name_id", "provider_id name_id user_id"),
		ownID("sessions", "session", inOrganization, "provider_id user_id opened expires_at !hash"),

		ownID("collections", "collection", inOrganization, "organization_id parent_id title #description default_level position"),
		ownID("spaces", "space", inOrganization.with("null", "r.id"), "organization_id parent_id position title emoji icon visibility "+
			"edit_mode language default_level merge_rules revision git_sync git_trusted"),
		ownID("change_requests", "change-request", inSpace, "number status subject #description created_by revision revision_merged cluster_id"),
		keyed("change_request_reviewers", "requested-reviewer", inChangeRequest, "r.user_id", "change_request_id user_id",
			"change_request_id user_id requested_by revision"),
		ownID("change_request_reviews", "change-request-review", inChangeRequest, "change_request_id user_id status revision superseded"),
		ownID("change_request_templates", "change-request-template", inSpace, "title #description #pages"),
		keyed("conflict_choices", "conflict-choice", inChangeRequest, "r.conflict_id", "change_request_id conflict_id",
			"change_request_id take #value"),
		ownID("comments", "comment", inSpace, "change_request_id parent_id page_id author_id #body status"),
		keyed("comment_reactions", "comment-reaction",
			auditPlace{"join comments c on c.id = r.comment_id join spaces p on p.id = c.space_id", "p.organization_id", "null", "p.id"},
			"r.comment_id", "comment_id user_id emoji", "user_id emoji"),
		ownID("git_operations", "git-operation", inSpace,
			"kind state reason #url ref provider repo_url revision commit_hash change_request_id allowed_by "+
				"!credentials"),
		ownID("translations", "translation", inOrganization.with("null", "r.source_space_id"),
			"source_space_id source_language language #instructions runs result_space_id"),
		keyed("translation_runs", "translation-run", auditPlace{"join translations t on t.id = r.translation_id", "t.organization_id", "null", "t.source_space_id"},
			"r.id", "id", "translation_id state reason revision"),
		ownID("glossary_entries", "glossary-entry", inOrganization, "translations"),

		ownID("sites", "site", inOrganization.with("r.id", "null"), "type title visibility published basename hostname "+
			"hostname_proved_by agents_context adaptive_content proxy store_clear_ids anonymous_events"),
		ownID("site_spaces", "site-space", inSite.with("s.id", "r.space_id"), "space_id section_id path condition hidden is_default position"),
		ownID("site_sections", "site-section", inSite, "group_id title #description path condition icon is_default position"),
		ownID("site_section_groups", "site-section-group", inSite, "parent_id title icon position"),
		ownID("share_links", "share-link", inSite, "name active !key"),
		ownID("publishable_keys", "publishable-key", inSite,
			"name hosts daily_cap respect_gpc generation previous_ends_at"),
		ownID("saved_segments", "saved-segment", inSite, "owner_id name #filters"),
		ownID("insights_share_links", "insights-share-link", inSite,
			"name #filters segments #ranges timezone generation expires_at !password !hash"),
		ownID("insights_annotations", "insights-annotation", inSite, "kind at day #text pages space_id path"),
		keyed("insights_settings", "insights-settings", inSite, "r.site_id", "site_id",
			"timezone week_start hosts respect_gpc"),
		ownID("site_redirects", "site-redirect", inSite, "source kind site_section_id site_space_id page_id url draft"),
		keyed("site_customizations", "site-customization", inSite, "r.site_id", "site_id", "#settings"),
		keyed("site_space_customizations", "site-space-customization",
			auditPlace{"join site_spaces l on l.id = r.site_space_id join sites s on s.id = l.site_id", "s.organization_id", "s.id", "l.space_id"},
			"r.site_space_id", "site_space_id", "#overrides"),
		keyed("site_visitor_auth", "site-visitor-auth", inSite, "r.site_id", "site_id", "fallback_url !key"),
		keyed("retentions", "site-insights-settings", inSite, "r.site_id", "site_id", "days"),
		keyed("erasures", "visitor-erasure", inSite, "r.visitor::text", "site_id visitor", "visitor event_key"),

		ownID("conversations", "conversation", inOrganization, "source source_id impact"),
		ownID("issues_clusters", "issues-cluster", inOrganization, "label muted"),
		// The state is left out, because it changes twice for each check for a new version.
		ownID("openapi_specs", "openapi-spec", inOrganization, "slug #source_url visibility last_version"),
		keyed("integrations", "integration", inOrganization, "r.name", "name",
			"title version visibility target verified scopes categories #manifest #script !secrets #dev_tunnel dev_all"),
		ownID("integration_installations", "integration-installation", inOrganization,
			"integration scopes paused space_selection site_selection external_ids !configuration"),
		keyed("integration_content_installations", "integration-content-installation",
			auditPlace{"join integration_installations n on n.id = r.installation_id", "n.organization_id", "r.site_id", "r.space_id"},
			"r.installation_id", "installation_id space_id? site_id?", "installation_id space_id site_id external_ids !configuration"),
		ownID("integration_tokens", "integration-token", auditPlace{
			"join integrations i on i.name = r.integration left join integration_installations n on n.id = r.installation_id",
			"coalesce(n.organization_id, i.organization_id)", "null", "null",
		}, "integration installation_id expires_at !hash"),
		// The log shows only the hash of the URL, because a receiver's URL may contain a key.
		ownID("webhooks", "webhook", inOrganization, "#url description events active disabled_reason !secret !former_secret"),
	}
	for _, part := range [][]auditedTable{
		exempt(auditContents, "revisions", "revision_changes", "branch_pages", "branch_files", "documents", "document_specs", "files",
			"comment_documents", "conversation_contents", "integration_assets", "integration_scripts", "integration_versions", "openapi_spec_versions", "translation_corrections", "translation_segments"),
		exempt(auditDerived, "change_request_contributors", "conversation_issues", "issues_cluster_events", "deleted_spaces", "front_end_changes", "git_redirects",
			"integration_events", "job_turns", "mail_counts", "remembered_users", "saml_answers",
			"webhook_deliveries", "webhook_events", "git_sync_files", "git_syncs", "pdf_chunks", "pdf_contents",
			"pdfs", "search_pages", "search_parts", "search_spaces", "search_words", "verifications"),
		exempt(auditEvents, "door_salts", "event_keys", "event_row_deletions", "event_row_ends", "event_rows",
			"event_rows_leaving", "event_rows_missing", "event_rows_missing_days", "event_rows_readers", "expiries",
			"forgotten_erasures", "tombstone_version", "tombstones"),
		exempt(auditLibrary, "goose_db_version", "river_job", "river_leader", "river_migration", "river_notification", "river_queue"),
		exempt("It is a sign-in of a browser, which acts as a token or session that has entries.", "browser_sessions"),
		exempt("It is the log.", "audit_log"),
		exempt("It holds only the number of the data format.", "octavo_baseline"),
		exempt("It is empty: it is the type of a function's rows.", "content_access"),
	} {
		rows = append(rows, part...)
	}
	return rows
}

// AuditedObjects returns the types of objects in the audit log.
func AuditedObjects() (objects []string) {
	for _, t := range auditedTables() {
		if t.exempt == "" {
			objects = append(objects, t.object)
		}
	}
	return objects
}

// auditColumn is a column that the log shows.
type auditColumn struct {
	column         string
	hashed, secret bool
}

func (t auditedTable) shown() (columns []auditColumn) {
	for _, text := range strings.Fields(t.columns) {
		name := strings.TrimLeft(text, "#!")
		columns = append(columns, auditColumn{column: name, hashed: text[0] == '#', secret: text[0] == '!'})
	}
	return columns
}

// member returns the column's name in the log.
func (c auditColumn) member() string {
	words := strings.Split(c.column, "_")
	for i := 1; i < len(words); i++ {
		words[i] = strings.ToUpper(words[i][:1]) + words[i][1:]
	}
	return strings.Join(words, "")
}

// value returns the SQL expression for the value that the log shows for this column. `row` is the name of the row
// variable in SQL.
func (c auditColumn) value(row string) string {
	column := row + "." + c.column
	switch {
	case c.secret:
		return "case when " + column + " is not null then '(secret)' end"
	case c.hashed:
		return "'sha256:' || encode(sha256(convert_to(" + column + "::text, 'UTF8')), 'hex')"
	case strings.HasSuffix(c.column, "_at"):
		return "to_char(" + column + ` at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')` // schema.FormatMoment
	default:
		return column
	}
}
