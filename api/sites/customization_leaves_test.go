package sites_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/octavo-docs/octavo/api/apitest"
)

// describer finds, in the served OpenAPI document, values that a setting may have.
type describer struct{ schemas map[string]any }

// resolve returns the schema to which references lead. Of several alternatives, it chooses the schema with the JSON
// type of `value`.
func (d describer) resolve(described any, value any) map[string]any {
	node, _ := described.(map[string]any)
	if ref, ok := node["$ref"].(string); ok {
		return d.resolve(d.schemas[ref[strings.LastIndex(ref, "/")+1:]], value)
	}
	for _, keyword := range []string{"anyOf", "oneOf"} {
		alternatives, _ := node[keyword].([]any)
		for _, alternative := range alternatives {
			if found := d.resolve(alternative, value); fits(found, value) {
				return found
			}
		}
	}
	return node
}

func fits(described map[string]any, value any) bool {
	switch value := value.(type) {
	case map[string]any:
		properties, _ := described["properties"].(map[string]any)
		for name := range value {
			if properties[name] == nil && described["additionalProperties"] == nil {
				return false
			}
		}
		return described["type"] == "object"
	case []any:
		return described["type"] == "array"
	case bool:
		return described["type"] == "boolean"
	case float64:
		return described["type"] == "integer" || described["type"] == "number"
	}
	return described["type"] == "string"
}

// leaf is a setting: its path, and a valid value that differs from the present one.
type leaf struct {
	path  []any
	other any
}

// leaves lists all settings in a value that can be changed separately. A reference is one setting, because its kind
// determines its other members.
func (d describer) leaves(described, value any, path []any) (found []leaf) {
	node := d.resolve(described, value)
	at := func(step any) []any { return append(slices.Clone(path), step) }
	switch value := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			properties, _ := node["properties"].(map[string]any)
			inner := properties[name]
			if inner == nil {
				inner = node["additionalProperties"]
			}
			if name != "kind" && value[name] != nil {
				found = append(found, d.leaves(inner, value[name], at(name))...)
			}
		}
		return found
	case []any:
		for i := range value {
			for _, l := range d.leaves(node["items"], value[i], at(i)) {
				if _, isText := l.other.(string); isText && slices.Contains(value, l.other) {
					continue // Lists of names have no duplicates.
				}
				found = append(found, l)
			}
		}
		switch len(value) {
		case 0:
			return found
		case 1:
			return append(found, leaf{path, []any{value[0], value[0]}})
		}
		return append(found, leaf{path, value[:len(value)-1]})
	case bool:
		return []leaf{{path, !value}}
	case float64:
		return []leaf{{path, value + 1}}
	}
	text, _ := value.(string)
	if enum, ok := node["enum"].([]any); ok {
		for _, other := range enum {
			if other != text && len(found) < 2 {
				found = append(found, leaf{path, other})
			}
		}
		return found
	}
	if strings.HasPrefix(text, "#") {
		return []leaf{{path, "#123456"}}
	}
	return []leaf{{path, text + "x"}}
}

// with returns a copy of a JSON value in which the member at `path` has the value `other`.
func with(value any, path []any, other any) any {
	if len(path) == 0 {
		return other
	}
	switch step := path[0].(type) {
	case string:
		changed := maps.Clone(value.(map[string]any))
		changed[step] = with(changed[step], path[1:], other)
		return changed
	default:
		changed := slices.Clone(value.([]any))
		changed[step.(int)] = with(changed[step.(int)], path[1:], other)
		return changed
	}
}

// actionPaths has, by page action, the path of the setting that switches the action on. Some actions have no such
// setting.
var actionPaths = map[string][]any{
	"external-ai": {"pageActions", "externalAI"}, "markdown": {"pageActions", "markdown"},
	"mcp": {"pageActions", "mcp"},
	"git": {"git", "showEditLink"}, "pdf": {"pdf", "enabled"},
}

// settled returns the settings that the server shows after the setting at `path` has changed. Page actions have two
// forms, a list and switches. A change of one form also changes the other form.
func settled(settings map[string]any, path []any) map[string]any {
	items := slices.Clone(settings["pageActions"].(map[string]any)["items"].([]any))
	for _, action := range slices.Sorted(maps.Keys(actionPaths)) {
		at := actionPaths[action]
		group := settings[at[0].(string)].(map[string]any)
		switch on, listed := group[at[1].(string)].(bool), slices.Contains(items, any(action)); {
		case on == listed:
		case fmt.Sprint(path) != fmt.Sprint(at): // The list has changed.
			settings = with(settings, at, listed).(map[string]any)
		case on:
			items = append(items, action)
		default:
			items = slices.DeleteFunc(items, func(item any) bool { return item == action })
		}
	}
	return with(settings, []any{"pageActions", "items"}, items).(map[string]any)
}

