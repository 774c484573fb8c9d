package jobs

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/api/remote/outbound"
	"github.com/octavo-docs/octavo/api/remote/provider"
	"github.com/octavo-docs/octavo/api/remote/translation"
	"github.com/octavo-docs/octavo/api/remote/translation/translationtest"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/storetest"
)

// stopping is a translator whose node stops during a request.
type stopping struct {
	translationtest.Loudly
	stop context.CancelFunc
}

func (s stopping) Check(ctx context.Context, _, _ string) error {
	s.stop()
	return ctx.Err()
}

// TestTranslationOfStoppedNode: when a node stops, the translation run that it executes does not fail. Another node
// continues the run.
func TestTranslationOfStoppedNode(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	tenant := storetest.NewTenant(t, b.st, "ours")
	row := b.translated(tenant)
	state := func() store.TranslationRun { return b.runOf(row.ID) }
	args := schema.TranslateSpace{Organization: tenant.Organization.ID, Space: tenant.Space.ID, Translation: row.ID, Run: state().ID}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	if err := translateSpace(ctx, Deps{Store: b.st, Translator: stopping{stop: stop}}, args); err == nil {
		t.Error("the job is done")
	}
	if run := state(); run.State != schema.RunRunning || run.Reason != "" {
		t.Errorf("the run is %s: %s", run.State, run.Reason)
	}
	if err := translateSpace(t.Context(), Deps{Store: b.st, Translator: translationtest.Loudly{}}, args); err != nil {
		t.Error(err)
	}
	if run := state(); run.State != schema.RunDone {
		t.Errorf("the run is %s: %s", run.State, run.Reason)
	}
}

// TestFirstTranslationHoldsUpNobody: while the first run writes the pages of the translated space, which may take
// minutes, the organization's structure can be changed. The source space can be changed too. Such a change requests
// another run.
func TestFirstTranslationHoldsUpNobody(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	tenant := storetest.NewTenant(t, b.st, "ours")
	b.fill(tenant, 3, generatedPage)
	row := b.translated(tenant)
	args := schema.TranslateSpace{Organization: tenant.Organization.ID, Space: tenant.Space.ID, Translation: row.ID, Run: b.runOf(row.ID).ID}
	reached, release := b.holdTable("documents", "insert", fmt.Sprintf("new.space_id <> '%s'", tenant.Space.ID))
	done := make(chan error, 1)
	go func() {
		done <- translateSpace(t.Context(), Deps{Store: b.st, Translator: translationtest.Loudly{}}, args)
	}()
	reached()
	storetest.Spaces(t, b.st, tenant.Organization.ID, nil, 1)
	if err := b.st.RequestTranslationRun(t.Context(), tenant.Organization.ID, row.ID); err != nil {
		t.Error(err)
	}
	release()
	if err := receive(t, done); err != nil {
		t.Fatal(err)
	}
	now, err := b.st.Translation(t.Context(), tenant.Organization.ID, row.ID)
	if err != nil || now.ResultSpaceID == nil || b.count("select count(*) from translation_runs where state = 'queued'") != 1 {
		t.Errorf("%+v %v", now, err)
	}
}

// watched is a translator that calls `asked` for each text. For a text that contains the word in `refuses`, it returns
// an unusable translation.
type watched struct {
	translationtest.Loudly
	asked   func(source string)
	refuses string
}

func (w watched) Translate(ctx context.Context, b translation.Batch) ([]string, error) {
	translations, err := w.Loudly.Translate(ctx, b)
	for i, text := range b.Texts {
		w.asked(text.Source)
		if w.refuses != "" && strings.Contains(text.Source, w.refuses) {
			translations[i] = "\x00" // No document can contain NUL.
		}
	}
	return translations, err
}

