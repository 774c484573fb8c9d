package markdown

import (
	"slices"
	"strings"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
)

// Readers must not see tags of HTML. So HTML that a document cannot express is stored, but not shown. A leaf without
// text stores the source of a comment or a tag that is inside a line. A paragraph stores the source of a block of HTML,
// and shows the block's text, links and images.

// kindRaw is the kind of a node that stores the source of a block. The grammar of documents has no node for such a
// block. memberSource is the member of the node's data that has the source.
const (
	kindRaw      = "raw"
	memberSource = "source"
)

func rawBlock(source string) schema.Node {
	return schema.Node{Type: kindRaw, Data: schema.Data{memberSource: content.Clean(source)}}
}

// memberMarkdown is the member of a paragraph's meta that has the Markdown source of a block. The paragraph shows the
// text of this block.
const memberMarkdown = "markdown"

// keptSource returns the source of a block that a paragraph stores in its meta. It returns "" if the node is not a
// paragraph or stores no source.
func keptSource(n *schema.Node) string {
	if n.Type != "paragraph" {
		return ""
	}
	source, _ := n.Meta[memberMarkdown].(string)
	return source
}

func kept(source string, shown []schema.Node) schema.Node {
	return schema.Node{Type: "paragraph", Meta: schema.Data{memberMarkdown: source}, Nodes: shown}
}

// hiddenLeaf returns a leaf that stores a source and has no visible text.
func hiddenLeaf(source string) schema.Leaf {
	mark := colorMark(defaultColor, defaultColor, "")
	mark.Data[memberSource] = source
	return schema.Leaf{Object: schema.ObjectLeaf, Marks: []schema.Mark{mark}}
}

// hiddenSource returns the source that a leaf without visible text stores, or "" for any other leaf.
func hiddenSource(leaf schema.Leaf) string {
	if leaf.Text != "" || len(leaf.Marks) != 1 || leaf.Marks[0].Type != "color" {
		return ""
	}
	return content.Clean(content.Member(leaf.Marks[0].Data, memberSource))
}

// hides reports whether a leaf of a text stores a source that is not shown.
func hides(leaves []schema.Leaf) bool {
	return slices.ContainsFunc(leaves, func(leaf schema.Leaf) bool { return hiddenSource(leaf) != "" })
}

// htmlNames are the elements of HTML. A tag with one of these names is never text.
var htmlNames = setOf(
	`a abbr acronym address applet area article aside audio b base basefont bdi bdo big blink blockquote body br button
	canvas caption center cite code col colgroup data datalist dd del details dfn dialog dir div dl dt em embed
	fieldset figcaption figure font footer form frame frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html i iframe
	img input ins kbd label legend li link main map mark marquee math menu meta meter nav nobr noscript object ol
	optgroup option output p param path picture pre progress q rect rp rt ruby s samp script search section select
	small source span strike strong style sub summary sup svg table tbody td template textarea tfoot th thead time
	title tr track tt u ul var video wbr`)

// blockNames are the elements that browsers show on separate lines.
var blockNames = setOf(
	`address article aside blockquote body br caption center dd details dialog div dl dt fieldset figcaption figure
	footer form h1 h2 h3 h4 h5 h6 header hr html legend li main nav ol option p pre section summary table tbody td
	tfoot th thead tr ul`)

// silentNames are the elements whose content is not shown as text. playerNames are the elements that are shown as a
// link to their address.
var (
	silentNames = setOf("canvas head math noscript object script select style svg template title")
	playerNames = setOf("audio embed iframe video")
)

// hidesTag reports whether a tag is hidden from readers. A tag with the name of an HTML element is hidden. Any other
// tag, as in <your-key> or List<String>, is text of the author. But if such a tag has attributes or an end tag, it is a
// component, and is hidden.
func hidesTag(source string, paired bool) bool {
	m := tagStart.FindStringSubmatch(source)
	return m == nil || m[1] != "" || paired || isHTMLName(m[2]) || strings.HasSuffix(source, "/>") ||
		strings.Contains(source, "=")
}

// isHTMLName reports whether a name is the name of an HTML element. In Option<Address> and Set<A>, the names in angle
// brackets are names of types.
func isHTMLName(name string) bool {
	lower := strings.ToLower(name)
	return htmlNames[lower] && (name == lower || len(name) > 1 && name == strings.ToUpper(name))
}
