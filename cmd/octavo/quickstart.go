package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
)

// quickstart has the objects that the first start created for a person who tries Octavo out. They are stored in a file
// of the data directory, which only the file's owner can read. So later starts print the same values, and a shell can
// source the file.
type quickstart struct{ URL, Token, Org, Site string }

func quickstartFile(s *Settings) string { return filepath.Join(s.DataDir, "quickstart.env") }

// bootstrap creates the first user if the database is empty. With example it also creates an organization and a site.
// It returns nil if there is no quickstart to show.
func bootstrap(ctx context.Context, s *Settings, st *store.Store, example bool) (*quickstart, error) {
	if !example && s.BootstrapToken == "" {
		return nil, nil
	}
	want := store.Bootstrap{Token: s.BootstrapToken, Email: s.BootstrapEmail}
	if example {
		want.OrganizationTitle, want.SiteTitle = "Example", "Example docs"
	}
	made, err := st.Bootstrap(ctx, want)
	if err != nil {
		return nil, fmt.Errorf("cannot create the first user (OCTAVO_BOOTSTRAP_TOKEN): %w", err)
	}
	if !example {
		return nil, nil
	}
	if !made.Created {
		return earlierQuickstart(s)
	}
	q := &quickstart{URL: s.publicURL(), Token: made.Token, Org: made.Organization.ID, Site: made.Site.ID}
	return q, q.save(s)
}

// earlierQuickstart reads the quickstart of an earlier start. It returns nil if there is no file.
func earlierQuickstart(s *Settings) (*quickstart, error) {
	text, err := os.ReadFile(quickstartFile(s))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the quickstart file: %w", err)
	}
	q := &quickstart{}
	members := map[string]*string{"OCTAVO_TOKEN": &q.Token, "OCTAVO_ORG": &q.Org, "OCTAVO_SITE": &q.Site}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "export "), "=")
		if at, ok := members[name]; ok {
			*at = value
		}
	}
	q.URL = s.publicURL() // the public URL may have changed since the first start
	return q, q.save(s)
}

func (q *quickstart) save(s *Settings) error {
	text := fmt.Sprintf("export OCTAVO_URL=%s\nexport OCTAVO_TOKEN=%s\nexport OCTAVO_ORG=%s\nexport OCTAVO_SITE=%s\n", q.URL, q.Token, q.Org, q.Site)
	if err := os.MkdirAll(s.DataDir, 0o700); err != nil {
		return fmt.Errorf("cannot save the quickstart file: %w", err)
	}
	if err := writePrivate(quickstartFile(s), []byte(text)); err != nil {
		return fmt.Errorf("cannot save the quickstart file: %w", err)
	}
	return nil
}

// writePrivate writes a file that only its owner can read, even if the file existed with other permissions.
func writePrivate(path string, text []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	err = file.Chmod(0o600)
	if err == nil {
		_, err = file.Write(text)
	}
	return errors.Join(err, file.Close())
}

var welcome = template.Must(template.New("welcome").Parse(`
Octavo is ready at {{.URL}}
{{- if .Link}}
Dashboard, for ten minutes and once: {{.Link}}
{{- end}}
{{- if .Token}}
{{- if .Shown}}
Token: {{.Token}}
(kept with the ids below in {{.File}}; stop with Ctrl-C)
{{- else}}
Its token and ids are in {{.File}}, which only you can read.
{{- end}}
{{- if ne .Admin "off"}}
For operators: http://{{.Admin}}/metrics, /version, /debug/pprof/heap
{{- end}}

In another shell, first run:

. {{.File}}

1. Who am I?

curl -s -w '\n' $OCTAVO_URL/v1/user -H "Authorization: Bearer $OCTAVO_TOKEN"

2. Post two visitor events:

curl -s -w '%{http_code}\n' $OCTAVO_URL/v1/orgs/$OCTAVO_ORG/sites/$OCTAVO_SITE/insights/events \
  -H "Authorization: Bearer $OCTAVO_TOKEN" -H "Content-Type: application/json" \
  -d '{"events":[
        {"type":"page_view","session":{"visitorId":"v1","sessionId":"s1"},"location":{"url":"https://docs.example.com/start?utm_source=mail"}},
        {"type":"search_type_query","query":"webhooks","session":{"visitorId":"v2","sessionId":"s2"},"location":{"url":"https://docs.example.com/"}}]}'

3. Read them back, within two seconds:

curl -s -w '\n' $OCTAVO_URL/v1/orgs/$OCTAVO_ORG/sites/$OCTAVO_SITE/insights/events/aggregate \
  -H "Authorization: Bearer $OCTAVO_TOKEN" -H "Content-Type: application/json" \
  -d '{"range":"last24Hours","groupBy":[{"column":"eventType"}],"select":[{"column":"eventType"},{"column":"eventsCount"},{"column":"visitorsCount"}]}'
{{- end}}

`))

// isTerminal reports whether a file is a terminal. If it is a terminal, a person sees the output.
func isTerminal(file *os.File) bool {
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// signInLink makes a link that opens the site's dashboard. The link works once and within ten minutes. The secret is in
// the fragment, which browsers do not send. If `q` has no token, or the token was revoked, it returns "".
func (q *quickstart) signInLink(ctx context.Context, st *store.Store) (string, error) {
	if q.Token == "" {
		return "", nil
	}
	secret, err := st.CreateBrowserLink(ctx, q.Token)
	if schema.IsCode(err, schema.CodeUnauthorized) {
		return "", nil // The token was revoked.
	}
	query := url.Values{"org": {q.Org}, "site": {q.Site}}
	return strings.TrimRight(q.URL, "/") + "/?" + query.Encode() + "#in=" + secret, err
}

// print shows the address, the link and three commands to paste. It shows the token only on a terminal, because others
// may read redirected output. For the same reason, the caller makes a link only for a terminal.
func (q *quickstart) print(w io.Writer, s *Settings, link string, toPerson bool) error {
	file := quickstartFile(s)
	if here, err := os.Getwd(); err == nil {
		// The printed commands read the file with the shell's command `.`, which looks in PATH for a name without a
		// slash.
		if short, err := filepath.Rel(here, file); err == nil && strings.Contains(short, "/") && !strings.HasPrefix(short, "..") {
			file = short
		}
	}
	var b bytes.Buffer
	if err := welcome.Execute(&b, struct {
		quickstart
		File, Admin, Link string
		Shown             bool
	}{*q, file, s.Admin, link, toPerson}); err != nil {
		return fmt.Errorf("cannot print the first commands: %w", err)
	}
	_, err := b.WriteTo(w)
	return err
}
