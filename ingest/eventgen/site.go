package eventgen

import (
	"math"
	"math/rand/v2"
	"sort"
	"strings"

	"github.com/go-json-experiment/json"
)

// site is the made-up documentation site that the visitors read.
type site struct {
	host    string
	spaces  []space
	pages   []page
	api     []int32   // the pages that document an API operation
	popular []float64 // cumulative share of views, up to and including each page
	links   []string  // JSON members of link_click
	pageIDs []map[string]string
}

type space struct{ section, siteSpace, id string }

type page struct {
	id, url   string
	space     int
	ids       string // the ids of the location as JSON members
	title     string // the title of the location as a JSON member
	operation string // JSON of the API operation, "" for none
	method    string
}

// layout is the site's sections with their spaces and topics.
var layout = []struct {
	path   string
	title  string
	spaces []string
	topics []string
}{
	{"guides", "Guides", []string{"en", "fr", "ja"}, []string{
		"getting-started", "installation", "authentication", "deployment", "configuration", "migrations", "webhooks", "troubleshooting", "security", "billing"}},
	{"api", "API reference", []string{"v2", "v1"}, []string{
		"users", "projects", "invoices", "events", "tokens", "teams", "files", "exports"}},
	{"integrations", "Integrations", []string{"main"}, []string{
		"slack", "github", "gitlab", "jira", "segment", "zapier", "terraform"}},
}

var subtopics = []string{"overview", "quickstart", "concepts", "examples", "reference", "limits", "faq", "errors", "best-practices"}

var operations = []struct{ method, suffix string }{
	{"get", ""}, {"post", ""}, {"get", "/{id}"}, {"patch", "/{id}"}, {"delete", "/{id}"}, {"get", "/{id}/members"}, {"post", "/{id}/archive"},
}

func newSite(random *rand.Rand, o Options) *site {
	s := &site{host: o.Host, pageIDs: o.Pages}
	for _, section := range layout {
		sectionID := "sitesc_" + randomID(random, 6)
		for _, variant := range section.spaces {
			sp := space{section: sectionID, siteSpace: "sitesp_" + randomID(random, 6), id: randomID(random, 14)}
			if len(s.spaces) < len(o.Spaces) {
				sp.id = o.Spaces[len(s.spaces)]
			}
			s.spaces = append(s.spaces, sp)
			revision := randomID(random, 12)
			for _, topic := range section.topics {
				s.addTopic(random, section.path, variant, topic, revision)
			}
		}
	}
	if o.NoSpaces {
		for i := range s.pages {
			s.pages[i].ids = ""
		}
	}
	s.rank(random)
	s.links = newLinks(random, s)
	return s
}

func (s *site) addTopic(random *rand.Rand, section, variant, topic, revision string) {
	base := "https://" + s.host + "/" + section + "/" + variant + "/" + topic
	add := func(url, method, path string) {
		at := len(s.spaces) - 1
		sp := s.spaces[at]
		p := page{id: randomID(random, 10), url: url, space: at, method: method}
		name := url[strings.LastIndexByte(url, '/')+1:]
		if at < len(s.pageIDs) {
			if id, known := s.pageIDs[at][topic+"/"+name]; known {
				p.id = id
			}
		}
		p.title = `,"title":` + quote(strings.ReplaceAll(name, "-", " "))
		if path != "" {
			p.operation = `{"path":` + quote(path) + `,"method":` + quote(method) + `}`
			s.api = append(s.api, int32(len(s.pages)))
		}
		p.ids = `,"siteSection":` + quote(sp.section) + `,"siteSpace":` + quote(sp.siteSpace) + `,"space":` + quote(sp.id) +
			`,"revision":` + quote(revision) + `,"page":` + quote(p.id)
		s.pages = append(s.pages, p)
	}
	if section == "api" {
		for at, name := range operationNames() {
			op := operations[at]
			add(base+"/"+name, op.method, "/"+variant+"/"+topic+op.suffix)
		}
		return
	}
	for _, sub := range subtopics {
		add(base+"/"+sub, "", "")
	}
}

// rank puts the pages in a random order and gives them shares of the views by Zipf's law.
func (s *site) rank(random *rand.Rand) {
	s.popular = make([]float64, len(s.pages))
	sum := 0.0
	for place, i := range random.Perm(len(s.pages)) {
		s.popular[i] = 1 / math.Pow(float64(place)+1.5, 1.05)
	}
	for i, share := range s.popular {
		sum += share
		s.popular[i] = sum
	}
	for i := range s.popular {
		s.popular[i] /= sum
	}
}

