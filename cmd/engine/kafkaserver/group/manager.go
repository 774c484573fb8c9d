package group

import (
	"crypto/rand"
	"encoding/hex"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/octavo-docs/octavo/cmd/engine/kafkaserver/journal"
)

// These are the protocol's error codes that the coordinator uses.
const (
	none                      = 0
	codeMetadataTooLarge      = 12
	codeNotAvailable          = 15
	codeUnknownTopic          = 3
	codeIllegalGeneration     = 22
	codeInconsistentProtocol  = 23
	codeInvalidGroup          = 24
	codeUnknownMember         = 25
	codeInvalidSessionTimeout = 26
	codeRebalanceInProgress   = 27
	codeNonEmptyGroup         = 68
	codeGroupNotFound         = 69
	codeMemberRequired        = 79
	codeGroupFull             = 81
	codeFencedInstance        = 82
)

const (
	minSession, maxSession = 100 * time.Millisecond, 30 * time.Minute
	// defaultRebalance is the rebalance timeout for protocol versions in which a client sends no timeout.
	defaultRebalance = time.Minute
	// maxMembers bounds the members of one group. maxMembers and maxGroups bound the memory of groups, and are far
	// above normal use.
	maxMembers = 1000
	maxGroups  = 10_000
	maxName    = 1024
)

// Topics returns the id and the number of partitions of a topic.
type Topics interface {
	Topic(name string) (id string, partitions int, ok bool)
}

// Client identifies the client of a request.
type Client struct{ ID, Host string }

// Manager is the group coordinator. It has all groups.
type Manager struct {
	journal *journal.Journal
	topics  Topics
	logger  *slog.Logger
	stop    chan struct{}

	mu     sync.Mutex
	groups map[string]*group
}

// New builds a coordinator.
func New(j *journal.Journal, topics Topics, logger *slog.Logger) *Manager {
	return &Manager{journal: j, topics: topics, logger: logger, stop: make(chan struct{}), groups: map[string]*group{}}
}

// Close answers all waiting requests. Call it once.
func (m *Manager) Close() {
	close(m.stop)
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, g := range m.groups {
		g.mu.Lock()
		g.stopTimers()
		g.mu.Unlock()
	}
}

// group returns a group. If `make` is set, it creates a missing group. It returns nil if the group does not exist, or
// if there are too many groups to create it.
func (m *Manager) group(name string, make bool) *group {
	m.mu.Lock()
	defer m.mu.Unlock()
	g := m.groups[name]
	if g == nil && make {
		if len(m.groups) >= maxGroups {
			m.purge()
		}
		if len(m.groups) >= maxGroups {
			return nil
		}
		g = &group{manager: m, name: name, members: map[string]*member{}, pending: map[string]*time.Timer{}}
		m.groups[name] = g
	}
	return g
}

// purge removes groups without members from memory. The caller holds mu.
func (m *Manager) purge() {
	for name, g := range m.groups {
		g.mu.Lock()
		if len(g.members)+len(g.pending) == 0 {
			g.gone = true
			delete(m.groups, name)
		}
		g.mu.Unlock()
	}
}

func newMemberID(client string) string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // crypto/rand does not fail
	return client[:min(len(client), 64)] + "-" + hex.EncodeToString(b[:])
}

// state is a group's state as in DescribeGroups.
type state string

const (
	empty      state = "Empty"
	preparing  state = "PreparingRebalance"
	completing state = "CompletingRebalance"
	stable     state = "Stable"
	dead       state = "Dead"
)

type group struct {
	manager *Manager
	name    string

	mu           sync.Mutex
	gone         bool // the manager has removed the group
	generation   int32
	protocolType string
	protocol     string
	leader       string
	members      map[string]*member
	order        []string               // member ids in the order of joining
	pending      map[string]*time.Timer // assigned member ids that have not joined yet
	rebalance    *time.Timer            // limits how long the state preparing waits for members
	awaited      *time.Timer            // limits how long the state completing waits for syncs
	phase        state
}

// member is a member of a group.
type member struct {
	id, instance       string
	client             Client
	session, rebalance time.Duration
	protocols          []kmsg.JoinGroupRequestProtocol
	assignment         []byte
	timer              *time.Timer
	seen               time.Time
	join               chan *kmsg.JoinGroupResponse // set while the member waits for the answer to its Join
	sync               chan *kmsg.SyncGroupResponse
}

func (g *group) state() state {
	if g.phase == "" {
		return empty
	}
	return g.phase
}

func (g *group) stopTimers() {
	for _, m := range g.members {
		m.timer.Stop()
	}
	for _, t := range g.pending {
		t.Stop()
	}
	for _, t := range []*time.Timer{g.rebalance, g.awaited} {
		if t != nil {
			t.Stop()
		}
	}
}

// touch restarts the member's session timeout. The caller holds mu.
func (g *group) touch(m *member) {
	m.seen = time.Now()
	m.timer.Reset(m.session)
}

// expire removes a member whose session timed out.
func (g *group) expire(m *member) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.members[m.id] != m {
		return
	}
	if m.join != nil || m.sync != nil { // the member waits for the coordinator's answer
		m.timer.Reset(m.session)
		return
	}
	if rest := m.session - time.Since(m.seen); rest > 0 {
		m.timer.Reset(rest)
		return
	}
	g.manager.logger.Info("A group's member timed out and loses its partitions.", "group", g.name, "member", m.id)
	g.remove(m)
	g.changed()
}

// remove removes a member. The caller holds mu, and calls `changed` afterwards.
func (g *group) remove(m *member) {
	m.timer.Stop()
	delete(g.members, m.id)
	g.order = slices.DeleteFunc(g.order, func(id string) bool { return id == m.id })
	if g.leader == m.id {
		g.leader = ""
	}
	m.answerJoin(&kmsg.JoinGroupResponse{ErrorCode: codeUnknownMember, Generation: -1})
	m.answerSync(&kmsg.SyncGroupResponse{ErrorCode: codeUnknownMember})
}

// changed begins a rebalance after a member has left, or completes the current rebalance. The caller holds mu.
func (g *group) changed() {
	switch g.state() {
	case stable, completing:
		g.prepare()
	case preparing:
		g.tryComplete()
	case empty, dead:
	}
}

func (m *member) answerJoin(r *kmsg.JoinGroupResponse) {
	if m.join != nil {
		m.join <- r
		m.join = nil
	}
}

func (m *member) answerSync(r *kmsg.SyncGroupResponse) {
	if m.sync != nil {
		m.sync <- r
		m.sync = nil
	}
}

// check returns the member with the id. It returns an error code if the member does not exist, or if the generation is
// not current. The caller holds mu.
func (g *group) check(id string, instance *string, generation int32) (*member, int16) {
	if code := g.checkInstance(id, instance); code != none {
		return nil, code
	}
	m := g.members[id]
	switch {
	case m == nil:
		return nil, codeUnknownMember
	case generation != g.generation:
		return m, codeIllegalGeneration
	}
	return m, none
}

// checkInstance returns an error code if another member has taken the static
// member's place.
func (g *group) checkInstance(id string, instance *string) int16 {
	if instance == nil {
		return none
	}
	for _, m := range g.members {
		if m.instance == *instance && m.id != id {
			return codeFencedInstance
		}
	}
	return none
}
