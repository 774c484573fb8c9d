package main

import (
	"context"
	"fmt"
	"os"

	"github.com/octavo-docs/octavo/store"
)

// ContentCmd groups the operator's commands for content.
type ContentCmd struct {
	GC ContentGCCmd `cmd:"" name:"gc" help:"Delete the text and files of deleted spaces and organizations now. The server does so within minutes of the deletion, in the background."`
}

// ContentGCCmd is `octavo content gc`.
type ContentGCCmd struct {
	Settings `embed:""`
}

// Run deletes content that no space uses any more.
func (c *ContentGCCmd) Run() error {
	return withStore(&c.Settings, "content gc", func(ctx context.Context, st *store.Store) error {
		if err := st.Orgs.Purge(ctx); err != nil {
			return err
		}
		spaces, err := st.PurgeContent(ctx)
		fmt.Fprintf(os.Stderr, "Deleted the content of %d deleted spaces.\n", spaces)
		return err
	})
}
