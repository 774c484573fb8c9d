package frame

import (
	"cmp"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/postgres"
)

// acting tells the audit log who makes the changes of a call. It is valid only during the call.
type acting struct {
	c  *call
	op *Operation
}

// Actor returns the caller for the audit log.
func (a acting) Actor() postgres.Actor {
	who := postgres.Actor{Type: schema.ActorAnonymous, Operation: a.op.ID, RequestID: a.c.RequestID()}
	if a.c.IP.IsValid() {
		who.Address = a.c.IP.String()
	}
	p := a.c.Principal
	if p == nil {
		return who
	}
	who.TokenID, who.TokenKind = p.TokenID, string(p.Kind)
	if p.UserID != "" {
		who.Type, who.ID = schema.ActorUser, p.UserID
	} else { // The token has no user.
		who.Type, who.ID = schema.AuditActorType(p.Kind), cmp.Or(p.SiteID, p.TokenID)
	}
	return who
}
