package typst_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/cmd/engine/typst"
)

// renderer is shared by the tests, so that a child describes the fonts only once.
var renderer = typst.New(typst.Config{})

func render(ctx context.Context, r *typst.Renderer, out io.Writer, main string) error {
	return r.Render(ctx, func(send func(string, []byte) error) error {
		if err := send("data.json", []byte(`{"a": "#panic()"}`)); err != nil {
			return err
		}
		return send("main.typ", []byte(main))
	}, out)
}

func TestRender(t *testing.T) {
	t.Parallel()
	var first, second bytes.Buffer
	for _, out := range []*bytes.Buffer{&first, &second} {
		const document = "#set document(date: none)\n#json(\"data.json\").a 漢字 العربية"
		if err := render(t.Context(), renderer, out, document); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.HasPrefix(first.Bytes(), []byte("%PDF-")) || !bytes.HasSuffix(bytes.TrimSpace(first.Bytes()), []byte("%%EOF")) {
		t.Fatalf("not a PDF: %.40q", first.Bytes())
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("the same input gives other bytes")
	}
}

// TestNothingElseIsReadable checks that the renderer refuses a document that reads other files or is invalid.
func TestNothingElseIsReadable(t *testing.T) {
	t.Parallel()
	for _, main := range []string{
		`#read("/etc/passwd")`, `#read("../../../../etc/passwd")`, `#image("https://example.com/a.png")`,
		`#import "@preview/cetz:0.3.0": *`, `#panic("no")`, `#(`,
	} {
		var out bytes.Buffer
		err := render(t.Context(), renderer, &out, main)
		e, ok := errors.AsType[*typst.Error](err)
		if !ok || out.Len() > 0 || !e.Final() || e.Public() != "the renderer refused the document" {
			t.Errorf("%s: %v, %d bytes", main, err, out.Len())
		}
	}
}

// TestMemoryIsBounded renders a document that would take all memory. A small document needs 100 to 250 MiB, because
// garbage collection runs late on a busy machine.
func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	small := typst.New(typst.Config{MemoryBytes: 500 << 20})
	if err := render(t.Context(), small, io.Discard, "text"); err != nil {
		t.Fatal(err)
	}
	err := render(t.Context(), small, io.Discard, `#let s = "abcdefgh" * 1000000
#for i in range(200) [#(s + str(i))]`)
	e, ok := errors.AsType[*typst.Error](err)
	if !ok || !strings.Contains(e.Public(), "more memory") {
		t.Errorf("%v", err)
	}
}

// TestContextEndsIt checks that rendering an endless document stops when the context ends.
func TestContextEndsIt(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	began := make(chan struct{})
	ended := make(chan error, 1)
	go func() {
		ended <- renderer.Render(ctx, func(send func(string, []byte) error) error {
			defer close(began)
			return send("main.typ", []byte(`#let f(n) = if n < 2 { 1 } else { f(n - 1) + f(n - 2) }
#for i in range(1000) { f(40 + calc.rem(i, 5)) }`))
		}, io.Discard)
	}()
	<-began
	cancel()
	select {
	case err := <-ended:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	case <-time.After(eventually.Patience):
		t.Error("it goes on")
	}
}

func TestErrorsOfTheEnds(t *testing.T) {
	t.Parallel()
	failed := errors.New("no input")
	fail := func(func(string, []byte) error) error { return failed }
	if err := renderer.Render(t.Context(), fail, io.Discard); !errors.Is(err, failed) {
		t.Errorf("%v", err)
	}
	if err := render(t.Context(), renderer, refusing{}, "text"); !errors.Is(err, errFull) {
		t.Errorf("%v", err)
	}
}

var errFull = errors.New("full")

type refusing struct{}

func (refusing) Write([]byte) (int, error) { return 0, errFull }

func TestMissing(t *testing.T) {
	t.Parallel()
	err := render(t.Context(), typst.New(typst.Config{EnginesDir: t.TempDir()}), io.Discard, "text")
	e, ok := errors.AsType[*typst.Error](err)
	if !ok || e.Final() || !strings.Contains(e.Public(), "make engines") {
		t.Errorf("%v", err)
	}
}
