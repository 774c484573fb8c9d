package jobs

import (
	"fmt"
	"net/http"
	"net/mail"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/api/remote/chat"
	"github.com/octavo-docs/octavo/api/remote/chat/chattest"
	octavomail "github.com/octavo-docs/octavo/api/remote/mail"
	"github.com/octavo-docs/octavo/api/remote/openapi"
	"github.com/octavo-docs/octavo/api/remote/outbound"
	"github.com/octavo-docs/octavo/api/remote/outbound/outboundtest"
	"github.com/octavo-docs/octavo/api/remote/provider"
	"github.com/octavo-docs/octavo/api/remote/refining"
	"github.com/octavo-docs/octavo/api/remote/translation"
	"github.com/octavo-docs/octavo/api/remote/translation/translationtest"
	"github.com/octavo-docs/octavo/api/remote/tunnel"
	"github.com/octavo-docs/octavo/api/view"
	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/storetest"
)

func kindsNamed(name string) []Kind {
	return slices.DeleteFunc(Kinds(), func(k Kind) bool { return k.Name != name })
}

// depsOnLoopback are the jobs' dependencies in the killed process and in its successor. The counterpart is the address
// of the translator, the language model or the mail server. The stored objects have the addresses of all other servers
// that jobs call.
func depsOnLoopback(st *store.Store, counterpart string) (Deps, error) {
	policy, err := outbound.ParsePolicy([]string{outboundtest.Loopback})
	if err != nil {
		return Deps{}, err
	}
	guard := outbound.New(outbound.Config{Policy: policy})
	urls, err := schema.NewURLs("https://docs.example.com")
	if err != nil {
		return Deps{}, err
	}
	deps := Deps{
		Store: st, View: view.Presenter{URLs: urls}, Tunnels: tunnel.New(guard), Specs: openapi.NewFetcher(guard, openapi.DefaultLimits),
		SpecsInterval: time.Hour,
		Translator: translation.NewLibreTranslate(provider.Config{
			Guard: guard, URL: &url.URL{Scheme: "http", Host: counterpart}, Key: translationtest.LibreKey, Name: "the translator",
		}),
	}
	deps.Refiner = &refining.Model{Chat: chat.New(chat.Config{Model: chattest.Model, Provider: provider.Config{
		Guard: guard, URL: &url.URL{Scheme: "http", Host: counterpart, Path: "/v1"}, Key: chattest.Key, Name: "the model",
	}})}
	server, err := octavomail.ParseServer("smtp://" + counterpart)
	if err == nil {
		deps.Mail = octavomail.New(octavomail.Config{Guard: guard, Server: server, From: &mail.Address{Address: "octavo@example.com"}})
	}
	return deps, nil
}

// held makes a server that jobs call wait until the job's process has been killed.
type held struct {
	t  testing.TB
	at int

	mu      sync.Mutex
	asked   int
	reached chan struct{}
	dead    chan struct{}
}

func hold(t testing.TB, at int) *held {
	return &held{t: t, at: at, reached: make(chan struct{}), dead: make(chan struct{})}
}

// next counts the requests to the server. It makes the request with the number `at` wait until the process is dead.
func (h *held) next() {
	h.mu.Lock()
	h.asked++
	now := h.asked == h.at
	h.mu.Unlock()
	if !now {
		return
	}
	close(h.reached)
	select {
	case <-h.dead:
	case <-h.t.Context().Done():
	}
}

func (h *held) untilReached() { receive(h.t, h.reached) }
func (h *held) release()      { close(h.dead) }

// half sends the first half of a text. It sends the second half after the client has been killed.
func (h *held) half(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Length", fmt.Sprint(len(text)))
	_, _ = w.Write([]byte(text[:len(text)/2]))
	_ = http.NewResponseController(w).Flush()
	h.next()
	_, _ = w.Write([]byte(text[len(text)/2:]))
}

// exchange is a job that calls a server, and whose process is killed during the call.
type exchange struct {
	kind        string
	counterpart string
	// reached returns when the job is at the point at which the process is to be killed. `release` makes the server
	// continue after the kill.
	reached, release func()
	// dead checks the database after the kill. `after` checks it when another process has finished the job.
	dead, after func()
}

// TestKilledInTheMiddle kills the process of a job with SIGKILL while the job waits for a server's answer. Another node
// runs the job again. The result is the same as without the kill, but some requests are sent twice.
func TestKilledInTheMiddle(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]func(*bench, *storetest.Tenant) exchange{
		"translator":              translatorHeld,
		"translation is put away": translationHeld,
		"specification":           specificationHeld,
		"mail server":             mailHeld,
		"language model":          modelHeld,
		"tunnel":                  tunnelHeld,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			e := begin(b, storetest.NewTenant(t, b.st, "ours"))
			kill := b.victim(victimKindEnv+"="+e.kind, victimCounterpartEnv+"="+e.counterpart)
			e.reached()
			kill()
			e.dead()
			e.release()
			b.run(nil, func(c *Config) {
				c.Kinds = kindsNamed(e.kind)
				deps, err := depsOnLoopback(c.Deps.Store, e.counterpart)
				if err != nil {
					t.Fatal(err)
				}
				c.Deps = deps
			})
			var job schema.Job
			eventually.Succeeds(t, "the job to finish", func() error {
				page, err := b.st.Queue.ListAll(t.Context(), nil, &e.kind, "", 10)
				if err != nil || len(page.Rows) != 1 {
					return fmt.Errorf("%+v %w", page.Rows, err)
				}
				if job = page.Rows[0]; job.State != schema.JobDone {
					return fmt.Errorf("%+v", job)
				}
				return nil
			})
			if job.Attempt != 2 {
				t.Errorf("%+v", job)
			}
			e.after()
		})
	}
}
