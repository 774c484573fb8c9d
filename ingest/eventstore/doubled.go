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
	// comparedRows is approximately the largest number of rows that a statement compares. It limits the memory that the
	// statement needs.
	comparedRows = 2_000_000
)

// Doubled looks for rows of the events table in a month that are equal in position and content. It reads the positions
// of all rows of the month in several statements.
func (c *ClickHouse) Doubled(ctx context.Context, month schema.EventMonth) (d Doubled, err error) {
	ctx = clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{
		"optimize_use_projections": 0, "max_threads": 1,
	}))
	where := " FROM " + insights.Table + " WHERE " + insights.PartitionKey + " = " + strconv.Itoa(int(month))
	var rows uint64
	if err := c.cfg.Conn.QueryRow(ctx, "SELECT count()"+where).Scan(&rows); err != nil {
		return d, fmt.Errorf("cannot count rows: %w", err)
	}
	d.Parts = map[string]uint64{}
	for piece, pieces := uint64(0), rows/comparedRows+1; piece < pieces && err == nil; piece++ {
		err = c.addDoubled(ctx, &d, where+fmt.Sprintf(" AND cityHash64(%s, %s) %% %d = %d",
			insights.ColumnPartition, insights.ColumnOffset, pieces, piece))
	}
	if err != nil {
		err = fmt.Errorf("cannot look for doubled rows: %w", err)
	}
	return d, err
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
