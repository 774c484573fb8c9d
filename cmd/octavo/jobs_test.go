package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// TestJobs merges a page on a server, and checks that a job makes the search find the page. It also retries a failed
// job with the operator's command.
func TestJobs(t *testing.T) {
	t.Parallel()
	i := newAttached(t)
	conn := i.postgres()
	// Add a failed job of a deleted space. A retry of this job has nothing to do, so it succeeds.
	err := pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) error {
		job := schema.IndexSpace{Organization: i.org, Space: "gone"}
		if err := postgres.Enqueue(t.Context(), db.New(tx), job); err != nil {
			return err
		}
		_, err := tx.Exec(t.Context(), `update river_job set state = 'discarded', finalized_at = now(), attempt = max_attempts,
			errors = array['{"error":"the disk was full"}'::jsonb]`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	listed, err := i.octavo("jobs", "list", "--state", "failed", "--json")
	var failed []schema.Job
	if err != nil || json.Unmarshal([]byte(listed), &failed) != nil || len(failed) != 1 {
		t.Fatalf("%v: %s", err, listed)
	}
	job := failed[0]
	if job.Reason != "the disk was full" || job.Organization != i.org {
		t.Fatalf("%v: %s", err, listed)
	}
	if table, err := i.octavo("jobs", "list"); err != nil || !strings.Contains(table, job.ID) || !strings.Contains(table, "the disk was full") {
		t.Errorf("%v: %s", err, table)
	}
	if _, err := i.octavo("jobs", "retry", "999999"); err == nil {
		t.Error("a job that does not exist was retried")
	}
	if _, err := i.octavo("jobs", "retry"); err == nil {
		t.Error("nothing was named, and nothing was wrong")
	}
	if said, err := i.octavo("jobs", "retry", "--all"); err != nil || said != "1 jobs run again" {
		t.Fatalf("%v: %s", err, said)
	}
	i.until("the job to be done", func() error {
		if status, answer := i.request("GET", "/v1/orgs/"+i.org+"/jobs?state=done", i.token, nil); status != 200 || !strings.Contains(string(answer), `"id":"`+job.ID+`"`) {
			return fmt.Errorf("%d %s", status, answer)
		}
		return nil
	})
}
