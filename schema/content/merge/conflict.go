package merge

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/condition"
	"github.com/octavo-docs/octavo/schema/content/tree"
)

// These are the kinds of conflicts.
const (
	// KindEdit means that both sides changed the same value in different ways.
	KindEdit = "edit"
	// KindDelete means that one side deleted a page or a block, and the other side changed the page or block or added
	// something to it.
	KindDelete = "delete"
	// KindPlace means that both sides moved a page or a block to different places, or that both sides added an equal
	// block at different places.
	KindPlace = "place"
	// KindCycle means that the moves of both sides together would put pages below each other.
	KindCycle = "cycle"
	// KindParent means that the merged tree does not allow the page at its place: below a link, as a group below a
	// page, or too deep.
	KindParent = "parent"
	// KindSlug means that two pages would have the same path.
	KindSlug = "slug"
	// KindSize means that the merged content would have more pages than allowed.
	KindSize = "size"
	// KindDocument has two causes: the merged parts are not a valid document, or both sides added the page with
	// different documents.
	KindDocument = "document"
)

// Kinds are the values of a conflict's kind.
func Kinds() []string {
	return []string{KindEdit, KindDelete, KindPlace, KindCycle, KindParent, KindSlug, KindSize, KindDocument}
}

// FieldDocument is the value of Field for conflicts in the document of a page.
const FieldDocument = "document"

// Conflict is a difference between the sides that a merge cannot resolve. Base, Ours and Theirs are the versions in
// conflict. A version is nil if it does not exist. In a document, a version is a block (*schema.Node) or a JSON value.
// In a page, it is the value of a field. If the versions are records of a table, items of a list or lines of code, they
// are in a block of their parent's type. If a version has several other blocks, it is a document.
type Conflict struct {
	// ID is derived from the part and its versions. So if another merge has the same conflict, the conflict has the
	// same ID.
	ID   string `json:"id"`
	Kind string `json:"kind"`
	// Page is the id of the page, and Field is the name of the page's member. If the conflict is about places, Pages
	// has the ids of all pages of the conflict.
	Page  string   `json:"page,omitempty"`
	Field string   `json:"field,omitempty"`
	Pages []string `json:"pages,omitempty"`
	// Block is the key of the block. Path is the part of the block that is in conflict: "" for the block and its
	// contents, "text", or a path in the block's data.
	Block  string `json:"block,omitempty"`
	Path   string `json:"path,omitempty"`
	Base   any    `json:"base,omitzero"`
	Ours   any    `json:"ours,omitzero"`
	Theirs any    `json:"theirs,omitzero"`
	// Choice is the choice that was applied. If no choice was made, the result has the version of `ours`.
	Choice *Choice `json:"choice,omitzero"`

	value valueKind
}

// These are the values of Take.
const (
	TakeOurs   = "ours"
	TakeTheirs = "theirs"
	TakeValue  = "value"
)

// Choice resolves a conflict. It takes one of the versions, or another value of the same kind.
type Choice struct {
	Take  string         `json:"take"`
	Value jsontext.Value `json:"value,omitzero"`
}

// Place is the parent and the position of a page. A choice gives only the parent. The page then gets the position that
// it has on `theirs`.
type Place struct {
	Parent   string `json:"parent"`
	Position string `json:"position,omitempty"`
}

// Choices has the choices that were made so far, by the id of the conflict. If a conflict does not occur in a merge,
// the merge ignores the choice for it.
type Choices map[string]Choice

// Open returns the conflicts for which no choice was made.
func Open(conflicts []Conflict) []Conflict {
	return slices.DeleteFunc(slices.Clone(conflicts), func(c Conflict) bool { return c.Choice != nil })
}

// valueKind is the kind of value to which a choice may set the part in conflict.
type valueKind int

const (
	noValue valueKind = iota
	jsonValue
	wordValue
	descriptionValue
	conditionValue
	boolValue
	blockValue
	documentValue
	placeValue
	targetValue
	titleValue
	slugValue
)

// valueKinds has a row per kind of value. The function in a row decodes a value, or returns the problems of the value.
var valueKinds = map[valueKind]func(raw jsontext.Value) (any, []schema.Detail){
	jsonValue:     decoded[any],
	boolValue:     decoded[bool],
	blockValue:    decodeBlock,
	documentValue: decodeDocument,
	placeValue:    decodePlace,
	targetValue:   decodeTarget,
	wordValue:     checkedText(func(text string) bool { return utf8.RuneCountInString(text) <= maxWord }),
	descriptionValue: checkedText(func(text string) bool {
		return utf8.RuneCountInString(text) <= maxDescription
	}),
	conditionValue: checkedText(condition.ValidOrEmpty),
	titleValue: checkedText(func(text string) bool {
		return strings.TrimSpace(text) != "" && utf8.RuneCountInString(text) <= maxTitle
	}),
	slugValue: checkedText(func(text string) bool {
		return text != "" && tree.ValidSlug(text) && utf8.RuneCountInString(text) <= maxSlug
	}),
}

// These constants are the largest numbers of characters in the values of a choice. The API and package tree have the
// same limits.
const (
	maxTitle       = 256
	maxSlug        = 100
	maxWord        = 50 // characters of an emoji, or of the name of an icon
	maxDescription = 1000
)

func checkedText(valid func(text string) bool) func(raw jsontext.Value) (any, []schema.Detail) {
	return func(raw jsontext.Value) (any, []schema.Detail) {
		value, problems := decoded[string](raw)
		if problems == nil && !valid(value.(string)) {
			problems = []schema.Detail{{Field: valueField, Problem: "is not allowed for this field"}}
		}
		return value, problems
	}
}

