package store_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/tree"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/hooks"
	"github.com/octavo-docs/octavo/store/issues"
	"github.com/octavo-docs/octavo/store/postgres"
	"github.com/octavo-docs/octavo/store/sites"
	"github.com/octavo-docs/octavo/store/storetest"
)

// measured is an organization in which one kind of write is measured. Each variant of enabled triggers has a separate
// organization, so that all organizations grow equally.
type measured struct {
	b  *testing.B
	st *store.Store
	// ctx has the user who writes as the actor, like the context of a request.
	ctx    context.Context
	tenant *storetest.Tenant
	user   string
	n      int
}

func (m *measured) must(err error) {
	m.b.Helper()
	if err != nil {
		m.b.Fatal(err)
	}
}

// next returns a different text each time.
func (m *measured) next() string {
	m.n++
	return fmt.Sprint("n", m.n)
}

// measuredWrites are the kinds of writes that are timed. `prepare` prepares a write and returns the function that is
// timed. `repeat` is the number of writes in each round.
var measuredWrites = []struct {
	name    string
	repeat  int
	prepare func(*measured) func()
}{
	{"create-space", 20, func(m *measured) func() {
		space := store.NewSpace{OrganizationID: m.tenant.Organization.ID, Title: m.next(), Emoji: "1f4d6", EditMode: "live"}
		return func() {
			_, err := m.st.CreateSpace(m.ctx, space)
			m.must(err)
		}
	}},
	{"update-site", 20, func(m *measured) func() {
		title := m.next()
		return func() {
			_, err := m.st.Sites.Update(m.ctx, m.tenant.Site.ID, sites.Change{Title: &title})
			m.must(err)
		}
	}},
	{"create-comment", 20, func(m *measured) func() {
		comment := store.NewComment{Place: store.Place{SpaceID: m.tenant.Space.ID}, UserID: m.user, Body: store.CommentBody{Sent: []byte(`{"markdown":"x"}`)}}
		return func() {
			_, err := m.st.CreateComment(m.ctx, comment)
			m.must(err)
		}
	}},
	{"merge-1-page", 20, func(m *measured) func() { return m.merge(1) }},
	{"merge-1000-pages", 1, func(m *measured) func() { return m.merge(1000) }},
	{"ingest-100-conversations", 2, func(m *measured) func() {
		list := make([]issues.NewConversation, 100)
		for i := range list {
			list[i] = storetest.Conversation(m.next(), "An issue", "Another issue")
		}
		return func() {
			m.must(m.st.Issues.IngestConversations(m.ctx, m.tenant.Organization.ID, "source", time.Now(), list))
		}
	}},
	{"import-1000-pages", 1, func(m *measured) func() {
		space := storetest.Spaces(m.b, m.st, m.tenant.Organization.ID, nil, 1)[0]
		operation, err := m.st.QueueGitOperation(m.b.Context(), store.NewGitOperation{
			OrganizationID: m.tenant.Organization.ID, SpaceID: space, Kind: schema.GitImport, URL: "https://git.example/a.git", Ref: "refs/heads/main",
			Timestamp: time.Now(), UserID: m.user,
		})
		m.must(err)
		base, err := m.st.GitBase(m.b.Context(), operation, false)
		m.must(err)
		now := time.Now().UTC().Truncate(time.Millisecond)
		in := store.GitImport{
			GitOutcome: store.GitOutcome{Operation: operation, Commit: "c", Now: now}, Base: base, Force: true,
			Permit: everybody,
		}
		text := &searched{t: m.b}
		for i := range 1000 {
			in.Pages = append(in.Pages, tree.Node{Position: fmt.Sprintf("a%03d", i), Page: tree.Page{
				ID: schema.NewID(), Kind: tree.KindDocument, Title: fmt.Sprint("Page ", i), Slug: fmt.Sprint("page-", i), CreatedAt: now, UpdatedAt: now,
				Document: *text.document(fmt.Sprintf("The text of page %d of %s.", i, operation.ID)),
			}})
		}
		return func() {
			m.must(m.st.KeepDocuments(m.ctx, space, text.documents))
			m.must(m.st.ImportGit(m.ctx, in))
		}
	}},
}

// merge prepares the merge of a request that changes n of 1,000 pages.
func (m *measured) merge(n int) func() {
	ctx := m.b.Context()
	space, err := m.st.SpaceByID(ctx, m.tenant.Space.ID)
	m.must(err)
	pages, err := m.st.Pages(ctx, space.ID, space.Revision)
	m.must(err)
	s := &searched{t: m.b, st: m.st, user: m.user, space: space.ID, ids: map[string]string{}}
	if len(pages) == 0 {
		for i := range 1000 {
			title := fmt.Sprint("Page ", i)
			s.pending = append(s.pending, tree.Insert{Kind: tree.KindDocument, Attributes: tree.Attributes{Title: &title}})
		}
		s.merge()
		return m.merge(n)
	}
	request, err := m.st.CreateChangeRequest(ctx, store.NewChangeRequest{SpaceID: space.ID, UserID: m.user})
	m.must(err)
	for i, page := range pages[:n] {
		s.pending = append(s.pending, tree.Update{Page: page.ID, Attributes: tree.Attributes{Document: s.document(fmt.Sprint("Text ", i, " of ", request.ID))}})
	}
	row, err := m.st.ChangeContent(ctx, request, store.ContentChange{UserID: m.user, Pages: s.pending, Names: make([]string, n), Documents: s.documents})
	m.must(err)
	return func() {
		merged, err := m.st.MergeChangeRequest(m.ctx, row.ChangeRequest, m.user, storetest.Allow)
		m.must(err)
		if merged.Conflicts {
			m.b.Fatal("conflicts")
		}
	}
}

