// Package translationtest has translators for tests. They use the protocols of real translators, and fail in the ways
// in which real translators fail. Only tests may import it.
package translationtest

import (
	"context"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/octavo-docs/octavo/api/remote/chat"
	"github.com/octavo-docs/octavo/api/remote/chat/chattest"
	"github.com/octavo-docs/octavo/api/remote/outbound/outboundtest"
	"github.com/octavo-docs/octavo/api/remote/provider"
	"github.com/octavo-docs/octavo/api/remote/translation"
)

var tag = regexp.MustCompile(`<[^>]*>`)

// Loud returns the translation that tests expect: the source text in capital letters. Terms of a glossary in the source
// text are replaced by their translations in the glossary.
func Loud(source string, terms ...translation.Term) string {
	var b strings.Builder
	from := 0
	for _, at := range append(tag.FindAllStringIndex(source, -1), []int{len(source), len(source)}) {
		text := strings.ToUpper(html.UnescapeString(source[from:at[0]]))
		for _, term := range terms {
			text = strings.ReplaceAll(text, strings.ToUpper(term.Source), term.Target)
		}
		b.WriteString(html.EscapeString(text))
		b.WriteString(source[at[0]:at[1]])
		from = at[1]
	}
	return b.String()
}

// Loudly is a provider that translates with Loud in the process of the test.
type Loudly struct{}

// Translate implements translation.Provider.
func (Loudly) Translate(_ context.Context, b translation.Batch) ([]string, error) {
	var translations []string
	for _, text := range b.Texts {
		translations = append(translations, Loud(text.Source, text.Terms...))
	}
	return translations, nil
}

// Check implements translation.Provider.
func (Loudly) Check(context.Context, string, string) error { return nil }

// Bounds implements translation.Provider.
func (Loudly) Bounds() (texts, bytes int) { return 20, 4000 }

// KnowsTerms implements translation.Provider.
func (Loudly) KnowsTerms() bool { return true }

// Texts are the texts in a request to a language model.
type Texts struct {
	Texts []struct {
		Text     string             `json:"text"`
		Glossary []translation.Term `json:"glossary"`
		Wrong    string             `json:"wrong"`
	} `json:"texts"`
}

// Asked returns the texts in a request to a language model.
func Asked(t testing.TB, r chattest.Request) Texts {
	t.Helper()
	var asked Texts
	if err := json.Unmarshal([]byte(r.Messages[len(r.Messages)-1].Content), &asked); err != nil {
		t.Errorf("a request is not understood: %v", err)
	}
	return asked
}

// Said returns an answer of a language model with these translations.
func Said(translations ...string) chattest.Answer {
	text, _ := json.Marshal(map[string]any{"translations": translations}) // strings can always be encoded
	return chattest.Answer{Text: string(text)}
}

// LoudModel returns the answer of a language model that translates with Loud.
func LoudModel(t testing.TB, r chattest.Request) chattest.Answer {
	t.Helper()
	var translations []string
	for _, text := range Asked(t, r).Texts {
		translations = append(translations, Loud(text.Text, text.Glossary...))
	}
	return Said(translations...)
}

// Model returns a provider that uses a server of package chattest.
func Model(t testing.TB, s *chattest.Server) *translation.Model {
	t.Helper()
	return &translation.Model{Chat: chat.New(s.Config(t))}
}

// LibreKey is the key that a client of a Libre must send.
const LibreKey = "key-of-the-tests"

// LibreRequest is a request that a Libre has received.
type LibreRequest struct {
	Q      []string `json:"q"`
	Source string   `json:"source"`
	Target string   `json:"target"`
	Format string   `json:"format"`
	APIKey string   `json:"api_key"`
}

// LibreAnswer is the answer of a Libre. The zero LibreAnswer has no translations.
type LibreAnswer struct {
	Texts []string
	// Status is the status of the answer. If it is not 0, the body is an error document.
	Status     int
	RetryAfter string
	// Half is true if the connection breaks in the middle of the body.
	Half bool
}

// Libre is a server with LibreTranslate's interface. It translates between English, German and Portuguese.
type Libre struct {
	*httptest.Server
	mu       sync.Mutex
	requests []LibreRequest
	answer   func(LibreRequest) LibreAnswer
}

// NewLibre starts a server that is closed when the test ends.
func NewLibre(t testing.TB, answer func(LibreRequest) LibreAnswer) *Libre {
	t.Helper()
	l := &Libre{answer: answer}
	l.Server = httptest.NewServer(http.HandlerFunc(l.serve))
	t.Cleanup(l.Close)
	return l
}

// LoudLibre returns the answer to a request, with translations of Loud.
func LoudLibre(r LibreRequest) LibreAnswer {
	var a LibreAnswer
	for _, q := range r.Q {
		a.Texts = append(a.Texts, Loud(q))
	}
	return a
}

// Requests returns the requests that the server has received.
func (l *Libre) Requests() []LibreRequest {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]LibreRequest(nil), l.requests...)
}

// Config returns the configuration of a client of this server.
func (l *Libre) Config(t testing.TB) provider.Config {
	t.Helper()
	u, err := url.Parse(l.URL)
	if err != nil {
		t.Fatal(err)
	}
	return provider.Config{Guard: outboundtest.Guard(t, u.Hostname()), URL: u, Key: LibreKey, Name: "the translator"}
}

func (l *Libre) serve(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	fail := func(status int, text string) {
		w.WriteHeader(status)
		_, _ = fmt.Fprintf(w, `{"error":%q}`, text)
	}
	if r.Method == http.MethodGet && r.URL.Path == "/languages" {
		_, _ = io.WriteString(w, `[{"code":"en","name":"English","targets":["de","en","pt-BR"]},{"code":"de","name":"German","targets":["en"]}]`)
		return
	}
	body, err := io.ReadAll(r.Body)
	var asked LibreRequest
	switch {
	case err != nil:
		return
	case r.Method != http.MethodPost || r.URL.Path != "/translate":
		fail(http.StatusNotFound, "Not Found")
		return
	case json.Unmarshal(body, &asked) != nil || asked.Q == nil || asked.Source == "" || asked.Target == "":
		fail(http.StatusBadRequest, "Invalid request: missing q parameter")
		return
	case asked.APIKey != LibreKey:
		fail(http.StatusForbidden, "Invalid API key")
		return
	}
	l.mu.Lock()
	l.requests = append(l.requests, asked)
	l.mu.Unlock()
	a := l.answer(asked)
	if a.RetryAfter != "" {
		w.Header().Set("Retry-After", a.RetryAfter)
	}
	if a.Status != 0 {
		fail(a.Status, "Slow down: "+asked.APIKey)
		return
	}
	encoded, _ := json.Marshal(map[string]any{"translatedText": a.Texts}) // strings can always be encoded
	if a.Half {
		w.Header().Set("Content-Length", fmt.Sprint(len(encoded)))
		_, _ = w.Write(encoded[:len(encoded)/2])
		panic(http.ErrAbortHandler)
	}
	_, _ = w.Write(encoded)
}
