package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/frame"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/discussion"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/storetest"
)

// permissionCalls has a row for each resource with permissions. The key is the operation that reads the resource. The
// row names, for each permission boolean, the operation that the boolean allows. If the name is empty, no operation is
// called, and a comment says why.
var permissionCalls = map[string]map[string]string{
	"getOrganizationById": {
		"view": "getOrganizationById", "access": "listSites", "admin": "updateOrganizationById",
		"ownTeam":       "createOrganizationTeam",
		"createContent": "createSite", "createOpenAPISpec": "createOpenAPISpec",
		"ingestConversations": "ingestConversation",
		"viewBilling":         "", // Octavo has no billing.
		"listMembers":         "listMembersInOrganizationById", "listTeams": "listTeamsInOrganizationById",
		"listIntegrations": "getOrganizationIntegrationStatus", "listInstallations": "listOrganizationInstallations",
		"installIntegration": "installIntegration",
	},
	"getSpaceById": {
		"view": "getSpaceById", "access": "getCurrentRevision", "admin": "updateSpaceById",
		"viewInviteLinks": "listOrganizationInviteLinks",
		"edit":            "updateChangeRequestContent", "triggerGitSync": "importGitRepository",
		"comment": "postCommentInSpace", "merge": "mergeChangeRequest", "review": "submitChangeRequestReview",
		"installIntegration": "installIntegrationOnSpace",
	},
	"getCollectionById": {
		"view": "getCollectionById", "admin": "updateCollectionById",
		"viewInviteLinks": "listOrganizationInviteLinks", "create": "createSpace",
	},
	"getCommentInSpace": {
		"view": "getCommentInSpace", "edit": "updateCommentInSpace", "reply": "postCommentReplyInSpace",
		"delete": "deleteCommentInSpace",
	},
	"getCommentReplyInSpace": {
		"view": "getCommentReplyInSpace", "edit": "updateCommentReplyInSpace", "reply": "postCommentReplyInSpace",
		"delete": "deleteCommentReplyInSpace",
	},
	"getCommentInChangeRequest": {
		"view": "getCommentInChangeRequest", "edit": "updateCommentInChangeRequest",
		"reply": "postCommentReplyInChangeRequest", "delete": "deleteCommentInChangeRequest",
	},
	"getCommentReplyInChangeRequest": {
		"view": "getCommentReplyInChangeRequest", "edit": "updateCommentReplyInChangeRequest",
		"reply": "postCommentReplyInChangeRequest", "delete": "deleteCommentReplyInChangeRequest",
	},
	"getOpenAPISpecBySlug":      {"view": "listOpenAPISpecVersions", "edit": "updateOpenAPISpecBySlug"},
	"getTranslation":            {"view": "getTranslation", "edit": "updateTranslation"},
	"getIntegrationByName":      {"admin": "unpublishIntegration"},
	"getTeamInOrganizationById": {"view": "getTeamInOrganizationById", "admin": "updateMembersInOrganizationTeam"},
}

// permissionBodies has the bodies for operations whose example body does not fit the test. All other operations are
// called with their example's body.
var permissionBodies = map[string]string{
	"updateCommentInSpace":              `{"body":{"markdown":"Changed"}}`,
	"updateCommentReplyInSpace":         `{"body":{"markdown":"Changed"}}`,
	"updateCommentInChangeRequest":      `{"body":{"markdown":"Changed"}}`,
	"updateCommentReplyInChangeRequest": `{"body":{"markdown":"Changed"}}`,
	"createSpace":                       `{"title":"Below","parent":"{collectionId}"}`,
}

// permissionCase is a caller with its token.
type permissionCase struct{ name, token string }

// permissionCallers returns members of every role, and guests and readers with grants on the space and the collection.
func permissionCallers(h *apitest.Harness, collection string) []permissionCase {
	h.T.Helper()
	var callers []permissionCase
	for role, token := range h.Ours.Tokens {
		callers = append(callers, permissionCase{fmt.Sprintf("role %q", role), token})
	}
	org, space := h.Ours.Organization.ID, h.Ours.Space.ID
	for _, role := range []schema.Role{schema.RoleGuest, schema.RoleRead} {
		for _, granted := range schema.Roles() {
			if granted == schema.RoleGuest {
				continue
			}
			user, token := storetest.User(h.T, h.Store, schema.NewID())
			if err := h.Store.Orgs.SetMember(h.T.Context(), org, user.ID, role); err != nil {
				h.T.Fatal(err)
			}
			to := store.Subjects{Users: []string{user.ID}}
			for _, target := range []store.GrantTarget{
				{OrganizationID: org, SpaceID: &space}, {OrganizationID: org, CollectionID: &collection},
			} {
				if err := h.Store.Grant(h.T.Context(), target, to, granted); err != nil {
					h.T.Fatal(err)
				}
			}
			callers = append(callers, permissionCase{fmt.Sprintf("role %q granted %s", role, granted), token})
		}
	}
	return callers
}

