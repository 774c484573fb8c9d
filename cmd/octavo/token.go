package main

import (
	"context"
	"fmt"
	"os"
	"os/user"
	"time"

	"github.com/octavo-docs/octavo/cmd/engine/embedded"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/postgres"
)

// TokenCmd groups the commands for bearer tokens.
type TokenCmd struct {
	Create TokenCreateCmd `cmd:"" help:"Create a token for a user, a site or a front end and print it. It is not shown again."`
	List   TokenListCmd   `cmd:"" help:"List tokens, without their secrets."`
	Revoke TokenRevokeCmd `cmd:"" help:"Revoke a token. Nodes notice within seconds."`
	Rotate TokenRotateCmd `cmd:"" help:"Make a new key for site tokens, which readers of sites have, and end all of them within about a minute. Front ends get new ones by themselves. The key also changes every week without this."`
}

// owner names the user or the site that a token belongs to.
type owner struct {
	User string `help:"The user's id or e-mail address: the token acts as this user." xor:"owner"`
	Site string `help:"The site's id: the token may only post this site's events." xor:"owner"`
}

// TokenCreateCmd is `octavo token create`.
type TokenCreateCmd struct {
	Settings `embed:""`
	owner    `embed:""`
	FrontEnd bool          `help:"The token is for a front end that shows sites to readers: it finds every published site and posts its events, and does nothing else." xor:"owner"`
	Name     string        `help:"What the token is for."`
	Expires  time.Duration `help:"How long the token is valid, such as 720h. Default: until revoked."`
	JSON     bool          `help:"Print JSON."`
}

// Run creates the token.
func (c *TokenCreateCmd) Run() error {
	return withStore(&c.Settings, "token create", func(ctx context.Context, st *store.Store) error {
		want := store.NewToken{User: c.User, SiteID: c.Site, FrontEnd: c.FrontEnd, Name: c.Name}
		if c.Expires < 0 {
			return fmt.Errorf("--expires must be positive")
		}
		if c.Expires > 0 {
			end := time.Now().Add(c.Expires)
			want.ExpiresAt = &end
		}
		secret, row, err := st.CreateToken(ctx, want)
		if err != nil {
			return err
		}
		if c.JSON {
			return printJSON(os.Stdout, map[string]any{"id": row.ID, "token": secret})
		}
		fmt.Printf("%s\n", secret)
		fmt.Fprintf(os.Stderr, "The token is shown only once. Its id is %s.\n", row.ID)
		return nil
	})
}

// TokenListCmd is `octavo token list`.
type TokenListCmd struct {
	Settings `embed:""`
	owner    `embed:""`
	listFlags
}

// tokenLine is a token in the output of `octavo token list --json`.
type tokenLine struct {
	ID         string     `json:"id"`
	Kind       string     `json:"kind"`
	User       *string    `json:"user,omitzero"`
	Site       *string    `json:"site,omitzero"`
	Name       string     `json:"name"`
	CreatedAt  time.Time  `json:"createdAt"`
	LastUsedAt *time.Time `json:"lastUsedAt,omitzero"`
	ExpiresAt  *time.Time `json:"expiresAt,omitzero"`
	RevokedAt  *time.Time `json:"revokedAt,omitzero"`
}

// Run lists the tokens.
func (c *TokenListCmd) Run() error {
	return withStore(&c.Settings, "token list", func(ctx context.Context, st *store.Store) error {
		tokens, err := st.ListTokens(ctx, store.TokenFilter{User: c.User, SiteID: c.Site})
		if err != nil {
			return err
		}
		return c.list(os.Stdout, "ID\tKIND\tFOR\tNAME\tCREATED\tLAST USED\tSTATE", func(r *rows) error {
			for _, t := range tokens {
				holder := "every published site"
				if t.UserID != nil {
					holder = *t.UserID
				} else if t.SiteID != nil {
					holder = *t.SiteID
				}
				line := tokenLine{
					t.ID, t.Kind, t.UserID, t.SiteID, t.Name, t.CreatedAt, t.LastUsedAt, t.ExpiresAt, t.RevokedAt,
				}
				err := r.add(line, "%s\t%s\t%s\t%s\t%s\t%s\t%s", t.ID, t.Kind, holder, t.Name,
					t.CreatedAt.Format(time.DateTime), day(t.LastUsedAt), tokenState(t, time.Now()))
				if err != nil {
					return err
				}
			}
			return nil
		})
	})
}

func tokenState(t store.Token, now time.Time) string {
	switch {
	case t.RevokedAt != nil:
		return "revoked " + day(t.RevokedAt)
	case t.ExpiresAt != nil && !t.ExpiresAt.After(now):
		return "expired " + day(t.ExpiresAt)
	case t.ExpiresAt != nil:
		return "until " + day(t.ExpiresAt)
	}
	return "valid"
}

func day(t *time.Time) string {
	if t == nil {
		return "never"
	}
	return t.Format(time.DateTime)
}

// TokenRevokeCmd is `octavo token revoke`.
type TokenRevokeCmd struct {
	Settings `embed:""`
	ID       string `arg:"" help:"The token's id, as list shows it."`
}

// Run revokes the token.
func (c *TokenRevokeCmd) Run() error {
	return withStore(&c.Settings, "token revoke", func(ctx context.Context, st *store.Store) error {
		if err := st.RevokeToken(ctx, c.ID); err != nil {
			return err
		}
		fmt.Fprintf(os.Stderr, "Revoked %s.\n", c.ID)
		return nil
	})
}

// TokenRotateCmd is `octavo token rotate`.
type TokenRotateCmd struct {
	Settings `embed:""`
}

// Run ends all site tokens.
func (c *TokenRotateCmd) Run() error {
	return withStore(&c.Settings, "token rotate", func(ctx context.Context, st *store.Store) error {
		if err := st.Sites.EndTokens(ctx); err != nil {
			return err
		}
		fmt.Fprintln(os.Stderr, "Site tokens have a new key.")
		return nil
	})
}

// withStore runs a command that uses Postgres. It uses the Postgres of a running node, or starts an embedded Postgres
// for the command. The audit log attributes the command's changes to the operator, by the system's user name.
func withStore(s *Settings, command string, run func(context.Context, *store.Store) error) (err error) {
	ctx, stop := untilSignalled()
	defer stop()
	b, err := attach(ctx, s, embedded.Set{Postgres: true}, false)
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, b.stop(context.WithoutCancel(ctx))) }()
	st, err := openStore(ctx, postgres.Config{URL: b.postgresURL}, store.Config{})
	if err != nil {
		return err
	}
	defer st.Stop()
	if err := st.Migrated(ctx); err != nil {
		return err
	}
	return run(postgres.By(ctx, operator(command)), st)
}

// operator returns the user who runs a command, as the actor of the command's changes.
func operator(command string) postgres.Actor {
	who := postgres.Actor{Type: schema.ActorOperator, Operation: "octavo " + command}
	if u, err := user.Current(); err == nil {
		who.ID, who.Name = u.Username, u.Name
	}
	return who
}
