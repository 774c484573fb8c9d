package schema

import (
	"maps"
	"slices"
)

// nodeRule describes the nodes of one kind.
type nodeRule struct {
	object       string
	void         bool
	dataRequired bool
	data         *objectRule
	meta         *objectRule
	nodes        *childRule     // nodes is nil if the kind has no children
	fragments    []fragmentRule // fragments is nil if the kind has no fragments
}

// childRule defines which nodes a list may contain, and how many. If `most` is 0, the number of nodes has no upper
// limit.
type childRule struct {
	types       []string
	text        bool
	least, most int
}

// fragmentRule defines the content of a fragment, and its name if the grammar fixes the name.
type fragmentRule struct {
	fragment, kind string
	nodes          childRule
}

func (r *childRule) objects() []string {
	if r.text {
		return []string{ObjectInline, ObjectText}
	}
	return []string{ObjectBlock}
}

func (r *nodeRule) fragmentNames() []string {
	names := make([]string, len(r.fragments))
	for i, f := range r.fragments {
		names[i] = f.fragment + f.kind
		if f.fragment != "" {
			names[i] = f.fragment
		}
	}
	return names
}

// These variables are the sets of kinds that several rules share.
var (
	essentials = []string{
		"paragraph", "heading-1", "heading-2", "heading-3", "list-ordered", "list-unordered", "list-tasks", "divider",
	}
	quotables = with(essentials, "blockquote")
	topLevels = with(essentials, "blockquote", "hint", "images", "file", "drawing", "embed", "code", "math", "expandable", "tabs",
		"table", "swagger", "openapi-operation", "openapi-schemas", "openapi-webhook", "content-ref", "integration",
		"reusable-content", "stepper")
	anyBlocks = with(topLevels, "list-item", "if", "image", "code-line", "tabs-item", "stepper-step", "columns", "column")
	stepItems = with(essentials, "content-ref", "code", "embed", "file", "images", "drawing", "hint", "blockquote", "math",
		"integration")
	columnItems     = with(essentials, "images", "code", "hint", "content-ref", "drawing", "embed", "file", "integration", "math", "blockquote", "table")
	listItems       = with(essentials, "code", "hint", "blockquote", "math", "table")
	expandableItems = with(essentials, "images", "code", "table", "hint", "blockquote", "reusable-content")
	inlines         = []string{
		"link", "emoji", "icon", "expression", "inline-math", "inline-image", "annotation", "mention", "button",
	}
)

func with(kinds []string, more ...string) []string {
	return append(slices.Clone(kinds), more...)
}

// inlineText is the rule for the content of paragraphs and headings.
var inlineText = childRule{types: inlines, text: true}

func holds(kinds ...string) *childRule { return &childRule{types: kinds} }

// These variables are the rules for the document, and for the nodes whose kind is not their type.
var (
	documentData  = *open(opt("schemaVersion", integer(0)))
	documentMeta  = *open(opt("token", str))
	documentNodes = childRule{types: topLevels}
	textNode      = nodeRule{object: ObjectText}
	fragmentNode  = nodeRule{object: ObjectFragment, nodes: holds(anyBlocks...)}
	unknownNode   = nodeRule{nodes: holds()}
)

var (
	alignment    = enum("start", "center", "end")
	colors       = enum("default", "green", "blue", "red", "orange", "yellow", "purple", "$primary", "$info", "$success", "$warning", "$danger")
	contentRef   = tagged("kind", contentRefs)
	refFileOrURL = refOf("file", "url")
	refFile      = refOf("file")
	refOpenAPI   = refOf("openapi")
	requiredID   = open(req("id", str))
	length       = anyOf("must be a number or an object of unit and value", number, object(open(req("unit", str), req("value", number))))
)

// contentRefs has a row for each kind of reference to content.
var contentRefs = map[string]*objectRule{
	"file":             open(req("file", str), opt("space", str)),
	"url":              open(req("url", link)),
	"page":             open(req("page", str), opt("space", str)),
	"anchor":           open(req("anchor", str), opt("space", str), opt("page", str)),
	"user":             open(req("user", str)),
	"collection":       open(req("collection", str)),
	"space":            open(req("space", str)),
	"reusable-content": open(req("reusableContent", str), opt("space", str)),
	"openapi":          open(req("spec", str)),
}