// TestPermissionsAreWhatCallsDo checks, for every caller, that each permission boolean is true exactly if the call of
// its operation succeeds. A new resource with permissions needs a row, and a new boolean needs an entry.
func TestPermissionsAreWhatCallsDo(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	operations := map[string]*frame.Operation{}
	for i := range h.Table {
		operations[h.Table[i].ID] = &h.Table[i]
	}
	collection := h.Collection(h.Ours, nil)
	callers := permissionCallers(h, collection)
	// example returns a call of an operation on a new object. The space and the collection are always the ones with the
	// grants.
	example := func(h *apitest.Harness, id string) (op *frame.Operation, path string, body any) {
		op = operations[id]
		if op == nil {
			h.T.Fatalf("there is no operation %s", id)
		}
		placed := *op
		placed.Path = strings.NewReplacer("{collectionId}", collection, "{spaceId}", h.Ours.Space.ID).Replace(op.Path)
		path, body = h.Example(&placed, h.Ours)
		if other, ok := permissionBodies[id]; ok {
			body = strings.ReplaceAll(other, "{collectionId}", collection)
		}
		return op, path, body
	}
	for _, level := range []string{`"inherit"`, `"read"`, `null`} {
		restrict := `{"defaultLevel":` + level + `}`
		h.Want(http.StatusOK, "PATCH", "/v1/collections/"+collection, h.Ours.Tokens[schema.RoleAdmin], restrict)
		h.Want(http.StatusOK, "PATCH", "/v1/spaces/"+h.Ours.Space.ID, h.Ours.Tokens[schema.RoleAdmin], restrict)
		for read, booleans := range permissionCalls {
			path := operations[read].Path
			ofContent := strings.HasPrefix(path, "/spaces/") || strings.HasPrefix(path, "/collections/")
			if level != `"inherit"` && !ofContent {
				continue // The level has no effect on this resource.
			}
			t.Run(read+" "+level, func(t *testing.T) {
				comparePermissions(h.In(t), callers, read, booleans, example)
			})
		}
	}
}

// comparePermissions compares the permission booleans of a resource with the answers to the calls.
func comparePermissions(
	h *apitest.Harness, callers []permissionCase, read string, booleans map[string]string,
	example func(h *apitest.Harness, id string) (op *frame.Operation, path string, body any),
) {
	h.T.Helper()
	answered := 0
	for _, caller := range callers {
		op, path, _ := example(h, read)
		a := h.Do(op.Method, path, caller.token, nil)
		if a.Status != http.StatusOK {
			continue
		}
		answered++
		told := apitest.Decode[struct {
			Permissions map[string]bool `json:"permissions"`
		}](h, a).Permissions
		if len(told) != len(booleans) {
			h.T.Fatalf("the resource has %v, the table %v", told, booleans)
		}
		for name, may := range told {
			id, known := booleans[name]
			if !known {
				h.T.Fatalf("the table lacks %s", name)
			}
			if id == "" {
				continue
			}
			call, path, body := example(h, id)
			a := h.Do(call.Method, path, caller.token, body)
			does := a.Status < 300 || a.Status == http.StatusConflict
			if !does && a.Status != http.StatusForbidden && a.Status != http.StatusNotFound {
				h.T.Errorf("%s: %s: %d %s", caller.name, id, a.Status, a.Body)
			}
			if does != may {
				h.T.Errorf("%s: %s is %t, and %s answers %d %s", caller.name, name, may, id, a.Status, a.Body)
			}
		}
	}
	if answered == 0 {
		h.T.Error("nobody reads it")
	}
}

// TestPermissionsOfOwnComments checks the permission booleans of a comment that the caller has written.
func TestPermissionsOfOwnComments(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	text, changed := `{"body":{"markdown":"Mine"}}`, `{"body":{"markdown":"Changed"}}`
	for role, token := range h.Ours.Tokens {
		for _, comments := range []string{
			"/v1/spaces/" + h.Ours.Space.ID + "/comments", h.RequestPath(h.ChangeRequest(h.Ours).ID) + "/comments",
		} {
			a := h.Do("POST", comments, token, text)
			if a.Status != http.StatusOK {
				if role.AtLeast(schema.RoleComment) {
					t.Errorf("%s: %d %s", role, a.Status, a.Body)
				}
				continue
			}
			made := apitest.Decode[discussion.Comment](h, a)
			want := discussion.CommentPermissions{View: true, Edit: true, Reply: true, Delete: true}
			if made.Permissions != want {
				t.Errorf("%s: %+v", role, made.Permissions)
			}
			path := comments + "/" + made.ID
			reply := apitest.Decode[discussion.CommentReply](h, h.Do("POST", path+"/replies", token, text))
			if reply.Permissions != want {
				t.Errorf("%s: %+v", role, reply.Permissions)
			}
			for _, path := range []string{path + "/replies/" + reply.ID, path} {
				h.Want(http.StatusOK, "GET", path, token, nil)
				h.Want(http.StatusOK, "PUT", path, token, changed)
				if a := h.Do("DELETE", path, token, nil); a.Status != http.StatusNoContent {
					t.Errorf("%s: %s: %d %s", role, path, a.Status, a.Body)
				}
			}
		}
	}
}
