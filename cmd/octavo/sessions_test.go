package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/api/saml/samltest"
)

// session is a block of shell commands in a document.
type session struct {
	document, begin string
	test            string // name of the test that runs the commands; "" if there is no such test
	reason          string // the reason why no test runs them
}

var sessions = []session{
	{document: "README.md", begin: "make run", reason: "CI runs make test, and make run ends only by a signal"},
	{document: "README.md", begin: ". data/quickstart.env     #", test: "TestReadmeSession"},
	{document: "README.md", begin: "curl -s $OCTAVO_URL/v1/orgs/$OCTAVO_ORG/sites/$OCTAVO_SITE/insights/keys",
		test: "TestReadersSession"},
	{document: "api/tracker/TRACKER.md", begin: "octavo site snippet SITE",
		reason: "has placeholders: TestReadersSession runs the command"},
	{document: "api/tracker/TRACKER.md", begin: "octavo site check SITE",
		reason: "has placeholders: TestCheckCommand runs the command"},
	{document: "api/content/GIT.md", begin: ". data/quickstart.env\nREPOSITORY=", test: "TestGitSession"},
	{document: guidesFolder + "home.md", begin: ". data/quickstart.env", test: "TestGuides"},
	{document: guidesFolder + "start.md", begin: "make run",
		reason: "CI runs make test, and make run ends only by a signal"},
	{document: guidesFolder + "start.md", begin: ". data/quickstart.env", test: "TestGuides"},
	{document: guidesFolder + "tracker.md", begin: ". data/quickstart.env", test: "TestGuides"},
	{document: guidesFolder + "tracker.md", begin: "set -a; . data/quickstart.env", test: "TestGuides"},
	{document: guidesFolder + "agents.md", begin: ". data/quickstart.env", test: "TestGuides"},
	{document: guidesFolder + "privacy.md", begin: ". data/quickstart.env", test: "TestGuides"},
	{document: guidesFolder + "cookbook.md", begin: ". data/quickstart.env", test: "TestGuides"},
	{document: guidesFolder + "cookbook.md", begin: "ask ", test: "TestGuides"},
	{document: guidesFolder + "cookbook.md", begin: "curl -s -w '\\n' \"$INSIGHTS", test: "TestGuides"},
	{document: ssoDocument, begin: "   octavo() {", test: "TestSSOSession"},
	{document: ssoDocument, begin: "   octavo /orgs/$OCTAVO_ORG/saml -d", test: "TestSSOSession"},
	{document: ssoDocument, begin: "   certificate=", test: "TestSSOSession"},
	{document: ssoDocument, begin: "octavo /sso/token", test: "TestSSOSession"},
	{document: frontEndDocument, begin: "export OCTAVO_FRONT_ENDS=", reason: "needs a checkout of the front end"},
	{document: frontEndDocument, begin: "export OCTAVO_PUBLIC_URL=", reason: "needs a checkout of the front end"},
}

const (
	guidesFolder     = "api/docs/guides/"
	ssoDocument      = "deploy/sso.md"
	frontEndDocument = "deploy/front-end/README.md"
)

// TestSSOSession runs the commands of sso.md. They add a domain, activate a provider, and exchange an unknown code.
func TestSSOSession(t *testing.T) {
	t.Parallel()
	i := newAttached(t)
	file := filepath.Join(filepath.Dir(i.dir), "idp.pem")
	if err := os.WriteFile(file, []byte(samltest.Ours().PEM()), 0o600); err != nil {
		t.Fatal(err)
	}
	output := i.shell(strings.Join([]string{
		". data/quickstart.env",
		documentSession(t, ssoDocument, "   octavo() {"),
		"made=$(" + documentSession(t, ssoDocument, "   octavo /orgs/$OCTAVO_ORG/saml -d") + ")",
		`PROVIDER=$(node -p 'JSON.parse(process.argv[1]).id' "$made")`,
		documentSession(t, ssoDocument, "   certificate="),
		documentSession(t, ssoDocument, "octavo /sso/token"),
	}, "\n"))
	for _, want := range []string{`"emailDomains":["acme.example"]`, "acme.example", `"status":"active"`, `"code":40`} {
		if !strings.Contains(output, want) {
			t.Errorf("the session does not show %s:\n%s", want, output)
		}
	}
}

// documentSession returns a document's block of shell commands that begins with the text `begin`.
func documentSession(t *testing.T, document, begin string) string {
	t.Helper()
	for _, block := range shellBlocks(t, document) {
		if strings.HasPrefix(block, begin) {
			return block
		}
	}
	t.Fatalf("%s has no session that begins with %q", document, begin)
	return ""
}

func shellBlocks(t *testing.T, document string) (blocks []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../..", document))
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		blocks = append(blocks, block[1])
	}
	return blocks
}

// TestSessions checks that the table `sessions` has each block of shell commands in the documents, and that the block's
// test exists.
func TestSessions(t *testing.T) {
	t.Parallel()
	var tests strings.Builder
	sources, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range sources {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		tests.Write(text)
	}
	used := make([]bool, len(sessions))
	for _, document := range documentsOfUsers(t) {
		for _, block := range shellBlocks(t, document) {
			row := slices.IndexFunc(sessions, func(s session) bool {
				return s.document == document && strings.HasPrefix(block, s.begin)
			})
			if row < 0 {
				t.Errorf("%s has commands that no test runs:\n%s", document, block)
				continue
			}
			used[row] = true
		}
	}
	for i, s := range sessions {
		if !used[i] {
			t.Errorf("%s has no session that begins with %q", s.document, s.begin)
		}
		if s.test != "" && !strings.Contains(tests.String(), "func "+s.test+"(") || (s.test == "") == (s.reason == "") {
			t.Errorf("%s, %q: no test runs the commands, and no reason says why", s.document, s.begin)
		}
	}
}

// documentsOfUsers returns the paths of the Markdown files in the upper three levels of folders, and of the guides. It
// leaves out the results of benchmarks.
func documentsOfUsers(t *testing.T) (list []string) {
	t.Helper()
	for _, pattern := range []string{"*.md", "*/*.md", "*/*/*.md", guidesFolder + "*.md"} {
		found, err := filepath.Glob(filepath.Join("../..", pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range found {
			list = append(list, strings.TrimPrefix(path, "../../"))
		}
	}
	return slices.DeleteFunc(list, func(path string) bool { return strings.HasPrefix(path, "bench/results/") })
}