func (s *site) pick(random *rand.Rand) int32 {
	return int32(min(sort.SearchFloat64s(s.popular, random.Float64()), len(s.pages)-1))
}

// newLinks returns the targets of clicked links. The list contains every kind of content reference. Most targets are
// other pages and other sites.
func newLinks(random *rand.Rand, s *site) []string {
	var list []string
	add := func(times int, position, target string) {
		for range times {
			list = append(list, `,"link":{"target":`+target+`,"position":"`+position+`"}`)
		}
	}
	inSpace := func(kind, member, value string) string {
		return `{"kind":"` + kind + `","` + member + `":` + quote(value) + `,"space":` + quote(s.spaces[random.IntN(len(s.spaces))].id) + `}`
	}
	for range 40 {
		p := s.pages[random.IntN(len(s.pages))]
		where := []string{"content", "sidebar", "content", "header"}[random.IntN(4)]
		add(1, where, `{"kind":"page","page":`+quote(p.id)+`,"space":`+quote(s.spaces[p.space].id)+`}`)
	}
	for _, url := range []string{
		"https://github.com/example/sdk-go", "https://github.com/example/sdk-js", "https://status.example.com/", "https://www.npmjs.com/package/@example/sdk",
		"https://stackoverflow.com/questions/tagged/example", "https://app.example.com/signup?plan=team", "https://community.example.com/t/rate-limits/812",
	} {
		add(3, "content", `{"kind":"url","url":`+quote(url)+`}`)
		add(1, "footer", `{"kind":"url","url":`+quote(url)+`}`)
	}
	for _, anchor := range []string{"prerequisites", "next-steps", "errors", "pagination", "example-request"} {
		p := s.pages[random.IntN(len(s.pages))]
		add(3, "content", `{"kind":"anchor","anchor":"`+anchor+`","page":`+quote(p.id)+`,"space":`+quote(s.spaces[p.space].id)+`}`)
	}
	for range 4 {
		add(2, "content", inSpace("file", "file", randomID(random, 12)))
		add(1, "content", inSpace("reusable-content", "reusableContent", randomID(random, 12)))
	}
	add(4, "header", `{"kind":"space","space":`+quote(s.spaces[0].id)+`}`)
	add(2, "announcement", `{"kind":"url","url":"https://example.com/blog/launch-week?utm_source=docs"}`)
	add(1, "sidebar", `{"kind":"collection","collection":`+quote(randomID(random, 12))+`}`)
	add(1, "content", `{"kind":"user","user":`+quote(randomID(random, 14))+`}`)
	add(1, "content", `{"kind":"openapi","spec":"example-v2"}`)
	add(1, "content", inSpace("tag", "tag", "beta"))
	return list
}

const idLetters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

func randomID(random *rand.Rand, n int) string {
	return string(appendID(nil, random.Uint64(), n))
}

// appendID appends n letters and digits that are derived from `bits`. The same bits give the same text.
func appendID(dst []byte, bits uint64, n int) []byte {
	for i := range n {
		if i%10 == 9 {
			bits = mix(bits + 1)
		}
		dst = append(dst, idLetters[bits%62])
		bits /= 62
	}
	return dst
}

// mix is the finishing step of SplitMix64: it spreads any number over all bits.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic("BUG: a string that cannot be JSON: " + err.Error())
	}
	return string(b)
}

// operationNames returns the last segments of the addresses at which a topic's API operations are documented.
func operationNames() []string {
	var names []string
	for _, op := range operations {
		name := strings.Trim(strings.NewReplacer("/", "-", "{id}", "one").Replace(op.suffix), "-")
		if name == "" {
			name = "all"
		}
		names = append(names, op.method+"-"+name)
	}
	return names
}

// Topic is a part of a space, with its pages. The path of a page in the space is Name/Page.
type Topic struct {
	Name  string
	Pages []string
}

// SpaceTopics are the topics of the spaces in the order of [SpaceTitles].
func SpaceTopics() [][]Topic {
	var spaces [][]Topic
	for _, section := range layout {
		pages := subtopics
		if section.path == "api" {
			pages = operationNames()
		}
		var topics []Topic
		for _, topic := range section.topics {
			topics = append(topics, Topic{topic, pages})
		}
		for range section.spaces {
			spaces = append(spaces, topics)
		}
	}
	return spaces
}

// SpaceTitles returns titles for the site's spaces, in the order of Options.Spaces.
func SpaceTitles() []string {
	var titles []string
	for _, section := range layout {
		for _, variant := range section.spaces {
			titles = append(titles, section.title+" ("+variant+")")
		}
	}
	return titles
}
