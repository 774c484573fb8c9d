package markdown

import (
	"strings"

	"pgregory.net/rapid"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
)

// genText generates random texts with all characters that can be syntax in Markdown.
var genText = rapid.StringOfN(rapid.SampledFrom([]rune("ab1 .)-+#*_`~[]()<>!|\\&;:={%}$\"'ä漢\t\n")), 1, 20, -1)

func genInlines(t *rapid.T, breaks bool) []schema.Node {
	var b inlineBuilder
	for i := range rapid.IntRange(1, 4).Draw(t, "runs") {
		if i > 0 {
			b.style = style{}
			b.text(" and ")
			if rapid.IntRange(0, 5).Draw(t, "comment") == 0 {
				b.hide("<!-- not shown -->")
			}
		}
		switch rapid.IntRange(0, 5).Draw(t, "run") {
		case 0:
			text := genText.Draw(t, "text")
			if !breaks {
				text = strings.ReplaceAll(text, "\n", "")
			}
			b.text(text)
		case 1:
			b.style = genStyle(t)
			b.text(rapid.StringMatching(`[a-zä]{1,5}`).Draw(t, "word"))
		case 2:
			allowed := func(path string) bool { return schema.LinkAllowed("/" + path) }
			path := rapid.StringMatching(`[a-z()<> &;|\\]{0,8}`).Filter(allowed).Draw(t, "url")
			b.add(schema.Node{Type: "link",
				Data:  schema.Data{"ref": map[string]any{"kind": "url", "url": "/" + path}},
				Nodes: []schema.Node{schema.Text(rapid.StringMatching(`[a-z!\[\]]{1,8}`).Draw(t, "label"))}})
		case 3:
			b.style = style{}
			b.add(genUnit(t))
		case 4: // an inline node between texts of the same style
			b.style = genStyle(t)
			b.text("x")
			b.add(genUnit(t))
			b.text("y")
		default:
			b.text("w")
		}
	}
	return b.inlines()
}

func genBlocks(t *rapid.T, parent string, depth int) []schema.Node {
	kinds := []string{"paragraph", "heading-2", "divider"}
	for _, kind := range []string{"code", "blockquote", "hint", "list-ordered", "list-unordered", "list-tasks", "tabs", "stepper", "expandable",
		"images", "table", "math", "embed", "file", "drawing", "content-ref", "swagger", "openapi-operation", "openapi-schemas",
		"openapi-webhook", "reusable-content", "integration"} {
		if schema.Allows(parent, kind) && (depth < 2 || leafKinds[kind] != nil) {
			kinds = append(kinds, kind)
		}
	}
	var nodes []schema.Node
	for range rapid.IntRange(1, 3).Draw(t, "blocks") {
		nodes = append(nodes, genBlock(t, rapid.SampledFrom(kinds).Draw(t, "kind"), depth))
	}
	return nodes
}

