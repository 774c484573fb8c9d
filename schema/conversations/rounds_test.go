package conversations_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/cmd/engine/embedding"
	"github.com/octavo-docs/octavo/schema/conversations"
)

// rounds calls the method as the job does. Each round gets new issues, the latest earlier issues, and only the profiles
// of the existing clusters. `rounds` has the data that the job would store in the database.
type rounds struct {
	clusters []stored
	window   []conversations.Item
	// `most` is the largest number of issues in the window.
	most    int
	founded int
}

// stored is a cluster with a bounded number of its issues.
type stored struct {
	known  conversations.Known
	issues int
	sample []conversations.Sampled
}

const (
	roundSize  = 1000
	sampleSize = 64
)

// round runs one round with the new issues in `fresh`.
func (r *rounds) round(fresh []conversations.Item) {
	items := append(append([]conversations.Item{}, fresh...), r.window...)
	in, at := map[string]int{}, map[string]int{}
	for _, item := range r.window {
		in[item.Cluster]++
	}
	known := make([]conversations.Known, len(r.clusters))
	for i := range r.clusters {
		known[i] = r.clusters[i].known
		known[i].Rests = r.clusters[i].issues > in[known[i].ID]
		at[known[i].ID] = i
	}
	m := conversations.NewMethod()
	for _, g := range m.Assign(known, items) {
		if len(g.Clusters) == 0 {
			r.founded++
			id := fmt.Sprintf("%06d", r.founded)
			at[id] = len(r.clusters)
			r.clusters = append(r.clusters, stored{known: conversations.Known{ID: id}})
			known = append(known, r.clusters[at[id]].known)
			g.Clusters = []int{at[id]}
		}
		c := &r.clusters[g.Clusters[0]]
		for _, i := range g.Items {
			if was := items[i].Cluster; was != "" {
				r.clusters[at[was]].issues--
			}
			c.issues++
			items[i].Cluster = c.known.ID
			if len(c.sample) < sampleSize {
				c.sample = append(c.sample, conversations.Sampled{Item: items[i], Title: items[i].Key})
			}
		}
		for _, other := range g.Clusters[1:] {
			c.issues += r.clusters[other].issues
			r.clusters[other].issues = 0
		}
	}
	var left []stored
	for _, c := range r.clusters {
		if c.issues == 0 {
			continue
		}
		d := m.Describe(c.sample, "")
		c.known.Language, c.known.Profile = d.Language, d.Profile
		left = append(left, c)
	}
	r.clusters, r.window = left, items[:min(len(items), r.most)]
	for i, item := range r.window {
		if _, there := at[item.Cluster]; !there {
			r.window[i].Cluster = ""
		}
	}
}

// varied generates any number of issues from the corpus. A generated issue is an issue of the corpus without a few of
// its words, and with almost the same meaning.
type varied struct {
	of     []conversations.Item
	random *rand.Rand
	made   int
}

func (v *varied) next(n int) []conversations.Item {
	made := make([]conversations.Item, n)
	for i := range made {
		from := v.of[v.random.IntN(len(v.of))]
		item := conversations.Item{Key: fmt.Sprintf("%08d", v.made), Language: from.Language}
		v.made++
		for _, term := range from.Terms {
			if v.random.IntN(5) > 0 {
				item.Terms = append(item.Terms, term)
			}
		}
		item.Meaning = append(conversations.Meaning{}, from.Meaning...)
		for k := range item.Meaning {
			item.Meaning[k] = byte(max(-127, min(127, int(int8(item.Meaning[k]))+v.random.IntN(41)-20)))
		}
		made[i] = item
	}
	return made
}

// variations returns a value of type varied, with the issues of the sets `dev` and `held`. If there is no model, their
// meanings are random.
func variations(t *testing.T, model *embedding.Model) *varied {
	t.Helper()
	v := &varied{random: rand.New(rand.NewPCG(3, 4))}
	for _, half := range []string{"dev", "held"} {
		v.of = append(v.of, extractAll(readCorpus(t, filepath.Join("testdata", half))[:60], model).items...)
	}
	for i := range v.of {
		if model == nil {
			made := make([]float32, embedding.Dimensions)
			for k := range made {
				made[k] = v.random.Float32() - 0.5
			}
			v.of[i].Meaning = conversations.NewMeaning(made)
		}
	}
	return v
}

// allocated returns the number of bytes that a round allocates.
func allocated(r *rounds, items []conversations.Item) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r.round(items)
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestRoundsAreBounded adds issues round by round, and checks that no issue is lost. After 6,000 issues, a round must
// need about as much memory as one of the first rounds. In the first rounds, the samples of the clusters grow. The test
// is not parallel, because it counts the allocations of the process.
func TestRoundsAreBounded(t *testing.T) {
	const size, early, late = 250, 2000, 8000
	v := variations(t, nil)
	r := rounds{most: size}
	sums := map[int]uint64{}
	for v.made < late {
		items := v.next(size)
		sums[(v.made-1)/early] += allocated(&r, items)
	}
	first, last := sums[0], sums[late/early-1]
	all := 0
	for _, c := range r.clusters {
		all += c.issues
	}
	t.Logf("%d issues in %d clusters", v.made, len(r.clusters))
	t.Logf("the first %d allocated %d MB, the last %d MB", early, first>>20, last>>20)
	if all != v.made {
		t.Errorf("%d issues of %d are in clusters", all, v.made)
	}
	if last > 2*first {
		t.Errorf("the last rounds allocated %d bytes, the first %d", last, first)
	}
}

// TestManyConversations groups 20,000 conversations. An environment variable may set another number. 1,000
// conversations take several seconds.
func TestManyConversations(t *testing.T) {
	if testing.Short() {
		t.Skip("runs in the long form: .ci/long")
	}
	most := 20_000
	if text := os.Getenv("OCTAVO_TEST_CONVERSATIONS"); text != "" {
		var err error
		if most, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	v := variations(t, openModel(t))
	r := rounds{most: roundSize}
	runtime.GC()
	start := time.Now()
	var peak, first uint64
	for v.made < most {
		r.round(v.next(roundSize))
		var now runtime.MemStats
		runtime.ReadMemStats(&now)
		peak = max(peak, now.HeapInuse)
		if v.made == 10*roundSize {
			first = peak
		}
		if v.made%(10*roundSize) == 0 {
			runtime.GC()
			runtime.ReadMemStats(&now)
			t.Logf("%d issues, %d clusters, %.0f s: heap in use up to %d MB, %d MB live", v.made, len(r.clusters), time.Since(start).Seconds(), peak>>20, now.HeapAlloc>>20)
		}
	}
	if first > 0 && peak > 2*first {
		t.Errorf("the heap grew from %d to %d bytes", first, peak)
	}
}
