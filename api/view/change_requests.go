package view

import (
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/orgs"
)

func (v Presenter) ChangeRequest(row store.ChangeRequestRow, author orgs.User) (schema.ChangeRequest, error) {
	r := row.ChangeRequest
	resource := schema.ChangeRequest{
		Object: "change-request", ID: r.ID, Number: r.Number, Status: r.Status, Subject: r.Subject, CreatedBy: v.User(author),
		CreatedAt: r.CreatedAt.UTC(), UpdatedAt: r.UpdatedAt.UTC(), Space: r.SpaceID, Revision: r.Revision,
		RevisionInitial: r.RevisionInitial, RevisionMergedAncestor: schema.Or(r.RevisionMergedAncestor, ""),
		RevisionMerged: schema.Or(r.RevisionMerged, ""), Comments: r.OpenComments, Outdated: row.Outdated(),
		ConversationsIssuesCluster: schema.Or(r.ClusterID, ""), URLs: v.changeRequestURLs(r.SpaceID, r.ID),
	}
	if r.Description != nil {
		description, err := schema.DecodeJSON[schema.Document](r.Description)
		if err != nil {
			return schema.ChangeRequest{}, err
		}
		resource.Description = &description
	}
	return resource, nil
}
