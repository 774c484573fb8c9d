package store_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/store/audit"
)

// Each constant is a reason why a row does not look old later, although it was created while the clock was far
// behind.
const (
	// insertedWith means that each statement that inserts rows or sets the column uses creation_time() for the column.
	insertedWith = "insert: creation_time()"
	// updatedWith means that each statement that sets the column uses creation_time() or null.
	updatedWith = "update: creation_time()"
)

// deletionColumns has a reason for each column that statements compare with deletion_time(). It is one of the reasons
// above, or the reason why users lose nothing if the row looks old.
var deletionColumns = map[string]string{
	"audit_log.at":                  insertedWith,
	"email_invites.expires_at":      insertedWith,
	"email_invites.mail_asked_at":   insertedWith,
	"erasures.log_until":            insertedWith,
	"event_keys.created_at":         insertedWith,
	"front_end_changes.counts_from": insertedWith,
	"git_operations.finished_at":    updatedWith,
	"pdf_contents.begun_at":         insertedWith,
	"site_token_keys.created_at":    insertedWith,
	"webhook_deliveries.created_at": insertedWith,
	"webhook_events.created_at":     insertedWith,
	"webhooks.failing_since":        updatedWith,

	"browser_sessions.expires_at":   "a date that its reader also checks: the person logs in again",
	"door_salts.day":                "a salt of a day in the past is not used any more",
	"expiries.before":               "a deletion up to a later time covers it",
	"integration_tokens.expires_at": "a date that its reader also checks: the integration gets another token",
	"job_turns.turn":                "a party whose turn is forgotten gets its next turn sooner",
	"mail_counts.day":               "the limits of a day begin again",
	"pdfs.used_at":                  "a PDF is rendered again when it is requested",
	"retentions.carried_out":        "the retention runs again, because the day is another",
	"river_job.finalized_at":        "the trigger job_failed gives failed jobs creation_time(); other jobs are done",
	"saml_answers.expires_at":       "the end of the login request, after which no answer is accepted",
	"sessions.code_expires_at":      "a date that its reader also checks: the person logs in again",
	"sessions.expires_at":           "a date that its reader also checks: the person logs in again",
	"translation_segments.used_at":  "a run marks the segments that it uses before it drops the others",
}

// deletionStatements has statements in which deletion_time() is not next to a column. For each statement, it has the
// columns that the statement compares with deletion_time().
var deletionStatements = map[string][]string{
	"BeginRetention":     {"expiries.before"},
	"ClaimEventKeys":     {"event_keys.created_at"},
	"DeletionTime":       nil, // the time is for files: see api.TestCodeDeletesByGuardedTime
	"ForgetAuditEntries": {"audit_log.at"},
	"RetentionIsDue":     nil, // the function is only compared with its value for stopped deletions
	"known_time":         nil, // the function is only compared with its value for stopped deletions
}

// TestColumnsOfDeletionsByAge finds the columns that statements compare with deletion_time(). It checks that
// deletionColumns has a true reason for each of them.
func TestColumnsOfDeletionsByAge(t *testing.T) {
	t.Parallel()
	guarded := regexp.MustCompile(`deletion_time\(\)`)
	compared := regexp.MustCompile(`(?:(\w+)\.)?(\w+)\s*(?:[<>]=?|is distinct from)\s*` +
		`(?:coalesce\(|date_trunc\('day', |\()*deletion_time\(\)`)
	found, indirect := map[string]bool{}, map[string]bool{}
	statements := sqlStatements(t)
	for name, text := range statements {
		beside := compared.FindAllStringSubmatchIndex(text, -1)
		for _, at := range beside {
			alias := ""
			if at[2] >= 0 {
				alias = text[at[2]:at[3]]
			}
			column := tableOf(text[:at[0]], text[at[0]:], alias) + "." + text[at[4]:at[5]]
			found[column] = true
			if deletionColumns[column] == "" {
				t.Errorf("%s compares %s with deletion_time(): decide how rows do not look old", name, column)
			}
		}
		if len(guarded.FindAllString(text, -1)) == len(beside) {
			continue
		}
		indirect[name] = true
		columns, listed := deletionStatements[name]
		if !listed {
			t.Errorf("%s has deletion_time(), and deletionStatements does not list its columns:\n%s", name, text)
		}
		for _, column := range columns {
			found[column] = true
		}
	}
	for name := range deletionStatements {
		if !indirect[name] {
			t.Errorf("deletionStatements lists %s, which has no deletion_time() of its own", name)
		}
	}
	for column, reason := range deletionColumns {
		if !found[column] {
			t.Errorf("no statement compares %s with deletion_time()", column)
		}
		written := 0
		for name, text := range statements {
			if !writes(text, column, reason) {
				continue
			}
			written++
			if !strings.Contains(text, "creation_time()") {
				t.Errorf("%s writes %s without creation_time():\n%s", name, column, text)
			}
		}
		if written == 0 && slices.Contains([]string{insertedWith, updatedWith}, reason) {
			t.Errorf("no statement writes %s", column)
		}
	}
}

// tableOf returns the table of a column. If `alias` is "", it is the last table before the column.
func tableOf(before, after, alias string) string {
	tables := regexp.MustCompile(`\b(?:from|join|update) (\w+)`)
	if alias != "" {
		tables = regexp.MustCompile(`\b(?:from|join|update|into) (\w+) (?:as )?` + alias + `\b`)
		before += after
	}
	matches := tables.FindAllStringSubmatch(before, -1)
	if len(matches) == 0 {
		return "?"
	}
	return matches[len(matches)-1][1]
}

// writes reports whether a statement must write a column with creation_time().
func writes(text, column, reason string) bool {
	if reason != insertedWith && reason != updatedWith {
		return false
	}
	table, name, _ := strings.Cut(column, ".")
	if reason == insertedWith && regexp.MustCompile(`\binsert into `+table+`\b`).MatchString(text) {
		return true
	}
	if !regexp.MustCompile(`\bupdate ` + table + `\b`).MatchString(text) {
		return false
	}
	set := regexp.MustCompile(`\b` + name + `\s+=\s+(null|case when [^,]* then null else)?`)
	return slices.ContainsFunc(set.FindAllStringSubmatch(text, -1), func(match []string) bool { return match[1] == "" })
}

// sqlStatements returns the queries, the functions and the triggers of the audit log, by name and without comments.
func sqlStatements(t *testing.T) map[string]string {
	t.Helper()
	begin := regexp.MustCompile(`(?m)^(?:-- name: |create or replace function )(\w+)`)
	comment := regexp.MustCompile(`(?m)--.*$`)
	statements := map[string]string{"audit.Triggers": audit.Triggers()}
	for _, pattern := range []string{"queries/*.sql", "functions/*.sql", "access/*.sql"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatal(pattern, err)
		}
		for _, path := range files {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			text := string(data)
			at := begin.FindAllStringSubmatchIndex(text, -1)
			for i, match := range at {
				end := len(text)
				if i+1 < len(at) {
					end = at[i+1][0]
				}
				name := text[match[2]:match[3]]
				statements[name] = comment.ReplaceAllString(text[match[1]:end], "")
			}
		}
	}
	return statements
}
