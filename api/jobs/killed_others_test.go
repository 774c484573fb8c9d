package jobs

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/octavo-docs/octavo/api/remote/chat/chattest"
	"github.com/octavo-docs/octavo/api/remote/mail/mailtest"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/conversations"
	"github.com/octavo-docs/octavo/schema/people"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/issues"
	"github.com/octavo-docs/octavo/store/orgs"
	"github.com/octavo-docs/octavo/store/storetest"
)

// specificationHeld fetches two specifications. The process is killed in the middle of a document, after the other
// document is stored.
func specificationHeld(b *bench, tenant *storetest.Tenant) exchange {
	t, h := b.t, hold(b.t, 1)
	var mu sync.Mutex
	requests := map[string]int{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		requests[r.URL.Path]++
		mu.Unlock()
		text := "openapi: 3.0.0\ninfo: {title: " + r.URL.Path + ", version: '1'}\npaths: {}\n"
		if r.URL.Path == "/slow" {
			h.half(w, text)
			return
		}
		_, _ = w.Write([]byte(text))
	}))
	t.Cleanup(server.Close)
	specs := specBench{b, tenant.Organization.ID}
	specs.set("quick", server.URL+"/quick")
	specs.set("slow", server.URL+"/slow")
	want := func(slug string, asked, versions int, state string) {
		t.Helper()
		spec, err := b.st.Specs.Spec(t.Context(), specs.org, slug)
		if err != nil {
			t.Fatal(err)
		}
		mu.Lock()
		defer mu.Unlock()
		kept := b.count("select count(*) from openapi_spec_versions where spec_id = $1", spec.ID)
		if requests["/"+slug] != asked || int(spec.Versions) != versions || kept != versions || spec.ProcessingState != state || len(errorsOf(t, spec)) != 0 {
			t.Errorf("%d requests, %d versions: %+v", requests["/"+slug], kept, spec)
		}
	}
	return exchange{
		kind: schema.FetchOpenAPI{}.Kind(), release: h.release,
		reached: func() {
			h.untilReached()
			specs.until("quick", "fetched", complete)
		},
		dead: func() {
			want("quick", 1, 1, schema.SpecComplete)
			want("slow", 1, 0, schema.SpecProgress)
		},
		after: func() {
			want("quick", 1, 1, schema.SpecComplete)
			want("slow", 2, 1, schema.SpecComplete)
		},
	}
}

// modelHeld refines three clusters with a language model. The process is killed while it waits for the answer about the
// second cluster.
func modelHeld(b *bench, tenant *storetest.Tenant) exchange {
	t, h := b.t, hold(b.t, 2)
	server := chattest.New(t, func(chattest.Request) chattest.Answer {
		h.next()
		return chattest.Answer{Text: `{"title":"Refined","summary":"Users met it."}`}
	})
	organization := tenant.Organization.ID
	var list []issues.NewConversation
	for i := range 12 {
		said := []string{"Login fails.", "Invoices are empty.", "Exports never end."}[i%3]
		list = append(list, issues.NewConversation{
			SourceID: fmt.Sprint(i), Parts: []byte("[]"), Metadata: []byte("{}"),
			Issues: []issues.NewIssue{{
				Title: said, Details: []byte("[]"), Summary: said, Impact: "low", Language: "en",
				Words: strings.Fields(said),
			}},
		})
	}
	if err := b.st.Issues.IngestConversations(t.Context(), organization, "email", time.Now(), list); err != nil {
		t.Fatal(err)
	}
	// The test analyzes the conversations without the analysis job, because that job would enqueue a second refining
	// job.
	analysis := func() issues.Analysis { return issueAnalysis{method: conversations.NewMethod()} }
	if err := b.st.Issues.AnalyzeConversations(t.Context(), organization, analysis); err != nil {
		t.Fatal(err)
	}
	if err := b.st.Issues.AskForRefining(t.Context(), organization); err != nil {
		t.Fatal(err)
	}
	refined := func() int {
		page, err := b.st.Issues.ListClusters(
			t.Context(), organization, issues.ClusterOrder{By: "issues"}, time.Now(), nil, 10,
		)
		if err != nil || len(page.Rows) != 3 {
			t.Fatalf("%+v %v", page, err)
		}
		n := 0
		for _, row := range page.Rows {
			if row.Cluster.Label == "Refined" {
				n++
			}
		}
		return n
	}
	return exchange{
		kind: schema.RefineClusters{}.Kind(), counterpart: server.Listener.Addr().String(), reached: h.untilReached, release: h.release,
		dead: func() {
			if n := refined(); n != 1 {
				t.Errorf("%d are refined", n)
			}
		},
		after: func() {
			if n := refined(); n != 3 || len(server.Requests()) != 4 {
				t.Errorf("%d are refined, and %d times the model was asked", n, len(server.Requests()))
			}
		},
	}
}

