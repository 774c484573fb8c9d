package group

import (
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Sync answers with the member's assignment when the leader has sent it.
func (m *Manager) Sync(req *kmsg.SyncGroupRequest) *kmsg.SyncGroupResponse {
	resp := &kmsg.SyncGroupResponse{}
	g := m.group(req.Group, false)
	if g == nil {
		resp.ErrorCode = codeUnknownMember
		return resp
	}
	wait := make(chan *kmsg.SyncGroupResponse, 1)
	if resp.ErrorCode = g.sync(req, wait); resp.ErrorCode != none {
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

func (g *group) sync(req *kmsg.SyncGroupRequest, wait chan *kmsg.SyncGroupResponse) int16 {
	g.mu.Lock()
	defer g.mu.Unlock()
	m, code := g.check(req.MemberID, req.InstanceID, req.Generation)
	if code != none {
		return code
	}
	switch {
	case req.ProtocolType != nil && *req.ProtocolType != g.protocolType, req.Protocol != nil && *req.Protocol != g.protocol:
		return codeInconsistentProtocol
	case g.phase == preparing:
		return codeRebalanceInProgress
	}
	g.touch(m)
	m.answerSync(&kmsg.SyncGroupResponse{ErrorCode: codeRebalanceInProgress})
	m.sync = wait
	if g.phase == stable {
		m.answerSync(g.assigned(m))
		return none
	}
	if m.id != g.leader {
		return none
	}
	for _, a := range req.GroupAssignment {
		if other := g.members[a.MemberID]; other != nil {
			other.assignment = a.MemberAssignment
		}
	}
	g.phase = stable
	g.awaited.Stop()
	for _, other := range g.members {
		if other.sync != nil {
			other.answerSync(g.assigned(other))
			g.touch(other)
		}
	}
	return none
}

func (g *group) assigned(m *member) *kmsg.SyncGroupResponse {
	protocolType, protocol := g.protocolType, g.protocol
	assignment := m.assignment
	if assignment == nil {
		assignment = []byte{}
	}
	return &kmsg.SyncGroupResponse{ProtocolType: &protocolType, Protocol: &protocol, MemberAssignment: assignment}
}

// Heartbeat restarts a member's session timeout.
func (m *Manager) Heartbeat(req *kmsg.HeartbeatRequest) *kmsg.HeartbeatResponse {
	resp := &kmsg.HeartbeatResponse{ErrorCode: codeUnknownMember}
	g := m.group(req.Group, false)
	if g == nil {
		return resp
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	who, code := g.check(req.MemberID, req.InstanceID, req.Generation)
	if resp.ErrorCode = code; code != none {
		return resp
	}
	g.touch(who)
	if g.phase == preparing {
		resp.ErrorCode = codeRebalanceInProgress
	}
	return resp
}

// Leave removes members immediately.
func (m *Manager) Leave(req *kmsg.LeaveGroupRequest) *kmsg.LeaveGroupResponse {
	resp := &kmsg.LeaveGroupResponse{}
	leaving := req.Members
	if req.Version < 3 {
		leaving = []kmsg.LeaveGroupRequestMember{{MemberID: req.MemberID}}
	}
	g := m.group(req.Group, false)
	if g != nil {
		g.mu.Lock()
		defer g.mu.Unlock()
	}
	removed := false
	for _, who := range leaving {
		answer := kmsg.LeaveGroupResponseMember{MemberID: who.MemberID, InstanceID: who.InstanceID, ErrorCode: codeUnknownMember}
		if g != nil {
			answer.ErrorCode = g.leave(who)
			removed = removed || answer.ErrorCode == none
		}
		resp.Members = append(resp.Members, answer)
	}
	if req.Version < 3 {
		resp.ErrorCode = resp.Members[0].ErrorCode
	}
	if removed {
		g.changed()
	}
	return resp
}

func (g *group) leave(who kmsg.LeaveGroupRequestMember) int16 {
	if timer, promised := g.pending[who.MemberID]; promised {
		timer.Stop()
		delete(g.pending, who.MemberID)
		return none
	}
	m := g.members[who.MemberID]
	if who.MemberID == "" {
		m = g.static(who.InstanceID)
	} else if code := g.checkInstance(who.MemberID, who.InstanceID); code != none {
		return code
	}
	if m == nil {
		return codeUnknownMember
	}
	g.remove(m)
	return none
}
