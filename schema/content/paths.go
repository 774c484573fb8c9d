package content

import (
	"net/url"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/octavo-docs/octavo/schema"
)

// RelativeTarget resolves a link in a file of a folder to the path of a file and a fragment. ok is false if the link is
// not relative, or if it leads above the top folder.
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

// RelativeLink writes a link from one file to another. Letters stay readable.
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
		up = "./" // otherwise the link would begin with a scheme
	}
	names := strings.Split(to, "/")
	for i, name := range names {
		names[i] = readable(name)
	}
	return up + strings.Join(names, "/")
}

// readable escapes the characters of a name that are not allowed in a Markdown link or an address.
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
