package content_test

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"

	"github.com/octavo-docs/octavo/api/access"
	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/postgres"
)

// contentModel is a tree of collections and spaces in memory, with the grants on them.
type contentModel struct {
	nodes map[string]*contentNode
	// order has, by collection, the ids of its children. The top level has the key "".
	order map[string][]string
}

type contentNode struct {
	kind, parent string
	level        schema.Level
	// grants maps the id of a user or of a team to its role.
	grants map[string]schema.Role
}

func (m *contentModel) depth(id string) (n int) {
	for ; id != ""; id = m.nodes[id].parent {
		n++
	}
	return n
}

func (m *contentModel) height(id string) int {
	n := 0
	for _, child := range m.order[id] {
		if m.nodes[child].kind == "collection" {
			n = max(n, m.height(child))
		}
	}
	return n + 1
}

func (m *contentModel) within(id, ancestor string) bool {
	for ; id != ""; id = m.nodes[id].parent {
		if id == ancestor {
			return true
		}
	}
	return false
}

// role returns the role that a user has on a node. The role follows from the grants and the levels of the node and its
// ancestors. `names` has the ids of the user and of the user's teams.
func (m *contentModel) role(role schema.Role, names []string, id string) schema.Role {
	if role == schema.RoleAdmin {
		return role
	}
	best := schema.RoleGuest
	for at := id; at != ""; at = m.nodes[at].parent {
		for _, name := range names {
			if given := m.nodes[at].grants[name]; given.AtLeast(best) {
				best = given
			}
		}
	}
	level := schema.LevelInherit
	for at := id; at != "" && level == schema.LevelInherit; at = m.nodes[at].parent {
		level = m.nodes[at].level
	}
	base := schema.Role(level)
	if level == schema.LevelInherit {
		base = role
	}
	if role != schema.RoleGuest && base.AtLeast(best) {
		best = base
	}
	return best
}

func (m *contentModel) kinds(kind string) []string {
	ids := []string{}
	for _, id := range slices.Sorted(maps.Keys(m.nodes)) {
		if m.nodes[id].kind == kind {
			ids = append(ids, id)
		}
	}
	return ids
}

func (m *contentModel) detach(id string) {
	parent := m.nodes[id].parent
	m.order[parent] = slices.DeleteFunc(slices.Clone(m.order[parent]), func(other string) bool { return other == id })
}

func (m *contentModel) attach(id, parent string, at int) {
	m.nodes[id].parent = parent
	m.order[parent] = slices.Insert(slices.Clone(m.order[parent]), at, id)
}

// modelRun applies every action to the store and to the model.
type modelRun struct {
	*rapid.T
	h     *apitest.Harness
	model *contentModel
	org   string
	users map[string]schema.Role
	teams map[string][]string
}

func (r *modelRun) pick(label string, from []string) string {
	return rapid.SampledFrom(from).Draw(r.T, label)
}

func (r *modelRun) ok(err error) {
	if err != nil {
		r.Fatal(err)
	}
}

func idOrNil(id string) *string {
	if id == "" {
		return nil
	}
	return &id
}

func (r *modelRun) create() {
	parent := r.pick("in", append(r.model.kinds("collection"), ""))
	kind := r.pick("kind", []string{"collection", "collection", "space"})
	var id string
	if kind == "space" {
		row, err := r.h.Store.CreateSpace(r.h.T.Context(), store.NewSpace{
			OrganizationID: r.org, ParentID: idOrNil(parent), Title: "Space", Emoji: "1f4d6", EditMode: "live",
		})
		r.ok(err)
		id = row.ID
	} else {
		row, err := r.h.Store.CreateCollection(r.h.T.Context(), store.NewCollection{OrganizationID: r.org, ParentID: idOrNil(parent)})
		if r.model.depth(parent) == store.MaxNesting {
			if !schema.IsCode(err, schema.CodeBadRequest) {
				r.Fatalf("too deep: %v", err)
			}
			return
		}
		r.ok(err)
		id = row.ID
	}
	r.model.nodes[id] = &contentNode{kind: kind, level: schema.LevelInherit, grants: map[string]schema.Role{}}
	r.model.attach(id, parent, len(r.model.order[parent]))
}