const valueField = "value"

func decoded[T any](raw jsontext.Value) (any, []schema.Detail) {
	var value T
	if err := json.Unmarshal(raw, &value); err != nil {
		return nil, []schema.Detail{{Field: valueField, Problem: "is of another kind than the value in conflict"}}
	}
	return value, nil
}

func decodeBlock(raw jsontext.Value) (any, []schema.Detail) {
	value, problems := decoded[schema.Node](raw)
	if problems != nil {
		return nil, problems
	}
	n := value.(schema.Node)
	schema.NormalizeBlock(&n)
	return n, schema.BlockProblems(valueField, n)
}

func decodeDocument(raw jsontext.Value) (any, []schema.Detail) {
	value, problems := decoded[schema.Document](raw)
	if problems != nil {
		return nil, problems
	}
	d := value.(schema.Document)
	d.Normalize()
	return d, d.Problems(valueField)
}

// decodePlace decodes a place without its position. A client must not choose the position, because no position might
// then fit between it and the next position.
func decodePlace(raw jsontext.Value) (any, []schema.Detail) {
	value, problems := decoded[Place](raw)
	if problems != nil {
		return nil, problems
	}
	return Place{Parent: value.(Place).Parent}, nil
}

func decodeTarget(raw jsontext.Value) (any, []schema.Detail) {
	value, problems := decoded[schema.Data](raw)
	if problems != nil {
		return nil, problems
	}
	return value, schema.ContentRefProblems(valueField, value.(schema.Data))
}

// Problems lists the problems of a choice for this conflict. A merge ignores a choice with problems.
func (c Conflict) Problems(choice Choice) []schema.Detail {
	_, problems := c.decode(choice)
	return problems
}

func (c Conflict) compare(other Conflict) int {
	return cmp.Or(cmp.Compare(c.Page, other.Page), cmp.Compare(c.Field, other.Field))
}

// Takes lists how the conflict can be resolved.
func (c Conflict) Takes() []string {
	switch {
	// A choice cannot resolve this conflict. A user must change the pages so that the content has fewer pages.
	case c.Kind == KindSize:
		return nil
	case c.value == noValue:
		return []string{TakeOurs, TakeTheirs}
	// The tree does not allow the page at its place on `theirs`, so `theirs` cannot be taken.
	case c.Kind == KindParent:
		return []string{TakeOurs, TakeValue}
	}
	return []string{TakeOurs, TakeTheirs, TakeValue}
}

func (c Conflict) decode(choice Choice) (any, []schema.Detail) {
	takes := c.Takes()
	switch {
	case takes == nil:
		return nil, []schema.Detail{{Field: "take", Problem: "is not offered: delete pages instead"}}
	case !slices.Contains(takes, choice.Take):
		return nil, []schema.Detail{{Field: "take", Problem: "has no value that is allowed", Allowed: takes}}
	case choice.Take != TakeValue:
		return nil, nil
	case len(choice.Value) == 0:
		return nil, []schema.Detail{{Field: valueField, Problem: "is required"}}
	case holdsNUL(choice.Value):
		return nil, []schema.Detail{{Field: valueField, Problem: "must not hold the character U+0000"}}
	}
	return valueKinds[c.value](choice.Value)
}

// holdsNUL reports whether a text or a member's name in a value contains the character NUL. The database cannot store
// this character.
func holdsNUL(raw jsontext.Value) bool {
	decoder := jsontext.NewDecoder(bytes.NewReader(raw))
	for {
		token, err := decoder.ReadToken()
		if err != nil {
			// The text has ended, or it is not JSON. If it is not JSON, the decoder of the value reports the error.
			return false
		}
		if token.Kind() == jsontext.KindString && strings.ContainsRune(token.String(), 0) {
			return true
		}
	}
}

// conflicts collects the conflicts of a merge, and applies the choices.
type conflicts struct {
	page    string
	choices Choices
	list    []Conflict
	listed  map[string]bool
}

// decide adds a conflict of a document. It returns which version to take. If the choice is a value, it also returns the
// value.
func (l *conflicts) decide(c Conflict) (take string, value any) {
	c.Page = l.page
	if c.Page != "" && c.Field == "" {
		c.Field = FieldDocument
	}
	return l.add(c)
}

// add adds a conflict and returns its decision. A conflict may occur several times, for example a cycle after
// contradictory choices. The conflict gets the same decision each time, and is listed once.
func (l *conflicts) add(c Conflict) (take string, value any) {
	c.ID = idOf(c)
	take = TakeOurs
	if choice, made := l.choices[c.ID]; made {
		chosen, problems := c.decode(choice)
		if len(problems) == 0 {
			take, value, c.Choice = choice.Take, chosen, &choice
		}
	}
	if !l.listed[c.ID] {
		l.listed[c.ID] = true
		l.list = append(l.list, c)
	}
	return take, value
}

// idOf derives the id of a conflict from its subject and its versions.
func idOf(c Conflict) string {
	return schema.DerivedID(canonicalJSON([]any{c.Kind, c.Page, c.Field, c.Pages, c.Block, c.Path, c.Base, c.Ours, c.Theirs}))
}

// canonicalJSON encodes a part of the content. If two parts are equal, their encodings have equal bytes.
func canonicalJSON(value any) []byte {
	encoded, err := json.Marshal(value, json.Deterministic(true))
	if err != nil {
		panic("merge: a part of the content has no JSON: " + err.Error()) // cannot happen: the part came from JSON
	}
	return encoded
}

func equal(a, b any) bool { return string(canonicalJSON(a)) == string(canonicalJSON(b)) }
