package translation

import (
	"crypto/sha256"
	"encoding/base64"
	"maps"
	"slices"
	"strconv"
	"unicode"

	"github.com/go-json-experiment/json"

	"github.com/octavo-docs/octavo/schema"
)

// Place is a segment of a document with its position.
type Place struct {
	// ID names the place within the document: by the key of the block, and by the text within the block. A translated
	// document has the same places under the same ids.
	ID string
	// Source is the text to translate, in the notation, without white space at both ends. It is "" if there is no text
	// to translate.
	Source string
	// Text is the whole text that a reader sees.
	Text string
	// State is a hash of the content, including links and marks.
	State string

	inlines []schema.Node
	around  [2]string
	put     func(inlines []schema.Node, text string)
}

// Put writes a translation of the source. It refuses a translation without the tags of the source, and returns false.
func (p *Place) Put(target string) bool {
	target = p.around[0] + target + p.around[1]
	if p.inlines == nil {
		all, err := tokens(target)
		if err != nil || !fits(p.Source, target) {
			return false
		}
		p.put(nil, plain(all))
		return true
	}
	nodes, err := decode(p.inlines, target)
	if err != nil {
		return false
	}
	p.put(nodes, "")
	return true
}

// Copy copies the content of the same place in another document.
func (p *Place) Copy(from *Place) {
	if (p.inlines == nil) == (from.inlines == nil) {
		p.put(from.inlines, from.Text)
	}
}

// PlainPlace is the place of a text outside of a document, such as the title of a page. put stores its translation.
func PlainPlace(id, text string, put func(string)) Place {
	return textPlace(id, text, put)
}

// Places clones a document, and returns the clone and its places in the order of the document. Code and formulas have
// no places.
func Places(d schema.Document) (*schema.Document, []Place) {
	w := &walk{}
	d.Nodes = w.clone(d.Nodes)
	w.blocks(d.Nodes, "")
	return &d, w.places
}

type walk struct{ places []Place }

// clone copies the parts of nodes that Put changes.
func (w *walk) clone(nodes []schema.Node) []schema.Node {
	if nodes == nil {
		return nil
	}
	copied := slices.Clone(nodes)
	for i := range copied {
		copied[i].Nodes, copied[i].Fragments = w.clone(copied[i].Nodes), w.clone(copied[i].Fragments)
		copied[i].Data = maps.Clone(copied[i].Data)
	}
	return copied
}

// left has the kinds of blocks that stay unchanged, with all their contents.
var left = map[string]bool{"code": true, "math": true, "integration": true, "embed": true, "reusable-content": true}

// texts has the members of a block's or an inline's data that are translated.
var texts = map[string][]string{"image": {"alt"}, "tabs-item": {"title"}, "inline-image": {"alt", "caption"}, "button": {"label"}}

func (w *walk) blocks(nodes []schema.Node, within string) {
	for i := range nodes {
		n := &nodes[i]
		if left[n.Type] {
			continue
		}
		id := n.Key
		if id == "" {
			id = within + "/" + strconv.Itoa(i)
		}
		w.members(n, id)
		if n.Type == "table" {
			w.table(n, id)
		}
		if holdsText(n) {
			w.inline(n, id)
		} else {
			w.blocks(n.Nodes, id)
		}
		for j := range n.Fragments {
			w.blocks(n.Fragments[j].Nodes, id+"/"+n.Fragments[j].Fragment)
		}
	}
}

func holdsText(n *schema.Node) bool {
	return slices.ContainsFunc(n.Nodes, func(child schema.Node) bool {
		return child.Object == schema.ObjectText || child.Object == schema.ObjectInline
	})
}

func (w *walk) members(n *schema.Node, id string) {
	for _, name := range texts[n.Type] {
		if text, ok := n.Data[name].(string); ok {
			w.text(id+"/"+name, text, func(text string) { n.Data[name] = text })
		}
	}
}

func (w *walk) inline(n *schema.Node, id string) {
	// Translate the other texts of the inlines first, because the translation of the text copies the inlines.
	for i := range n.Nodes {
		w.beside(&n.Nodes[i], id+"/"+strconv.Itoa(i))
	}
	source := encode(n.Nodes)
	lead, core, trail := split(source)
	all, err := tokens(core)
	p := Place{ID: id, Text: plain(all), inlines: n.Nodes, around: [2]string{lead, trail}, State: stateOf(n.Nodes)}
	if err == nil && hasLetters(all) {
		p.Source = core
	}
	p.put = func(inlines []schema.Node, _ string) { n.Nodes = inlines }
	w.places = append(w.places, p)
}

