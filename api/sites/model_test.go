package sites_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/store"
)

// siteModel is the expected structure of a site: sections with site spaces. Site spaces at the root are in the section
// with the empty id.
type siteModel struct {
	sections       []string
	defaultSection string
	// spaces has the site spaces of each section, in order. `defaults` has the default site space of each section.
	// `content` has the space of each site space.
	spaces   map[string][]string
	defaults map[string]string
	content  map[string]string
}

// String returns the model as text, in the form of structureOf.
func (m *siteModel) String() string {
	spaces := func(section string) string {
		words := []string{}
		for _, id := range m.spaces[section] {
			if m.defaults[section] == id {
				id += "*"
			}
			words = append(words, id)
		}
		return strings.Join(words, " ")
	}
	if len(m.sections) == 0 {
		return spaces("")
	}
	words := []string{}
	for _, id := range m.sections {
		name := id
		if id == m.defaultSection {
			name += "*"
		}
		words = append(words, name+"["+spaces(id)+"]")
	}
	return strings.Join(words, " ")
}

// next returns the default that follows after the default ids[i] is deleted.
func next(ids []string, i int) string {
	rest := slices.Delete(slices.Clone(ids), i, i+1)
	switch {
	case len(rest) == 0:
		return ""
	case i < len(rest):
		return rest[i]
	}
	return rest[0]
}

// leave removes a site space from its section.
func (m *siteModel) leave(section, id string) {
	i := slices.Index(m.spaces[section], id)
	if m.defaults[section] == id {
		m.defaults[section] = next(m.spaces[section], i)
	}
	m.spaces[section] = slices.Delete(slices.Clone(m.spaces[section]), i, i+1)
}

// enter inserts a site space into a section before position i.
func (m *siteModel) enter(section, id string, i int) {
	m.spaces[section] = slices.Insert(slices.Clone(m.spaces[section]), i, id)
	if m.defaults[section] == "" {
		m.defaults[section] = id
	}
}

func (m *siteModel) holds(section, space string) bool {
	return slices.ContainsFunc(m.spaces[section], func(id string) bool { return m.content[id] == space })
}

// parents returns the sections that may have site spaces. If the site has no section, it returns the root.
func (m *siteModel) parents() []string {
	if len(m.sections) == 0 {
		return []string{""}
	}
	return m.sections
}

func (m *siteModel) all() []string {
	ids := []string{}
	for _, section := range m.parents() {
		ids = append(ids, m.spaces[section]...)
	}
	return ids
}

func (m *siteModel) sectionOf(id string) string {
	for section, ids := range m.spaces {
		if slices.Contains(ids, id) {
			return section
		}
	}
	return "none"
}

// TestStructureFollowsModel makes random changes of sections and site spaces. After each change, it compares the
// structure of the site with the model.
func TestStructureFollowsModel(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	contents := make([]string, 4)
	for i := range contents {
		contents[i] = h.FreshSpace(h.Ours, "Same title").ID
	}
	rapid.Check(t, func(rt *rapid.T) {
		s := h.NewSite(`{}`)
		m := &siteModel{spaces: map[string][]string{}, defaults: map[string]string{}, content: map[string]string{}}
		pick := func(ids []string, label string) string {
			if len(ids) == 0 {
				return ""
			}
			return rapid.SampledFrom(ids).Draw(rt, label)
		}
		steps := map[string]func(){
			"add section": func() { m.addSection(s, pick(contents, "space")) },
			"add space":   func() { m.addSpace(s, pick(append([]string{""}, m.sections...), "section"), pick(contents, "space")) },
			"move space": func() {
				m.moveSpace(s, pick(m.all(), "site space"), pick(m.all(), "beside"), rapid.Bool().Draw(rt, "before"))
			},
			"move section": func() {
				m.moveSection(s, pick(m.sections, "section"), pick(m.sections, "beside"), rapid.Bool().Draw(rt, "before"))
			},
			"delete space":    func() { m.deleteSpace(s, pick(m.all(), "site space")) },
			"delete section":  func() { m.deleteSection(s, pick(m.sections, "section")) },
			"default space":   func() { m.setDefault(s, pick(m.all(), "site space")) },
			"default section": func() { m.setDefaultSection(s, pick(m.sections, "section")) },
		}
		names := []string{
			"add section", "add space", "add space", "add space", "move space", "move space", "move section", "delete space",
			"delete section", "default space", "default section",
		}
		for range rapid.IntRange(1, 20).Draw(rt, "steps") {
			name := rapid.SampledFrom(names).Draw(rt, "step")
			steps[name]()
			if got := structureOf(s); got != m.String() {
				rt.Fatalf("after %s:\n got %s\nwant %s", name, got, m)
			}
		}
	})
}