func (r *modelRun) move() {
	m := r.model
	id := r.pick("moved", m.kinds("collection"))
	parent := r.pick("to", append(m.kinds("collection"), ""))
	move := store.Move{SetParent: true, ParentID: idOrNil(parent)}
	others := slices.DeleteFunc(slices.Clone(m.order[parent]), func(other string) bool { return other == id })
	at := len(others)
	if len(others) > 0 && rapid.Bool().Draw(r.T, "placed") {
		at = rapid.IntRange(0, len(others)-1).Draw(r.T, "at")
		if rapid.Bool().Draw(r.T, "before") {
			move.Before = &store.Neighbor{Type: m.nodes[others[at]].kind, ID: others[at], Field: "before"}
		} else {
			move.After = &store.Neighbor{Type: m.nodes[others[at]].kind, ID: others[at], Field: "after"}
			at++
		}
	}
	_, err := r.h.Store.MoveCollection(r.h.T.Context(), r.org, id, move)
	want := schema.Code(0)
	switch {
	case m.within(parent, id) || m.depth(parent)+m.height(id) > store.MaxNesting:
		want = schema.CodeBadRequest
	case parent == m.nodes[id].parent && slices.Index(m.order[parent], id) == at:
		want = schema.CodeConflict
	}
	if want != 0 {
		if !schema.IsCode(err, want) {
			r.Fatalf("want %d, got %v", want, err)
		}
		return
	}
	r.ok(err)
	m.detach(id)
	m.attach(id, parent, at)
}

func (r *modelRun) remove() {
	m := r.model
	id := r.pick("removed", slices.Sorted(maps.Keys(m.nodes)))
	node := m.nodes[id]
	if node.kind == "space" {
		r.ok(r.h.Store.DeleteSpace(r.h.T.Context(), id))
		m.detach(id)
		delete(m.nodes, id)
		return
	}
	before := r.rights()
	r.ok(r.h.Store.DeleteCollection(r.h.T.Context(), r.org, id))
	at, children := slices.Index(m.order[node.parent], id), m.order[id]
	m.detach(id)
	for i, child := range children {
		in := m.nodes[child]
		if in.level == schema.LevelInherit {
			in.level = node.level
		}
		for name, role := range node.grants {
			if role.AtLeast(in.grants[name]) {
				in.grants[name] = role
			}
		}
		m.attach(child, node.parent, at+i)
	}
	delete(m.nodes, id)
	delete(m.order, id)
	maps.DeleteFunc(before, func(key string, _ schema.Role) bool { return key[len(key)-len(id):] == id })
	if diff := cmp.Diff(before, r.rights()); diff != "" {
		r.Fatalf("deleting a collection changed somebody's access: %s", diff)
	}
}

func (r *modelRun) grant() {
	id := r.pick("on", slices.Sorted(maps.Keys(r.model.nodes)))
	node := r.model.nodes[id]
	role := rapid.SampledFrom(append(schema.Roles(), schema.RoleGuest)).Draw(r.T, "role")
	to, name := store.Subjects{}, r.pick("for", append(slices.Sorted(maps.Keys(r.users)), slices.Sorted(maps.Keys(r.teams))...))
	if _, isUser := r.users[name]; isUser {
		to.Users = []string{name}
	} else {
		to.Teams = []string{name}
	}
	r.ok(r.h.Store.Grant(r.h.T.Context(), r.target(id), to, role))
	node.grants[name] = role
}

func (r *modelRun) target(id string) store.GrantTarget {
	if r.model.nodes[id].kind == "space" {
		return store.GrantTarget{OrganizationID: r.org, SpaceID: &id}
	}
	return store.GrantTarget{OrganizationID: r.org, CollectionID: &id}
}

