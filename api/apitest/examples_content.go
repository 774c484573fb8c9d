package apitest

import (
	"time"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/storetest"
)

func changeRequestExamples() {
	request := func(h *Harness, tenant *storetest.Tenant) map[string]string {
		return map[string]string{"changeRequestId": h.ChangeRequest(tenant).ID}
	}
	Examples["createChangeRequest"] = example{body: `{"subject":"Fresh","agentTaskId":"t","labels":["x"]}`}
	Examples["updateChangeRequestById"] = example{body: `{"subject":"Better","status":"open"}`, Make: request}
	for _, id := range []string{
		"getChangeRequestById", "mergeChangeRequest", "updateChangeRequest", "getChangeRequestPDF", "getRevisionOfChangeRequestById",
		"listPagesInChangeRequest", "getChangeRequestChanges",
	} {
		Examples[id] = example{Make: request}
	}
}

func conflictExamples() {
	conflict := func(h *Harness, tenant *storetest.Tenant) map[string]string {
		request, id := h.Conflicting(tenant)
		return map[string]string{"changeRequestId": request.ID, "conflictId": id}
	}
	Examples["listChangeRequestConflicts"] = example{Make: conflict}
	Examples["resolveChangeRequestConflict"] = example{body: `{"take":"value","value":"Both"}`, Make: conflict}
}

func templateExamples() {
	template := func(h *Harness, tenant *storetest.Tenant) map[string]string {
		h.T.Helper()
		row, err := h.Store.CreateRequestTemplate(h.T.Context(), store.NewRequestTemplate{SpaceID: tenant.Space.ID, Title: "Release"})
		if err != nil {
			h.T.Fatal(err)
		}
		return map[string]string{"templateId": row.ID}
	}
	Examples["createChangeRequestTemplate"] = example{body: `{"title":"Release","pages":[{"title":"Notes","document":{"markdown":"# New"}}]}`}
	Examples["getChangeRequestTemplate"] = example{Make: template}
	Examples["deleteChangeRequestTemplate"] = example{Make: template}
}

func commentsExamples() {
	const words = `{"body":{"markdown":"Because."}}`
	for i, place := range []string{"InSpace", "InChangeRequest"} {
		objects := discussed(i == 1)
		for operation, ex := range map[string]example{
			"listComments": {}, "postComment": {body: words}, "getComment": {},
			"updateComment": {body: words, Needs: access.RightAdmin}, "deleteComment": {Needs: access.RightAdmin},
			"listCommentReplies": {}, "postCommentReply": {body: words}, "getCommentReply": {},
			"updateCommentReply": {body: words, Needs: access.RightAdmin}, "deleteCommentReply": {Needs: access.RightAdmin},
		} {
			ex.Make = objects
			Examples[operation+place] = ex
		}
	}
}

func contentExamples() {
	Examples["updateChangeRequestContent"] = example{
		body: `{"changes":[{"operation":"insert_page","title":"Hello","document":{"markdown":"# Hi"}}]}`,
		Make: func(h *Harness, tenant *storetest.Tenant) map[string]string {
			return map[string]string{"changeRequestId": h.ChangeRequest(tenant).ID}
		},
	}
	page := func(h *Harness, tenant *storetest.Tenant) map[string]string {
		id, path, revision := h.MergedPage(tenant)
		return map[string]string{"pageId": id, "pagePath": path, "revisionId": revision}
	}
	for _, id := range []string{
		"getPageById", "getPageByPath", "getRevisionById", "listPagesInRevisionById", "getPageInRevisionById", "getPageDocumentInRevisionById",
		"getPageInRevisionByPath", "listRevisionPageMetaLinks", "listSpacePageMetaLinks", "getRevisionSemanticChanges",
	} {
		Examples[id] = example{Make: page}
	}
	inRequest := func(h *Harness, tenant *storetest.Tenant) map[string]string {
		made := page(h, tenant)
		made["changeRequestId"] = h.ChangeRequest(tenant).ID
		return made
	}
	for _, id := range []string{"getPageInChangeRequestById", "getPageInChangeRequestByPath", "listChangeRequestPageMetaLinks"} {
		Examples[id] = example{Make: inRequest}
	}
	Examples["getDocumentById"] = example{Make: func(h *Harness, tenant *storetest.Tenant) map[string]string {
		_, document := h.writePage(tenant, schema.Block("paragraph", schema.Text("Written")))
		return map[string]string{"documentId": document}
	}}
	// The server never connects to port 22, so these tests send nothing to the network.
	Examples["getEmbedByUrlInSpace"] = example{query: "?url=http://a.example:22/"}
	Examples["getEmbedByUrl"] = example{query: "?url=http://a.example:22/"}
	Examples["searchSpaceContent"] = example{query: "?query=hello"}
	Examples["searchOrganizationContent"] = example{query: "?query=hello"}
	Examples["searchSiteContent"] = example{body: `{"query":"hello","mode":"all"}`}
	signed := func(path string) example {
		return example{query: "?{signed}", Make: func(h *Harness, tenant *storetest.Tenant) map[string]string {
			return map[string]string{"signed": h.signed(tenant, path)}
		}}
	}
	Examples["downloadPDF"], Examples["downloadFile"] = signed("/exports/pdf"), signed("/exports/file")
}