// structureOf returns the structure of a site as text. It checks that the lists of sections and site spaces agree with
// the structure, and that paths are unique.
func structureOf(s *apitest.SiteOf) string {
	s.T.Helper()
	words, sections, spaces := []string{}, []string{}, []string{}
	name := func(m map[string]any) string {
		if m["default"] == true {
			return m["id"].(string) + "*"
		}
		return m["id"].(string)
	}
	inside := func(items []any) []string {
		names, paths := []string{}, map[any]bool{}
		for _, item := range items {
			m := item.(map[string]any)
			names = append(names, name(m))
			if paths[m["path"]] {
				s.T.Errorf("the path %v is there twice", m["path"])
			}
			paths[m["path"]] = true
		}
		spaces = append(spaces, names...)
		return names
	}
	got := s.Ok("GET", "/structure", nil, 200)
	items := got["structure"].([]any)
	if got["type"] == "siteSpaces" {
		words = inside(items)
	} else {
		for _, item := range items {
			m := item.(map[string]any)
			sections = append(sections, name(m))
			words = append(words, name(m)+"["+strings.Join(inside(m["siteSpaces"].([]any)), " ")+"]")
		}
	}
	for path, want := range map[string][]string{"/sections": sections, "/site-spaces": spaces} {
		listed := []string{}
		for _, item := range s.Ok("GET", path+"?limit=1000", nil, 200)["items"].([]any) {
			listed = append(listed, name(item.(map[string]any)))
		}
		if !slices.Equal(listed, want) {
			s.T.Errorf("%s lists %q, the structure %q", path, listed, want)
		}
	}
	return strings.Join(words, " ")
}

// addSection adds a section with a space. If there were site spaces at the root, they move into a section that is added
// in front. If the new section has the space of the home page, they move into the new section instead.
func (m *siteModel) addSection(s *apitest.SiteOf, space string) {
	got := s.Ok("POST", "/sections", map[string]any{"spaceId": space, "title": "Same title"}, 201)
	id := got["id"].(string)
	if home := m.defaults[""]; len(m.spaces[""]) > 0 {
		front := id
		if m.content[home] != space {
			front = s.Items("/sections", "id")[0]
		}
		m.sections, m.defaultSection = []string{front}, front
		m.spaces[front], m.defaults[front] = m.spaces[""], home
		m.spaces[""], m.defaults[""] = nil, ""
		if front == id {
			return
		}
		if i := slices.IndexFunc(m.spaces[front], func(other string) bool { return m.content[other] == space }); i >= 0 {
			m.leave(front, m.spaces[front][i])
		}
	}
	m.sections = append(m.sections, id)
	if len(m.sections) == 1 {
		m.defaultSection = id
	}
	first := got["siteSpaces"].([]any)[0].(map[string]any)["id"].(string)
	m.content[first] = space
	m.enter(id, first, 0)
}

func (m *siteModel) addSpace(s *apitest.SiteOf, section, space string) {
	body := map[string]any{"spaceId": space}
	if section == "" {
		section = m.defaultSection
	} else {
		body["sectionId"] = section
	}
	if m.holds(section, space) {
		s.Refused("POST", "/site-spaces", body, 409, "")
		return
	}
	id := s.Ok("POST", "/site-spaces", body, 201)["id"].(string)
	m.content[id] = space
	m.enter(section, id, len(m.spaces[section]))
}

func (m *siteModel) moveSpace(s *apitest.SiteOf, id, beside string, before bool) {
	if id == "" {
		return
	}
	where, offset := "after", 1
	if before {
		where, offset = "before", 0
	}
	body := fmt.Sprintf(`{"position":{%q:{"type":"site-space","siteSpace":%q}}}`, where, beside)
	from, to := m.sectionOf(id), m.sectionOf(beside)
	if id == beside || (from != to && m.holds(to, m.content[id])) {
		s.Refused("POST", "/site-spaces/"+id+"/move", body, 400, "")
		return
	}
	s.Ok("POST", "/site-spaces/"+id+"/move", body, 200)
	wasDefault := m.defaults[from]
	m.leave(from, id)
	m.enter(to, id, slices.Index(m.spaces[to], beside)+offset)
	if from == to {
		m.defaults[to] = wasDefault
	}
}

func (m *siteModel) moveSection(s *apitest.SiteOf, id, beside string, before bool) {
	if id == "" {
		return
	}
	where, offset := "after", 1
	if before {
		where, offset = "before", 0
	}
	body := fmt.Sprintf(`{"position":{%q:{"type":"site-section","siteSection":%q}}}`, where, beside)
	if id == beside {
		s.Refused("POST", "/sections/"+id+"/move", body, 400, "")
		return
	}
	s.Ok("POST", "/sections/"+id+"/move", body, 200)
	m.sections = slices.DeleteFunc(m.sections, func(other string) bool { return other == id })
	m.sections = slices.Insert(m.sections, slices.Index(m.sections, beside)+offset, id)
}

func (m *siteModel) deleteSpace(s *apitest.SiteOf, id string) {
	if id == "" {
		return
	}
	s.Ok("DELETE", "/site-spaces/"+id, nil, 204)
	m.leave(m.sectionOf(id), id)
}

func (m *siteModel) deleteSection(s *apitest.SiteOf, id string) {
	if id == "" {
		return
	}
	s.Ok("DELETE", "/sections/"+id, nil, 204)
	i := slices.Index(m.sections, id)
	if m.defaultSection == id {
		m.defaultSection = next(m.sections, i)
	}
	m.sections = slices.Delete(m.sections, i, i+1)
	delete(m.spaces, id)
	delete(m.defaults, id)
}

