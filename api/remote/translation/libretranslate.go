package translation

import (
	"context"
	"slices"
	"sync"

	"github.com/octavo-docs/octavo/api/remote/provider"
)

// LibreTranslate translates with a server that has LibreTranslate's interface:
// https://docs.libretranslate.com/api/operations/translate/.
type LibreTranslate struct {
	client *provider.Client
	key    string

	mu sync.Mutex
	// languages has the languages of the server, by code. It is nil until they are read.
	languages map[string]libreLanguage
}

// NewLibreTranslate returns a client. It opens no connection. The key is sent as a member of the request. It may be
// empty.
func NewLibreTranslate(cfg provider.Config) *LibreTranslate {
	key := cfg.Key
	cfg.Key = ""
	return &LibreTranslate{client: provider.New(cfg), key: key}
}

// These are the JSON documents of the interface, with only the members that this package uses.
type (
	libreRequest struct {
		Q      []string `json:"q"`
		Source string   `json:"source"`
		Target string   `json:"target"`
		Format string   `json:"format"`
		APIKey string   `json:"api_key,omitzero"`
	}
	libreAnswer struct {
		TranslatedText []string `json:"translatedText"`
	}
	libreLanguage struct {
		Code    string   `json:"code"`
		Targets []string `json:"targets"`
	}
)

// Translate implements Provider.
func (l *LibreTranslate) Translate(ctx context.Context, b Batch) ([]string, error) {
	source, target, err := l.codes(ctx, b.From, b.To)
	if err != nil {
		return nil, err
	}
	r := libreRequest{Source: source, Target: target, Format: "html", APIKey: l.key}
	for _, text := range b.Texts {
		r.Q = append(r.Q, text.Source)
	}
	var answer libreAnswer
	if err := l.client.Post(ctx, "translate", r, &answer); err != nil {
		return nil, err
	}
	if got, want := len(answer.TranslatedText), len(b.Texts); got != want {
		return nil, l.client.Fail(provider.Malformed, "there are %d translations of %d texts", got, want)
	}
	return answer.TranslatedText, nil
}

// Check implements Provider.
func (l *LibreTranslate) Check(ctx context.Context, from, to string) error {
	_, _, err := l.codes(ctx, from, to)
	return err
}

// Bounds implements Provider. Public servers accept at most 2000 characters.
func (l *LibreTranslate) Bounds() (texts, bytes int) { return 25, 2000 }

// KnowsTerms implements Provider.
func (l *LibreTranslate) KnowsTerms() bool { return false }

// codes returns the server's codes for two languages. It returns an error if the server does not translate from the
// first language to the second.
func (l *LibreTranslate) codes(ctx context.Context, from, to string) (source, target string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.languages == nil {
		var list []libreLanguage
		if err := l.client.Get(ctx, "languages", &list); err != nil {
			return "", "", err
		}
		l.languages = map[string]libreLanguage{}
		for _, language := range list {
			l.languages[language.Code] = language
		}
	}
	for _, source := range codesOf(from) {
		for _, target := range codesOf(to) {
			if language, known := l.languages[source]; known && slices.Contains(language.Targets, target) {
				return source, target, nil
			}
		}
	}
	l.languages = nil // the operator may add the language, so the next call reads the list again
	return "", "", l.client.Fail(provider.NoLanguage, "from %q to %q", from, to)
}

func codesOf(language string) []string {
	if codes, other := otherCodes[language]; other {
		return codes
	}
	return []string{language}
}