// processorTime returns the processor time of processes. It returns 0 if a process has exited, for example because its
// connection was idle.
func processorTime(pids []int) (used time.Duration) {
	for _, pid := range pids {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/schedstat", pid))
		if err != nil {
			return 0
		}
		first, _, _ := strings.Cut(string(text), " ")
		ns, err := strconv.ParseInt(first, 10, 64)
		if err != nil {
			return 0
		}
		used += time.Duration(ns)
	}
	return used
}

// setTriggers enables or disables the triggers of the audit log and of webhooks.
const setTriggers = `do $$
declare
    t record;
begin
    for t in select tgrelid::regclass as of, tgname as name, tgname like 'audit\_%%' as audit, tgenabled <> 'D' as enabled
        from pg_trigger where (tgname like 'audit\_%%' and tgfoid::regproc::text like 'audit\_of\_%%') or tgname like 'webhooks\_hear%%' loop
        if t.enabled <> (case when t.audit then %t else %t end) then
            execute format('alter table %%s %%s trigger %%I', t.of, case when t.enabled then 'disable' else 'enable' end, t.name);
        end if;
    end loop;
end
$$`

// BenchmarkTriggers compares writes with different enabled triggers: no triggers, the triggers of the audit log, the
// triggers of webhooks, and both. In one more variant, the organization has a webhook for all events. The variants take
// turns in one database, so that a busy machine affects all of them. Times are 10th percentiles, because other load on
// the machine only makes writes slower. The figures of Postgres's processor time are medians.
//
//	go run ./cmd/engine/enginetest/with -engines postgres -- go test ./store -run '^$' -bench Triggers -benchtime 10x -count 6
func BenchmarkTriggers(b *testing.B) {
	ways := []struct {
		name                   string
		audit, webhooks, heard bool
	}{
		{"without", false, false, false},
		{"audit", true, false, false},
		{"webhooks", false, true, false},
		{"both", true, true, false},
		{"both-heard", true, true, true},
	}
	for _, write := range measuredWrites {
		b.Run(write.name, func(b *testing.B) {
			url := storetest.URL(b)
			conn, err := pgx.Connect(b.Context(), url)
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = conn.Close(context.WithoutCancel(b.Context())) }()
			st := storetest.Open(b, url)
			there := make([]*measured, len(ways))
			for i, way := range ways {
				m := &measured{b: b, st: st, tenant: storetest.NewTenant(b, st, way.name)}
				m.user = m.tenant.Users[schema.RoleAdmin].ID
				m.ctx = postgres.By(b.Context(), postgres.Actor{
					Type: schema.ActorUser, ID: m.user, TokenID: schema.NewID(), TokenKind: "user", Operation: "measured", RequestID: schema.NewID(), Address: "192.0.2.7",
				})
				if way.heard {
					_, _, err := st.Hooks.CreateWebhook(b.Context(), hooks.NewWebhook{
						OrganizationID: m.tenant.Organization.ID, URL: "https://receiver.example.com/", Active: true,
					})
					m.must(err)
				}
				there[i] = m
			}
			took, used := make([][]time.Duration, len(ways)), make([][]time.Duration, len(ways))
			turn := 0
			for b.Loop() {
				turn++
				for n := range ways {
					// Each round begins with another variant, because the first variant of a round may pay for work
					// that the previous variant has left.
					i := (n + turn) % len(ways)
					way, m := ways[i], there[i]
					_, err := conn.Exec(b.Context(), fmt.Sprintf(setTriggers, way.audit, way.webhooks))
					m.must(err)
					// The first write is not timed, because its connection must read the definitions of the changed
					// tables again.
					write.prepare(m)()
					for range write.repeat {
						do := write.prepare(m)
						var pids []int
						m.must(conn.QueryRow(b.Context(), "select array_agg(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()").Scan(&pids))
						before, began := processorTime(pids), time.Now()
						do()
						took[i] = append(took[i], time.Since(began))
						if after := processorTime(pids); before > 0 && after > 0 {
							used[i] = append(used[i], after-before)
						}
					}
				}
			}
			quantile := func(of []time.Duration, tenths int) float64 {
				slices.Sort(of)
				return float64(of[len(of)*tenths/10].Microseconds())
			}
			for i, way := range ways {
				b.ReportMetric(quantile(took[i], 1), way.name+"-µs")
				b.ReportMetric(quantile(used[i], 5), way.name+"-cpu-µs")
				if i > 0 {
					b.ReportMetric(quantile(took[i], 1)/quantile(took[0], 1), way.name+"-ratio")
					b.ReportMetric(quantile(used[i], 5)/quantile(used[0], 5), way.name+"-cpu-ratio")
				}
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}
