package embed

import (
	"io"
	"net/url"
	"strings"
	"unicode"

	"golang.org/x/net/html"
)

// head has the properties of a page that the head of its HTML states.
type head struct {
	title, ogTitle, ogSite string
	icon, base             string
}

// readHead reads HTML up to the body, or up to the end of the text.
func readHead(r io.Reader) (h head) {
	for z := html.NewTokenizer(r); ; {
		kind := z.Next()
		if kind == html.ErrorToken {
			return h
		}
		if kind != html.StartTagToken && kind != html.SelfClosingTagToken {
			continue
		}
		name, attributed := z.TagName()
		tag := string(name)
		if tag == "body" {
			return h
		}
		attributes := map[string]string{}
		for attributed {
			var key, value []byte
			key, value, attributed = z.TagAttr()
			if _, again := attributes[string(key)]; !again { // as in a browser, the first attribute with a name applies
				attributes[string(key)] = string(value)
			}
		}
		switch tag {
		case "title":
			if z.Next() == html.TextToken && h.title == "" {
				h.title = string(z.Text())
			}
		case "meta":
			h.meta(attributes)
		case "base":
			first(&h.base, attributes["href"])
		case "link":
			for rel := range strings.FieldsSeq(attributes["rel"]) {
				if strings.EqualFold(rel, "icon") {
					first(&h.icon, attributes["href"])
				}
			}
		}
	}
}

func (h *head) meta(attributes map[string]string) {
	name := attributes["property"]
	if name == "" {
		name = attributes["name"]
	}
	switch strings.ToLower(name) {
	case "og:title":
		first(&h.ogTitle, attributes["content"])
	case "og:site_name":
		first(&h.ogSite, attributes["content"])
	}
}

func first(to *string, value string) {
	if *to == "" {
		*to = value
	}
}

// page returns the properties in the form in which they are shown. It shortens texts, and makes the address of the icon
// absolute. `at` is the address at which the page was found.
func (h head) page(at *url.URL) Page {
	page := Page{Title: shorten(h.ogTitle, maxTitle), Site: shorten(h.ogSite, maxSite)}
	if page.Title == "" {
		page.Title = shorten(h.title, maxTitle)
	}
	if h.icon == "" {
		return page
	}
	if base, err := at.Parse(strings.TrimSpace(h.base)); err == nil {
		at = base
	}
	icon, err := at.Parse(strings.TrimSpace(h.icon))
	if err == nil && (icon.Scheme == "https" || icon.Scheme == "http") && icon.Host != "" && icon.User == nil && len(icon.String()) <= maxIcon {
		page.Icon = icon.String()
	}
	return page
}

// reordering has the characters that change the direction of the surrounding text. With them, a title could look like
// another title. Marks of direction (U+200E, U+200F, U+061C) do not reorder letters, so they are allowed.
var reordering = &unicode.RangeTable{R16: []unicode.Range16{
	{Lo: 0x202A, Hi: 0x202E, Stride: 1}, {Lo: 0x2066, Hi: 0x2069, Stride: 1},
}}

// shorten returns a text in one line. The line has at most `most` characters and no control characters.
func shorten(text string, most int) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && !unicode.IsSpace(r) || unicode.Is(reordering, r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	line := []rune(strings.Join(strings.Fields(text), " "))
	if len(line) > most {
		line = append(line[:most-1:most-1], '…')
	}
	return string(line)
}
