package clienttest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"image/png"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/octavo-docs/octavo/cmd/engine/enginetest/eventually"
	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/orgs"
	"github.com/octavo-docs/octavo/store/storetest"
)

// commandLine runs the published command line, @gitbook/cli, with its own home folder.
type commandLine struct {
	t    *testing.T
	home string
}

func newCommandLine(t *testing.T) commandLine { return commandLine{t, t.TempDir()} }

func (c commandLine) command(ctx context.Context, args ...string) *exec.Cmd {
	program, err := filepath.Abs("node_modules/@gitbook/cli/cli.js")
	if err != nil {
		c.t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, "node", append([]string{"--no-warnings", program}, args...)...)
	cmd.Env = append(os.Environ(), "HOME="+c.home, "XDG_CONFIG_HOME="+c.home, "TMPDIR="+c.home, "ECHO_KEY=s3cr3t-value", "NO_COLOR=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	cmd.WaitDelay = time.Second
	return cmd
}

// run runs a command with this standard input. It returns the output, and whether the command succeeds.
func (c commandLine) run(input string, args ...string) (output string, ok bool) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), eventually.Patience)
	defer cancel()
	cmd := c.command(ctx, args...)
	cmd.Stdin = strings.NewReader(input)
	said, err := cmd.CombinedOutput()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		c.t.Fatalf("gitbook %q: %v", args, err)
	}
	return string(said), err == nil
}

// want runs a command. It checks that the command succeeds and prints the text.
func (c commandLine) want(says string, args ...string) {
	c.t.Helper()
	if output, ok := c.run("", args...); !ok || !strings.Contains(output, says) {
		c.t.Fatalf("gitbook %q says, with success %t:\n%s\nwant %q", args, ok, output, says)
	}
}

// refused runs a command. It checks that the command fails and prints the text.
func (c commandLine) refused(says string, args ...string) {
	c.t.Helper()
	if output, ok := c.run("", args...); ok || !strings.Contains(output, says) {
		c.t.Errorf("gitbook %q says, with success %t:\n%s\nwant a failure with %q", args, ok, output, says)
	}
}

// call sends a request, checks the status, and decodes the answer.
func (s *server) call(t *testing.T, want int, method, path, token string, body any) map[string]any {
	t.Helper()
	var reader io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		reader = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(t.Context(), method, s.url+path, reader)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != want {
		t.Fatalf("%s %s: %d %s %v, want %d", method, path, response.StatusCode, text, err, want)
	}
	answer := map[string]any{}
	if len(text) > 0 {
		if err := json.Unmarshal(text, &answer); err != nil {
			t.Fatal(err)
		}
	}
	return answer
}