func genBlock(t *rapid.T, kind string, depth int) schema.Node {
	n := schema.Node{Type: kind}
	if gen, ok := leafKinds[kind]; ok && kind != "code" {
		gen(t, &n)
		return n
	}
	switch kind {
	case "tabs", "stepper":
		for range rapid.IntRange(1, 2).Draw(t, "parts") {
			part := schema.Node{Type: map[string]string{"tabs": "tabs-item", "stepper": "stepper-step"}[kind], Data: schema.Data{}}
			if kind == "tabs" {
				part.Data["title"] = genValue.Draw(t, "title")
			}
			part.Nodes = genBlocks(t, part.Type, depth+1)
			n.Nodes = append(n.Nodes, part)
		}
	case "expandable":
		title := schema.Block("paragraph", genInlines(t, true)...)
		n.Data = schema.Data{}
		n.Fragments = []schema.Node{
			{Object: schema.ObjectFragment, Type: fragmentTitle, Fragment: fragmentTitle, Nodes: []schema.Node{title}},
			{Object: schema.ObjectFragment, Type: fragmentBody, Fragment: fragmentBody, Nodes: genBlocks(t, fragmentBody, depth+1)},
		}
	case "paragraph":
		n.Nodes = genInlines(t, true)
		if rapid.IntRange(0, 5).Draw(t, "aligned") == 0 {
			n.Data = schema.Data{"align": rapid.SampledFrom([]string{"start", "center", "end"}).Draw(t, "align")}
		}
	case "heading-2":
		a := rapid.SampledFrom([]anchor{
			{}, {"an-id.1", gitbookAnchor("an-id.1")}, {"a", `<a id="a"></a>`}, {"An-Id", `<a name="An-Id"></a>`},
			{"日本", "{#日本}"}, {"k", "{: #k .class}"},
		}).Draw(t, "anchor")
		n = headingNode(rapid.IntRange(1, 6).Draw(t, "level"), genInlines(t, true), a)
	case "code":
		leafKinds[kind](t, &n)
		for range rapid.IntRange(0, 3).Draw(t, "lines") {
			line := schema.Block("code-line")
			// In some containers, goldmark reads a line of spaces as an empty line. So every generated line that is not
			// empty has another character.
			if text := rapid.StringMatching("([ ab`~{%\\-]{0,5}[b`~]|{% endhint %})?").Draw(t, "line"); text != "" {
				line.Nodes = []schema.Node{schema.Text(text)}
			}
			n.Nodes = append(n.Nodes, line)
		}
	case "blockquote":
		n.Nodes = genBlocks(t, kind, depth+1)
	case "hint":
		n.Data = schema.Data{"style": rapid.SampledFrom([]string{"info", "danger"}).Draw(t, "style")}
		n.Nodes = genBlocks(t, kind, depth+1)
	case "list-ordered", "list-unordered", "list-tasks":
		for range rapid.IntRange(1, 3).Draw(t, "items") {
			item := schema.Node{Type: "list-item"}
			if kind == "list-tasks" {
				item.Data = schema.Data{"checked": rapid.Bool().Draw(t, "checked")}
				item.Nodes = []schema.Node{schema.Block("paragraph", genInlines(t, true)...)}
			}
			if kind != "list-tasks" && rapid.IntRange(0, 3).Draw(t, "empty") == 0 {
				item.Nodes = []schema.Node{schema.Block("paragraph")}
			} else {
				item.Nodes = append(item.Nodes, genBlocks(t, "list-item", depth+1)...)
			}
			n.Nodes = append(n.Nodes, item)
		}
	}
	return n
}

// genValue generates random values of attributes.
var genValue = rapid.StringOfN(rapid.SampledFrom([]rune("ab \"'&;#%{}<>|=,\n$_*[]ä")), 1, 8, -1)

func genStyle(t *rapid.T) style {
	s := style{marks: content.Marks(rapid.IntRange(0, 127).Draw(t, "marks"))}
	s.color = rapid.SampledFrom([]string{"", "", "red default", "$primary yellow", "default blue"}).Draw(t, "color")
	s.tags = rapid.SampledFrom([]string{
		"", "", "<u>", `<span class="a">`, "<u>" + tagBreak + "<small>", `<code class="a">`, "<var>",
		`<b class="a">` + tagBreak + "<tt>",
	}).Draw(t, "tags")
	return s
}

func genRef(t *rapid.T) map[string]any {
	switch rapid.IntRange(0, 2).Draw(t, "ref") {
	case 0:
		return map[string]any{"kind": "page", "page": rapid.StringMatching("[a-z]{1,4}").Draw(t, "page"), "space": "s"}
	default:
		return map[string]any{"kind": "url", "url": genLink.Draw(t, "link")}
	}
}

// genLink generates random relative links. They contain no host.
var genLink = rapid.Map(rapid.StringMatching(`[a-z()<> &;|"'\\]{0,8}`), func(path string) string { return "/" + path }).
	Filter(schema.LinkAllowed)

func genImageRef(t *rapid.T) map[string]any {
	if rapid.Bool().Draw(t, "stored") {
		return map[string]any{"kind": "file", "file": rapid.StringMatching("[a-z/ ]{1,6}").Draw(t, "file")}
	}
	return map[string]any{"kind": "url", "url": genLink.Draw(t, "link")}
}

