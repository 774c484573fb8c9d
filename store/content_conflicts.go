package store

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/content/merge"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// Conflicts has the conflicts of a change request with the main content. Each call of Store.Conflicts computes the
// conflicts again from the contents of the request and the space, so the conflicts are always current.
type Conflicts struct {
	list    []merge.Conflict
	choices conflictRows
	// in is the three-way merge that found the conflicts. It is nil if there are no conflicts.
	in *threeWay
}

// ConflictRow is a conflict with the related data that is shown with it. In merge.Conflict, "ours" is the main content.
type ConflictRow struct {
	merge.Conflict
	// Of is the page with the conflict. If the conflict is about the places of several pages, Others are these pages.
	Of     *PageName
	Others []PageName
	// ResolvedBy and ResolvedAt are set if the conflict is resolved.
	ResolvedBy string
	ResolvedAt time.Time
}

// PageName is the name of a page in the change request. If the request does not have the page, it is the page's name in
// the main content.
type PageName struct {
	ID, Title, Path string
}

// Conflicts computes the conflicts of a change request with a revision of the main content, including resolved ones.
func (s *Store) Conflicts(ctx context.Context, request ChangeRequest, head string) (*Conflicts, error) {
	if request.Status == schema.ChangeRequestMerged || baseOf(request) == head {
		return &Conflicts{}, nil
	}
	return conflicts(ctx, s.db.Queries, request, head)
}

func conflicts(ctx context.Context, q *db.Queries, request ChangeRequest, head string) (*Conflicts, error) {
	choices, err := conflictChoices(ctx, q, request.ID)
	if err != nil {
		return nil, err
	}
	in, err := openMerge(ctx, q, head, request)
	if err != nil {
		return nil, err
	}
	result, _, err := in.with(ctx, q, choices.all())
	return &Conflicts{list: result.Conflicts, choices: choices, in: in}, err
}

// Page returns a page of the list of conflicts. `after` has the sort keys of the last conflict of the previous page, or
// is nil for the first page. If `status` is set, the list has only conflicts with this status.
func (c *Conflicts) Page(status string, after []string, size int) (postgres.Page[ConflictRow], error) {
	shown := slices.DeleteFunc(slices.Clone(c.list), func(one merge.Conflict) bool {
		return status == schema.ConflictOpen && one.Choice != nil || status == schema.ConflictResolved && one.Choice == nil
	})
	total := int64(len(shown))
	if after != nil {
		shown = shown[followers(shown, after):]
	}
	page := postgres.PageOf(shown, size, total)
	rows := make([]ConflictRow, len(page.Rows))
	for i, one := range page.Rows {
		var err error
		if rows[i], err = c.row(one); err != nil {
			return postgres.Page[ConflictRow]{}, err
		}
	}
	return postgres.Page[ConflictRow]{Rows: rows, Total: page.Total, More: page.More}, nil
}

// Keys returns the sort keys of a conflict.
func (r ConflictRow) Keys() []string { return []string{r.Page, r.Field, r.ID} }

// followers returns the position after the conflict with the sort keys `after`. If this conflict no longer exists,
// followers returns the position of the first conflict of its field. The conflicts of a field are not sorted by id, so
// the list repeats some of them instead of leaving one out.
func followers(list []merge.Conflict, after []string) int {
	if at := slices.IndexFunc(list, func(one merge.Conflict) bool { return one.ID == after[2] }); at >= 0 {
		return at + 1
	}
	at, _ := slices.BinarySearchFunc(list, after, func(one merge.Conflict, keys []string) int {
		return cmp.Or(cmp.Compare(one.Page, keys[0]), cmp.Compare(one.Field, keys[1]))
	})
	return at
}

func (c *Conflicts) row(one merge.Conflict) (ConflictRow, error) {
	row := ConflictRow{Conflict: one}
	if one.Page != "" {
		name := c.name(one.Page)
		row.Of = &name
	}
	for _, id := range one.Pages {
		row.Others = append(row.Others, c.name(id))
	}
	if one.Choice != nil {
		row.ResolvedBy, row.ResolvedAt = c.choices[one.ID].UserID, c.choices[one.ID].ChosenAt
	}
	for _, side := range c.in.sides {
		if side.err != nil {
			return row, side.err
		}
	}
	return row, nil
}

// name returns the title and the path of a page. The ancestors that it reads stay in memory for the names of other
// pages.
func (c *Conflicts) name(id string) PageName {
	for _, i := range []int{2, 1, 0} {
		side := &c.in.sides[i]
		n, there := side.Page(id)
		if !there {
			continue
		}
		name := PageName{ID: id, Title: n.Title, Path: n.Slug}
		for n.Slug != "" && n.Parent != "" {
			if n, there = side.Page(n.Parent); !there {
				break
			}
			name.Path = n.Slug + "/" + name.Path
		}
		return name
	}
	return PageName{ID: id}
}

// conflictRows are the choices made in a change request, by the id of the conflict.
type conflictRows map[string]db.ConflictChoice

func conflictChoices(ctx context.Context, q *db.Queries, requestID string) (conflictRows, error) {
	list, err := q.ConflictChoices(ctx, requestID)
	if err != nil {
		return nil, postgres.Interpret(err, "conflicts")
	}
	rows := conflictRows{}
	for _, row := range list {
		rows[row.ConflictID] = row
	}
	return rows, nil
}