// mailHeld sends invite mails. The process is killed after the mail server has received the second mail and before the
// mail server answers.
func mailHeld(b *bench, tenant *storetest.Tenant) exchange {
	t, h := b.t, hold(b.t, 2)
	server := mailtest.New(t, mailtest.Options{Data: func(mailtest.Mail) error {
		h.next()
		return nil
	}})
	const invited = 5
	var list []orgs.PersonToInvite
	for i := range invited {
		list = append(list, orgs.PersonToInvite{Email: fmt.Sprintf("person-%d@example.com", i)})
	}
	if _, err := b.st.Orgs.InviteByEmail(
		t.Context(), tenant.Organization.ID, tenant.Users[schema.RoleAdmin].ID, list, false,
	); err != nil {
		t.Fatal(err)
	}
	states := func() map[people.InviteMailState]int {
		page, err := b.st.Orgs.ListEmailInvites(t.Context(), tenant.Organization.ID, "", 100)
		if err != nil {
			t.Fatal(err)
		}
		states := map[people.InviteMailState]int{}
		for _, invite := range page.Rows {
			states[people.InviteMailState(invite.MailState)]++
		}
		return states
	}
	return exchange{
		kind: schema.SendInvites{}.Kind(), counterpart: server.Addr, reached: h.untilReached, release: h.release,
		dead: func() {
			got := states()
			sent, waiting := got[people.InviteMailSent], got[people.InviteMailWaiting]
			if len(server.Mails()) != 2 || sent != 1 || waiting != invited-1 {
				t.Errorf("%d mails, %v", len(server.Mails()), got)
			}
		},
		after: func() {
			mails := server.Mails()
			byPerson := map[string][]mailtest.Mail{}
			for _, m := range mails {
				byPerson[m.To] = append(byPerson[m.To], m)
			}
			got := states()
			if len(byPerson) != invited || len(mails) != invited+1 || got[people.InviteMailSent] != invited {
				t.Fatalf("%d mails for %d people, %v", len(mails), len(byPerson), got)
			}
			twice := byPerson[mails[1].To]
			if len(twice) != 2 || twice[0].Header.Get("Message-ID") == "" || twice[0].Header.Get("Message-ID") != twice[1].Header.Get("Message-ID") || twice[0].Text != twice[1].Text {
				t.Errorf("%+v", twice)
			}
		},
	}
}

// tunnelHeld sends an event to a tunnel. The process is killed in the middle of the tunnel's answer.
func tunnelHeld(b *bench, tenant *storetest.Tenant) exchange {
	t, h := b.t, hold(b.t, 1)
	var mu sync.Mutex
	var heard []schema.IntegrationEventPayload
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var event schema.IntegrationEventPayload
		if err := json.Unmarshal([]byte(r.FormValue("event")), &event); err != nil {
			t.Error(err)
		}
		mu.Lock()
		heard = append(heard, event)
		mu.Unlock()
		h.half(w, "The integration has dealt with it.")
	}))
	t.Cleanup(server.Close)
	const name = "killed"
	title, private, all, runtime := "Killed", "private", "all", "v1"
	owner := orgs.Membership{Organization: tenant.Organization, Role: schema.RoleAdmin}
	integration, err := b.st.PublishIntegration(t.Context(), tenant.Users[schema.RoleAdmin].ID, owner, store.NewIntegration{
		Name: name, Script: "export {}",
		Manifest: schema.IntegrationManifest{Title: &title, Description: &title, Runtime: &runtime, Visibility: &private, Target: &all},
	})
	if err == nil {
		err = b.st.SetIntegrationTunnel(t.Context(), name, server.URL, false)
	}
	if err == nil {
		_, err = b.st.InstallIntegration(t.Context(), integration, owner)
	}
	if err != nil {
		t.Fatal(err)
	}
	listed := func() []store.IntegrationEvent {
		page, err := b.st.ListIntegrationEvents(t.Context(), name, "", 10)
		if err != nil || int(page.Total) != len(page.Rows) {
			t.Fatalf("%+v %v", page, err)
		}
		return page.Rows
	}
	return exchange{
		kind: schema.SendIntegrationEvent{}.Kind(), reached: h.untilReached, release: h.release,
		dead: func() {
			if got := listed(); len(got) != 0 {
				t.Errorf("an event whose end nobody saw is listed: %+v", got)
			}
		},
		after: func() {
			got := listed()
			mu.Lock()
			defer mu.Unlock()
			if len(got) != 1 || schema.Or(got[0].Status, "") != schema.EventSuccess || len(heard) != 2 || heard[0].EventID != got[0].ID || heard[1].EventID != got[0].ID {
				t.Errorf("%+v, heard %+v", got, heard)
			}
		},
	}
}