// genUnit generates a random inline node without text.
func genUnit(t *rapid.T) schema.Node {
	data := schema.Data{}
	kind := rapid.SampledFrom([]string{"icon", "expression", "inline-math", "mention", "button", "inline-image"}).Draw(t, "unit")
	switch kind {
	case "icon":
		data["icon"] = rapid.StringMatching("[a-z]{1,3}(-[a-z]{1,3})?").Draw(t, "icon")
		if rapid.Bool().Draw(t, "colored") {
			data["color"] = "$danger"
		}
	case "expression", "inline-math":
		data[map[string]string{"expression": "expression", "inline-math": "formula"}[kind]] = genValue.Draw(t, "text")
	case "mention":
		data["ref"] = genRef(t)
	case "button":
		data["label"], data["kind"] = genValue.Draw(t, "label"), "secondary"
		if data["action"] = map[string]any{"action": "ask", "query": genValue.Draw(t, "query")}; rapid.Bool().
			Draw(t, "leads") {
			delete(data, "action")
			data["ref"] = genRef(t)
		}
	case "inline-image":
		data["ref"], data["size"] = genImageRef(t), rapid.SampledFrom([]string{"line", "original"}).Draw(t, "size")
		if rapid.Bool().Draw(t, "described") {
			data["alt"] = genValue.Draw(t, "alt")
		}
	}
	return schema.Node{Type: kind, Data: data}
}

func optional(t *rapid.T, data schema.Data, name string, value any) {
	if rapid.Bool().Draw(t, name) {
		data[name] = value
	}
}

// leafKinds has, for each kind of block that contains no blocks, a function that makes a random block.
var leafKinds = map[string]func(t *rapid.T, n *schema.Node){
	"divider": func(*rapid.T, *schema.Node) {},
	"code": func(t *rapid.T, n *schema.Node) {
		n.Data = schema.Data{}
		optional(t, n.Data, "syntax", rapid.StringMatching("[a-z\"& `~]{1,4}").Draw(t, "syntax"))
		optional(t, n.Data, "title", genValue.Draw(t, "title"))
		optional(t, n.Data, "overflow", "wrap")
		optional(t, n.Data, "lineNumbers", rapid.Bool().Draw(t, "numbered"))
		optional(t, n.Data, "collapsedLineCount", 3.0)
	},
	"math": func(t *rapid.T, n *schema.Node) {
		n.Data = schema.Data{"formula": rapid.StringMatching(`[a-z$\\ ]{0,4}[a-z](\n[a-z$\\ ]{0,4}[a-z])?`).Draw(t, "formula")}
	},
	"embed": func(t *rapid.T, n *schema.Node) {
		n.Data = schema.Data{"url": "https://v.example/" + rapid.StringMatching(`[a-z"'&;=?%]{0,8}`).Draw(t, "url")}
		optional(t, n.Data, "fullWidth", rapid.Bool().Draw(t, "wide"))
		optional(t, n.Data, memberCaption, "a _caption_")
	},
	"file": func(t *rapid.T, n *schema.Node) {
		n.Data = schema.Data{"ref": map[string]any{"kind": "file", "file": rapid.StringMatching(`[a-z"'/. ]{1,8}`).Draw(t, "file")}}
	},
	"drawing": func(t *rapid.T, n *schema.Node) {
		n.Data = schema.Data{"ref": map[string]any{"kind": "file", "file": rapid.StringMatching(`[a-z"'/. ]{1,8}`).Draw(t, "file")}}
	},
	"content-ref": func(t *rapid.T, n *schema.Node) { n.Data = schema.Data{"ref": genRef(t)} },
	"swagger": func(t *rapid.T, n *schema.Node) {
		n.Data = schema.Data{"ref": genImageRef(t), "path": genValue.Draw(t, "path"), "method": "get"}
		optional(t, n.Data, "expanded", true)
	},
	"openapi-operation": func(t *rapid.T, n *schema.Node) {
		n.Data = schema.Data{"ref": map[string]any{"kind": "openapi", "spec": "pets"}, "path": genValue.Draw(t, "path"), "method": "get"}
	},
	"openapi-schemas": func(t *rapid.T, n *schema.Node) {
		n.Data = schema.Data{"ref": map[string]any{"kind": "openapi", "spec": "pets"}, "schemas": []any{"A", "B"}, "grouped": true}
	},
	"openapi-webhook": func(t *rapid.T, n *schema.Node) {
		n.Data = schema.Data{"ref": map[string]any{"kind": "openapi", "spec": "pets"}, "name": genValue.Draw(t, "name"), "method": "post"}
	},
	"reusable-content": func(t *rapid.T, n *schema.Node) {
		n.Data = schema.Data{"ref": map[string]any{"kind": "reusable-content", "reusableContent": rapid.StringMatching(`[a-z"'/. ]{1,8}`).Draw(t, "path")}}
	},
	"integration": func(t *rapid.T, n *schema.Node) {
		n.Data = schema.Data{"integration": "i", "block": "b", "props": map[string]any{"a": genValue.Draw(t, "prop"), "b": []any{true, 1.5}}}
	},
	"images": func(t *rapid.T, n *schema.Node) {
		n.Data = schema.Data{}
		optional(t, n.Data, "align", "left")
		optional(t, n.Data, "withFrame", rapid.Bool().Draw(t, "frame"))
		for range rapid.IntRange(1, 2).Draw(t, "images") {
			image := schema.Node{Type: "image", Data: schema.Data{"ref": genImageRef(t)}}
			optional(t, image.Data, "refDark", genImageRef(t))
			optional(t, image.Data, "alt", genValue.Draw(t, "alt"))
			optional(t, image.Data, "width", rapid.SampledFrom([]any{300.0, map[string]any{"unit": "%", "value": 50.0}}).Draw(t, "width"))
			if rapid.Bool().Draw(t, "caption") {
				image.Fragments = []schema.Node{{Object: schema.ObjectFragment, Fragment: "caption", Nodes: []schema.Node{schema.Block("paragraph", genInlines(t, true)...)}}}
			}
			n.Nodes = append(n.Nodes, image)
		}
	},
	"table": genTable,
}