// TestTranslationHoldsFewSegments: the number of segments and documents that a run has in memory does not grow with the
// number of pages, even if the translator refuses many segments. A text that is on every page is sent to the translator
// once.
func TestTranslationHoldsFewSegments(t *testing.T) {
	t.Parallel()
	const perPage = 10
	for _, test := range []struct {
		pages   int
		refuses string
	}{{pages: 2 * pagesAtOnce}, {pages: 6 * pagesAtOnce}, {pages: 6 * pagesAtOnce, refuses: "sentence"}} {
		t.Run(fmt.Sprintf("%d pages, refuses %q", test.pages, test.refuses), func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			tenant := storetest.NewTenant(t, b.st, "ours")
			b.fill(tenant, test.pages, func(page int) schema.Document {
				blocks := []schema.Node{schema.Block("paragraph", schema.Text("A sentence of every page."))}
				for i := range perPage - 2 { // The page also has the segment above, and the title.
					blocks = append(blocks, schema.Block("paragraph", schema.Text(paragraphOf(page, i))))
				}
				return schema.NewDocument(blocks...)
			})
			row := b.translated(tenant)
			run := b.runOf(row.ID)
			if _, _, err := b.st.StartTranslationRun(t.Context(), row.ID, run.ID); err != nil {
				t.Fatal(err)
			}
			base, err := b.st.TranslationBase(t.Context(), tenant.Organization.ID, row.ID)
			if err != nil {
				t.Fatal(err)
			}
			var tr translator
			segments, common := 0, 0
			provider := watched{refuses: test.refuses, asked: func(source string) {
				segments = max(segments, len(tr.asked), len(tr.waiting))
				if source == "A sentence of every page." {
					common++
				}
			}}
			tr = translator{deps: Deps{Store: b.st, Translator: provider}, base: base, run: run.ID}
			if err := tr.begin(); err != nil {
				t.Fatal(err)
			}
			if err := tr.translate(t.Context()); err != nil {
				t.Fatal(err)
			}
			documents := 0
			err = b.st.FinishTranslationRun(t.Context(), run.ID, base, func(put func([]store.Document) error) (store.TranslatedSpace, error) {
				return tr.copy(t.Context(), func(d []store.Document) error {
					documents = max(documents, len(d))
					return put(d)
				})
			})
			if err != nil {
				t.Fatal(err)
			}
			if segments == 0 || segments > segmentsAtOnce+pagesAtOnce*perPage || documents != pagesAtOnce {
				t.Errorf("at most %d segments and %d documents at once", segments, documents)
			}
			done, err := b.st.TranslationRunByID(t.Context(), row.ID, run.ID)
			if err != nil {
				t.Fatal(err)
			}
			reports, err := schema.DecodeJSON[[]schema.TranslationReport](done.Reports)
			if err != nil {
				t.Fatal(err)
			}
			wantTimes, wantReports := 1, 0
			if test.refuses != "" {
				// The text is sent a second time with a note about the bad translation, and a third time in parts.
				wantTimes, wantReports = 3, test.pages*(perPage-1)
			}
			if common != wantTimes || int(done.ReportCount) != wantReports || len(reports) != min(wantReports, 1000) {
				t.Errorf("what is on every page was asked for %d times; %d reports, %d of them kept", common, done.ReportCount, len(reports))
			}
		})
	}
}

// TestExplainTranslation: the log has the text of the translation provider's error, and the reason for users does not
// have this text.
func TestExplainTranslation(t *testing.T) {
	t.Parallel()
	client := provider.New(provider.Config{Guard: outbound.New(outbound.Config{}), URL: &url.URL{}, Name: "the translator"})
	err := explainTranslation(client.Fail(provider.Rejected, "it said %q", "no such model"))
	if want := "the translator rejects the request"; !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "no such model") {
		t.Errorf("the log has %q", err)
	}
	if reason := (&worker[schema.TranslateSpace]{}).reason(t.Context(), err); strings.Contains(reason, "no such model") {
		t.Errorf("users read %q", reason)
	}
}

