package orgs_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/apitest/shape"
	"github.com/octavo-docs/octavo/schema"
)

func TestJobs(t *testing.T) {
	t.Parallel()
	h := apitest.New(t)
	path, admin := "/v1/orgs/"+h.Ours.Organization.ID+"/jobs", h.Ours.Tokens[schema.RoleAdmin]
	ids := make([]string, 7)
	for i := range ids {
		ids[len(ids)-1-i] = h.FailedJob(h.Ours)
	}
	foreign := h.FailedJob(h.Theirs)
	if got := h.IDs(path, admin); !slices.Equal(got, ids) {
		t.Errorf("%v, want %v", got, ids)
	}
	a := h.Do("GET", path+"?state=failed&kind=index_space&limit=1", admin, nil)
	shape.Want(t, shape.ListOf(shape.Of{
		"object": shape.One("job"), "id": shape.ID, "kind": shape.One("index_space"), "state": shape.One("failed"),
		"organization": shape.ID, "space": shape.ID, "attempt": shape.Count, "reason": shape.One("the tests want it so"), "createdAt": shape.Timestamp, "finishedAt": shape.Timestamp,
	}), a.Body)
	first := apitest.Decode[schema.List[schema.Job]](h, a)
	for query, want := range map[string]int64{"?state=failed": 7, "?state=waiting": 0, "?kind=index_space": 7, "?space=" + first.Items[0].Space: 1, "?space=nothing": 0} {
		if got := apitest.Ask[schema.List[schema.Job]](h, schema.RoleAdmin, "GET", path+query, nil, 200); got.Count != want || int64(len(got.Items)) != want {
			t.Errorf("%s: %d", query, got.Count)
		}
	}
	for _, query := range []string{"?state=lost", "?kind=none"} {
		h.WantError(h.Do("GET", path+query, admin, nil), http.StatusBadRequest)
	}
	// Only administrators of the organization see jobs.
	h.WantError(h.Do("GET", path, h.Ours.Tokens[schema.RoleCreate], nil), http.StatusForbidden)

	retry := func(id string) string { return path + "/" + id + "/retry" }
	for _, id := range []string{foreign, "999999999", "0", "x", "9223372036854775808", "-1"} {
		h.WantError(h.Do("POST", retry(id), admin, nil), http.StatusNotFound)
	}
	job := apitest.Ask[schema.Job](h, schema.RoleAdmin, "POST", retry(ids[0]), nil, 200)
	if job.ID != ids[0] || job.State != schema.JobWaiting || job.Attempt != 0 || job.NextAttemptAt == nil {
		t.Errorf("%+v", job)
	}
	// The job now waits to run, so another retry has no effect.
	apitest.Ask[schema.Job](h, schema.RoleAdmin, "POST", retry(ids[0]), nil, 200)
	h.Exec("update river_job set state = 'running' where id::text = $1", ids[0])
	h.WantError(h.Do("POST", retry(ids[0]), admin, nil), http.StatusConflict)
	h.Exec("update river_job set state = 'pending' where id::text = $1", ids[0])
	h.RunJobs()
	if got := apitest.Ask[schema.List[schema.Job]](h, schema.RoleAdmin, "GET", path+"?state=done", nil, 200); got.Count != 1 || got.Items[0].ID != ids[0] || got.Items[0].Reason != "" {
		t.Errorf("%+v", got)
	}
	h.WantError(h.Do("POST", retry(ids[0]), admin, nil), http.StatusConflict)
}
