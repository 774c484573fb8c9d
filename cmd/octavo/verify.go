package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/octavo-docs/octavo/api/remote/gitsync"
	"github.com/octavo-docs/octavo/ingest/eventlog"
	"github.com/octavo-docs/octavo/ingest/eventstore"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
	"github.com/octavo-docs/octavo/store/postgres"
)

// VerifyCmd is `octavo verify`.
type VerifyCmd struct {
	Settings `embed:""`
	Deep     bool `help:"Also decode each message of the event log, and compare documents and files with their hashes."`
	JSON     bool `help:"Print a JSON array with an object for each kind of data."`
}

var errDamaged = errors.New("stored data is damaged")

// Run reads all stored data and reports the damage. It uses a running node's engines, or starts the embedded engines.
func (c *VerifyCmd) Run() error {
	return withRows(&c.Settings, "verify", func(ctx context.Context, t *rowsTools) error {
		v := &verifier{rowsTools: t, deep: c.Deep, found: func(kind, what string) {
			fmt.Fprintf(os.Stderr, "%s: %s\n", kind, what)
		}, progress: func(kind string, read, bytes int64) {
			fmt.Fprintf(os.Stderr, "%s: %d read, %d MB\n", kind, read, bytes>>20)
		}}
		list, failed := v.run(ctx, kindsOfData(c.Deep))
		err := errors.Join(v.note(ctx, list), c.print(os.Stdout, list))
		damaged := int64(0)
		for _, of := range list {
			damaged += of.Damaged
		}
		if damaged > 0 {
			err = errors.Join(fmt.Errorf("%w (pieces: %d)", errDamaged, damaged), err)
		}
		for _, kind := range slices.Sorted(maps.Keys(failed)) {
			err = errors.Join(err, failed[kind])
		}
		return err
	})
}

func (c *VerifyCmd) print(out io.Writer, list []schema.Verification) error {
	if c.JSON {
		return printJSON(out, list)
	}
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "KIND\tREAD\tBYTES\tDAMAGED\tHINT") // Flush returns write errors
	for _, v := range list {
		_, _ = fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%s\n", v.Kind, v.Read, v.Bytes, v.Damaged, v.Hint)
	}
	return w.Flush()
}

// verifier reads all stored data, one kind after the other, and compares it with its checksums.
type verifier struct {
	*rowsTools
	deep     bool
	found    func(kind, what string) // found is called with a description of each damage
	progress func(kind string, read, bytes int64)
}

// progressEvery is the time between two calls of progress.
const progressEvery = 5 * time.Second

// verification counts the data of one kind that was read, and its damage.
type verification struct {
	schema.Verification
	v    *verifier
	next time.Time // the time of the next progress message
}

// read adds a verified object to the results, such as a part, a message or a pack. damage describes the object's
// damage, and is "" if the object is undamaged.
func (f *verification) read(bytes int64, damage string) {
	f.Read, f.Bytes = f.Read+1, f.Bytes+bytes
	if damage != "" {
		f.Damaged++
		f.v.found(f.Kind, damage)
	}
	if now := time.Now(); now.After(f.next) {
		if !f.next.IsZero() {
			f.v.progress(f.Kind, f.Read, f.Bytes)
		}
		f.next = now.Add(progressEvery)
	}
}

const (
	verifiedEvents = "events"                // nodes repair this kind automatically
	verifiedTables = "postgres small tables" // nodes verify this kind once an hour
)

// kindOfData is a kind of data that can be verified. If the data have damage, the hint tells the operator how to repair
// them.
type kindOfData struct {
	kind string
	deep bool // whether it is only verified with --deep
	run  func(*verifier, context.Context, *verification) error
	hint string
}

// verifications has all kinds of data.
var verifications = []kindOfData{
	{verifiedEvents, false, (*verifier).events, "octavo repair --yes"},
	{"doubled events", false, (*verifier).doubled, "octavo repair --yes"},
	{"event log", false, (*verifier).eventLog, "deploy/OPERATING.md, When a disk damages the event log"},
	{"postgres pages", false, (*verifier).pages, "check the disk, and restore the database from a backup"},
	{verifiedTables, false, (*verifier).smallTables, "check the disk, and restore the database from a backup"},
	{"postgres large tables", false, (*verifier).largeTables, "check the disk, and restore the database from a backup"},
	{"documents", true, (*verifier).documents, "restore the database from a backup"},
	{"files", true, (*verifier).files, "restore the database from a backup"},
	{"git cache", false, (*verifier).gitCache, "delete the named packs: the next import or export fetches all"},
}

// kindsOfData returns all kinds of data, or the kinds that `octavo verify` verifies without --deep.
func kindsOfData(deep bool) []kindOfData {
	return slices.DeleteFunc(slices.Clone(verifications), func(of kindOfData) bool { return of.deep && !deep })
}

// run verifies the kinds of data. If a kind cannot be verified, run still verifies the other kinds. failed has the
// errors by kind. The list has the damage that was found before an error.
func (v *verifier) run(ctx context.Context, kinds []kindOfData) (list []schema.Verification, failed map[string]error) {
	failed = map[string]error{}
	for _, of := range kinds {
		f := &verification{Verification: schema.Verification{Kind: of.kind}, v: v}
		if err := of.run(v, ctx, f); err != nil {
			failed[of.kind] = fmt.Errorf("cannot verify %s: %w", of.kind, err)
			if f.Damaged == 0 {
				continue // an older result may have damage
			}
		}
		if f.Damaged > 0 {
			f.Hint = of.hint
		}
		list = append(list, f.Verification)
	}
	return list, failed
}

