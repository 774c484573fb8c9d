package customization

import (
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// leaf is a leaf in a tree of settings. `path` has the names from the root to the leaf, and `kind` is its type.
type leaf struct {
	path []string
	kind reflect.Type
}

// leavesOf returns the leaves in a type of group. It includes the leaves of subgroups.
func leavesOf(t reflect.Type, path ...string) []leaf {
	var leaves []leaf
	for i := range t.NumField() {
		value, _ := t.Field(i).Type.FieldByName("Value")
		at := append(append([]string(nil), path...), t.Field(i).Name)
		if kind := value.Type.Elem(); isGroup(kind) {
			leaves = append(leaves, leavesOf(kind, at...)...)
		} else {
			leaves = append(leaves, leaf{path: at, kind: kind})
		}
	}
	return leaves
}

func TestCustomizationIsGroupsAndLeaves(t *testing.T) {
	t.Parallel()
	if !isGroup(reflect.TypeFor[Customization]()) {
		t.Fatal("a member of the customization is not an Opt")
	}
	got := map[string]bool{}
	for _, l := range leavesOf(reflect.TypeFor[Customization]()) {
		got[l.path[0]+"."+l.path[len(l.path)-1]] = true
	}
	for _, want := range []string{
		"Title.Title", "Styling.PrimaryColor", "Styling.List", "Styling.Font", "Favicon.Favicon", "Header.Links", "Header.PrimaryLink",
		"Announcement.Announcement", "PDF.Enabled", "AI.Suggestions", "PrivacyPolicy.URL",
	} {
		if !got[want] {
			t.Errorf("%s is not a leaf", want)
		}
	}
	if len(got) < 45 {
		t.Errorf("%d leaves", len(got))
	}
}

// model is a tree of settings as a map. The key is the path of a leaf, and the value is the JSON of the leaf.
type model map[string]string

// drawValue returns a random value for a leaf of this type. Merge does not depend on the values.
func drawValue(t *rapid.T, kind reflect.Type) reflect.Value {
	value := reflect.New(kind)
	text := rapid.StringN(0, 3, -1).Draw(t, "text")
	flag := rapid.Bool().Draw(t, "flag")
	encoded, _ := json.Marshal(text)
	for _, candidate := range []string{
		string(encoded), strconv.FormatBool(flag), `["a"]`, `[]`, `{"light":"#0af","dark":"#fff"}`, `{"kind":"space","space":"s1"}`,
	} {
		if json.Unmarshal([]byte(candidate), value.Interface()) == nil {
			return value
		}
		value.Elem().SetZero()
	}
	t.Fatalf("no value for %s", kind)
	return value
}

// drawPatch returns a random patch. It also applies the patch to the model, leaf by leaf. Merge must give the same
// result.
func drawPatch(t *rapid.T, into model) Customization {
	var patch Customization
	for _, l := range leavesOf(reflect.TypeFor[Customization]()) {
		name := strings.Join(l.path, ".")
		switch rapid.IntRange(0, 3).Draw(t, name) {
		case 0: // null
			set(&patch, l.path, reflect.Value{})
			delete(into, name)
		case 1: // a value
			value := drawValue(t, l.kind)
			set(&patch, l.path, value)
			encoded, err := json.Marshal(value.Interface(), json.Deterministic(true))
			if err != nil {
				t.Fatal(err)
			}
			into[name] = string(encoded)
		}
	}
	return patch
}

// set sets a leaf. The zero reflect.Value stands for null.
func set(tree *Customization, path []string, value reflect.Value) {
	at := reflect.ValueOf(tree).Elem()
	for i, name := range path {
		member := at.FieldByName(name)
		member.FieldByName("Set").SetBool(true)
		pointer := member.FieldByName("Value")
		if i == len(path)-1 {
			if value.IsValid() {
				pointer.Set(value)
			} else {
				pointer.SetZero()
			}
			return
		}
		if pointer.IsNil() {
			pointer.Set(reflect.New(pointer.Type().Elem()))
		}
		at = pointer.Elem()
	}
}

// modelOf converts a tree of settings to a model. It fails the test if the tree contains a null, because no result may
// contain a null.
func modelOf(t *rapid.T, tree Customization) model {
	m := model{}
	for _, l := range leavesOf(reflect.TypeFor[Customization]()) {
		at, name := reflect.ValueOf(tree), strings.Join(l.path, ".")
		for i, part := range l.path {
			member := at.FieldByName(part)
			set, pointer := member.FieldByName("Set").Bool(), member.FieldByName("Value")
			if set == pointer.IsNil() {
				t.Fatalf("%s is null", name)
			}
			if !set {
				break
			}
			at = pointer.Elem()
			if i == len(l.path)-1 {
				encoded, err := json.Marshal(pointer.Interface(), json.Deterministic(true))
				if err != nil {
					t.Fatal(err)
				}
				m[name] = string(encoded)
			}
		}
	}
	return m
}

// TestMergeLaw applies sequences of random patches, and compares the result with a model. Each patch is encoded and
// decoded as JSON before it is applied.
func TestMergeLaw(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want, tree := model{}, Customization{}
		for range rapid.IntRange(1, 4).Draw(t, "patches") {
			before := modelOf(t, tree)
			patch := drawPatch(t, want)
			encoded, err := json.Marshal(patch)
			if err != nil {
				t.Fatal(err)
			}
			var read Customization
			if err := json.Unmarshal(encoded, &read); err != nil {
				t.Fatalf("%s: %v", encoded, err)
			}
			merged := Merge(tree, read)
			if diff := cmp.Diff(before, modelOf(t, tree)); diff != "" {
				t.Fatalf("the base was changed: %s", diff)
			}
			tree = merged
			if diff := cmp.Diff(want, modelOf(t, tree)); diff != "" {
				t.Fatal(diff)
			}
		}
		// If an override sets a leaf, the settings have the leaf of the override. Otherwise they have the leaf of the
		// base.
		base := model{}
		settings := Merge(Customization{}, drawPatch(t, base))
		for name, value := range want {
			base[name] = value
		}
		if diff := cmp.Diff(base, modelOf(t, Merge(settings, tree))); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestMergeNullGroup(t *testing.T) {
	t.Parallel()
	base := Customization{PDF: some(Toggle{Enabled: some(true)}), Title: some("Docs")}
	var patch Customization
	if err := json.Unmarshal([]byte(`{"pdf":null,"title":null,"git":{},"header":{"logo":null}}`), &patch); err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(Merge(base, patch))
	if err != nil || string(got) != `{"header":{},"git":{}}` {
		t.Errorf("%s %v", got, err)
	}
}

func TestFontsAreNamesOrDefinitions(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"styling":{"font":"Inter"}}`,
		`{"styling":{"font":{"id":"f","custom":true,"fontFamily":"A","fontFaces":[{"weight":400,"sources":[{"url":"https://a.example/f"}]}]}}}`,
	} {
		var c Customization
		if err := json.Unmarshal([]byte(text), &c); err != nil {
			t.Fatal(err)
		}
		if got, err := json.Marshal(c); err != nil || string(got) != text {
			t.Errorf("%s became %s, %v", text, got, err)
		}
	}
	var c Customization
	if err := json.Unmarshal([]byte(`{"styling":{"font":1}}`), &c); err == nil {
		t.Error("a number is accepted as a font")
	}
}