func (m *siteModel) setDefault(s *apitest.SiteOf, id string) {
	if id == "" {
		return
	}
	section := m.sectionOf(id)
	path := "/sections/" + section
	if section == "" {
		path = ""
	}
	s.Ok("PATCH", path, map[string]any{"defaultSiteSpace": id}, 200)
	m.defaults[section] = id
}

func (m *siteModel) setDefaultSection(s *apitest.SiteOf, id string) {
	if id == "" {
		return
	}
	s.Ok("PATCH", "", map[string]any{"defaultSiteSection": id}, 200)
	m.defaultSection = id
}

// TestStructureUnderParallelWriters adds, moves and deletes sections, site spaces and spaces concurrently. Afterwards,
// the site has one default section, and each section has one default site space. All items have different positions.
func TestStructureUnderParallelWriters(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	s := h.NewSite(`{}`)
	sections := []string{s.AddSection("One"), s.AddSection("Two")}
	s.FreshGroupIn(s)
	var spaces []store.Space
	for range 24 {
		spaces = append(spaces, s.FreshSpace(s.Ours, "Same title"))
	}
	var mu sync.Mutex
	known := slices.Clone(s.Items("/site-spaces", "id"))
	any1 := func(ids *[]string) string {
		mu.Lock()
		defer mu.Unlock()
		return (*ids)[rand.IntN(len(*ids))]
	}
	var wait sync.WaitGroup
	for worker := range 6 {
		wait.Go(func() {
			for i := range 12 {
				method, path, body := "POST", "/site-spaces", map[string]any{}
				switch rand.IntN(6) {
				case 0, 1:
					body = map[string]any{"spaceId": spaces[rand.IntN(len(spaces))].ID, "sectionId": any1(&sections)}
				case 2:
					path = "/sections"
					body = map[string]any{"spaceId": spaces[rand.IntN(len(spaces))].ID, "title": "Same title"}
				case 3:
					path += "/" + any1(&known) + "/move"
					body = map[string]any{"position": map[string]any{"before": map[string]any{"siteSpace": any1(&known)}}}
				case 4:
					path = "/sections/" + any1(&sections) + "/move"
					body = map[string]any{"position": map[string]any{"after": map[string]any{"siteSection": any1(&sections)}}}
				case 5:
					method, path = "DELETE", path+"/"+any1(&known)
					if i == 6 {
						path = "/sections/" + any1(&sections)
					}
				}
				a := s.Do(method, s.Base+path, s.Token, body)
				// If an answer is 409 because another writer has just taken the path, the test fails: the server must
				// let one writer wait for the other.
				taken := a.Status == 409 && !strings.Contains(string(a.Body), "is already there")
				if a.Status >= 500 || a.Status == 403 || taken {
					t.Errorf("worker %d: %s %s: %d %s", worker, method, path, a.Status, a.Body)
				}
				if a.Status == 201 {
					got := decodeAnswer(t, a.Body)
					mu.Lock()
					if got["object"] == "site-section" {
						sections = append(sections, got["id"].(string))
					} else {
						known = append(known, got["id"].(string))
					}
					mu.Unlock()
				}
			}
		})
	}
	wait.Wait()
	wantWholeStructure(t, h, s)
}

// wantWholeStructure checks in the database what must be true for the structure of every site.
func wantWholeStructure(t testing.TB, h *apitest.Harness, s *apitest.SiteOf) {
	t.Helper()
	site := s.Base[strings.LastIndex(s.Base, "/")+1:]
	for name, query := range map[string]string{
		"sections without exactly one default": `select count(*) from (select 1 from site_sections where site_id = $1
			having count(*) > 0 and count(*) filter (where is_default) <> 1) x`,
		"site spaces without exactly one default": `select count(*) from (select section_id from site_spaces where site_id = $1
			group by section_id having count(*) filter (where is_default) <> 1) x`,
		"positions that are taken twice": `select count(*) from (
			select parent, position from (
				select group_id as parent, position from site_sections where site_id = $1
				union all select parent_id, position from site_section_groups where site_id = $1
			) x group by 1, 2 having count(*) > 1) y`,
		"site spaces at one position": `select count(*) from (select 1 from site_spaces where site_id = $1
			group by section_id, position having count(*) > 1) x`,
		"site spaces at the root beside sections": `select count(*) from site_spaces where site_id = $1 and section_id is null
			and exists (select from site_sections where site_id = $1)`,
		"ranks that do not follow positions": `select count(*) from site_spaces l left join site_sections s on s.id = l.section_id
			where l.site_id = $1 and l.rank <> coalesce(s.rank, '') || lpad(to_hex(l.position), 16, '0')`,
	} {
		var n int
		if err := h.DB.QueryRow(t.Context(), query, site).Scan(&n); err != nil {
			t.Fatal(err)
		}
		if n != 0 {
			t.Errorf("%s: %d", name, n)
		}
	}
}
