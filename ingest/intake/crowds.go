package intake

import (
	"crypto/rand"
	"log/slog"
	"math/bits"
	"strings"
	"sync"
	"time"

	"github.com/dchest/siphash"
)

const (
	crowdBatches = 256  // number of batches in a window
	crowdShare   = 0.95 // a window is suspicious if at least this share of its batches comes from one address
	crowdAgents  = 20
	crowdSites   = 1024
	crowdPause   = time.Hour // between two warnings about a site
)

// crowds finds sites whose batches come almost only from one address, with many user agents. The usual cause is a proxy
// that OCTAVO_TRUSTED_PROXIES does not name. Behind such a proxy, all visitors with the same user agent count as one
// visitor.
//
// It looks at windows of crowdBatches batches for each site. Each window chooses the address whose batches the next
// window counts. This address is the majority's address by the Boyer–Moore majority vote algorithm.
type crowds struct {
	mu      sync.Mutex
	sites   map[string]*crowdWindow
	log     *slog.Logger
	metrics *Metrics
	k0, k1  uint64 // keys of the hashes; they are only in memory
}

type crowdWindow struct {
	address   uint64    // hash of the address whose batches this window counts; 0 if there is none
	same      int       // number of batches from address
	agents    [4]uint64 // set of hashes of user agents in batches from address, with a bit for each hash
	batches   int
	candidate uint64 // candidate of the majority vote
	votes     int
	hidden    bool      // whether the last full window came from one address
	warned    time.Time // time of the last warning
}

func newCrowds(log *slog.Logger, m *Metrics) *crowds {
	var key [16]byte
	_, _ = rand.Read(key[:]) // crypto/rand does not fail
	h := NewHasher(key)
	return &crowds{sites: map[string]*crowdWindow{}, log: log, metrics: m, k0: h.k0, k1: h.k1}
}

// see counts a batch. It does not retain `site`.
func (c *crowds) see(site string, b *doorBatch) {
	const address = 16 // length of the address at the start of the visitor's input
	input := b.pooled[:b.columnAt]
	from, agent := notZero(siphash.Hash(c.k0, c.k1, input[:address])), siphash.Hash(c.k0, c.k1, input[address:])
	c.mu.Lock()
	defer c.mu.Unlock()
	w := c.sites[site]
	if w == nil {
		if len(c.sites) == crowdSites {
			c.forgetOne()
		}
		w = &crowdWindow{}
		c.sites[strings.Clone(site)] = w
	}
	w.add(from, agent)
	if w.batches == crowdBatches {
		c.finish(site, w, b.door.Now)
	}
}

// OneAddress reports whether nearly all batches of a site's last full window came from one address, with many user
// agents.
func (in *Intake) OneAddress(site string) bool {
	in.crowds.mu.Lock()
	defer in.crowds.mu.Unlock()
	w := in.crowds.sites[site]
	return w != nil && w.hidden
}

// forgetOne deletes one site, so that another site can be added.
func (c *crowds) forgetOne() {
	for site, w := range c.sites { // in random order
		c.hide(w, false)
		delete(c.sites, site)
		return
	}
}

func (w *crowdWindow) add(address, agent uint64) {
	w.batches++
	if address == w.address {
		w.same++
		w.agents[agent>>6&3] |= 1 << (agent & 63)
	}
	switch {
	case w.votes == 0:
		w.candidate, w.votes = address, 1
	case w.candidate == address:
		w.votes++
	default:
		w.votes--
	}
}

// finish decides whether a full window came from one address, and begins the next window.
func (c *crowds) finish(site string, w *crowdWindow, now time.Time) {
	agents := 0
	for _, word := range w.agents {
		agents += bits.OnesCount64(word)
	}
	hidden := float64(w.same) >= crowdShare*crowdBatches && agents >= crowdAgents
	c.hide(w, hidden)
	if hidden && now.Sub(w.warned) >= crowdPause {
		w.warned = now
		const warning = "Nearly all browsers of a site have the same address, so visitors cannot be told apart. " +
			"Name the proxy in OCTAVO_TRUSTED_PROXIES."
		c.log.Warn(warning, "site", site, "batches", w.batches, "same", w.same, "agents", agents)
	}
	*w = crowdWindow{address: w.candidate, hidden: w.hidden, warned: w.warned}
}

// hide records whether the batches of a site come from one address, and updates the metric that counts such sites.
func (c *crowds) hide(w *crowdWindow, hidden bool) {
	if w.hidden != hidden {
		w.hidden = hidden
		if hidden {
			c.metrics.sitesOfOneAddress.Inc()
		} else {
			c.metrics.sitesOfOneAddress.Dec()
		}
	}
}
