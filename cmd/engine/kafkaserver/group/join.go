package group

import (
	"bytes"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Join answers when the member's new generation has begun.
func (m *Manager) Join(req *kmsg.JoinGroupRequest, client Client) *kmsg.JoinGroupResponse {
	resp := &kmsg.JoinGroupResponse{Generation: -1, MemberID: req.MemberID}
	session := time.Duration(req.SessionTimeoutMillis) * time.Millisecond
	switch {
	case req.Group == "" || len(req.Group) > maxName:
		resp.ErrorCode = codeInvalidGroup
	case session < minSession || session > maxSession:
		resp.ErrorCode = codeInvalidSessionTimeout
	case req.ProtocolType == "" || len(req.Protocols) == 0:
		resp.ErrorCode = codeInconsistentProtocol
	}
	if resp.ErrorCode != none {
		return resp
	}
	g := m.group(req.Group, true)
	if g == nil {
		resp.ErrorCode = codeNotAvailable
		return resp
	}
	wait := make(chan *kmsg.JoinGroupResponse, 1)
	if resp.ErrorCode = g.enter(req, resp, client, wait); resp.ErrorCode != none {
		return resp
	}
	select {
	case answer := <-wait:
		return answer
	case <-m.stop:
		resp.ErrorCode = codeNotAvailable
		return resp
	}
}

// enter makes the caller a member. The response of the next generation is then sent on the channel `wait`. If the
// caller cannot join, `enter` returns an error code for an immediate response.
func (g *group) enter(req *kmsg.JoinGroupRequest, resp *kmsg.JoinGroupResponse, client Client, wait chan *kmsg.JoinGroupResponse) int16 {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.gone {
		return codeNotAvailable // the client retries
	}
	if len(g.members) > 0 && (g.protocolType != req.ProtocolType || g.common(req.Protocols) == "") {
		return codeInconsistentProtocol
	}
	m := g.members[req.MemberID]
	if req.MemberID == "" {
		if req.InstanceID == nil && req.Version >= 4 {
			if len(g.pending)+len(g.members) >= maxMembers {
				return codeGroupFull
			}
			resp.MemberID = g.promise(client, req)
			return codeMemberRequired
		}
		if old := g.static(req.InstanceID); old != nil {
			g.replace(old)
		}
	} else if code := g.checkInstance(req.MemberID, req.InstanceID); code != none {
		return code
	}
	if m == nil {
		id := req.MemberID
		if timer, promised := g.pending[id]; promised {
			timer.Stop()
			delete(g.pending, id)
		} else if id != "" {
			return codeUnknownMember
		}
		if len(g.members) >= maxMembers {
			return codeGroupFull
		}
		if id == "" {
			id = newMemberID(client.ID)
		}
		g.join(&member{id: id, client: client}, req, wait)
		return none
	}
	unchanged := sameProtocols(m.protocols, req.Protocols)
	if unchanged && (g.phase == completing || g.phase == stable && g.leader != m.id) {
		// The member missed the answer for its current generation, so repeat the answer.
		g.touch(m)
		wait <- g.joined(m)
		return none
	}
	// the member has sent Join again on another connection
	m.answerJoin(&kmsg.JoinGroupResponse{ErrorCode: codeRebalanceInProgress, Generation: -1, MemberID: m.id})
	g.join(m, req, wait)
	return none
}

// promise assigns a member id to a client without an id. Since version 4 of the protocol, a client requests an id
// before it joins.
func (g *group) promise(client Client, req *kmsg.JoinGroupRequest) string {
	id := newMemberID(client.ID)
	g.pending[id] = time.AfterFunc(time.Duration(req.SessionTimeoutMillis)*time.Millisecond, func() {
		g.mu.Lock()
		delete(g.pending, id)
		g.mu.Unlock()
	})
	return id
}

func (g *group) static(instance *string) *member {
	if instance != nil {
		for _, m := range g.members {
			if m.instance == *instance {
				return m
			}
		}
	}
	return nil
}

// replace removes a static member that rejoins under a new id.
func (g *group) replace(old *member) {
	old.answerJoin(&kmsg.JoinGroupResponse{ErrorCode: codeFencedInstance, Generation: -1})
	old.answerSync(&kmsg.SyncGroupResponse{ErrorCode: codeFencedInstance})
	g.remove(old)
}

// join makes a new or known member wait for the next generation.
func (g *group) join(m *member, req *kmsg.JoinGroupRequest, wait chan *kmsg.JoinGroupResponse) {
	m.session = time.Duration(req.SessionTimeoutMillis) * time.Millisecond
	m.rebalance = time.Duration(req.RebalanceTimeoutMillis) * time.Millisecond
	if m.rebalance <= 0 {
		m.rebalance = max(m.session, defaultRebalance)
	}
	m.protocols = req.Protocols
	if req.InstanceID != nil {
		m.instance = *req.InstanceID
	}
	m.join = wait
	if g.members[m.id] == nil {
		g.members[m.id] = m
		g.order = append(g.order, m.id)
		m.timer = time.AfterFunc(m.session, func() { g.expire(m) })
	}
	g.protocolType = req.ProtocolType
	g.touch(m)
	if g.phase != preparing {
		g.prepare()
		return
	}
	g.tryComplete()
}

// prepare begins a rebalance: all members must join again.
func (g *group) prepare() {
	if g.awaited != nil {
		g.awaited.Stop()
	}
	for _, m := range g.members {
		m.answerSync(&kmsg.SyncGroupResponse{ErrorCode: codeRebalanceInProgress})
	}
	g.phase = preparing
	longest := time.Duration(0)
	for _, m := range g.members {
		longest = max(longest, m.rebalance)
	}
	generation := g.generation
	g.rebalance = time.AfterFunc(longest, func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.phase == preparing && g.generation == generation {
			g.dropAbsent(func(m *member) bool { return m.join == nil })
			g.complete()
		}
	})
	g.tryComplete()
}