func refOf(kinds ...string) check {
	rules := map[string]*objectRule{}
	for _, kind := range kinds {
		rules[kind] = contentRefs[kind]
	}
	return tagged("kind", rules)
}

// nodeRules has a row for each kind of block and inline.
var nodeRules = map[string]*nodeRule{
	"paragraph":      {object: ObjectBlock, nodes: &inlineText, data: closed(opt("align", alignment))},
	"heading-1":      &heading,
	"heading-2":      &heading,
	"heading-3":      &heading,
	"list-ordered":   {object: ObjectBlock, nodes: holds("list-item"), dataRequired: true, data: open(opt("start", number))},
	"list-unordered": {object: ObjectBlock, nodes: holds("list-item"), data: closed()},
	"list-tasks":     {object: ObjectBlock, nodes: holds("list-item"), data: closed()},
	"list-item":      {object: ObjectBlock, nodes: holds(listItems...), data: open(opt("checked", boolean))},
	"divider":        {object: ObjectBlock, void: true, dataRequired: true, data: closed()},
	"blockquote":     {object: ObjectBlock, nodes: holds(quotables...), data: closed()},
	"hint": {object: ObjectBlock, nodes: holds(essentials...), dataRequired: true,
		data: open(req("style", enum("info", "warning", "danger", "success")))},
	"images": {object: ObjectBlock, nodes: holds("image"), dataRequired: true,
		data: open(opt("align", enum("center", "left", "right")), opt("fullWidth", boolean), opt("withFrame", boolean))},
	"image": {object: ObjectBlock, void: true, dataRequired: true,
		fragments: []fragmentRule{{fragment: "caption", nodes: childRule{types: []string{"paragraph"}}}},
		data: open(req("ref", refFileOrURL), opt("refDark", refFileOrURL), opt("width", length), opt("height", length),
			opt("alt", str))},
	"file":    {object: ObjectBlock, void: true, dataRequired: true, data: open(req("ref", refFile))},
	"drawing": {object: ObjectBlock, void: true, dataRequired: true, data: open(opt("ref", refFile))},
	"embed":   {object: ObjectBlock, void: true, dataRequired: true, data: open(req("url", link), opt("fullWidth", boolean))},
	"code": {object: ObjectBlock, nodes: holds("code-line"), dataRequired: true,
		data: open(opt("syntax", str), opt("title", str), opt("overflow", enum("scroll", "wrap")),
			opt("collapsedLineCount", integer(1)), opt("lineNumbers", boolean), opt("fullWidth", boolean),
			opt("expandable", boolean))},
	"code-line": {object: ObjectBlock, dataRequired: true, data: open(opt("highlighted", boolean)),
		nodes: &childRule{types: []string{"annotation", "expression"}, text: true}},
	"math": {object: ObjectBlock, void: true, dataRequired: true, data: open(req("formula", str))},
	"expandable": {object: ObjectBlock, void: true, dataRequired: true, data: closed(), meta: requiredID,
		fragments: []fragmentRule{
			{"expandable-title", "expandable-title", childRule{types: []string{"paragraph"}, least: 1, most: 1}},
			{"expandable-body", "expandable-body", childRule{types: expandableItems, least: 1}},
		}},
	"tabs":      {object: ObjectBlock, nodes: holds("tabs-item"), data: closed(opt("fullWidth", boolean))},
	"tabs-item": {object: ObjectBlock, nodes: holds(stepItems...), dataRequired: true, data: open(opt("title", str)), meta: requiredID},
	"table": {object: ObjectBlock, void: true, dataRequired: true, fragments: []fragmentRule{{nodes: childRule{types: anyBlocks}}},
		data: open(req("view", tagged("type", tableViews)), req("records", mapOf(tableRecord)),
			req("definition", mapOf(tagged("type", tableColumns))), opt("fullWidth", boolean))},
	"swagger": {object: ObjectBlock, void: true, dataRequired: true, meta: requiredID,
		data: open(req("path", str), req("method", str), req("ref", refFileOrURL), opt("expanded", boolean),
			opt("fullWidth", boolean))},
	"openapi-operation": {object: ObjectBlock, void: true, dataRequired: true, meta: requiredID,
		data: open(req("path", str), req("method", str), req("ref", refOpenAPI))},
	"openapi-schemas": {object: ObjectBlock, void: true, dataRequired: true, meta: requiredID,
		data: open(req("schemas", listOf(str)), opt("grouped", boolean), req("ref", refOpenAPI))},
	"openapi-webhook": {object: ObjectBlock, void: true, dataRequired: true, meta: requiredID,
		data: open(req("name", str), req("method", str), req("ref", refOpenAPI))},
	"content-ref": {object: ObjectBlock, void: true, dataRequired: true, data: open(req("ref", contentRef))},
	"integration": {object: ObjectBlock, void: true, dataRequired: true,
		data: open(req("integration", str), req("block", str), req("props", plainObject),
			opt("action", object(open(req("action", str)))), opt("url", link), opt("fullWidth", boolean))},
	"reusable-content": {object: ObjectBlock, void: true, dataRequired: true, data: open(req("ref", refOf("reusable-content"))),
		meta: open(opt("token", str))},
	"stepper":      {object: ObjectBlock, nodes: holds("stepper-step"), data: closed()},
	"stepper-step": {object: ObjectBlock, nodes: holds(stepItems...), dataRequired: true, data: open(opt("icon", str))},
	"if":           {object: ObjectBlock, nodes: holds(topLevels...), dataRequired: true, data: open(req("expression", str))},
	"columns":      {object: ObjectBlock, nodes: holds("column"), dataRequired: true, data: open(opt("fullWidth", boolean))},
	"column": {object: ObjectBlock, nodes: holds(columnItems...), dataRequired: true,
		data: closed(opt("width", length), opt("verticalAlignment", enum("top", "middle", "bottom")))},

	"link": {object: ObjectInline, nodes: &childRule{types: []string{"inline-image"}, text: true}, dataRequired: true,
		data: open(req("ref", contentRef))},
	"annotation": {object: ObjectInline, nodes: &childRule{text: true}, data: closed(),
		fragments: []fragmentRule{{kind: "annotation-body", nodes: childRule{types: with(essentials, "code"), least: 1}}}},
	"emoji":       {object: ObjectInline, void: true, dataRequired: true, data: open(req("code", str))},
	"icon":        {object: ObjectInline, void: true, dataRequired: true, data: open(req("icon", str), opt("color", colors))},
	"expression":  {object: ObjectInline, void: true, dataRequired: true, data: open(req("expression", str))},
	"inline-math": {object: ObjectInline, void: true, dataRequired: true, data: open(req("formula", str))},
	"inline-image": {object: ObjectInline, void: true, dataRequired: true,
		data: open(req("ref", refFileOrURL), opt("refDark", refFileOrURL), opt("caption", str), opt("alt", str),
			opt("size", enum("original", "line")))},
	"mention": {object: ObjectInline, void: true, dataRequired: true, data: open(req("ref", contentRef))},
	"button": {object: ObjectInline, void: true, dataRequired: true,
		data: open(
			req("label", str),
			req("kind", enum("primary", "secondary")),
			opt("icon", strAtMost(50)),
			reqUnless("action", "ref", contentRef),
			opt("action", tagged("action", buttonActions)),
		)},
}

