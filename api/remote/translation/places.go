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

// Place is a segment at its position in a document.
type Place struct {
	// ID is the name of the place within the document. It consists of the block's key and a name of the text within the
	// block. In a translated document, the same place has the same ID.
	ID string
	// Source is the text to translate, in the notation, without white space at its ends. It is "" if there is no text
	// to translate.
	Source string
	// Text is the text of the place as readers see it, including parts that are not translated.
	Text string
	// State is a hash of the content of the place, including its links and marks.
	State string

	inlines []schema.Node
	around  [2]string
	put     func(inlines []schema.Node, text string)
}

// Put writes a translation of the place's source text to the place. If the translation does not have the tags of the
// source text, Put writes nothing and returns false.
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

// Copy replaces the content of the place by the content of the same place in another document.
func (p *Place) Copy(from *Place) {
	if (p.inlines == nil) == (from.inlines == nil) {
		p.put(from.inlines, from.Text)
	}
}

// PlainPlace returns a place for a text outside of a document, such as the title of a page. The function put stores a
// translation.
func PlainPlace(id, text string, put func(string)) Place {
	return textPlace(id, text, put)
}

// Places copies a document, and returns the copy with its places. The places are in the order of the document. Code and
// formulas have no places.
func Places(d schema.Document) (*schema.Document, []Place) {
	w := &walk{}
	d.Nodes = w.clone(d.Nodes)
	w.blocks(d.Nodes, "")
	return &d, w.places
}

type walk struct{ places []Place }

// clone copies nodes, so that Put can change the copies.
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

// left has the kinds of blocks that are not translated, together with everything in them.
var left = map[string]bool{"code": true, "math": true, "integration": true, "embed": true, "reusable-content": true}

// texts has the members that are translated in the data of blocks and inlines.
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
	// The other texts of the inlines come first, because a translation of the block's text copies the inlines.
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

// `beside` adds the places of an inline's texts that do not belong to the block's text.
func (w *walk) beside(n *schema.Node, id string) {
	w.members(n, id)
	for i := range n.Nodes {
		w.beside(&n.Nodes[i], id+"/"+strconv.Itoa(i))
	}
	for i := range n.Fragments {
		w.blocks(n.Fragments[i].Nodes, id+"/note")
	}
}

// table adds a place for each column title, for each option label, and for each cell whose text is in the record. All
// other cells are fragments.
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

// cloneMaps replaces a member that is a map of maps by a copy, and returns the copy.
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
		return err.Error() // a checked document can always be encoded
	}
	sum := sha256.Sum256(encoded)
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// Words returns the number of words in a source, because translators charge by the word. In scripts without spaces, a
// character counts as half a word.
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

// counted has the scripts whose characters count as half a word.
var counted = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana}
