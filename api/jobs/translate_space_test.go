package jobs

import (
	"context"
	"net/url"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/ingest/outbound"
	"github.com/octavo-docs/octavo/ingest/provider"
	"github.com/octavo-docs/octavo/ingest/translation/translationtest"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/storetest"
)

// stopping is a translator that is asked while its node stops.
type stopping struct {
	translationtest.Loudly
	stop context.CancelFunc
}

func (s stopping) Check(ctx context.Context, _, _ string) error {
	s.stop()
	return ctx.Err()
}

// A node that stops does not fail a run, which another one goes on with.
func TestTranslationOfStoppedNode(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	tenant := storetest.NewTenant(t, st, "ours")
	instructions, err := schema.EncodeJSON(schema.NewDocument())
	if err != nil {
		t.Fatal(err)
	}
	row, err := st.CreateTranslation(t.Context(), store.NewTranslation{
		OrganizationID: tenant.Organization.ID, SourceSpaceID: tenant.Space.ID, SourceLanguage: "en", Language: "de", Instructions: instructions,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := st.RequestTranslationRun(t.Context(), tenant.Organization.ID, row.ID); err != nil {
		t.Fatal(err)
	}
	state := func() store.TranslationRun {
		t.Helper()
		runs, err := st.ListTranslationRuns(t.Context(), row.ID, "", 10)
		if err != nil || len(runs.Rows) != 1 {
			t.Fatalf("%+v %v", runs, err)
		}
		return runs.Rows[0]
	}
	args := schema.TranslateSpace{Organization: tenant.Organization.ID, Space: tenant.Space.ID, Translation: row.ID, Run: state().ID}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	if err := translateSpace(ctx, Deps{Store: st, Translator: stopping{stop: stop}}, args); err == nil {
		t.Error("the job is done")
	}
	if run := state(); run.State != schema.RunRunning || run.Reason != "" {
		t.Errorf("the run is %s: %s", run.State, run.Reason)
	}
	if err := translateSpace(t.Context(), Deps{Store: st, Translator: translationtest.Loudly{}}, args); err != nil {
		t.Error(err)
	}
	if run := state(); run.State != schema.RunDone {
		t.Errorf("the run is %s: %s", run.State, run.Reason)
	}
}

// The log has what the provider said, and users do not read it.
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
