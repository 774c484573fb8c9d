package store_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/store/storetest"
)

// Each constant is a reason why nothing waits for a time that was stored while a clock was far ahead.
const (
	// hastened means that the function hasten corrects the column.
	hastened = "hasten"
	// validUntil is the reason for a date until which something is valid. If a wrong clock sets the date, the thing is
	// valid for longer. People see the date and can end the validity.
	validUntil = "a date that people see and can end"
	// deletedLater is the reason for columns that only statements with deletion_time() compare (deletionColumns).
	deletedLater = "the row is deleted later, and nothing waits for that"
	// ofEvents is the reason for the times at which events happened or are deleted.
	ofEvents = "a time of events, which no statement compares with the present"
)

// timesAhead has a decision for each column with a time: a reason above, or how a time ahead causes no harm. Columns of
// shownTimes need no decision.
var timesAhead = map[string]string{
	"git_operations.timestamp":           hastened,
	"git_syncs.imported_at":              hastened,
	"git_syncs.synced_at":                hastened,
	"job_turns.turn":                     hastened,
	"openapi_specs.fetch_at":             hastened,
	"pdfs.asked_at":                      hastened,
	"river_job.scheduled_at":             hastened,
	"webhook_deliveries.next_attempt_at": hastened,
	"webhooks.due_at":                    hastened,
	"webhooks.held_until":                hastened,

	"browser_sessions.expires_at":       validUntil,
	"browser_sessions.link_expires_at":  validUntil,
	"email_invites.expires_at":          validUntil,
	"insights_share_links.expires_at":   validUntil,
	"integration_tokens.expires_at":     validUntil,
	"link_invites.expires_at":           validUntil,
	"publishable_keys.previous_ends_at": validUntil,
	"sessions.code_expires_at":          validUntil,
	"sessions.expires_at":               validUntil,
	"tokens.expires_at":                 validUntil,
	"webhooks.former_until":             validUntil,

	"email_invites.mail_asked_at":   deletedLater,
	"erasures.log_until":            deletedLater,
	"front_end_changes.counts_from": deletedLater,
	"pdf_contents.begun_at":         deletedLater,
	"pdfs.used_at":                  deletedLater,
	"river_job.finalized_at":        deletedLater,
	"saml_answers.expires_at":       deletedLater,
	"translation_segments.used_at":  deletedLater,
	"webhooks.failing_since":        deletedLater,

	"erasures.ahead_from":             ofEvents,
	"erasures.ahead_until":            ofEvents,
	"event_row_deletions.begun_at":    ofEvents,
	"event_rows_missing.first_time":   ofEvents,
	"event_rows_missing.last_time":    ofEvents,
	"event_rows_missing_days.day":     ofEvents,
	"expiries.before":                 ofEvents,
	"expiries.carried_out":            ofEvents,
	"forgotten_erasures.done_at":      ofEvents,
	"forgotten_erasures.erased_until": ofEvents,
	"insights_annotations.at":         ofEvents,
	"insights_annotations.day":        ofEvents,
	"tombstones.ahead_from":           ofEvents,
	"tombstones.ahead_until":          ofEvents,
	"tombstones.before":               ofEvents,

	"conversation_issues.created_at": "ClusterPulses: an issue of a time ahead counts when the time has come",
	"clock.seen_at":                  "a look replaces it, if the clock was not in doubt; see store/clock",
	"door_salts.day":                 "a salt of another day is not used",
	"door_salts.made_at":             "nothing compares it",
	"erasures.asked_at":              "it orders pending erasures, and all of them are carried out",
	"erasures.done_at":               "a restored copy counts as older than the erasure",
	"erasures.erased_until":          "erasure_reach: it is at most two days ahead",
	"erasures.mutated_at":            "the erasure is done when the engine has no replaced part",
	"event_keys.leased_until":        "ClaimEventKeys ends a lease that is longer than any lease",
	"front_end_changes.at":           "AskAboutChanges: a change that is ahead does not wait",
	"mail_counts.day":                "the counts of another day do not limit",
	"memberships.last_seen_at":       "SeeMember replaces a time that is a day ahead",
	"retentions.carried_out":         "RetentionIsDue: another day is due",
	"river_leader.expires_at":        "hasten ends the term",
	"sessions.last_used_at":          "TouchSessions replaces a time that is a day ahead",
	"tokens.last_used_at":            "TouchTokens replaces a time that is a day ahead",
	"verifications.verified_at":      "verificationDue (cmd/octavo) verifies again",
}