// TestCommandLine signs in with the published command line and shows the user. It publishes an integration that uses
// the published runtime, follows the integration's events, and unpublishes the integration. The integration's built
// script receives the events. The test also publishes an OpenAPI document.
func TestCommandLine(t *testing.T) {
	t.Parallel()
	needClient(t)
	const token, name = "a-token-of-our-own", "/v1/integrations/octavo-echo"
	s := startServer(t, "OCTAVO_BOOTSTRAP_TOKEN="+token, "OCTAVO_OUTBOUND_ALLOW=127.0.0.1")
	organization := s.call(t, 201, "POST", "/v1/orgs", token, map[string]string{"title": "Commands"})["id"].(string)
	stranger, err := s.store.Orgs.CreateUser(t.Context(), orgs.NewUser{
		DisplayName: "Eve", Email: "eve@cli.example.com",
	})
	if err != nil {
		t.Fatal(err)
	}
	theirs := s.call(t, 201, "POST", "/v1/orgs", storetest.Token(t, s.store, store.NewToken{User: stranger.ID}), map[string]string{"title": "Others"})["id"].(string)
	c := newCommandLine(t)
	manifest, err := filepath.Abs("testdata/integration")
	if err != nil {
		t.Fatal(err)
	}

	c.refused("must be authenticated", "whoami")
	c.refused("not valid", "auth", "--token", schema.NewToken(), "--endpoint", s.url)
	c.want("You are now authenticated as Admin.", "auth", "--token", token, "--endpoint", s.url)
	c.want("Email: admin@localhost", "whoami")

	c.refused("organization not found", "publish", manifest, "--organization", "nobody")
	c.refused("organization not found", "publish", manifest, "--organization", theirs)
	c.want(`Integration "octavo-echo" published`, "publish", manifest, "--organization", organization)
	published := s.call(t, 200, "GET", name, token, nil)
	if published["runtime"] != "v2" || published["version"] != 1.0 {
		t.Errorf("%v", published)
	}
	icon, err := http.Get(published["urls"].(map[string]any)["icon"].(string))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = icon.Body.Close() }()
	if picture, err := png.Decode(icon.Body); err != nil || picture.Bounds().Dx() != 16 {
		t.Errorf("the icon: %v", err)
	}
	versions := s.call(t, 200, "GET", name+"/versions", token, nil)
	if versions["count"] != 1.0 || versions["items"].([]any)[0].(map[string]any)["scriptBytes"].(float64) < 1000 {
		t.Errorf("%v", versions)
	}

	// The built script runs behind a tunnel, and receives the event of its installation.
	tunnel := startTunnel(t, filepath.Join(c.home, ".gitbook", "octavo-echo", "script.js"))
	s.development(t, token, "set", tunnel)
	installed := s.call(t, 201, "POST", name+"/installations", token, map[string]string{"organization": organization})
	installation := name + "/installations/" + installed["id"].(string)
	eventually.True(t, "the script's output", func() bool {
		marks := s.call(t, 200, "GET", installation, token, nil)["externalIds"].([]any)
		return len(marks) == 3 && marks[0] == "seen by version 1" && marks[1] == "one of 1" && marks[2] == "installation_setup"
	})
	eventually.True(t, "the events to be listed", func() bool {
		return s.call(t, 200, "GET", name+"/events", token, nil)["count"] == 2.0
	})
	s.development(t, token, "disable", "")

	c.tail(manifest, `"type":"installation_setup"`, "Sent to the tunnel, which answered 200.")

	document := filepath.Join(c.home, "api.yaml")
	if err := os.WriteFile(document, []byte("openapi: 3.1.0\ninfo: {title: Pets, version: '1'}\npaths: {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.want(`OpenAPI specification "pets" published`, "openapi", "publish", document, "--spec", "pets", "--organization", organization)
	c.refused("organization not found", "openapi", "publish", document, "--spec", "pets", "--organization", theirs)
	s.call(t, 200, "GET", "/v1/orgs/"+organization+"/openapi/pets/versions/latest", token, nil)

	if output, ok := c.run("y", "unpublish", "octavo-echo"); !ok || !strings.Contains(output, `Integration "octavo-echo" has been deleted`) {
		t.Errorf("unpublish says, with success %t: %s", ok, output)
	}
	s.call(t, 404, "GET", name, token, nil)
	s.call(t, 404, "GET", installation, token, nil)
}

// tail runs the command `tail` for an integration until the output has the wanted texts in this order. It then
// interrupts the command with SIGINT, as a user does.
func (c commandLine) tail(dir string, wanted ...string) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), eventually.Patience)
	defer cancel()
	cmd := c.command(ctx, "tail")
	cmd.Dir = dir
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		c.t.Fatal(err)
	}
	var said strings.Builder
	for lines := bufio.NewScanner(out); lines.Scan(); {
		said.WriteString(lines.Text() + "\n")
		for len(wanted) > 0 && strings.Contains(lines.Text(), wanted[0]) {
			wanted = wanted[1:]
		}
		if len(wanted) == 0 {
			break
		}
	}
	_ = cmd.Process.Signal(syscall.SIGINT)
	if err := cmd.Wait(); len(wanted) > 0 || err != nil {
		c.t.Errorf("tail ends with %v, without %q:\n%s", err, wanted, said.String())
	}
}

// startTunnel starts an HTTP server that runs an integration's script, and returns its address. Octavo uses this
// address as a tunnel.
func startTunnel(t *testing.T, script string) string {
	t.Helper()
	// Node loads a file as a module if its name ends in .mjs.
	module := filepath.Join(t.TempDir(), "script.mjs")
	text, err := os.ReadFile(script)
	if err == nil {
		err = os.WriteFile(module, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", "testdata/tunnel.mjs", module)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the tunnel: %v", err)
		}
	})
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(address)
}

// development changes an integration's development mode with the published client. The command line cannot be used,
// because it needs a tunnel program.
func (s *server) development(t *testing.T, token, do, tunnel string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "node", "testdata/development.mjs", do, tunnel)
	cmd.Env = append(os.Environ(), "OCTAVO_URL="+s.url, "OCTAVO_TOKEN="+token)
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
}