// TestEveryLeafOfACustomization reads all settings, changes one of them, and writes all of them back. The change is
// stored, and all other settings stay. The test does this for each setting, as a client of each generation: some
// clients send one form of the page actions, and others send both forms.
func TestEveryLeafOfACustomization(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	s := h.NewSite(`{}`)
	siteSpace := "/site-spaces/" + s.AddSpace("One", "") + "/customization"
	var document struct {
		Components struct {
			Schemas map[string]any `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(h.Do("GET", "/v1/openapi.json", "", nil).Body, &document); err != nil {
		t.Fatal(err)
	}
	d := describer{document.Components.Schemas}
	settings := map[string]any{}
	for _, text := range []string{fullCustomization, newerCustomization,
		`{"pageActions":{"items":["assistant","markdown","pdf"]},"pdf":{"enabled":true},
		"favicon":{"icon":{"light":"https://a.example/l.png","dark":"https://a.example/d.png"}},
	"socialPreview":{"url":"https://a.example/p.png"},
		"header":{"backgroundColor":{"light":"#0af","dark":"#00aaff"},"linkColor":{"light":"#0af","dark":"#00aaff"},
	"links":[
			{"title":"A","localizedTitle":{"de":"B"},"to":null,"links":[{"title":"C","to":{"kind":"page","page":"p"}}],
	"condition":"visitor.claims.ok"},
			{"title":"Buy","style":"button-primary","to":{"kind":"url","url":"https://a.example"}}]}}`} {
		var part map[string]any
		if err := json.Unmarshal([]byte(text), &part); err != nil {
			t.Fatal(err)
		}
		settings = over(settings, part, nil)
	}
	delete(settings, "unknown")
	without := func(settings map[string]any, members ...string) map[string]any {
		actions := maps.Clone(settings["pageActions"].(map[string]any))
		for _, member := range members {
			delete(actions, member)
		}
		return with(settings, []any{"pageActions"}, actions).(map[string]any)
	}
	for _, level := range []struct{ method, path string }{{"PUT", "/customization"}, {"PATCH", siteSpace}} {
		s.Ok("PUT", "/customization", settings, 200)
		whole := s.Ok("GET", level.path, nil, 200)
		all := d.leaves(d.schemas["Customization"], whole, nil)
		if len(all) < 100 {
			t.Fatalf("only %d leaves: %v", len(all), all)
		}
		for name, sent := range map[string]func(map[string]any) map[string]any{
			"both forms": func(settings map[string]any) map[string]any { return settings },
			"switches":   func(settings map[string]any) map[string]any { return without(settings, "items") },
			"the list": func(settings map[string]any) map[string]any {
				return without(settings, "externalAI", "markdown", "mcp")
			},
		} {
			for _, l := range all {
				changed := with(whole, l.path, l.other).(map[string]any)
				body := sent(changed)
				actions := slices.Contains([]any{"pageActions", "pdf", "git"}, l.path[0])
				items := fmt.Sprint(l.path[:min(2, len(l.path))]) == "[pageActions items]"
				if name != "both forms" && !actions || name == "switches" && items || name == "the list" && !items &&
					l.path[0] == "pageActions" {
					continue // Other members have one form, and this client does not know the other form.
				}
				got := s.Ok(level.method, level.path, body, 200)
				want := settled(changed, l.path)
				for _, settings := range []map[string]any{got, s.Ok("GET", level.path, nil, 200)} {
					if diff := cmp.Diff(want, settings, cmp.Transformer("set", sortedActions)); diff != "" {
						t.Errorf("%s %s, %s, %v: %s", level.method, level.path, name, l.path, diff)
					}
				}
				s.Ok(level.method, level.path, sent(whole), 200)
			}
		}
		now := s.Ok("GET", level.path, nil, 200)
		if diff := cmp.Diff(whole, now, cmp.Transformer("set", sortedActions)); diff != "" {
			t.Errorf("%s: in the end: %s", level.path, diff)
		}
	}
}

// sortedActions makes lists of page actions comparable, because removing and adding an action can change the order.
func sortedActions(list []any) []string {
	texts := make([]string, len(list))
	for i, item := range list {
		text, _ := json.Marshal(item)
		texts[i] = string(text)
	}
	slices.Sort(texts)
	return texts
}
