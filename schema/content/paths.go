package content

import (
	"net/url"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/octavo-docs/octavo/schema"
)

// RelativeTarget resolves a link in a file. `folder` is the folder of the file. It returns the path to which the link
// leads, and the link's fragment. `ok` is false if the link is not relative, or if it leads above the top folder.
func RelativeTarget(folder, link string) (target, fragment string, ok bool) {
	if link == "" || strings.HasPrefix(link, "/") || strings.HasPrefix(link, "#") || strings.HasPrefix(link, "?") || schema.LinkScheme(link) != "" {
		return "", "", false
	}
	link, fragment, _ = strings.Cut(link, "#")
	link, _, _ = strings.Cut(link, "?")
	if plain, err := url.PathUnescape(link); err == nil {
		link = plain
	}
	target = path.Join(folder, link)
	if target == ".." || strings.HasPrefix(target, "../") || target == "." {
		return "", "", false
	}
	return target, fragment, true
}

// RelativeLink returns the relative link from one file to another. Letters are not escaped.
func RelativeLink(from, to string) string {
	dir := path.Dir(from)
	up := ""
	for dir != "." && !strings.HasPrefix(to, dir+"/") {
		dir, up = path.Dir(dir), up+"../"
	}
	if dir != "." {
		to = strings.TrimPrefix(to, dir+"/")
	}
	if up == "" && strings.Contains(strings.SplitN(to, "/", 2)[0], ":") {
		up = "./" // without this prefix, the link would begin with a scheme
	}
	names := strings.Split(to, "/")
	for i, name := range names {
		names[i] = readable(name)
	}
	return up + strings.Join(names, "/")
}

// readable escapes only the characters of a name that a Markdown link or an address cannot contain.
func readable(name string) string {
	var b strings.Builder
	for rest := name; rest != ""; {
		r, size := utf8.DecodeRuneInString(rest)
		part := rest[:size]
		rest = rest[size:]
		if r < utf8.RuneSelf || !unicode.In(r, unicode.Letter, unicode.Digit, unicode.Mark) {
			part = strings.NewReplacer("(", "%28", ")", "%29").Replace(url.PathEscape(part))
		}
		b.WriteString(part)
	}
	return b.String()
}