func (r *modelRun) level() {
	id := r.pick("level of", slices.Sorted(maps.Keys(r.model.nodes)))
	level := rapid.SampledFrom([]string{"", "inherit", "read", "edit", "create", "admin"}).Draw(r.T, "level")
	set := schema.Opt[string]{Set: true, Value: idOrNil(level)}
	var err error
	if r.model.nodes[id].kind == "space" {
		_, err = r.h.Store.UpdateSpace(r.h.T.Context(), id, store.SpaceChange{DefaultLevel: set})
	} else {
		_, err = r.h.Store.UpdateCollection(r.h.T.Context(), id, store.CollectionChange{DefaultLevel: set})
	}
	r.ok(err)
	r.model.nodes[id].level = schema.Level(level)
}

// rights returns the role that every user has on every node in the model.
func (r *modelRun) rights() map[string]schema.Role {
	all := map[string]schema.Role{}
	for user, role := range r.users {
		names := []string{user}
		for team, members := range r.teams {
			if slices.Contains(members, user) {
				names = append(names, team)
			}
		}
		for id := range r.model.nodes {
			all[user+" "+id] = r.model.role(role, names, id)
		}
	}
	return all
}

// check compares the tree, its order and the rights in the store with the model.
func (r *modelRun) check() {
	ctx := r.h.T.Context()
	rows, err := r.h.DB.Query(ctx, `select coalesce(parent_id, ''), id from (
		select id, parent_id, position from collections where organization_id = $1
		union all select id, parent_id, position from spaces where organization_id = $1) k order by position, id`, r.org)
	r.ok(err)
	order := map[string][]string{}
	var parent, id string
	_, err = pgx.ForEachRow(rows, []any{&parent, &id}, func() error {
		order[parent] = append(order[parent], id)
		return nil
	})
	r.ok(err)
	want := maps.Clone(r.model.order)
	maps.DeleteFunc(want, func(_ string, children []string) bool { return len(children) == 0 })
	if diff := cmp.Diff(want, order); diff != "" {
		r.Fatalf("structure: %s", diff)
	}
	rights := r.rights()
	sampled := ""
	if nodes := slices.Sorted(maps.Keys(r.model.nodes)); len(nodes) > 0 {
		sampled = r.pick("sampled", nodes)
	}
	for user, role := range r.users {
		listed := map[string]postgres.ContentAccess{}
		viewer := postgres.Viewer{UserID: user, Role: role}
		collections, err := r.h.Store.ListCollections(ctx, viewer, r.org, true, nil, 1000)
		r.ok(err)
		spaces, err := r.h.Store.ListSpaces(ctx, viewer, r.org, "", 1000)
		r.ok(err)
		for _, row := range collections.Rows {
			listed[row.Collection.ID] = row.ContentAccess
		}
		for _, row := range spaces.Rows {
			listed[row.Space.ID] = row.ContentAccess
		}
		if collections.Total+spaces.Total != int64(len(listed)) {
			r.Fatalf("counts %d and %d of %d", collections.Total, spaces.Total, len(listed))
		}
		single, err := r.h.Store.SpacesByID(ctx, user, r.model.kinds("space"))
		r.ok(err)
		for _, id := range slices.Sorted(maps.Keys(r.model.nodes)) {
			has := rights[user+" "+id]
			wanted := access.Rights(0)
			if has != schema.RoleGuest {
				wanted = access.RightsOf(access.Access{Role: has})
			}
			if id == sampled && r.model.nodes[id].kind == "collection" {
				r.checkCollection(viewer, id, has, rights)
			}
			found, seen := listed[id]
			if seen != (wanted != 0) || seen && access.ContentRights(found) != wanted {
				r.Fatalf("%s sees %s in a list: %t %+v, want %q", user, id, seen, found, has)
			}
			switch {
			case r.model.nodes[id].kind == "space":
				found = single[id].ContentAccess
			case id == sampled:
				row, err := r.h.Store.Collection(ctx, user, id)
				r.ok(err)
				found = row.ContentAccess
			default:
				continue
			}
			if access.ContentRights(found) != wanted {
				r.Fatalf("%s on %s: %+v, want %q", user, id, found, has)
			}
			if id == sampled {
				r.checkPeople(id, found.Level, rights)
			}
		}
	}
	r.checkNumbers(rights)
}

