package markdown

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/octavo-docs/octavo/schema/content/contenttest"
)

// TestMapRefs replaces the paths of files by ids and back, in every place that can have a reference.
func TestMapRefs(t *testing.T) {
	t.Parallel()
	const text = `[a](b.md) ![c](d.png) <a href="e.md" class="button primary">f</a> <a data-mention href="g.md">g.md</a>

{% content-ref url="h.md" %}
[h.md](h.md)
{% endcontent-ref %}

{% content-ref url="h.md" %}
[Named](h.md)
{% endcontent-ref %}

{% embed url="https://r.example" %}
See [s](s.md).
{% endembed %}

{% file src="i.pdf" %}

{% include "j.md" %}

- <figure><picture><source srcset="k.png" media="(prefers-color-scheme: dark)"><img src="l.png" alt=""></picture><figcaption></figcaption></figure>

<figure><picture><source srcset="k.png" media="(prefers-color-scheme: dark)"><img src="l.png" alt=""></picture><figcaption><p><a href="m.md">n</a></p></figcaption></figure>

<table data-view="cards"><thead><tr><th></th><th data-hidden data-card-target data-type="content-ref"></th></tr></thead><tbody><tr><td><a href="o.md">p</a></td><td><a href="q.md">q.md</a></td></tr></tbody></table>
`
	d, err := Read(text)
	if err != nil {
		t.Fatal(err)
	}
	before := Write(d)
	var seen []string
	rename := func(from, to string) func(map[string]any) map[string]any {
		return func(ref map[string]any) map[string]any {
			for _, member := range []string{"url", "file", "reusableContent"} {
				if path, ok := ref[member].(string); ok && strings.HasPrefix(path, from) {
					seen = append(seen, path)
					return map[string]any{"kind": ref["kind"], member: to + strings.TrimPrefix(path, from)}
				}
			}
			return nil
		}
	}
	moved := MapRefs(d, rename("", "moved/"))
	if len(seen) < 15 {
		t.Errorf("references: %v", seen)
	}
	if got := Write(d); got != before {
		t.Errorf("the document itself has changed:\n%s", cmp.Diff(before, got))
	}
	if got := strings.Count(Write(moved), "moved/"); got != 18 {
		t.Errorf("%d paths moved:\n%s", got, Write(moved))
	}
	back := MapRefs(moved, rename("moved/", ""))
	if diff := cmp.Diff(before, Write(back)); diff != "" {
		t.Errorf("moved and back:\n%s", diff)
	}
	every := contenttest.EveryKind(t)
	if diff := cmp.Diff(every, MapRefs(every, func(map[string]any) map[string]any { return nil })); diff != "" {
		t.Errorf("changed by nothing:\n%s", diff)
	}
}
