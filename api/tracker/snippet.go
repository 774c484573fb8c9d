package tracker

import (
	"errors"
	"fmt"
	"html"
	"net/url"
	"slices"
	"strings"
)

// ErrUnknownForm is the error for a name that Snippet does not know.
var ErrUnknownForm = errors.New("is no known kind of site")

// Site has the inputs of a snippet.
type Site struct {
	// Base is the address of Octavo for browsers, such as https://octavo.example.com.
	Base string
	// Key is the text of a publishable key.
	Key string
	// Newest loads the bundle of the node's current build, so its hash is not known.
	Newest bool
}

// Names returns the names that Snippet accepts.
func Names() []string {
	var names []string
	for _, f := range forms {
		names = append(names, f.name)
	}
	return names
}

// Snippet returns the code with which a kind of site loads the tracker.
func Snippet(kind string, site Site) (string, error) {
	at := slices.IndexFunc(forms, func(f form) bool { return f.name == kind })
	if at < 0 {
		return "", fmt.Errorf("%q %w", kind, ErrUnknownForm)
	}
	base, err := url.Parse(site.Base)
	if err != nil || !validBase(base) {
		return "", fmt.Errorf("%q is no address of Octavo, such as https://octavo.example.com", site.Base)
	}
	if !validKey(site.Key) {
		return "", fmt.Errorf("%q is no publishable key: it starts with opk_", site.Key)
	}
	b := load(Docs)
	address := strings.TrimRight(base.String(), "/")
	values := [][2]string{
		{"src", address + b.path}, {"data-key", site.Key}, {"integrity", b.integrity}, {"crossorigin", "anonymous"},
	}
	if site.Newest {
		// The bytes change with each version, so the snippet cannot contain their hash.
		values = [][2]string{{"src", address + "/" + Docs + ".js"}, {"data-key", site.Key}}
	}
	// list writes the attributes of the script in the syntax of a framework. `without` lists the attributes to leave
	// out.
	list := func(pattern, between string, without ...string) string {
		var parts []string
		for _, value := range values {
			if !slices.Contains(without, value[0]) {
				parts = append(parts, fmt.Sprintf(pattern, value[0], html.EscapeString(value[1])))
			}
		}
		return strings.Join(parts, between)
	}
	text := strings.NewReplacer(
		"{tag}", "<script defer "+list(`%s="%s"`, " ")+"></script>",
		"{members}", list(`'%s': '%s'`, ", "),
		"{jsx}", strings.Replace(list(`%s="%s"`, " "), "crossorigin", "crossOrigin", 1),
		"{properties}", strings.Replace(list(`%s: '%s'`, ", ", "data-key"), "crossorigin", "crossOrigin", 1),
		"{src}", values[0][1], "{attributes}", list(`"%s": "%s"`, ", ", "src"),
		"{base}", address, "{key}", site.Key,
		"{origin}", base.Scheme+"://"+base.Host,
	).Replace(forms[at].text)
	return text, nil
}

// validBase reports whether an address can be the address of Octavo.
func validBase(base *url.URL) bool {
	web := base.Scheme == "https" || base.Scheme == "http"
	return web && base.Host != "" && base.RawQuery == "" && base.Fragment == ""
}

// validKey reports whether a text can be a publishable key: its characters need no quotes in any syntax.
func validKey(key string) bool {
	rest, ok := strings.CutPrefix(key, "opk_")
	return ok && rest != "" && !strings.ContainsFunc(rest, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_' && r != '.'
	})
}