// buttonActions has a row for each action that a button can start on a site.
var buttonActions = map[string]*objectRule{
	"search": open(opt("query", str)),
	"ask":    open(opt("query", str)),
	"select": open(req("slug", str)),
}

var heading = nodeRule{
	object: ObjectBlock, nodes: &inlineText, dataRequired: true, meta: requiredID,
	data: open(opt("id", pattern(`^[-a-z0-9.+_]+$`, "must have only the characters a-z, 0-9 and .+_-")), opt("align", alignment)),
}

// markRules has a row for each type of mark: the rule of its data, or nil if the mark has no data.
var markRules = map[string]*objectRule{
	"bold": nil, "italic": nil, "code": nil, "keyboard": nil, "strikethrough": nil, "superscript": nil, "subscript": nil,
	"color": open(req("text", colors), req("background", colors)),
}

// tableViews has a row for each form in which a table can be shown.
var tableViews = map[string]*objectRule{
	"grid": open(req("columns", listOf(str)), req("hideHeader", boolean), opt("columnWidths", mapOf(number)),
		opt("useNewSizing", boolean)),
	"cards": open(req("cardSize", enum("medium", "large")), req("columns", listOf(str)), opt("targetDefinition", str),
		opt("coverDefinition", str), opt("coverDefinitionDark", str), opt("hideColumnTitle", boolean)),
}

