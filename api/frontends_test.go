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

// unseen has the operations after which front ends get no notification: the operation or its example changes nothing
// that front ends show. A Git operation is in the list because a job changes the content later.
var unseen = []string{
	"aggregateSiteEvents", "cancelGitOperation", "checkSiteInstallation", "createChangeRequest",
	"createChangeRequestTemplate",
	"createSiteAnnotation", "createSiteInsightsShareLink", "createSiteInsightsToken",
	"createSitePublishableKey", "createSiteSavedSegment", "deleteChangeRequestTemplate",
	"deleteCommentInChangeRequest", "deleteCommentInSpace", "deleteCommentReplyInChangeRequest",
	"deleteCommentReplyInSpace", "deleteLegacyGitInstallation", "deleteSiteAnnotation",
	"deleteSiteInsightsShareLink", "deleteSiteInsightsToken", "deleteSitePublishableKey",
	"deleteSiteSavedSegment", "eraseSiteEventKey", "eraseSiteVisitor", "exportToGitRepository",
	"getSiteEventsFunnel", "getSiteEventsRetention", "getSiteEventsTransitions", "importGitRepository", "inviteToSpace",
	"listSiteInsightsPages", "postCommentInChangeRequest", "postCommentInSpace",
	"postCommentReplyInChangeRequest", "postCommentReplyInSpace", "querySiteInsights",
	"removeRequestedReviewerFromChangeRequest", "removeSectionFromGroup", "removeTeamFromSpace",
	"removeUserFromSpace", "requestReviewersForChangeRequest", "resolveChangeRequestConflict",
	"rotateSitePublishableKey", "searchSiteContent", "submitChangeRequestReview", "trackEventsInSiteById",
	"uninstallIntegrationFromSite", "uninstallIntegrationFromSpace", "updateChangeRequest",
	"updateCommentInChangeRequest", "updateCommentInSpace", "updateCommentReplyInChangeRequest",
	"updateCommentReplyInSpace", "updateIntegrationSiteInstallation", "updateIntegrationSpaceInstallation",
	"updateOpenAPISpecBySlug", "updateSiteAnnotation", "updateSiteInsightsSettings",
	"updateSiteInsightsShareLink", "updateSitePublishableKey", "updateSiteSavedSegment",
	"updateTeamPermissionInSpace", "updateUserPermissionInSpace",
}

// TestFrontEndsHear calls every operation that changes a site, a space, a change request or a specification. The
// notification for front ends must have the tag of the changed object.
func TestFrontEndsHear(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	tags := func(organization string) []string {
		t.Helper()
		if err := h.Store.Hooks.AskForRevalidation(t.Context(), -time.Hour); err != nil {
			t.Fatal(err)
		}
		changes, err := h.Store.Hooks.FrontEndChanges(t.Context(), organization)
		if err == nil {
			err = h.Store.Hooks.ForgetFrontEndChanges(t.Context(), changes)
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

// TestFrontEndsHearOfPlaces: if a change of a site changes the published addresses of a space, front ends are notified
// of the space.
func TestFrontEndsHearOfPlaces(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	admin, space := h.Ours.Tokens[schema.RoleAdmin], "/v1/spaces/"+h.Ours.Space.ID
	site := "/v1/orgs/" + h.Ours.Organization.ID + "/sites/" + h.Ours.Site.ID
	other := h.FreshSpace(h.Ours, "Other").ID
	var section, part string
	last := ""
	for _, step := range []struct {
		name string
		run  func() map[string]any
	}{
		{"publish", func() map[string]any { return h.Want(http.StatusOK, "POST", site+"/publish", admin, nil) }},
		{"unlist", func() map[string]any {
			return h.Want(http.StatusOK, "PATCH", site, admin, map[string]any{"visibility": "unlisted"})
		}},
		{"proxy", func() map[string]any {
			return h.Want(http.StatusOK, "PATCH", site, admin, map[string]any{"proxy": "example.com/docs"})
		}},
		{"another default", func() map[string]any {
			part = h.Want(http.StatusCreated, "POST", site+"/site-spaces", admin, map[string]any{"spaceId": other})["id"].(string)
			return h.Want(http.StatusOK, "PATCH", site, admin, map[string]any{"defaultSiteSpace": part})
		}},
		{"another path", func() map[string]any {
			for _, row := range h.Want(http.StatusOK, "GET", site+"/site-spaces", admin, nil)["items"].([]any) {
				if row := row.(map[string]any); row["id"] != part {
					return h.Want(http.StatusOK, "PATCH", site+"/site-spaces/"+row["id"].(string), admin, map[string]any{"path": "guide"})
				}
			}
			return nil
		}},
		{"a section with the path", func() map[string]any {
			added := h.Want(http.StatusCreated, "POST", site+"/sections", admin, map[string]any{"spaceId": h.FreshSpace(h.Ours, "New").ID, "title": "Guide"})
			section = added["id"].(string)
			return added
		}},
		{"a section with another path", func() map[string]any {
			return h.Want(http.StatusOK, "PATCH", site+"/sections/"+section, admin, map[string]any{"path": "elsewhere"})
		}},
		{"unpublish", func() map[string]any { return h.Want(http.StatusOK, "POST", site+"/unpublish", admin, nil) }},
	} {
		h.Exec("delete from front_end_changes")
		step.run()
		urls := h.Want(http.StatusOK, "GET", space, admin, nil)
		is, _ := urls["urls"].(map[string]any)["published"].(string)
		if is += urls["visibility"].(string); is == last {
			t.Errorf("%s: the space still says %s", step.name, is)
		}
		last = is
		var told bool
		const changed = "select exists (select from front_end_changes where tag = $1)"
		err := h.DB.QueryRow(t.Context(), changed, schema.SpaceTag(h.Ours.Space.ID)).Scan(&told)
		if err != nil || !told {
			t.Errorf("%s: front ends do not hear that the space is at %s (%v)", step.name, is, err)
		}
	}
}
