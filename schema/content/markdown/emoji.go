package markdown

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/kyokomi/emoji/v2"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content"
)

// shortcode matches a text that may be the name of an emoji. The longest names have about 40 characters.
var shortcode = regexp.MustCompile(`:[a-z0-9_+\-]{1,60}:`)

func emojiCode(characters string) string {
	var parts []string
	for _, c := range characters {
		parts = append(parts, strconv.FormatInt(int64(c), 16))
	}
	return strings.Join(parts, "-")
}

// emojiCharacters returns the characters for a code such as 1f468-200d-1f4bb. It returns "" if the text is not a code.
func emojiCharacters(code string) string {
	characters, _ := content.Emoji(code)
	return characters
}

// emojiNode makes an inline from an emoji's name. An emoji can have several names. If emojiName returns another name
// for this emoji, the node also stores the name that was read.
func emojiNode(name string) (schema.Node, bool) {
	characters, ok := emoji.CodeMap()[":"+name+":"]
	if !ok {
		return schema.Node{}, false
	}
	data := schema.Data{"code": emojiCode(characters)}
	if emojiName(data) != name {
		data["name"] = name
	}
	return schema.Node{Type: "emoji", Data: data}, true
}

// emojiName returns the name of an emoji. It returns "" if the emoji has no name.
func emojiName(data schema.Data) string {
	name, _ := data["name"].(string)
	code, _ := data["code"].(string)
	characters := emojiCharacters(code)
	if name != "" && emoji.CodeMap()[":"+name+":"] == characters {
		return name
	}
	if names := emoji.RevCodeMap()[characters]; len(names) > 0 && shortcode.FindString(names[0]) == names[0] {
		return strings.Trim(names[0], ":")
	}
	return ""
}

// aloneAt reports whether a shortcode is between words and not a part of a word. So 10:30:45 and a:b:c contain no
// shortcodes.
func aloneAt(text string, from, to int) bool {
	inWord := func(c byte) bool { return isLetter(c) || isDigit(c) }
	return (from == 0 || !inWord(text[from-1]) && text[from-1] != ':') && (to == len(text) || !inWord(text[to]))
}

// isShortcode reports whether a colon of a text begins the name of an emoji.
func isShortcode(text string, i int) bool {
	end := min(len(text), i+64)
	at := shortcode.FindStringIndex(text[i:end])
	if at == nil || at[0] != 0 || !aloneAt(text[:end], i, i+at[1]) {
		return false
	}
	_, ok := emojiNode(text[i+1 : i+at[1]-1])
	return ok
}

type emojiParser struct{}

func (emojiParser) Trigger() []byte { return []byte{':'} }

func (emojiParser) Parse(parent ast.Node, block text.Reader, _ parser.Context) ast.Node {
	line, segment := block.PeekLine()
	if len(line) < 3 || line[1] == ':' || util.IsSpace(line[1]) {
		return nil
	}
	head := string(line[:min(len(line), 64)])
	at := shortcode.FindStringIndex(head)
	if at == nil || at[0] != 0 || !aloneAt(head, 0, at[1]) {
		return nil
	}
	last, afterEmoji := parent.LastChild().(*emojiInline)
	if before := block.PrecendingCharacter(); before < 0x80 && !aloneAt(string(before)+"::", 1, 3) && !(afterEmoji && last.end == segment.Start) {
		return nil
	}
	node, ok := emojiNode(head[1 : at[1]-1])
	if !ok {
		return nil
	}
	block.Advance(at[1])
	return &emojiInline{node: node, end: segment.Start + at[1]}
}
