package api_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/schema"
)

// unseen are the operations after which front ends show the same, or whose examples change nothing. Those for Git change content
// in jobs.
var unseen = []string{
	"aggregateSiteEvents", "createChangeRequest", "createChangeRequestTemplate", "deleteChangeRequestTemplate",
	"deleteCommentInChangeRequest", "deleteCommentInSpace", "deleteCommentReplyInChangeRequest", "deleteCommentReplyInSpace",
	"deleteLegacyGitInstallation", "eraseSiteVisitor", "exportToGitRepository", "getSiteEventsFunnel", "getSiteEventsRetention",
	"importGitRepository", "postCommentInChangeRequest", "postCommentInSpace", "postCommentReplyInChangeRequest",
	"postCommentReplyInSpace", "removeRequestedReviewerFromChangeRequest", "removeSectionFromGroup",
	"requestReviewersForChangeRequest", "resolveChangeRequestConflict", "searchSiteContent", "submitChangeRequestReview",
	"trackEventsInSiteById", "updateChangeRequest", "updateCommentInChangeRequest", "updateCommentInSpace",
	"updateCommentReplyInChangeRequest", "updateCommentReplyInSpace", "updateSiteInsightsSettings",
}

// TestFrontEndsHear does every operation that writes something of a site, a space, a change request or a specification, and looks
// whether front ends will be told by the name under which they keep it.
func TestFrontEndsHear(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	tags := func(organization string) []string {
		t.Helper()
		if err := h.Store.AskForRevalidation(t.Context(), time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		changes, err := h.Store.FrontEndChanges(t.Context(), organization)
		if err == nil {
			err = h.Store.ForgetFrontEndChanges(t.Context(), changes)
		}
		if err != nil {
			t.Fatal(err)
		}
		return changes.Tags
	}
	var silent []string
	all := apitest.EachOperation(t, h, func(t *testing.T, h *apitest.Harness, op *frame.Operation) {
		if op.Method == http.MethodGet || !strings.Contains(op.Path, "{siteId}") && !strings.Contains(op.Path, "{spaceId}") && !strings.Contains(op.Path, "{specSlug}") {
			return
		}
		path, body := h.Example(op, h.Ours)
		tags(h.Ours.Organization.ID)
		a := h.Do(op.Method, path, h.Ours.Tokens[schema.RoleAdmin], body)
		if a.Status >= 300 {
			t.Errorf("%d %s", a.Status, a.Body)
		}
		got := tags(h.Ours.Organization.ID)
		if len(got) == 0 {
			silent = append(silent, op.ID)
			return
		}
		site, space := schema.SiteTag(h.Ours.Site.ID), schema.SpaceTag(h.Ours.Space.ID)
		if strings.Contains(op.Path, "{siteId}") && strings.Contains(path, h.Ours.Site.ID) && !slices.Contains(got, site) {
			t.Errorf("%q are told, without %q", got, site)
		}
		if strings.Contains(path, h.Ours.Space.ID) && !slices.ContainsFunc(got, func(tag string) bool { return strings.HasPrefix(tag, space) }) {
			t.Errorf("%q are told, without %q", got, space)
		}
	})
	slices.Sort(silent)
	if all && !slices.Equal(silent, unseen) {
		t.Errorf("front ends hear nothing of %q", silent)
	}
}
