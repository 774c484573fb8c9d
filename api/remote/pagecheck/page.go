package pagecheck

import (
	"io"
	"net/url"
	"strings"

	"golang.org/x/net/html"
)

// Page has the parts of a page's HTML that a check needs.
type Page struct {
	// URL is the page's address, after redirects.
	URL     *url.URL
	Scripts []Element
	Images  []Element
	// header has the policies in the headers of the answer. They apply to the whole page.
	header []Policy
	// meta has the policies in meta elements, each with the number of scripts before the element.
	meta []metaPolicy
}

// Element is a script or an image.
type Element struct {
	// Address is an absolute URL. It is nil if the element has no address.
	Address    *url.URL
	Attributes map[string]string
	// Text is the text of a script that is in the page itself.
	Text string
}

type metaPolicy struct {
	Policy
	scripts int
}

// Refused describes a request that a policy refuses.
type Refused struct {
	Directive string
	// From says where the policy is: see Policy.
	From string
}

// Refuses returns the directive that refuses a request. `found` is false if all policies of the page allow the request.
// A policy in a meta element applies only to the scripts after the element. `script` is the index of the page's script
// that makes the request or is loaded.
func (p *Page) Refuses(script int, r Request) (refused Refused, found bool) {
	for _, policy := range p.header {
		if directive := policy.Refuses(p.URL, r); directive != "" {
			return Refused{directive, policy.From}, true
		}
	}
	for _, policy := range p.meta {
		if r.Kind == Script && !r.Added && policy.scripts > script {
			continue // the script is loaded before the browser reads the policy
		}
		if directive := policy.Refuses(p.URL, r); directive != "" {
			return Refused{directive, policy.From}, true
		}
	}
	return Refused{}, false
}

// readPage reads the elements in the HTML of a page.
func readPage(at *url.URL, text string) *Page {
	p := &Page{URL: at}
	base, based := at, false
	inBody := false
	for z := html.NewTokenizer(strings.NewReader(text)); ; {
		kind := z.Next()
		if kind == html.ErrorToken {
			return p
		}
		if kind != html.StartTagToken && kind != html.SelfClosingTagToken {
			continue
		}
		tag, attributes := readTag(z)
		switch tag {
		case "body":
			inBody = true
		case "base":
			if href, err := at.Parse(strings.TrimSpace(attributes["href"])); err == nil && !based {
				base, based = href, true
			}
		case "meta":
			if strings.EqualFold(attributes["http-equiv"], "Content-Security-Policy") && !inBody {
				for _, policy := range parsePolicies(attributes["content"], "meta element") {
					p.meta = append(p.meta, metaPolicy{policy, len(p.Scripts)})
				}
			}
		case "script":
			script := newElement(base, attributes)
			if kind == html.StartTagToken && z.Next() == html.TextToken {
				script.Text = string(z.Text())
			}
			p.Scripts = append(p.Scripts, script)
		case "img":
			p.Images = append(p.Images, newElement(base, attributes))
		}
	}
}

func readTag(z *html.Tokenizer) (tag string, attributes map[string]string) {
	name, more := z.TagName()
	tag, attributes = string(name), map[string]string{}
	for more {
		var key, value []byte
		key, value, more = z.TagAttr()
		if _, again := attributes[string(key)]; !again { // as in a browser, the first attribute with a name applies
			attributes[string(key)] = string(value)
		}
	}
	return tag, attributes
}

func newElement(base *url.URL, attributes map[string]string) Element {
	e := Element{Attributes: attributes}
	if src := strings.TrimSpace(attributes["src"]); src != "" {
		if address, err := base.Parse(src); err == nil && (address.Scheme == "https" || address.Scheme == "http") {
			e.Address = address
		}
	}
	return e
}

// readText reads at most `most` bytes. It ignores the bytes after them.
func readText(r io.Reader, most int64) (string, error) {
	text, err := io.ReadAll(io.LimitReader(r, most))
	return string(text), err
}