// note stores the results, so that all nodes show them.
func (v *verifier) note(ctx context.Context, list []schema.Verification) error {
	for _, of := range list {
		if err := v.store.NoteVerification(ctx, of); err != nil {
			return err
		}
	}
	return nil
}

// events checks the parts of the events table and of aggregate states.
func (v *verifier) events(ctx context.Context, f *verification) error {
	if !v.table.Sequential() {
		f.Hint = "not read: the replicas of a cluster check their parts themselves"
		return nil
	}
	parts, failed := v.table.Parts(ctx, "")
	for _, p := range parts {
		is, reason, err := v.table.Check(ctx, p)
		if err != nil {
			failed = errors.Join(failed, err) // the other parts are still read
			continue
		}
		damage := ""
		if is == eventstore.DamagedDerived || is == eventstore.DamagedContents {
			damage = fmt.Sprintf("part `%s` of %s: %s", p.Name, p.Table, reason)
		}
		if is != eventstore.Gone {
			f.read(int64(p.Bytes), damage)
		}
	}
	return failed
}

// doubled looks for rows that are in the table twice. If as many other rows are missing, the number of rows does not
// show this.
func (v *verifier) doubled(ctx context.Context, f *verification) error {
	if !v.table.Sequential() {
		f.Hint = "not read: on a cluster, `octavo reconcile` compares the rows with the log"
		return nil
	}
	months, failed := v.table.AllMonths(ctx)
	for _, month := range slices.Sorted(maps.Keys(months)) {
		d, err := v.table.Doubled(ctx, month)
		if fault := eventstore.FaultOf(err); fault.Reason == eventstore.DamageReason {
			continue // the check of the part has already found this damage
		}
		if err != nil {
			failed = errors.Join(failed, err) // the other months are still read
			continue
		}
		damage := ""
		if d.Rows > 0 {
			damage = fmt.Sprintf("%d events that arrived in %d are there twice", d.Rows, month)
		}
		f.read(0, damage)
	}
	return failed
}

// eventLog reads all messages of the event log. The brokers and the client check the checksums of batches. A gap in the
// offsets is damage.
func (v *verifier) eventLog(ctx context.Context, f *verification) error {
	access, err := v.backends.kafkaAccess()
	if err != nil {
		return err
	}
	log := eventlog.NewTopic(v.backends.kafkaBrokers, access, "octavo-verify", time.Minute, v.settings.KafkaTopic)
	defer log.Close()
	partitions, err := log.Partitions(ctx)
	if err != nil {
		return err
	}
	for id := range partitions {
		first, next, err := log.Offsets(ctx, id)
		if err != nil {
			return err
		}
		at := first
		err = log.Scan(ctx, id, first, next, func(r eventlog.Record) error {
			damage := ""
			if r.Offset > at {
				damage = fmt.Sprintf("partition %d lacks the offsets from %d to %d", id, at, r.Offset-1)
			}
			if v.deep && damage == "" {
				if _, err := insights.ParseMessage(r.Value); err != nil && !errors.Is(err, insights.ErrNewer) {
					damage = fmt.Sprintf("offset %d of partition %d: %v", r.Offset, id, err)
				}
			}
			at = r.Offset + 1
			f.read(int64(len(r.Value)), damage)
			return nil
		})
		if errors.Is(err, eventlog.ErrNoEnd) {
			f.read(0, err.Error())
			err = nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// pages makes Postgres check its pages.
func (v *verifier) pages(ctx context.Context, f *verification) error {
	bytes, damaged, err := v.store.VerifyPages(ctx)
	if errors.Is(err, postgres.ErrPages) {
		f.Hint = "not read: " + err.Error()
		return nil
	}
	if err != nil {
		return err
	}
	f.Read, f.Bytes = bytes/pageSize, bytes
	for _, what := range damaged {
		f.Damaged++
		v.found(f.Kind, what)
	}
	return nil
}

const pageSize = 8192 // bytes of a page of Postgres

// smallTables and largeTables look for pages whose bytes have become zeros. Postgres's own check does not find such
// pages, because Postgres regards them as empty.
func (v *verifier) smallTables(ctx context.Context, f *verification) error {
	return v.tables(ctx, f, true)
}
func (v *verifier) largeTables(ctx context.Context, f *verification) error {
	return v.tables(ctx, f, false)
}

func (v *verifier) tables(ctx context.Context, f *verification, small bool) error {
	err := v.store.VerifyTables(ctx, small, f.read)
	if errors.Is(err, postgres.ErrPages) {
		f.Hint, err = "not read: "+err.Error(), nil
	}
	return err
}

func (v *verifier) documents(ctx context.Context, f *verification) error {
	return v.store.VerifyDocuments(ctx, f.read)
}

func (v *verifier) files(ctx context.Context, f *verification) error {
	return v.store.VerifyFiles(ctx, f.read)
}

// gitCache compares the packs of this node's cache with the hashes at their ends.
func (v *verifier) gitCache(ctx context.Context, f *verification) error {
	return gitsync.VerifyCache(ctx, gitCacheDir(v.settings), func(path string, size int64, err error) {
		damage := ""
		if err != nil {
			damage = path + ": " + err.Error()
		}
		f.read(size, damage)
	})
}
