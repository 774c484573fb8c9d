package frontmatter

import (
	"errors"
	"testing"

	"pgregory.net/rapid"
)

func TestFrontMatter(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, file, body string
		names            int
		bad              bool
	}{
		{"none", "# A\n", "# A\n", 0, false},
		{"rule", "---\n\n# A\n", "---\n\n# A\n", 0, false},
		{"fields", "---\ndescription: >-\n  a\n  b\nicon: bolt\nlayout:\n  title:\n    visible: true\n---\n\n# A\n", "\n# A\n", 3, false},
		{"windows", "---\r\nicon: a\r\n---\r\n# A\r\n", "# A\r\n", 1, false},
		{"at the end", "---\na: b\n---", "", 1, false},
		{"empty", "---\n---\nx", "x", 0, false},
		{"TOML", "+++\ntitle = \"A \\\"b\\\"\"\ntags = [\n  'x = 1',\n]\nlong = \"\"\"\ndraft = " +
			"true\n\"\"\"\n[menu]\nname = 1\n+++\n# A\n", "# A\n", 3, false},
		{"TOML of windows", "+++\r\nhidden = true # no\r\n+++\r\nx", "x", 1, false},
		{"TOML without an end", "+++\na = 1\n---\nx", "+++\na = 1\n---\nx", 0, false},
		{"signs", "+++\n", "+++\n", 0, false},
		{"text between rules", "---\njust text\n---\nx", "---\njust text\n---\nx", 0, true},
		{"broken", "---\na: [\n---\nx", "---\na: [\n---\nx", 0, true},
		{"twice", "---\na: 1\na: 2\n---\nx", "---\na: 1\na: 2\n---\nx", 0, true},
		{"bomb", "---\na: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\n" +
			"e: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e]\ng: [*f,*f,*f,*f,*f,*f,*f,*f,*f]\n---\nx", "", 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			front, body, err := Split(c.file)
			if c.name == "bomb" {
				c.body = c.file
			}
			if body != c.body || len(front.Names()) != c.names || errors.Is(err, ErrNotMap) != c.bad {
				t.Errorf("%q %v %v", body, front.Names(), err)
			}
			if joined := front.Join(body); !c.bad && joined != c.file {
				t.Errorf("joined: %q", joined)
			}
		})
	}
}

func TestSet(t *testing.T) {
	t.Parallel()
	const file = "---\n# first\ndescription: >-\n  a\n  b\n# about the icon\nicon:   bolt # fast\nown: {x: [1, 2]}\n---\n# A\n"
	for _, c := range []struct {
		name, field string
		value       any
		want        string
	}{
		{"same text", "description", "a b", file},
		{"same value", "own", map[string]any{"x": []any{1, 2}}, file},
		{"text", "description", "new: text", "---\n# first\ndescription: 'new: text'\n# about the icon\nicon:   bolt # fast\nown: {x: [1, 2]}\n---\n# A\n"},
		{"removed", "icon", nil, "---\n# first\ndescription: >-\n  a\n  b\n# about the icon\nown: {x: [1, 2]}\n---\n# A\n"},
		{"last", "own", true, "---\n# first\ndescription: >-\n  a\n  b\n# about the icon\nicon:   bolt # fast\nown: true\n---\n# A\n"},
		{"new", "hidden", true, "---\n# first\ndescription: >-\n  a\n  b\n# about the icon\nicon:   bolt # fast\nown: {x: [1, 2]}\nhidden: true\n---\n# A\n"},
		{"absent", "cover", nil, file},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			front, body, err := Split(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := front.Set(c.field, c.value); err != nil {
				t.Fatal(err)
			}
			if got := front.Join(body); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
	var none Fields
	if got := none.Join("x"); got != "x" {
		t.Errorf("without fields: %q", got)
	}
	if err := none.Set("icon", "bolt"); err != nil {
		t.Fatal(err)
	}
	if got := none.Join("x"); got != "---\nicon: bolt\n---\nx" {
		t.Errorf("first field: %q", got)
	}
	if err := none.Set("icon", nil); err != nil || none.Join("x") != "x" {
		t.Errorf("no field left: %q %v", none.Join("x"), err)
	}
}

// TestKeepsWhatIsSet sets fields one after the other. After each step, all fields must be readable.
func TestKeepsWhatIsSet(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var front Fields
		want := map[string]string{}
		for range rapid.IntRange(1, 6).Draw(t, "sets") {
			name := rapid.SampledFrom([]string{"description", "icon", "a b", "x:y", "#c", "-"}).Draw(t, "name")
			value := rapid.StringOf(rapid.SampledFrom([]rune("ab:#-'\"\n{}[]&*!|>% ä\t"))).Draw(t, "value")
			if err := front.Set(name, value); err != nil {
				t.Fatalf("%q %q: %v", name, value, err)
			}
			want[name] = value
		}
		again, body, err := Split(front.Join("# A\n"))
		if err != nil || body != "# A\n" {
			t.Fatalf("%q %v", body, err)
		}
		for name, value := range want {
			if got, ok := again.Text(name); !ok || got != value {
				t.Fatalf("%q: %q instead of %q", name, got, value)
			}
		}
	})
}
