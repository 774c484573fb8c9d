package eventstore

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/schema/insights"
)

// Doubled describes the rows of a month that the events table contains more than once.
type Doubled struct {
	Rows        int64     // number of surplus rows; of several equal rows, the first is not surplus
	First, Last time.Time // earliest and latest event time of these rows
	// Parts has, by name of a part, the number of its rows that another part also contains.
	Parts map[string]uint64
}

const (
	// position has the columns that identify a row of the events table. The offsets alone do not identify it, because a
	// recreated topic gives the same offsets to other events.
	position = insights.ColumnPartition + ", " + insights.ColumnOffset + ", " + insights.ColumnIndex + ", " +
		insights.ColumnReceived + ", site, visitor, session, time"
	// comparedRows is the largest number of rows that a statement compares. It limits the memory that a statement
	// needs: about 40 MB.
	comparedRows = 1_000_000
	// describedRows is the largest number of rows among which a statement describes doubled rows. A description of a
	// row needs eight times as much memory as a comparison.
	describedRows = comparedRows / 8
	// hourOfEvent is the number of hours since 1970. No event is older (insights.OutOfRange).
	hourOfEvent = "intDiv(toUnixTimestamp64Milli(time), 3600000)"
)

// piece is a set of rows of a month: the rows of some consecutive hours, or a share of the rows of one hour. Equal rows
// are in the same piece.
type piece struct {
	from, to      int64  // first hour, and the hour after the last
	share, shares uint64 // the piece has the rows whose hash is `share` modulo `shares`
	rows          uint64 // approximate number of rows
}

// where returns the SQL condition that selects the piece's rows of a month. The primary key begins with the site and
// the hour, so the pieces of a month together read the rows of a large site once.
func (p piece) where(month schema.EventMonth) string {
	where := fmt.Sprintf(" FROM %s WHERE %s = %d AND time >= toDateTime64(%d, 3, 'UTC')"+
		" AND time < toDateTime64(%d, 3, 'UTC')", insights.Table, insights.PartitionKey, month,
		p.from*3600, p.to*3600)
	if p.shares > 1 {
		where += fmt.Sprintf(" AND cityHash64(%s) %% %d = %d", position, p.shares, p.share)
	}
	return where
}

// split divides the piece into pieces of at most about `most` rows.
func (p piece) split(most uint64) (list []piece) {
	parts := max(1, (p.rows+most-1)/most)
	for i := range parts {
		list = append(list, piece{p.from, p.to, i*p.shares + p.share, parts * p.shares, p.rows / parts})
	}
	return list
}

// pieces divides the rows of a month into pieces of whole hours. Only a piece of one hour may have more than
// comparedRows rows.
func (c *ClickHouse) pieces(ctx context.Context, month schema.EventMonth) (list []piece, err error) {
	rows, err := c.cfg.Conn.Query(ctx, "SELECT toInt64("+hourOfEvent+") AS hour, count() FROM "+insights.Table+
		" WHERE "+insights.PartitionKey+" = "+strconv.Itoa(int(month))+" GROUP BY hour ORDER BY hour")
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // rows.Err has the error
	for rows.Next() {
		var hour int64
		var n uint64
		if err := rows.Scan(&hour, &n); err != nil {
			return nil, err
		}
		if last := len(list) - 1; last >= 0 && list[last].rows+n <= comparedRows {
			list[last].to, list[last].rows = hour+1, list[last].rows+n
			continue
		}
		list = append(list, piece{hour, hour + 1, 0, 1, n})
	}
	return list, rows.Err()
}

// Doubled looks for rows of the events table in a month that are equal in position and content. It reads the positions
// of all rows of the month, in several statements. A statement compares hashes of rows. Rows with equal hashes are then
// compared with each other.
func (c *ClickHouse) Doubled(ctx context.Context, month schema.EventMonth) (d Doubled, err error) {
	ctx = clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{
		"optimize_use_projections": 0, "max_threads": 1,
	}))
	d.Parts = map[string]uint64{}
	list, err := c.pieces(ctx, month)
	for _, of := range list {
		for _, p := range of.split(comparedRows) {
			if err == nil {
				err = c.addDoubledOf(ctx, &d, month, p)
			}
		}
	}
	if err != nil {
		err = fmt.Errorf("cannot look for doubled rows: %w", err)
	}
	return d, err
}

// addDoubledOf looks for doubled rows in a piece, and adds their numbers to d.
func (c *ClickHouse) addDoubledOf(ctx context.Context, d *Doubled, month schema.EventMonth, p piece) error {
	var equal uint64
	err := c.cfg.Conn.QueryRow(ctx, "SELECT count() FROM (SELECT cityHash64("+position+") AS hash"+p.where(month)+
		" GROUP BY hash HAVING count() > 1)").Scan(&equal)
	if err != nil || equal == 0 {
		return err
	}
	for _, part := range p.split(describedRows) {
		if err := c.addDoubled(ctx, d, part.where(month)); err != nil {
			return err
		}
	}
	return nil
}

// addDoubled looks for doubled rows among the rows that `where` selects, and adds their numbers to d.
func (c *ClickHouse) addDoubled(ctx context.Context, d *Doubled, where string) error {
	rows, err := c.cfg.Conn.Query(ctx, "SELECT arrayJoin(if(a = b, [''], ['', a, b])) AS part, count(), sum(n - 1),"+
		" min(time), max(time) FROM (SELECT time, count() AS n, min(_part) AS a, max(_part) AS b"+where+
		" GROUP BY "+position+" HAVING n > 1) GROUP BY part")
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // rows.Err has the error
	for rows.Next() {
		var part string
		var twins uint64
		var more int64
		var first, last time.Time
		if err := rows.Scan(&part, &twins, &more, &first, &last); err != nil {
			return err
		}
		if part != "" {
			d.Parts[part] += twins
			continue
		}
		if d.Rows == 0 || first.Before(d.First) {
			d.First = first.UTC()
		}
		if last.After(d.Last) {
			d.Last = last.UTC()
		}
		d.Rows += more
	}
	return rows.Err()
}

// Copy returns the smallest part whose rows are all in other parts too. `found` is false if there is no such part.
func (c *ClickHouse) Copy(ctx context.Context, d Doubled) (part Part, found bool, err error) {
	parts, err := c.Parts(ctx, "")
	for _, p := range parts {
		if !p.Derived() && d.Parts[p.Name] == p.Rows && (!found || p.Rows <= part.Rows) {
			part, found = p, true
		}
	}
	return part, found, err
}

// Merge merges the parts of a month. Of several equal rows, it leaves one row. The merge must also build the month's
// projections again, and ClickHouse allows this only with a certain setting of the events table. Merge sets it, and
// resets it at the end.
func (c *ClickHouse) Merge(ctx context.Context, month schema.EventMonth) (err error) {
	const alter, setting = "ALTER TABLE " + insights.Table, "deduplicate_merge_projection_mode"
	if err := c.cfg.Conn.Exec(ctx, alter+" MODIFY SETTING "+setting+" = 'rebuild'"); err != nil {
		return fmt.Errorf("cannot prepare a merge of doubled rows: %w", err)
	}
	defer func() {
		err = errors.Join(err, c.cfg.Conn.Exec(context.WithoutCancel(ctx), alter+" RESET SETTING "+setting))
	}()
	err = c.cfg.Conn.Exec(ctx, "OPTIMIZE TABLE "+insights.Table+" PARTITION ID '"+strconv.Itoa(int(month))+
		"' FINAL DEDUPLICATE BY "+position)
	if err != nil {
		err = fmt.Errorf("cannot merge the doubled rows of %d: %w", month, err)
	}
	return err
}