func gitExamples() {
	Examples["cancelGitOperation"] = example{Make: func(h *Harness, tenant *storetest.Tenant) made {
		o, err := h.Store.QueueGitOperation(h.T.Context(), store.NewGitOperation{
			OrganizationID: tenant.Organization.ID, SpaceID: tenant.Space.ID, Kind: schema.GitImport,
			URL: "https://git.example/acme/docs.git", Ref: "refs/heads/main", Timestamp: time.Now(),
			UserID: tenant.Users[schema.RoleAdmin].ID,
		})
		if err != nil {
			h.T.Fatal(err)
		}
		return made{"operationId": o.ID}
	}}
	Examples["importGitRepository"] = example{body: ImportBody}
	Examples["exportToGitRepository"] = example{body: `{"url":"https://git.example/acme/docs.git","ref":"refs/heads/main","commitMessage":"Sync"}`}
	Examples["getSpaceGitInfo"] = example{Make: func(h *Harness, tenant *storetest.Tenant) map[string]string {
		h.Synchronized(tenant.Space.ID)
		return nil
	}}
}

func glossaryExamples() {
	Examples["updateGlossaryEntries"] = example{body: `{"operations":[{"type":"insert","translations":{"en":"page"}}]}`}
	Examples["getGlossaryEntry"] = example{Make: func(h *Harness, tenant *storetest.Tenant) map[string]string {
		h.T.Helper()
		ids, err := h.Store.UpdateGlossary(h.T.Context(), tenant.Organization.ID, []store.GlossaryOperation{
			{Type: schema.GlossaryInsert, Translations: map[string]string{"en": "space"}},
		})
		if err != nil {
			h.T.Fatal(err)
		}
		return map[string]string{"glossaryEntryId": ids[0]}
	}}
}

func reviewsExamples() {
	objects := func(h *Harness, tenant *storetest.Tenant) map[string]string {
		h.T.Helper()
		request := h.ChangeRequest(tenant)
		reader, admin := tenant.Users[schema.RoleReview].ID, tenant.Users[schema.RoleAdmin].ID
		_, err := h.Store.RequestReviewers(h.T.Context(), store.ReviewRequest{
			ChangeRequestID: request.ID, UserIDs: []string{reader}, RequestedBy: admin,
		})
		if err != nil {
			h.T.Fatal(err)
		}
		review, err := h.Store.CreateReview(h.T.Context(), store.NewReview{
			Place:  store.Place{SpaceID: request.SpaceID, ChangeRequestID: &request.ID},
			UserID: admin, Status: schema.ReviewApproved, Comment: store.CommentBody{Sent: []byte(`{"markdown":"Fine."}`)},
		})
		if err != nil {
			h.T.Fatal(err)
		}
		return map[string]string{"changeRequestId": request.ID, "userId": reader, "reviewId": review.ID}
	}
	Examples["getRequestedReviewersByChangeRequestId"] = example{Make: objects}
	Examples["requestReviewersForChangeRequest"] = example{Make: objects, body: `{"users":["{userId}"]}`}
	Examples["removeRequestedReviewerFromChangeRequest"] = example{Make: objects}
	Examples["getReviewsByChangeRequestId"] = example{Make: objects}
	Examples["submitChangeRequestReview"] = example{Make: objects, body: `{"status":"approved"}`}
	Examples["getChangeRequestReviewById"] = example{Make: objects}
}

func translationsExamples() {
	const body = `{"source":{"space":"{sourceId}","language":"en"},"language":"fr"}`
	// A space has at most one translation per language, so each example creates its own space.
	source := func(h *Harness, tenant *storetest.Tenant) map[string]string {
		h.T.Helper()
		return map[string]string{"sourceId": h.FreshSpace(tenant, "Source").ID}
	}
	make := func(h *Harness, tenant *storetest.Tenant) map[string]string {
		h.T.Helper()
		row, err := h.Store.CreateTranslation(h.T.Context(), store.NewTranslation{
			OrganizationID: tenant.Organization.ID, SourceSpaceID: h.FreshSpace(tenant, "Source").ID, SourceLanguage: "en", Language: "de",
			Instructions: []byte(`{"object":"document","data":{},"nodes":[]}`),
		})
		if err != nil {
			h.T.Fatal(err)
		}
		return map[string]string{"translationId": row.ID}
	}
	Examples["createTranslation"] = example{body: body, Make: source}
	Examples["updateTranslation"] = example{body: `{"instructions":{"object":"document","data":{},"nodes":[]}}`, Make: make}
	for _, id := range []string{"getTranslation", "deleteTranslation", "runTranslation"} {
		Examples[id] = example{Make: make}
	}
	runs := func(h *Harness, tenant *storetest.Tenant) map[string]string {
		h.T.Helper()
		values := make(h, tenant)
		if err := h.Store.RequestTranslationRun(h.T.Context(), tenant.Organization.ID, values["translationId"]); err != nil {
			h.T.Fatal(err)
		}
		page, err := h.Store.ListTranslationRuns(h.T.Context(), values["translationId"], "", 1)
		if err != nil {
			h.T.Fatal(err)
		}
		values["runId"] = page.Rows[0].ID
		return values
	}
	Examples["listTranslationRuns"] = example{Make: runs}
	Examples["getTranslationRun"] = example{Make: runs}
}
