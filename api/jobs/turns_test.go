package jobs

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store/db"
	"github.com/octavo-docs/octavo/store/postgres"
)

// ofKind is a job of any kind in the table of kinds. Jobs with different spaces are in different sequences, so they can
// run at the same time.
type ofKind struct {
	row          schema.JobKind
	Organization string `json:"organization"`
	Space        string `json:"space"`
}

func (j ofKind) Kind() string            { return j.row.Name }
func (j ofKind) JobKind() schema.JobKind { return j.row }
func (j ofKind) Subject() schema.JobSubject {
	return schema.JobSubject{Organization: j.Organization, Part: j.Space}
}

// askAs enqueues a job on behalf of a user.
func (b *bench) askAs(user string, job ofKind) {
	b.t.Helper()
	ctx := postgres.By(b.t.Context(), postgres.Actor{Type: schema.ActorUser, ID: user})
	enqueue := func(tx pgx.Tx) error { return postgres.Enqueue(ctx, db.New(tx), job) }
	if err := pgx.BeginFunc(ctx, b.conn, enqueue); err != nil {
		b.t.Fatal(err)
	}
}

// party is the user and the organization of a job.
type party struct{ user, organization string }

// running returns the user and the organization of each running job of a kind.
func (b *bench) running(kind string) []party {
	b.t.Helper()
	rows, err := b.conn.Query(b.t.Context(), `select metadata ->> 'user', metadata ->> 'organization' from river_job
		where queue = $1 and state = 'running' order by id`, kind)
	if err != nil {
		b.t.Fatal(err)
	}
	parties, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (p party, err error) {
		err = row.Scan(&p.user, &p.organization)
		return p, err
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return parties
}

// apart reports whether no user and no organization is in this list twice.
func apart(parties []party) bool {
	seen := map[string]bool{}
	for _, p := range parties {
		if seen["u "+p.user] || seen["o "+p.organization] {
			return false
		}
		seen["u "+p.user], seen["o "+p.organization] = true, true
	}
	return true
}

// TestTurns tests every kind in the table of kinds. First, jobs that never end take all workers. They belong to a user
// with many organizations, to an organization with many users, or to many strangers whose jobs are marked as slow. Then
// other users enqueue jobs. These jobs run, because the runner stops some of the endless jobs. While they wait, no user
// and no organization has two running jobs. A job that the runner stops loses no attempt.
func TestTurns(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	attacks := map[string]func(i int) party{
		"one user":         func(i int) party { return party{"mallory", fmt.Sprint("m", i)} },
		"one organization": func(i int) party { return party{fmt.Sprint("member", i), "m"} },
		"slow strangers":   func(i int) party { return party{fmt.Sprint("stranger", i), fmt.Sprint("s", i)} },
	}
	for _, k := range Kinds() {
		for name, attacker := range attacks {
			t.Run(k.Name+"/"+name, func(t *testing.T) {
				b := *b
				b.t = t
				slow := name == "slow strangers"
				if _, err := b.conn.Exec(t.Context(), "truncate river_job, job_turns"); err != nil {
					t.Fatal(err)
				}
				release := make(chan struct{})
				stop := b.run(nil, func(cfg *Config) {
					cfg.Kinds, cfg.Grace = []Kind{k}, time.Millisecond
					cfg.instead = func(ctx context.Context, args schema.JobArgs) error {
						block := release
						if args.Subject().Organization[0] != 'v' {
							block = nil // It blocks until the test ends it.
						}
						select {
						case <-block:
							return nil
						case <-ctx.Done():
							return ctx.Err()
						}
					}
				})
				for i := range 3 * k.Workers {
					p := attacker(i)
					b.askAs(p.user, ofKind{k.JobKind, p.organization, fmt.Sprint(i)})
				}
				if slow { // All jobs have been marked as slow: see TestSlowJobIsNoted.
					const all = `update river_job set metadata = metadata || '{"slow": true}'`
					if _, err := b.conn.Exec(t.Context(), all); err != nil {
						t.Fatal(err)
					}
				}
				eventually.True(t, "all workers are taken", func() bool { return len(b.running(k.Name)) == k.Workers })
				// The victims are as many as the workers, and each has two jobs. So some of their jobs have to wait.
				const each = 2
				for i := range k.Workers * each {
					job := ofKind{k.JobKind, fmt.Sprint("v", i/each), fmt.Sprint("v", i)}
					b.askAs(fmt.Sprint("victim", i/each), job)
				}
				eventually.True(t, "others are at work", func() bool {
					parties := b.running(k.Name)
					victims := slices.ContainsFunc(parties, func(p party) bool { return p.organization[0] == 'v' })
					return len(parties) == k.Workers && victims && apart(parties)
				})
				close(release)
				var done, tried int
				eventually.True(t, "the jobs of others are done", func() bool {
					const ended = "select count(*) filter (where state = 'completed'), max(attempt) from river_job"
					err := b.conn.QueryRow(t.Context(), ended).Scan(&done, &tried)
					return err == nil && done == k.Workers*each
				})
				if tried > 1 {
					t.Errorf("a job that gave way has lost an attempt: %d", tried)
				}
				stop()
			})
		}
	}
}

// slowStep is a step that is marked as slow after a nanosecond.
type slowStep struct{ step }

func (s slowStep) JobKind() schema.JobKind {
	row := s.step.JobKind()
	row.Slow = time.Nanosecond
	return row
}

// TestSlowJobIsNoted: a job that runs for longer than the Slow of its kind is marked as slow in the database.
func TestSlowJobIsNoted(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	stop := b.run(nil, func(cfg *Config) {
		cfg.Grace = time.Millisecond
		cfg.Kinds = []Kind{kind(func(ctx context.Context, _ Deps, _ slowStep) error {
			<-ctx.Done()
			return ctx.Err()
		})}
	})
	b.ask(step{Space: "s"})
	eventually.True(t, "the job is slow", func() bool {
		var slow bool
		err := b.conn.QueryRow(t.Context(), "select metadata ? 'slow' from river_job").Scan(&slow)
		return err == nil && slow
	})
	stop()
}

// TestTimeOuts: if a job exceeds its time limit and its kind is Final, the job fails at once. A job of another kind
// waits for its next attempt.
func TestTimeOuts(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, k := range Kinds() {
		t.Run(k.Name, func(t *testing.T) {
			b := *b
			b.t = t
			if _, err := b.conn.Exec(t.Context(), "truncate river_job, job_turns"); err != nil {
				t.Fatal(err)
			}
			ended := make(chan schema.JobState, 100)
			stop := b.run(nil, func(cfg *Config) {
				k.Timeout = time.Millisecond
				cfg.Kinds, cfg.Pause = []Kind{k}, func(int) time.Duration { return time.Hour }
				cfg.Ended = func(state schema.JobState) { ended <- state }
				cfg.instead = func(ctx context.Context, _ schema.JobArgs) error {
					<-ctx.Done()
					return ctx.Err()
				}
			})
			defer stop()
			b.askAs("u", ofKind{k.JobKind, "o", "s"})
			want := schema.JobRetrying
			if slices.Contains([]string{schema.SyncGit{}.Kind(), schema.RenderPDF{}.Kind()}, k.Name) {
				want = schema.JobFailed
			}
			select {
			case state := <-ended:
				if state != want {
					t.Errorf("the job is %s", state)
				}
			case <-time.After(eventually.Patience):
				t.Fatal("the job does not end")
			}
		})
	}
}

// TestTurnsGoRound uses one worker and four users. The user mallory has ten organizations and a hundred jobs. The other
// three users have five jobs each. In each round of four turns, every user gets a turn for one job.
func TestTurnsGoRound(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	row := Kinds()[0].JobKind
	for i := range 100 {
		b.askAs("mallory", ofKind{row, fmt.Sprint("m", i%10), fmt.Sprint(i)})
	}
	others := []string{"a", "b", "c"}
	for i := range 15 {
		user := others[i/5]
		b.askAs(user, ofKind{row, "o" + user, fmt.Sprint("v", i)})
	}
	var order []string
	var next string
	take := `update river_job set state = 'completed', finalized_at = now() where id = (
		select id from river_job where state = 'available' order by priority, id limit 1) returning metadata ->> 'user'`
	one := row
	one.Workers = 1
	for range 20 {
		if err := b.st.Queue.GiveTurns(t.Context(), []schema.JobKind{one}); err != nil {
			t.Fatal(err)
		}
		if err := b.conn.QueryRow(t.Context(), take).Scan(&next); err != nil {
			t.Fatal(err)
		}
		order = append(order, next)
	}
	// The first four jobs are left out, because they got their turns when they were enqueued.
	for turn := range slices.Chunk(order[4:], 4) {
		slices.Sort(turn)
		if want := append(slices.Clone(others), "mallory"); !slices.Equal(turn, want) {
			t.Fatalf("the turns are %v", order)
		}
	}
}

// TestTurnsCostTheSame gives turns while 100,000 jobs of a single user wait, in one sequence, in one organization or in
// a thousand organizations. It checks how many rows this reads. The number does not grow with an organization's queue,
// because a turn reads at most the first thousand jobs of an organization.
func TestTurnsCostTheSame(t *testing.T) {
	if testing.Short() {
		t.Skip("runs only in the long form: CI runs make test-long")
	}
	t.Parallel()
	b := newBench(t)
	row := Kinds()[0].JobKind
	for name, tt := range map[string]struct {
		organizations, spaces, rows int
	}{
		"one sequence":           {1, 1, 20_000},
		"1000 organizations":     {1000, 100, 250_000},
		"one organization alone": {1, 100_000, 20_000},
	} {
		t.Run(name, func(t *testing.T) {
			tx, err := b.conn.Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }()
			exec := func(sql string, args ...any) {
				t.Helper()
				if _, err := tx.Exec(t.Context(), sql, args...); err != nil {
					t.Fatal(err)
				}
			}
			exec(`insert into river_job (state, args, kind, max_attempts, metadata, queue)
				select 'pending', '{}', $1, 3, jsonb_build_object('user', 'm', 'organization', 'o' || i % $2::int,
					'sequence', $1 || ' ' || i % $2::int || ' ' || i % $3::int), $1
				from generate_series(1, 100000) i`, row.Name, tt.organizations, tt.spaces)
			exec("analyze river_job")
			const read = `select seq_tup_read + coalesce(idx_tup_fetch, 0) from pg_stat_xact_user_tables
				where relname = 'river_job'`
			var before, after, given int
			err = tx.QueryRow(t.Context(), read).Scan(&before)
			if err == nil {
				give := tx.QueryRow(t.Context(), "select give_job_turns($1, $2)", []string{row.Name}, []int32{8})
				err = give.Scan(&given)
			}
			if err == nil {
				err = tx.QueryRow(t.Context(), read).Scan(&after)
			}
			if err != nil {
				t.Fatal(err)
			}
			if given == 0 || after-before > tt.rows {
				t.Errorf("%d turns took %d rows", given, after-before)
			}
		})
	}
}

// TestRunning: the number of running jobs includes a job from its start to its end.
func TestRunning(t *testing.T) {
	t.Parallel()
	var r Runner
	var ends []func()
	for i, name := range []string{"a", "b", "a"} {
		_, end := r.begins(t.Context(), schema.JobKind{Name: name, Slow: time.Hour}, int64(i))
		ends = append(ends, end)
	}
	if got := r.Running(); got["a"] != 2 || got["b"] != 1 || len(got) != 2 {
		t.Errorf("three jobs run: %v", got)
	}
	for _, end := range ends[1:] {
		end()
	}
	if got := r.Running(); got["a"] != 1 || len(got) != 1 {
		t.Errorf("a job runs: %v", got)
	}
}