// `beside` finds the texts of an inline that are not part of the block's text.
func (w *walk) beside(n *schema.Node, id string) {
	w.members(n, id)
	for i := range n.Nodes {
		w.beside(&n.Nodes[i], id+"/"+strconv.Itoa(i))
	}
	for i := range n.Fragments {
		w.blocks(n.Fragments[i].Nodes, id+"/note")
	}
}

// table finds the titles of columns, the labels of options, and the cells that contain text. The other cells are
// fragments.
func (w *walk) table(n *schema.Node, id string) {
	definition := cloneMaps(n.Data, "definition")
	for _, column := range slices.Sorted(maps.Keys(definition)) {
		about, _ := definition[column].(map[string]any)
		at := id + "/definition/" + column
		if title, ok := about["title"].(string); ok {
			w.text(at+"/title", title, func(text string) { about["title"] = text })
		}
		options, _ := about["options"].([]any)
		options = slices.Clone(options)
		for i := range options {
			option, _ := options[i].(map[string]any)
			option = maps.Clone(option)
			options[i] = option
			if label, ok := option["label"].(string); ok {
				w.text(at+"/options/"+strconv.Itoa(i), label, func(text string) { option["label"] = text })
			}
		}
		if options != nil {
			about["options"] = options
		}
	}
	fragments := map[string]bool{}
	for _, fragment := range n.Fragments {
		fragments[fragment.Fragment] = true
	}
	records := cloneMaps(n.Data, "records")
	for _, name := range slices.Sorted(maps.Keys(records)) {
		record, _ := records[name].(map[string]any)
		values := cloneMaps(record, "values")
		w.cells(id+"/records/"+name, values, definition, fragments)
	}
}

func (w *walk) cells(at string, values, definition map[string]any, fragments map[string]bool) {
	for _, column := range slices.Sorted(maps.Keys(values)) {
		about, _ := definition[column].(map[string]any)
		switch value := values[column].(type) {
		case string:
			if about["type"] == "text" && !fragments[value] {
				w.text(at+"/"+column, value, func(text string) { values[column] = text })
			}
		case map[string]any:
			if alt, ok := value["alt"].(string); ok {
				w.text(at+"/"+column+"/alt", alt, func(text string) { value["alt"] = text })
			}
		}
	}
}

// cloneMaps copies a member that is a map of maps, puts the copy in its place and returns it.
func cloneMaps(in map[string]any, name string) map[string]any {
	was, ok := in[name].(map[string]any)
	if !ok {
		return nil
	}
	copied := maps.Clone(was)
	for key, value := range copied {
		if inner, ok := value.(map[string]any); ok {
			copied[key] = maps.Clone(inner)
		}
	}
	in[name] = copied
	return copied
}

func (w *walk) text(id, text string, put func(string)) {
	w.places = append(w.places, textPlace(id, text, put))
}

func textPlace(id, text string, put func(string)) Place {
	lead, core, trail := split(escapes.Replace(text))
	p := Place{ID: id, Text: text, around: [2]string{lead, trail}, State: stateOf(text)}
	if hasLetters([]token{{kind: textToken, text: text}}) {
		p.Source = core
	}
	p.put = func(_ []schema.Node, text string) { put(text) }
	return p
}

func stateOf(content any) string {
	encoded, err := json.Marshal(content, json.Deterministic(true))
	if err != nil {
		return err.Error() // A checked document can be encoded.
	}
	sum := sha256.Sum256(encoded)
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// Words counts the words of a source, because translators charge by the word. In scripts without spaces a character
// counts as half a word.
func Words(source string) int {
	all, err := tokens(source)
	if err != nil {
		return 0
	}
	words, halves, in := 0, 0, false
	for _, r := range plain(all) {
		switch {
		case inWord(r) && unicode.In(r, counted...):
			halves, in = halves+1, false
		case inWord(r):
			if !in {
				words++
			}
			in = true
		case r != '\'' && r != '’' && r != '-':
			in = false
		}
	}
	return words + (halves+1)/2
}

// counted has the scripts in which characters are counted.
var counted = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana}