// shownTimes are the names of columns with the time of something that happened. They are only shown, or order lists.
var shownTimes = strings.Fields(`accepted_at attempted_at chosen_at confirmed_at created_at deleted_at disabled_at
	doubted_at edited_at elected_at finished_at hostname_proved_at ingested_at joined_at last_login_at
	last_processed_at mail_sent_at paused_at posted_at processed_at proved_at reacted_at requested_at resolved_at
	restored_at revoked_at settled_at started_at tstamp updated_at`)

// TestTimesAhead finds each column with a time in the catalog, and each column that a statement compares with the
// present. For each of these columns, timesAhead must have a decision. So a new column needs a decision.
func TestTimesAhead(t *testing.T) {
	t.Parallel()
	conn := storetest.Connect(t, storetest.URL(t))
	columns := storetest.Collect(t, conn, `
		select c.table_name || '.' || c.column_name
		from information_schema.tables t join information_schema.columns c using (table_schema, table_name)
		where t.table_schema = current_schema() and t.table_type = 'BASE TABLE'
		  and (c.data_type = 'date' or c.data_type like 'timestamp%')
		order by 1`)
	needed := map[string]bool{}
	for _, column := range columns {
		_, name, _ := strings.Cut(column, ".")
		// audit_log.at only orders a list
		needed[column] = !slices.Contains(shownTimes, name) && column != "audit_log.at"
	}
	compared := regexp.MustCompile(
		`(?:\b(\w+)\.)?\b(\w+)\s*[<>]=?\s*(?:now\(\)|clock_timestamp\(\)|sqlc\.n?arg\(now\))`)
	for _, text := range sqlStatements(t) {
		for _, at := range compared.FindAllStringSubmatchIndex(text, -1) {
			alias := ""
			if at[2] >= 0 {
				alias = text[at[2]:at[3]]
			}
			column := tableOf(text[:at[0]], text[at[0]:], alias) + "." + text[at[4]:at[5]]
			if slices.Contains(columns, column) {
				needed[column] = true
			}
		}
	}
	for column, is := range needed {
		if is && timesAhead[column] == "" {
			t.Errorf("%s has a time: decide what happens if a clock that was ahead has written it", column)
		}
	}
	for column := range timesAhead {
		if !needed[column] {
			t.Errorf("%s needs no decision", column)
		}
	}
	text, err := os.ReadFile("functions/clock.sql")
	if err != nil {
		t.Fatal(err)
	}
	corrected := map[string]bool{}
	for _, match := range regexp.MustCompile(`\('(\w+)', '(\w+)', \w+`).FindAllStringSubmatch(string(text), -1) {
		corrected[match[1]+"."+match[2]] = true
	}
	for _, column := range columns {
		if corrected[column] != (timesAhead[column] == hastened) {
			t.Errorf("%s: hasten corrects it: %v, decided: %q", column, corrected[column], timesAhead[column])
		}
	}
	for column, reason := range timesAhead {
		if name, _, found := strings.Cut(reason, ":"); found && sqlStatements(t)[name] == "" {
			t.Errorf("%s names %s, which is no statement", column, name)
		}
		if reason == deletedLater && deletionColumns[column] == "" {
			t.Errorf("%s is not compared with deletion_time()", column)
		}
	}
}
