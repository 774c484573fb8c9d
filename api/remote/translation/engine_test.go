package translation_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/api/remote/chat/chattest"
	"github.com/octavo-docs/octavo/api/remote/provider"
	"github.com/octavo-docs/octavo/api/remote/translation"
	"github.com/octavo-docs/octavo/api/remote/translation/translationtest"
)

var terms = []translation.Term{{Source: "space", Target: "Bereich"}}

func work() translation.Work {
	return translation.Work{From: "en", To: "de", Instructions: "Formal.", Glossary: translation.NewGlossary(terms)}
}

// ran has the results of a run: the translations, and the pauses.
type ran struct {
	done   []translation.Done
	pauses []time.Duration
}

func run(t *testing.T, p translation.Provider, sources ...string) (ran, error) {
	t.Helper()
	var r ran
	var mu sync.Mutex
	e := translation.Engine{Provider: p, Pause: func(_ context.Context, d time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		r.pauses = append(r.pauses, d)
	}}
	w := work()
	var segments []translation.Segment
	for _, source := range sources {
		segments = append(segments, w.Segment(source))
	}
	err := e.Run(t.Context(), w, segments, func(_ context.Context, done []translation.Done) error {
		r.done = append(r.done, done...)
		return nil
	})
	return r, err
}

func (r ran) texts() string {
	var b strings.Builder
	for _, d := range r.done {
		fmt.Fprintf(&b, "%s", d.Target)
		if d.Problem != "" {
			fmt.Fprintf(&b, " (%s)", d.Problem)
		}
		b.WriteString("\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func TestModel(t *testing.T) {
	t.Parallel()
	server := chattest.New(t, func(r chattest.Request) chattest.Answer { return translationtest.LoudModel(t, r) })
	r, err := run(t, translationtest.Model(t, server), "A space.", `See <a id="1">here</a> &amp; <img id="2" alt="x">`)
	if want := "A Bereich.\nSEE <a id=\"1\">HERE</a> &amp; <img id=\"2\" alt=\"x\">"; err != nil || r.texts() != want {
		t.Errorf("%v\ngot  %s\nwant %s", err, r.texts(), want)
	}
	requests := server.Requests()
	if len(requests) != 1 {
		t.Fatalf("%d requests", len(requests))
	}
	prompt := requests[0].Messages[0].Content
	for _, part := range []string{"from English to German", "Formal.", "JSON"} {
		if !strings.Contains(prompt, part) {
			t.Errorf("the prompt does not say %q", part)
		}
	}
	if asked := translationtest.Asked(t, requests[0]); asked.Texts[0].Glossary[0] != terms[0] || asked.Texts[1].Glossary != nil {
		t.Errorf("asked %+v", asked)
	}
}

// TestModelRepairs has cases with a model whose first answers are faulty. The model answers later requests correctly.
func TestModelRepairs(t *testing.T) {
	t.Parallel()
	const tagged = `Run <b id="1">it</b> in a space`
	for name, test := range map[string]struct {
		answers  []chattest.Answer
		sources  []string
		want     string
		requests int
		pauses   int
	}{
		"a tag is lost once": {
			[]chattest.Answer{translationtest.Said("RUN IT IN A Bereich")}, []string{tagged}, `RUN <b id="1">IT</b> IN A Bereich`, 2, 0,
		},
		"a tag is lost twice": {
			[]chattest.Answer{translationtest.Said("RUN IT"), translationtest.Said("RUN IT")}, []string{tagged},
			`RUN <b id="1">IT</b> IN A Bereich (placeholder-lost)`, 3, 0,
		},
		"and in the parts as well": {
			[]chattest.Answer{translationtest.Said("RUN IT"), translationtest.Said("RUN IT"), translationtest.Said("<i>RUN</i>", "IT", "")}, []string{tagged},
			`Run <b id="1">IT</b> in a space (placeholder-lost)`, 3, 0,
		},
		"a term is missing once": {
			[]chattest.Answer{translationtest.Said("EIN RAUM")}, []string{"A space"}, "A Bereich", 2, 0,
		},
		"a term is missing twice": {
			[]chattest.Answer{translationtest.Said("EIN RAUM"), translationtest.Said("RAUM")}, []string{"A space"}, "EIN RAUM (term-missing)", 2, 0,
		},
		"a term is missing, then a tag": {
			[]chattest.Answer{translationtest.Said(`<b id="1">RAUM</b>`), translationtest.Said("Bereich")}, []string{`<b id="1">Space</b>`},
			`<b id="1">RAUM</b> (term-missing)`, 2, 0,
		},
		"a term is missing, then refused": {
			[]chattest.Answer{translationtest.Said("EIN RAUM"), {FinishReason: "content_filter"}}, []string{"A space"}, "EIN RAUM (term-missing)", 2, 0,
		},
		"a character that cannot be stored": {
			[]chattest.Answer{translationtest.Said("O\x00NE")}, []string{"One"}, "ONE", 2, 0,
		},
		"too few": {
			[]chattest.Answer{translationtest.Said("ONE")}, []string{"One", "Two"}, "ONE\nTWO", 2, 1,
		},
		"too many, then two alone": {
			[]chattest.Answer{translationtest.Said("A", "B", "C"), translationtest.Said("A", "B", "C")}, []string{"One", "Two"}, "ONE\nTWO", 4, 1,
		},
		"no JSON, ever": {
			[]chattest.Answer{{Text: "Sorry"}, {Text: "Sorry"}}, []string{"One"}, " (refused)", 2, 1,
		},
		"half an answer": {
			[]chattest.Answer{{Text: strings.Repeat("x", 99_999), Half: true}}, []string{"One"}, "ONE", 2, 1,
		},
		"cut off": {
			[]chattest.Answer{{Text: `{"translations":["ON`, FinishReason: "length"}}, []string{"One", "Two"}, "ONE\nTWO", 3, 0,
		},
		"one text is refused": {
			[]chattest.Answer{{FinishReason: "content_filter"}, {FinishReason: "content_filter"}}, []string{"One", "Two"}, " (refused)\nTWO", 3, 0,
		},
		"busy twice": {
			[]chattest.Answer{{Status: http.StatusTooManyRequests, RetryAfter: "7"}, {Status: http.StatusServiceUnavailable}}, []string{"One"}, "ONE", 3, 2,
		},
		"empty": {
			[]chattest.Answer{translationtest.Said("  ")}, []string{"One"}, "ONE", 2, 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			left := test.answers
			server := chattest.New(t, func(r chattest.Request) chattest.Answer {
				mu.Lock()
				defer mu.Unlock()
				if len(left) == 0 {
					return translationtest.LoudModel(t, r)
				}
				answer := left[0]
				left = left[1:]
				return answer
			})
			r, err := run(t, translationtest.Model(t, server), test.sources...)
			if err != nil || r.texts() != test.want || len(server.Requests()) != test.requests || len(r.pauses) != test.pauses {
				t.Errorf("%v, %d requests, pauses %v\ngot  %s\nwant %s", err, len(server.Requests()), r.pauses, r.texts(), test.want)
			}
			if name == "busy twice" && (r.pauses[0] != 7*time.Second || r.pauses[1] != 2*time.Second) {
				t.Errorf("pauses %v", r.pauses)
			}
			if name == "a term is missing once" {
				if asked := translationtest.Asked(t, server.Requests()[1]); !strings.Contains(asked.Texts[0].Wrong, `"space" must be translated as "Bereich"`) {
					t.Errorf("the model was told %q", asked.Texts[0].Wrong)
				}
			}
		})
	}
}

func TestModelFails(t *testing.T) {
	t.Parallel()
	many := make([]string, 30)
	for i := range many {
		many[i] = fmt.Sprintf("Text %d", i)
	}
	for name, test := range map[string]struct {
		answer   chattest.Answer
		reason   *provider.Reason
		requests int
	}{
		"the key":       {chattest.Answer{Status: http.StatusUnauthorized}, provider.Unauthorized, 1},
		"the quota":     {chattest.Answer{Status: http.StatusTooManyRequests, Code: "insufficient_quota"}, provider.Exhausted, 1},
		"busy":          {chattest.Answer{Status: http.StatusTooManyRequests}, provider.Limited, 3},
		"busy for long": {chattest.Answer{Status: http.StatusTooManyRequests, RetryAfter: "600"}, provider.Limited, 1},
		"down":          {chattest.Answer{Status: http.StatusBadGateway}, provider.Unavailable, 3},
		"all rejected":  {chattest.Answer{Status: http.StatusBadRequest}, provider.Rejected, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := chattest.New(t, func(chattest.Request) chattest.Answer { return test.answer })
			r, err := run(t, translationtest.Model(t, server), many...)
			if e, ok := errors.AsType[*provider.Error](err); !ok || e.Reason != test.reason || r.done != nil {
				t.Errorf("%v, done %v", err, r.done)
			}
			if n := len(server.Requests()); test.requests > 0 && n != test.requests || n > 40 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

func TestBatches(t *testing.T) {
	t.Parallel()
	var sources []string
	for i := range 100 {
		sources = append(sources, fmt.Sprintf("Text %d", i))
	}
	sources = append(sources, strings.Repeat("long ", 3000), "last")
	server := chattest.New(t, func(r chattest.Request) chattest.Answer { return translationtest.LoudModel(t, r) })
	r, err := run(t, translationtest.Model(t, server), sources...)
	if err != nil || len(r.done) != len(sources) {
		t.Fatalf("%v, %d done", err, len(r.done))
	}
	for i, d := range r.done {
		if d.Source != strings.TrimSpace(sources[i]) && d.Source != sources[i] || d.Problem != "" {
			t.Fatalf("done[%d] is %+v", i, d)
		}
	}
	if n := len(server.Requests()); n != 5 {
		t.Errorf("%d requests", n)
	}
}

// TestStopped checks that a run which stops has already passed every complete batch to its caller.
func TestStopped(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	n := 0
	server := chattest.New(t, func(r chattest.Request) chattest.Answer {
		mu.Lock()
		defer mu.Unlock()
		if n++; n > 2 {
			return chattest.Answer{Status: http.StatusUnauthorized}
		}
		return translationtest.LoudModel(t, r)
	})
	var sources []string
	for i := range 120 {
		sources = append(sources, fmt.Sprintf("Text %d", i))
	}
	r, err := run(t, translationtest.Model(t, server), sources...)
	if err == nil || len(r.done) != 80 {
		t.Errorf("%v, %d done", err, len(r.done))
	}
}

func TestLibreTranslate(t *testing.T) {
	t.Parallel()
	server := translationtest.NewLibre(t, translationtest.LoudLibre)
	r, err := run(t, translation.NewLibreTranslate(server.Config(t)), "A space, a Space &amp; aerospace", `See <a id="1">the space</a>`)
	if want := "A Bereich, A Bereich &amp; AEROSPACE\nSEE <a id=\"1\">THE Bereich</a>"; err != nil || r.texts() != want {
		t.Errorf("%v\ngot  %s\nwant %s", err, r.texts(), want)
	}
	asked := server.Requests()[0]
	if asked.Source != "en" || asked.Target != "de" || asked.Format != "html" || asked.Q[1] != `See <a id="1">the <img id="t1"></a>` {
		t.Errorf("asked %+v", asked)
	}
}

func TestLibreTranslateLanguages(t *testing.T) {
	t.Parallel()
	l := translation.NewLibreTranslate(translationtest.NewLibre(t, translationtest.LoudLibre).Config(t))
	for to, known := range map[string]bool{"de": true, "pt-br": true, "yue": false, "zh": false} {
		err := l.Check(t.Context(), "en", to)
		if e, ok := errors.AsType[*provider.Error](err); known != (err == nil) || !known && (!ok || e.Reason != provider.NoLanguage || e.Retryable()) {
			t.Errorf("%s: %v", to, err)
		}
	}
}

func TestLibreTranslateFails(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		answer func(translationtest.LibreRequest) translationtest.LibreAnswer
		key    string
		reason *provider.Reason
	}{
		"the key": {translationtest.LoudLibre, "another", provider.Unauthorized},
		"busy": {func(translationtest.LibreRequest) translationtest.LibreAnswer {
			return translationtest.LibreAnswer{Status: http.StatusTooManyRequests}
		}, translationtest.LibreKey, provider.Limited},
		"half": {func(r translationtest.LibreRequest) translationtest.LibreAnswer {
			return translationtest.LibreAnswer{Texts: r.Q, Half: true}
		}, translationtest.LibreKey, provider.Interrupted},
		"down": {func(translationtest.LibreRequest) translationtest.LibreAnswer {
			return translationtest.LibreAnswer{Status: http.StatusInternalServerError}
		}, translationtest.LibreKey, provider.Unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := translationtest.NewLibre(t, test.answer).Config(t)
			cfg.Key = test.key
			_, err := run(t, translation.NewLibreTranslate(cfg), "One")
			e, ok := errors.AsType[*provider.Error](err)
			if !ok || e.Reason != test.reason {
				t.Fatalf("%v", err)
			}
			if strings.Contains(err.Error(), test.key) {
				t.Errorf("the key is in %q", err)
			}
		})
	}
}

// TestLibreTranslateRepairs uses a server that loses the tags of terms, or that returns a wrong number of translations.
// A retry sends the same request.
func TestLibreTranslateRepairs(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	n := 0
	server := translationtest.NewLibre(t, func(r translationtest.LibreRequest) translationtest.LibreAnswer {
		mu.Lock()
		defer mu.Unlock()
		switch n++; n {
		case 1:
			return translationtest.LibreAnswer{Texts: []string{"ONE"}}
		case 2:
			return translationtest.LibreAnswer{Texts: []string{"EIN RAUM", "TWO"}}
		}
		return translationtest.LoudLibre(r)
	})
	r, err := run(t, translation.NewLibreTranslate(server.Config(t)), "A space", "Two")
	if want := "A Bereich\nTWO"; err != nil || r.texts() != want {
		t.Errorf("%v\ngot  %s\nwant %s", err, r.texts(), want)
	}
}
