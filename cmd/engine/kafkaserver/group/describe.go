package group

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/octavo-docs/octavo/cmd/engine/kafkaserver/journal"
)

// hasCommits reports whether the journal has committed offsets of a group.
func (m *Manager) hasCommits(name string) bool {
	found := false
	m.journal.Each(groupKey(name), func(string, []byte) { found = true })
	return found
}

// List lists all groups.
func (m *Manager) List() *kmsg.ListGroupsResponse {
	resp := &kmsg.ListGroupsResponse{}
	listed := map[string]bool{}
	m.mu.Lock()
	for name, g := range m.groups {
		g.mu.Lock()
		listed[name] = true
		resp.Groups = append(resp.Groups, kmsg.ListGroupsResponseGroup{Group: name, ProtocolType: g.protocolType, GroupState: string(g.state())})
		g.mu.Unlock()
	}
	m.mu.Unlock()
	m.EachCommit(func(name, _ string, _ int32, _ Commit) {
		if !listed[name] {
			listed[name] = true
			resp.Groups = append(resp.Groups, kmsg.ListGroupsResponseGroup{Group: name, GroupState: string(empty)})
		}
	})
	return resp
}

// Describe describes groups and their members.
func (m *Manager) Describe(req *kmsg.DescribeGroupsRequest) *kmsg.DescribeGroupsResponse {
	resp := &kmsg.DescribeGroupsResponse{}
	for _, name := range req.Groups {
		answer := kmsg.NewDescribeGroupsResponseGroup()
		answer.Group, answer.State = name, string(dead)
		if g := m.group(name, false); g != nil {
			g.describe(&answer)
		} else if m.hasCommits(name) {
			answer.State = string(empty)
		}
		resp.Groups = append(resp.Groups, answer)
	}
	return resp
}

func (g *group) describe(answer *kmsg.DescribeGroupsResponseGroup) {
	g.mu.Lock()
	defer g.mu.Unlock()
	answer.State, answer.ProtocolType = string(g.state()), g.protocolType
	if g.phase == stable {
		answer.Protocol = g.protocol
	}
	for _, id := range g.order {
		m := g.members[id]
		listed := kmsg.NewDescribeGroupsResponseGroupMember()
		listed.MemberID, listed.ClientID, listed.ClientHost = id, m.client.ID, m.client.Host
		if m.instance != "" {
			instance := m.instance
			listed.InstanceID = &instance
		}
		listed.ProtocolMetadata, listed.MemberAssignment = m.metadata(g.protocol), m.assignment
		if listed.ProtocolMetadata == nil {
			listed.ProtocolMetadata = []byte{}
		}
		if listed.MemberAssignment == nil {
			listed.MemberAssignment = []byte{}
		}
		answer.Members = append(answer.Members, listed)
	}
}

// Delete deletes the committed offsets of groups without members.
func (m *Manager) Delete(req *kmsg.DeleteGroupsRequest) *kmsg.DeleteGroupsResponse {
	resp := &kmsg.DeleteGroupsResponse{}
	for _, name := range req.Groups {
		resp.Groups = append(resp.Groups, kmsg.DeleteGroupsResponseGroup{Group: name, ErrorCode: m.delete(name)})
	}
	return resp
}

func (m *Manager) delete(name string) int16 {
	g := m.group(name, false)
	if g == nil && !m.hasCommits(name) {
		return codeGroupNotFound
	}
	if g = m.group(name, true); g == nil {
		return codeNotAvailable
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.members) > 0 {
		return codeNonEmptyGroup
	}
	m.journal.Barrier()
	var entries []journal.Entry
	m.journal.Each(groupKey(name), func(key string, _ []byte) { entries = append(entries, journal.Entry{Key: key}) })
	if len(entries) > 0 && m.journal.Put(entries...) != nil {
		return codeNotAvailable
	}
	return none
}
