package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/octavo-docs/octavo/schema"
)

// CheckCmd is `octavo site check`. The server loads the page, so the command needs no engine.
type CheckCmd struct {
	Site  string `arg:"" help:"The site's id."`
	Page  string `arg:"" name:"url" help:"Address of a page of the site, such as https://docs.example.com/."`
	URL   string `name:"url" default:"http://127.0.0.1:8080" env:"OCTAVO_URL" help:"Address of the server."`
	Token string `required:"" env:"OCTAVO_TOKEN" secret:"" help:"API token of an administrator of the site."`
	Org   string `required:"" env:"OCTAVO_ORG" help:"Id of the site's organization."`
	JSON  bool   `name:"json" help:"Print the answer as JSON."`
}

// errNotInstalled means that the verdict about a page is not `installed`.
var errNotInstalled = errors.New("the page is not installed as it should be")

// Run checks the page. It returns an error if the verdict is not `installed`.
func (c *CheckCmd) Run() error {
	ctx, stop := untilSignalled()
	defer stop()
	return c.run(ctx, os.Stdout)
}

func (c *CheckCmd) run(ctx context.Context, out io.Writer) error {
	client, release := newSeedClient(ctx, strings.TrimRight(c.URL, "/"), c.Token, 1)
	defer release()
	body, err := json.Marshal(map[string]string{"url": c.Page})
	if err != nil {
		return err
	}
	path := "/v1/orgs/" + url.PathEscape(c.Org) + "/sites/" + url.PathEscape(c.Site) + "/insights/installation-check"
	answer, err := client.send(ctx, http.MethodPost, path, body, http.StatusOK, "")
	if err != nil {
		return err
	}
	var check schema.InstallationCheck
	if err := json.Unmarshal(answer, &check); err != nil {
		return fmt.Errorf("POST %s has an answer that cannot be read: %.200s", path, answer)
	}
	if c.JSON {
		err = printJSON(out, check)
	} else {
		_, err = fmt.Fprintf(out, "%s: %s\n", check.Verdict, check.Message)
	}
	if err == nil && check.Verdict != schema.VerdictInstalled {
		err = fmt.Errorf("%w: %s", errNotInstalled, check.Verdict)
	}
	return err
}
