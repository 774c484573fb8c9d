package conversations_test

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/octavo-docs/octavo/ingest/conversations"
	"github.com/octavo-docs/octavo/schema"
)

// The goals: the figures that are printed tell how far away they are.
const (
	problemGoal = 0.8
	themeGoal   = 0.5
	// mostOrderShift bounds what the order of the input changes within one analysis, which sorts it first. What comes in several
	// analyses has no such bound: see the figures for 50 and 1 at a time.
	mostOrderShift = 0.02
)

// floors are what each half reached when the half that was held back was first looked at; no change may fall below. They are not the
// goals: that the test passes does not mean that these are met. The lexicon, the cues and the parameters were fitted to the half "dev",
// by sweeps over it, so the half "held" tells more of conversations in general. Whoever tunes with "held" too needs a third one.
var floors = map[string]struct{ problems, themes float64 }{
	"dev":  {0.66, 0.75},
	"held": {0.41, 0.47},
}

// labelled is a conversation of the corpus with its labels.
type labelled struct {
	ID       string               `json:"id"`
	Lang     string               `json:"lang"`
	Subject  string               `json:"subject"`
	Parts    []conversations.Part `json:"parts"`
	Problems []string             `json:"problems"`
	Theme    string               `json:"theme"`
	Impact   schema.Impact        `json:"impact"`
}

func lines[T any](t *testing.T, path string, each func(T)) {
	t.Helper()
	file, err := os.Open(path) //nolint:gosec // A folder of this package.
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close() //nolint:errcheck // It is only read.
	scanner := bufio.NewScanner(file)
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		var value T
		if err := json.Unmarshal(scanner.Bytes(), &value, json.MatchCaseInsensitiveNames(true)); err != nil {
			t.Fatal(err)
		}
		each(value)
	}
	if err := scanner.Err(); err != nil {
		t.Fatal(err)
	}
}

func readCorpus(t *testing.T, folder string) []labelled {
	t.Helper()
	var all []labelled
	at := map[string]int{}
	lines(t, filepath.Join(folder, "conversations.jsonl"), func(c labelled) {
		at[c.ID] = len(all)
		all = append(all, c)
	})
	lines(t, filepath.Join(folder, "labels-a.jsonl"), func(l labelled) {
		i, known := at[l.ID]
		if !known {
			t.Fatalf("labels of %s, which is not there", l.ID)
		}
		all[i].Problems, all[i].Theme, all[i].Impact = l.Problems, l.Theme, l.Impact
	})
	return all
}

// analyzed is a corpus with what the method makes of it.
type analyzed struct {
	corpus []labelled
	items  []conversations.Item
	of     []int
	found  []conversations.Issue
	// clusters and themes are of each conversation.
	clusters []map[string]bool
	themes   []string
	groups   [][]int
	labels   []conversations.Description
}

func extractAll(corpus []labelled) *analyzed {
	a := &analyzed{corpus: corpus}
	for i, c := range corpus {
		for k, issue := range conversations.Extract(conversations.Conversation{Subject: c.Subject, Parts: c.Parts}) {
			a.items = append(a.items, conversations.Item{Key: fmt.Sprint(c.ID, k), Language: issue.Language, Terms: issue.Words})
			a.of, a.found = append(a.of, i), append(a.found, issue)
		}
	}
	return a
}

// assign takes the issues in this order, in batches of a size, each with what the batches before made.
func (a *analyzed) assign(order []int, size int) {
	type cluster struct {
		id      string
		members []int
		about   conversations.Description
	}
	var clusters []*cluster
	founded := 0
	for start := 0; start < len(order); start += size {
		batch := order[start:min(start+size, len(order))]
		m := conversations.NewMethod()
		known := make([]conversations.Known, len(clusters))
		for i, c := range clusters {
			known[i] = conversations.Known{ID: c.id, Language: c.about.Language, Profile: c.about.Profile}
		}
		items := make([]conversations.Item, len(batch))
		for i, k := range batch {
			items[i] = a.items[k]
		}
		gone := map[*cluster]bool{}
		var changed []*cluster
		all := clusters
		for _, g := range m.Assign(known, items) {
			var c *cluster
			if len(g.Clusters) == 0 {
				founded++
				c = &cluster{id: fmt.Sprintf("%05d", founded)}
				clusters = append(clusters, c)
			} else {
				c = all[g.Clusters[0]]
				for _, other := range g.Clusters[1:] {
					c.members = append(c.members, all[other].members...)
					gone[all[other]] = true
				}
			}
			for _, i := range g.Items {
				c.members = append(c.members, batch[i])
			}
			changed = append(changed, c)
		}
		for _, c := range changed {
			var sample []conversations.Sampled
			for _, k := range c.members[:min(len(c.members), 64)] {
				sample = append(sample, conversations.Sampled{Item: a.items[k], Title: a.found[k].Title})
			}
			c.about = m.Describe(sample, "")
		}
		var left []*cluster
		for _, c := range clusters {
			if !gone[c] {
				left = append(left, c)
			}
		}
		clusters = left
	}
	a.clusters, a.themes = make([]map[string]bool, len(a.corpus)), make([]string, len(a.corpus))
	a.groups, a.labels = nil, nil
	for _, c := range clusters {
		a.groups, a.labels = append(a.groups, c.members), append(a.labels, c.about)
		for _, k := range c.members {
			i := a.of[k]
			if a.clusters[i] == nil {
				a.clusters[i] = map[string]bool{}
				a.themes[i] = c.about.Theme
			}
			a.clusters[i][c.id] = true
		}
	}
}