// tableColumns has a row for each type of column.
var tableColumns = map[string]*objectRule{
	"text": column(req("textAlignment", enum("center", "right", "left")),
		opt("verticalAlignment", enum("top", "middle", "bottom"))),
	"number":   column(),
	"checkbox": column(),
	"files":    column(),
	"users":    column(req("multiple", boolean)),
	"rating":   column(req("max", number)),
	"select": column(req("multiple", boolean),
		req("options", listOf(object(open(req("value", str), req("label", str), req("color", str)))))),
	"content-ref": column(),
	"image":       column(),
}

func column(more ...member) *objectRule {
	return open(append([]member{req("id", str), req("title", str)}, more...)...)
}

// tableRecord is the rule for one row of a table.
var tableRecord = object(open(req("orderIndex", str), req("values", mapOf(tableValue))))

var tableValue = nullable(anyOf("must be a number, a string, a boolean, an array of strings, a reference or an image",
	number, str, boolean, listOf(str), contentRef,
	object(open(req("ref", refFileOrURL), opt("objectFit", enum("contain", "fill", "cover")), opt("alt", str)))))

// nodeTypes returns the kinds of blocks and inlines, sorted.
func nodeTypes() []string { return slices.Sorted(maps.Keys(nodeRules)) }

// markTypes returns the kinds of marks, sorted.
func markTypes() []string { return slices.Sorted(maps.Keys(markRules)) }

// Allows reports whether a node of kind `parent` may contain a node of kind `child`. If `parent` is "", the parent is
// the document. `parent` may also be the type of a fragment. Fragments without a type are the cells of a table. For
// them, `parent` is FragmentCell, and all blocks are allowed.
func Allows(parent, child string) bool {
	rule := &documentNodes
	if parent != "" {
		if rule = holder(parent); rule == nil {
			return false
		}
	}
	return slices.Contains(rule.types, child)
}

// Anchored reports whether blocks of this kind have an anchor. The anchor is the member `id` of the block's meta.
func Anchored(kind string) bool {
	rule, known := nodeRules[kind]
	return known && rule.meta == requiredID
}

// FragmentCell is the parent that callers pass to Allows for the fragments of a table.
const FragmentCell = "table-cell"

func holder(parent string) *childRule {
	if parent == FragmentCell {
		return fragmentNode.nodes
	}
	if row, known := nodeRules[parent]; known {
		return row.nodes
	}
	return typedFragments[parent]
}

// typedFragments has, for each type of fragment, the rule for its content.
var typedFragments = func() map[string]*childRule {
	rules := map[string]*childRule{}
	for _, row := range nodeRules {
		for i := range row.fragments {
			if kind := row.fragments[i].kind; kind != "" {
				rules[kind] = &row.fragments[i].nodes
			}
		}
	}
	return rules
}()

// HoldsBlocks reports whether the children of nodes of this kind are blocks.
func HoldsBlocks(kind string) bool {
	rule := holder(kind)
	return rule != nil && !rule.text
}

// ValidData reports whether the grammar allows the data for nodes of this kind. If the grammar does not have the kind,
// all data is allowed.
func ValidData(kind string, data Data) bool {
	row, known := nodeRules[kind]
	if !known {
		return true
	}
	p := &problems{}
	p.object("", data, row.data)
	return len(p.details) == 0
}