// genTable generates a random table. Its columns, rows and cells have the names that Read gives them.
func genTable(t *rapid.T, n *schema.Node) {
	b := newTableBuilder()
	view := map[string]any{"type": "grid", "hideHeader": rapid.Bool().Draw(t, "headless")}
	columns := rapid.IntRange(1, 4).Draw(t, "columns")
	for i := range columns {
		kind := rapid.SampledFrom([]string{"text", "text", "number", "checkbox", "rating", "select", "content-ref", "files", "image", "users"}).Draw(t, "type")
		about := map[string]any{"type": kind}
		switch kind {
		case "text":
			about["textAlignment"] = rapid.SampledFrom([]string{"left", "center", "right"}).Draw(t, "align")
		case "rating":
			about["max"] = rapid.SampledFrom([]float64{3, 5}).Draw(t, "max")
		case "users":
			about["multiple"] = true
		case "select":
			about["multiple"] = rapid.Bool().Draw(t, "multiple")
			about["options"] = []any{map[string]any{"value": "o", "label": strings.Trim(genValue.Draw(t, "label"), " ,\n"), "color": "blue"}}
		}
		b.column(genInlines(t, true), about, i > 0 && rapid.IntRange(0, 4).Draw(t, "hidden") == 0)
	}
	for range rapid.IntRange(0, 2).Draw(t, "rows") {
		name, values := b.row()
		for _, about := range b.columns {
			id := about["id"].(string)
			switch kind := about["type"]; kind {
			case "text":
				values[id] = name + id
				b.fragment(name+id, []schema.Node{schema.Block("paragraph", genInlines(t, true)...)})
			case "number", "rating":
				values[id] = rapid.SampledFrom([]float64{0, 1, -2.5}).Draw(t, "number")
			case "checkbox":
				values[id] = rapid.Bool().Draw(t, "checked")
			case "content-ref":
				values[id] = genRef(t)
			case "image":
				values[id] = genImageRef(t)
			case "files", "users":
				values[id] = []any{rapid.StringMatching("[a-z/&. ]{1,6}").Draw(t, "name")}
			case "select":
				values[id] = []any{"o"}
			}
		}
	}
	*n = b.build(view)
	if rapid.IntRange(0, 2).Draw(t, "cards") == 0 {
		delete(view, "hideHeader")
		view["type"], view["cardSize"] = "cards", "large"
	} else if rapid.Bool().Draw(t, "wide") {
		n.Data["fullWidth"] = true
	}
}