// score counts pairs of conversations in one language.
type score struct{ both, found, labelled float64 }

func (s score) precision() float64 { return s.both / max(s.both+s.found, 1) }
func (s score) recall() float64    { return s.both / max(s.both+s.labelled, 1) }
func (s score) f1() float64        { return 2 * s.both / max(2*s.both+s.found+s.labelled, 1) }

func (s score) String() string {
	return fmt.Sprintf("precision %.3f, recall %.3f, F1 %.3f", s.precision(), s.recall(), s.f1())
}

func (a *analyzed) pairs(language string, labelled, found func(i, j int) bool) (s score) {
	for i := range a.corpus {
		for j := range i {
			if a.corpus[i].Lang != a.corpus[j].Lang || language != "" && a.corpus[i].Lang != language {
				continue
			}
			switch want, got := labelled(i, j), found(i, j); {
			case want && got:
				s.both++
			case got:
				s.found++
			case want:
				s.labelled++
			}
		}
	}
	return s
}

func (a *analyzed) problems(language string) score {
	return a.pairs(language, func(i, j int) bool {
		for _, p := range a.corpus[i].Problems {
			for _, q := range a.corpus[j].Problems {
				if p == q {
					return true
				}
			}
		}
		return false
	}, func(i, j int) bool {
		for id := range a.clusters[i] {
			if a.clusters[j][id] {
				return true
			}
		}
		return false
	})
}

func (a *analyzed) themed() score {
	return a.pairs("", func(i, j int) bool { return a.corpus[i].Theme != "" && a.corpus[i].Theme == a.corpus[j].Theme },
		func(i, j int) bool { return a.themes[i] != "" && a.themes[i] == a.themes[j] })
}

// TestCorpus measures the method on every half of the corpus that is there, and prints the figures and titles.
func TestCorpus(t *testing.T) {
	t.Parallel()
	for _, half := range []string{"dev", "held"} {
		t.Run(half, func(t *testing.T) {
			t.Parallel()
			folder := filepath.Join("testdata", half)
			a := extractAll(readCorpus(t, folder))
			order := make([]int, len(a.items))
			for i := range order {
				order[i] = i
			}
			a.assign(order, len(order))
			whole := a.problems("")
			t.Logf("%d conversations, %d issues, %d clusters, %d of one issue", len(a.corpus), len(a.items), len(a.groups), a.alone())
			t.Logf("problems (goal %.1f): %s", problemGoal, whole)
			for _, language := range []string{"en", "de", "fr", "es", "pt", "ja"} {
				t.Logf("  %s: %s", language, a.problems(language))
			}
			themes := a.themed()
			t.Logf("themes (goal %.1f): %s", themeGoal, themes)
			t.Logf("impact as labelled: %.0f %%; conversations without a problem that have an issue: %d of %d", 100*a.impacts(), a.falseIssues(true), a.falseIssues(false))
			for i := range min(30, len(a.labels)) {
				t.Logf("title of %d issues: %q [%s] %s", len(a.groups[i]), a.labels[i].Label, a.labels[i].Icon, a.labels[i].Theme)
			}
			if floor := floors[half]; whole.f1() < floor.problems || themes.f1() < floor.themes {
				t.Errorf("problems %.3f, at least %.2f; themes %.3f, at least %.2f", whole.f1(), floor.problems, themes.f1(), floor.themes)
			}
			random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // Shuffles for a test.
			for range 5 {
				random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
				if a.assign(order, len(order)); max(whole.f1(), a.problems("").f1())-min(whole.f1(), a.problems("").f1()) >= mostOrderShift {
					t.Errorf("in another order: %s", a.problems(""))
				}
			}
			for _, size := range []int{50, 1} {
				a.assign(order, size)
				t.Logf("%d at a time: %d clusters, %s", size, len(a.groups), a.problems(""))
			}
		})
	}
}

func (a *analyzed) alone() (n int) {
	for _, g := range a.groups {
		if len(g) == 1 {
			n++
		}
	}
	return n
}

func (a *analyzed) impacts() float64 {
	right, all := 0.0, 0.0
	for k, issue := range a.found {
		if c := a.corpus[a.of[k]]; len(c.Problems) > 0 {
			all++
			if c.Impact == issue.Impact {
				right++
			}
		}
	}
	return right / max(all, 1)
}

// falseIssues counts conversations without a problem, or those of them in which an issue was found.
func (a *analyzed) falseIssues(found bool) (n int) {
	has := map[int]bool{}
	for _, i := range a.of {
		has[i] = true
	}
	for i, c := range a.corpus {
		if len(c.Problems) == 0 && (has[i] || !found) {
			n++
		}
	}
	return n
}