func (g *group) dropAbsent(absent func(*member) bool) {
	for _, id := range slices.Clone(g.order) {
		if m := g.members[id]; absent(m) {
			g.manager.logger.Info("A group's member missed a rebalance and was removed.", "group", g.name, "member", id)
			g.remove(m)
		}
	}
}

func (g *group) tryComplete() {
	for _, m := range g.members {
		if m.join == nil {
			return
		}
	}
	g.complete()
}

// complete begins the next generation with the members that joined.
func (g *group) complete() {
	g.rebalance.Stop()
	g.generation++
	if len(g.members) == 0 {
		g.phase, g.leader, g.protocol = empty, "", ""
		return
	}
	g.phase = completing
	g.protocol = g.common(nil)
	if g.leader == "" {
		g.leader = g.order[0]
	}
	longest := time.Duration(0)
	for _, id := range g.order {
		m := g.members[id]
		m.assignment = nil
		m.answerJoin(g.joined(m))
		g.touch(m)
		longest = max(longest, m.rebalance)
	}
	generation := g.generation
	g.awaited = time.AfterFunc(longest, func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.phase == completing && g.generation == generation {
			g.dropAbsent(func(m *member) bool { return m.sync == nil })
			g.prepare()
		}
	})
}

// joined returns a member's join response for the current generation.
func (g *group) joined(m *member) *kmsg.JoinGroupResponse {
	resp := &kmsg.JoinGroupResponse{
		Generation: g.generation, ProtocolType: &g.protocolType, Protocol: &g.protocol, LeaderID: g.leader, MemberID: m.id,
	}
	protocolType, protocol := g.protocolType, g.protocol
	resp.ProtocolType, resp.Protocol = &protocolType, &protocol
	if m.id != g.leader {
		return resp
	}
	for _, id := range g.order {
		other := g.members[id]
		listed := kmsg.JoinGroupResponseMember{MemberID: id, ProtocolMetadata: other.metadata(g.protocol)}
		if other.instance != "" {
			listed.InstanceID = &other.instance
		}
		resp.Members = append(resp.Members, listed)
	}
	return resp
}

func (m *member) metadata(protocol string) []byte {
	for _, p := range m.protocols {
		if p.Name == protocol {
			return p.Metadata
		}
	}
	return nil
}

// common returns the protocol that all members and the client of `more` support, and that most of them prefer. It
// returns "" if there is no such protocol.
func (g *group) common(more []kmsg.JoinGroupRequestProtocol) string {
	lists := [][]kmsg.JoinGroupRequestProtocol{}
	if more != nil {
		lists = append(lists, more)
	}
	for _, id := range g.order {
		lists = append(lists, g.members[id].protocols)
	}
	knows := func(name string) bool {
		for _, list := range lists {
			if !slices.ContainsFunc(list, func(p kmsg.JoinGroupRequestProtocol) bool { return p.Name == name }) {
				return false
			}
		}
		return true
	}
	votes, best := map[string]int{}, ""
	for _, list := range lists {
		for _, p := range list {
			if knows(p.Name) {
				if votes[p.Name]++; best == "" || votes[p.Name] > votes[best] {
					best = p.Name
				}
				break
			}
		}
	}
	return best
}

func sameProtocols(a, b []kmsg.JoinGroupRequestProtocol) bool {
	return slices.EqualFunc(a, b, func(p, q kmsg.JoinGroupRequestProtocol) bool {
		return p.Name == q.Name && bytes.Equal(p.Metadata, q.Metadata)
	})
}