func (r conflictRows) all() merge.Choices {
	choices := merge.Choices{}
	for id, row := range r {
		choice := merge.Choice{Take: row.Take}
		if row.Value != nil {
			choice.Value = jsontext.Value(*row.Value)
		}
		choices[id] = choice
	}
	return choices
}

// ResolveConflict stores a choice for a conflict of a change request that is open or a draft. The choice changes the
// result of the merge. So earlier reviews become outdated, and the user becomes a contributor.
func (s *Store) ResolveConflict(
	ctx context.Context, request ChangeRequest, id string, choice merge.Choice, userID string,
) (row ConflictRow, err error) {
	_, err = s.changeRequest(ctx, request, func(q *db.Queries, space Space, request *ChangeRequest) error {
		if err := stillOpen(*request); err != nil {
			return err
		}
		if baseOf(*request) == space.Revision {
			return schema.NotFound("conflict")
		}
		before, err := conflicts(ctx, q, *request, space.Revision)
		if err != nil {
			return err
		}
		at := slices.IndexFunc(before.list, func(one merge.Conflict) bool { return one.ID == id })
		if at < 0 {
			return schema.NotFound("conflict")
		}
		if problems := before.list[at].Problems(choice); problems != nil {
			return schema.InvalidAll(problems)
		}
		if choice.Value = slices.Clone(choice.Value); choice.Take != merge.TakeValue {
			choice.Value = nil
		} else if err := choice.Value.Compact(); err != nil {
			return schema.Invalid("value", "is not JSON")
		}
		if was := before.list[at].Choice; was != nil && was.Take == choice.Take && bytes.Equal(was.Value, choice.Value) {
			if row, err = before.row(before.list[at]); err != nil {
				return err
			}
			return errUnchanged
		}
		resolved, err := before.resolve(ctx, q, id, choice)
		if err != nil {
			return err
		}
		if err := resolved.store(ctx, q, *request, id, choice, userID); err != nil {
			return err
		}
		resolved.choices, err = conflictChoices(ctx, q, request.ID)
		if err != nil {
			return err
		}
		at = slices.IndexFunc(resolved.list, func(one merge.Conflict) bool { return one.ID == id })
		row, err = resolved.row(resolved.list[at])
		return err
	})
	return row, err
}

// resolve merges again with an additional choice. It returns an error if the choice is impossible in the merged
// content.
func (c *Conflicts) resolve(ctx context.Context, q *db.Queries, id string, choice merge.Choice) (*Conflicts, error) {
	choices := c.choices.all()
	choices[id] = choice
	result, _, err := c.in.with(ctx, q, choices)
	if err != nil {
		return nil, err
	}
	applied := slices.ContainsFunc(result.Conflicts, func(one merge.Conflict) bool { return one.ID == id && one.Choice != nil })
	if !applied {
		field := "take"
		if choice.Take == merge.TakeValue {
			field = "value"
		}
		return nil, schema.Invalid(field, "makes no valid content with what else is merged")
	}
	return &Conflicts{list: result.Conflicts, choices: c.choices, in: c.in}, nil
}

// store writes a choice, and deletes choices for conflicts that no longer exist.
func (c *Conflicts) store(
	ctx context.Context, q *db.Queries, request ChangeRequest, id string, choice merge.Choice, userID string,
) error {
	set := db.SetConflictChoiceParams{ChangeRequestID: request.ID, ConflictID: id, Take: choice.Take, UserID: userID}
	if choice.Value != nil {
		text := string(choice.Value)
		set.Value = &text
	}
	if err := q.SetConflictChoice(ctx, set); err != nil {
		return postgres.Interpret(err, "conflict")
	}
	stale, err := c.stale(ctx, q, id, choice)
	if err != nil {
		return err
	}
	if len(stale) > 0 {
		err := q.DeleteConflictChoices(ctx, db.DeleteConflictChoicesParams{ChangeRequestID: request.ID, ConflictIds: stale})
		if err != nil {
			return postgres.Interpret(err, "conflicts")
		}
	}
	if err := q.SupersedeAllReviews(ctx, request.ID); err != nil {
		return postgres.Interpret(err, "reviews")
	}
	return addContributor(ctx, q, request.ID, userID)
}

// stale lists the choices that have no conflict and that the merge does not need. A choice without a conflict may be
// needed. For example, a conflict about a whole document hides the conflicts of its blocks. Without the choices for
// the blocks, the conflict about the document would not exist.
func (c *Conflicts) stale(ctx context.Context, q *db.Queries, id string, choice merge.Choice) ([]string, error) {
	choices := c.choices.all()
	choices[id] = choice
	used := merge.Choices{}
	for _, one := range c.list {
		if made, ok := choices[one.ID]; ok {
			used[one.ID] = made
		}
	}
	var stale []string
	for other := range choices {
		if _, ok := used[other]; !ok {
			stale = append(stale, other)
		}
	}
	if len(stale) == 0 {
		return nil, nil
	}
	without, _, err := c.in.with(ctx, q, used)
	if err != nil {
		return nil, err
	}
	same := slices.EqualFunc(without.Conflicts, c.list, func(a, b merge.Conflict) bool {
		return a.ID == b.ID && (a.Choice == nil) == (b.Choice == nil)
	})
	if !same {
		return nil, nil
	}
	return stale, nil
}
