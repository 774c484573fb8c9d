package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"text/tabwriter"
)

// listFlags are the flags of every command that lists rows.
type listFlags struct {
	Limit int  `help:"Maximum number of rows. 0: all." default:"100"`
	JSON  bool `help:"Print a JSON array with an object for each row."`
}

// errEnough ends a list at its limit.
var errEnough = errors.New("enough")

// rows prints a list: a table, or a JSON array.
type rows struct {
	listFlags
	table *tabwriter.Writer
	array jsonList
	n     int
}

// list prints the rows that `each` adds, below the header, in columns. If there are more rows than the limit, it prints
// a notice on standard error.
func (f listFlags) list(out io.Writer, header string, each func(*rows) error) error {
	r := &rows{listFlags: f, table: tabwriter.NewWriter(out, 0, 4, 2, ' ', 0), array: jsonList{to: out}}
	if !f.JSON {
		_, _ = fmt.Fprintln(r.table, header) // Flush returns write errors.
	}
	err := each(r)
	if errors.Is(err, errEnough) {
		err = nil
		fmt.Fprintf(os.Stderr, "There are more than %d: see --limit.\n", f.Limit)
	}
	if f.JSON {
		return r.array.end(err)
	}
	return firstError(err, r.table.Flush())
}

// add prints a row: the value as JSON, or the cells as a line of the table. If the limit is reached, it prints nothing
// and returns errEnough.
func (r *rows) add(value any, line string, cells ...any) error {
	if r.Limit > 0 && r.n == r.Limit {
		return errEnough
	}
	r.n++
	if r.JSON {
		return r.array.add(value)
	}
	_, err := fmt.Fprintf(r.table, line+"\n", cells...)
	return err
}