// TestLostTranslationRuns: the process of a translation run dies during the job's last attempt. The run is then marked
// as failed by the runner that rescues the job. If river has discarded the job, the sweep marks the run as failed. A
// run that is done stays done, and a run whose job can still be retried stays running. A failed run can be tried again.
func TestLostTranslationRuns(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	tenant := storetest.NewTenant(t, b.st, "ours")
	const lost = "failed: the process that ran it ended"
	type wanted struct {
		name    string
		started bool
		// sql sets the state of the run's job.
		sql  string
		want string
	}
	cases := []wanted{
		{"rescued for the last time", true, "update river_job set state = 'running', attempt = max_attempts, attempted_by = '{gone}' where id = $1", lost},
		{"rescued", true, "update river_job set state = 'running', attempt = max_attempts - 1, attempted_by = '{gone}' where id = $1", "running: "},
		{"given up", true, `update river_job set state = 'discarded', finalized_at = now(), attempt = max_attempts,
			errors = array['{"error":"not yet"}', '{"error":"given up"}']::jsonb[] where id = $1`, "failed: given up"},
		{"cancelled", true, `update river_job set state = 'cancelled', finalized_at = now(), errors = array['{"error":"no use"}']::jsonb[] where id = $1`, "failed: no use"},
		{"cancelled before it began", false, "update river_job set state = 'cancelled', finalized_at = now() where id = $1", lost},
		{"deleted", true, "delete from river_job where id = $1", lost},
		{"waiting for its next attempt", true, "update river_job set state = 'retryable', scheduled_at = now() + interval '1 hour' where id = $1", "running: "},
		{"waiting", false, "", "queued: "},
		{"done", true, "update river_job set state = 'discarded', finalized_at = now() where id = $1", "done: "},
	}
	spaces, translations := storetest.Spaces(t, b.st, tenant.Organization.ID, nil, len(cases)), make([]string, len(cases))
	for i, c := range cases {
		of := *tenant
		of.Space.ID = spaces[i]
		row := b.translated(&of)
		translations[i] = row.ID
		run := b.runOf(row.ID)
		if c.started {
			if _, begun, err := b.st.StartTranslationRun(t.Context(), row.ID, run.ID); err != nil || !begun {
				t.Fatal(begun, err)
			}
		}
		if c.name == "done" {
			args := schema.TranslateSpace{Organization: tenant.Organization.ID, Space: spaces[i], Translation: row.ID, Run: run.ID}
			if err := translateSpace(t.Context(), Deps{Store: b.st, Translator: translationtest.Loudly{}}, args); err != nil {
				t.Fatal(err)
			}
		}
		if c.sql != "" {
			id := b.count("select id from river_job where args ->> 'run' = $1", run.ID)
			if _, err := b.conn.Exec(t.Context(), c.sql, id); err != nil {
				t.Fatal(err)
			}
		}
	}
	b.run(func(context.Context, step) error { return nil })
	eventually.True(t, "the rescue of the killed node's jobs", func() bool {
		return b.count("select count(*) from river_job where state = 'running'") == 0
	})
	check := func() {
		t.Helper()
		for i, c := range cases {
			run := b.runOf(translations[i])
			over := run.State == schema.RunFailed || run.State == schema.RunDone
			if got := run.State + ": " + run.Reason; got != c.want || (run.FinishedAt != nil) != over {
				t.Errorf("%s: %s, %v", c.name, got, run.FinishedAt)
			}
		}
	}
	if run := b.runOf(translations[0]); run.State != schema.RunFailed {
		t.Errorf("rescuing its job did not fail the run: %+v", run)
	}
	for range 2 { // The second call changes nothing.
		if err := b.st.FailLostTranslationRuns(t.Context()); err != nil {
			t.Fatal(err)
		}
		check()
	}
	job := b.count("select id from river_job where args ->> 'translation' = $1", translations[0])
	if _, err := b.st.Queue.Retry(t.Context(), tenant.Organization.ID, strconv.Itoa(job)); err != nil {
		t.Fatal(err)
	}
	b.run(nil, func(c *Config) {
		c.Kinds, c.Deps.Translator = kindsNamed(schema.TranslateSpace{}.Kind()), translationtest.Loudly{}
	})
	eventually.True(t, "the run to finish", func() bool { return b.runOf(translations[0]).State == schema.RunDone })
}