// checkCollection compares which spaces of a collection a user sees.
func (r *modelRun) checkCollection(viewer postgres.Viewer, id string, has schema.Role, rights map[string]schema.Role) {
	ctx := r.h.T.Context()
	in, err := r.h.Store.Collection(ctx, viewer.UserID, id)
	r.ok(err)
	if has == schema.RoleGuest {
		return
	}
	want := map[string]access.Rights{}
	for _, child := range r.model.order[id] {
		if role := rights[viewer.UserID+" "+child]; r.model.nodes[child].kind == "space" && role != schema.RoleGuest {
			want[child] = access.RightsOf(access.Access{Role: role})
		}
	}
	spaces, err := r.h.Store.ListSpacesInCollection(ctx, viewer.UserID, in, nil, 1000)
	r.ok(err)
	got := map[string]access.Rights{}
	for _, row := range spaces.Rows {
		got[row.Space.ID] = access.ContentRights(row.ContentAccess)
	}
	if diff := cmp.Diff(want, got); diff != "" || spaces.Total != int64(len(want)) {
		r.Fatalf("spaces in %s for %s, %d in all: %s", id, viewer.UserID, spaces.Total, diff)
	}
}

// checkPeople compares two lists of a collection or space: the people who have access, and the people and teams with a
// grant.
func (r *modelRun) checkPeople(id string, level schema.Level, rights map[string]schema.Role) {
	ctx := r.h.T.Context()
	people, err := r.h.Store.ListContentAccess(ctx, r.target(id), level, nil, "", 1000)
	r.ok(err)
	got, want := map[string]schema.Role{}, map[string]schema.Role{}
	for _, row := range people.Rows {
		if _, known := r.users[row.User.ID]; known {
			got[row.User.ID] = row.Role
		}
	}
	for user := range r.users {
		if role := rights[user+" "+id]; role != schema.RoleGuest {
			want[user] = role
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		r.Fatalf("people on %s: %s", id, diff)
	}
	users, err := r.h.Store.ListGrantedUsers(ctx, r.target(id), "", 1000)
	r.ok(err)
	teams, err := r.h.Store.ListGrantedTeams(ctx, "", r.target(id), "", 1000)
	r.ok(err)
	got, want = map[string]schema.Role{}, maps.Clone(r.model.nodes[id].grants)
	maps.DeleteFunc(want, func(_ string, role schema.Role) bool { return role == schema.RoleGuest })
	for _, row := range users.Rows {
		got[row.User.ID] = row.Role
	}
	for _, row := range teams.Rows {
		got[row.Team.ID] = row.Role
	}
	if diff := cmp.Diff(want, got); diff != "" || users.Total+teams.Total != int64(len(want)) {
		r.Fatalf("grants on %s, %d and %d: %s", id, users.Total, teams.Total, diff)
	}
}

// checkNumbers compares the numbers of spaces that are shown for members and teams.
func (r *modelRun) checkNumbers(rights map[string]schema.Role) {
	for user := range r.users {
		spaces := int64(0)
		for _, id := range r.model.kinds("space") {
			if rights[user+" "+id] != schema.RoleGuest {
				spaces++
			}
		}
		row, err := r.h.Store.Orgs.Member(r.h.T.Context(), r.org, user)
		r.ok(err)
		if row.Spaces != spaces {
			r.Fatalf("%s has %d spaces, want %d", user, row.Spaces, spaces)
		}
	}
	for team := range r.teams {
		spaces := int64(0)
		for _, id := range r.model.kinds("space") {
			if r.model.role(schema.RoleGuest, []string{team}, id) != schema.RoleGuest {
				spaces++
			}
		}
		row, err := r.h.Store.Orgs.Team(r.h.T.Context(), "", r.org, team)
		r.ok(err)
		if row.Spaces != spaces {
			r.Fatalf("team %s has %d spaces, want %d", team, row.Spaces, spaces)
		}
	}
}

// TestContentFollowsTheModel applies random changes to collections. After each change, it compares the collections with
// a model.
func TestContentFollowsTheModel(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	guest, reader, creator := h.Ours.Users[schema.RoleGuest].ID, h.Ours.Users[schema.RoleRead].ID, h.Ours.Users[schema.RoleCreate].ID
	users := map[string]schema.Role{guest: "", reader: "read", creator: "create", h.Ours.Users[schema.RoleAdmin].ID: "admin"}
	teams := map[string][]string{h.Team(h.Ours, guest, reader): {guest, reader}, h.Team(h.Ours, guest, creator): {guest, creator}}
	rapid.Check(t, func(rt *rapid.T) {
		h.Exec("delete from spaces")
		h.Exec("delete from collections")
		r := &modelRun{
			T: rt, h: h, org: h.Ours.Organization.ID, users: users, teams: teams,
			model: &contentModel{nodes: map[string]*contentNode{}, order: map[string][]string{}},
		}
		for range rapid.IntRange(3, 10).Draw(rt, "steps") {
			steps := []func(){r.create, r.create}
			if len(r.model.kinds("collection")) > 0 {
				steps = append(steps, r.move, r.move)
			}
			if len(r.model.nodes) > 0 {
				steps = append(steps, r.grant, r.grant, r.level, r.remove)
			}
			steps[rapid.IntRange(0, len(steps)-1).Draw(rt, "step")]()
			r.check()
		}
	})
}

// TestParallelMoves moves many nodes concurrently. Afterwards, it checks that there are no cycles, no lost nodes and no
// duplicate positions.
func TestParallelMoves(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	ids := []string{}
	for range 8 {
		ids = append(ids, h.Collection(h.Ours, nil))
	}
	other := h.Organization(h.Ours)
	var group sync.WaitGroup
	for worker := range 6 {
		group.Go(func() {
			for i := range 25 {
				id, to := ids[(worker*7+i*3)%len(ids)], ids[(worker*5+i)%len(ids)]
				var err error
				switch (worker + i) % 5 {
				case 0:
					_, err = h.Store.MoveCollection(t.Context(), h.Ours.Organization.ID, id, store.Move{SetParent: true, ParentID: &to})
				case 1:
					_, err = h.Store.MoveCollection(t.Context(), h.Ours.Organization.ID, id, store.Move{SetParent: true})
				case 2:
					_, err = h.Store.MoveCollection(t.Context(), h.Ours.Organization.ID, id, store.Move{
						SetParent: true, Before: &store.Neighbor{Type: "space", ID: h.Ours.Space.ID, Field: "before"},
					})
				case 3:
					_, err = h.Store.CreateSpace(t.Context(), store.NewSpace{
						OrganizationID: h.Ours.Organization.ID, ParentID: &id, Title: "Space", Emoji: "x", EditMode: "live",
					})
				default:
					from, target := h.Ours.Organization.ID, other
					if worker%2 == 0 {
						from, target = other, from
					}
					_, err = h.Store.TransferCollection(t.Context(), id, from, target, h.Ours.Users[schema.RoleAdmin].ID)
				}
				// The server may refuse a move, but it must not fail.
				if code := schema.AsError(err); err != nil && code.Code >= 500 {
					t.Errorf("%v", err)
				}
			}
		})
	}
	group.Wait()
	for what, query := range map[string]string{
		"collections that hang from no top": `with recursive tree as (
			select id, organization_id from collections where parent_id is null
			union all select c.id, c.organization_id from tree t join collections c on c.parent_id = t.id and c.organization_id = t.organization_id)
			select count(*) from collections c where not exists (select 1 from tree t where t.id = c.id)`,
		"spaces of another organization than their collection's": `select count(*) from spaces s join collections c on c.id = s.parent_id
			where s.organization_id <> c.organization_id`,
		"places that are taken twice": `select count(*) from (select 1 from (
			select organization_id, parent_id, position from collections union all select organization_id, parent_id, position from spaces) k
			group by organization_id, parent_id, position having count(*) > 1) x`,
		"collections that are lost": fmt.Sprintf("select %d - count(*) from collections", len(ids)),
	} {
		var n int
		if err := h.DB.QueryRow(t.Context(), query).Scan(&n); err != nil || n != 0 {
			t.Errorf("%s: %d, %v", what, n, err)
		}
	}
}
