package main

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// guideCommand is a block of shell commands in a guide, and the answer below the block, if the guide shows an answer.
type guideCommand struct{ script, answer string }

var guideBlocks = regexp.MustCompile("(?s)```sh\n(.*?)```\n(?:\n```json\n(.*?)```)?")

// bare removes spaces and newlines. The JSON in guides has them between members, and the JSON of answers does not.
var bare = strings.NewReplacer(" ", "", "\n", "")

func guideCommands(t *testing.T, name string) (list []guideCommand) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../api/docs/guides", name+".md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range guideBlocks.FindAllStringSubmatch(string(text), -1) {
		list = append(list, guideCommand{script: block[1], answer: strings.TrimSpace(block[2])})
	}
	if want := len(shellBlocks(t, "api/docs/guides/"+name+".md")); len(list) != want || want == 0 {
		t.Fatalf("%s has %d blocks of commands, and %d are found", name, want, len(list))
	}
	return list
}

// TestGuides runs the commands of each guide in order, on one server. The answers must be as in the guides. The first
// guide needs a site without events.
func TestGuides(t *testing.T) {
	t.Parallel()
	i := newAttached(t)
	folder := filepath.Join(filepath.Dir(i.dir), "bin")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(i.cmd.Path, filepath.Join(folder, "octavo")); err != nil {
		t.Fatal(err)
	}
	shown := map[string][]string{
		"start": {`"object":"user"`, `"object":"site"`, "204"},
		"home":  {"204", `"column":"urlPath"`},
		"tracker": {`"object":"publishable-key"`, `data-key="opk_`,
			`"object":"insights-live"`, `"object":"event-balance"`},
		"agents":   {"204"},
		"privacy":  {`"retentionDays":400`},
		"cookbook": {`{"columns":[{"column":"peopleCount","values":[2]}]}`, `"object":"event-balance"`},
	}
	for _, name := range []string{"start", "home", "tracker", "agents", "privacy", "cookbook"} {
		commands, before, all := guideCommands(t, name), "", ""
		if strings.HasPrefix(commands[0].script, "make run") {
			commands = commands[1:]
		}
		for _, command := range commands {
			if name == "cookbook" && before == "" {
				before = command.script // the first command sets variables for the other commands
				continue
			}
			output := i.shell(before+command.script, i.env...)
			if command.answer != "" {
				i.until(name+" to answer "+command.answer, func() error {
					output = i.shell(before+command.script, i.env...)
					if !strings.Contains(bare.Replace(output), bare.Replace(command.answer)) {
						return errors.New(output)
					}
					return nil
				})
			}
			all += output
		}
		for _, want := range shown[name] {
			if !strings.Contains(all, want) {
				t.Errorf("the commands of %s do not show %s:\n%s", name, want, all)
			}
		}
	}
}

// TestGuideError sends the request whose error the first page shows.
func TestGuideError(t *testing.T) {
	t.Parallel()
	i := newAttached(t)
	text, err := os.ReadFile("../../api/docs/guides/home.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "```json\n")
	want, _, _ := strings.Cut(rest, "```")
	_, body := i.request("POST", "/v1/orgs/"+i.org+"/sites/"+i.site+"/insights/events", i.token,
		[]byte(`{"events": [{"type": "page_view", "session": {"visitorId": "v1", "sessionId": "s1"}}]}`))
	if bare.Replace(string(body)) != bare.Replace(want) {
		t.Errorf("the error is %s, and the first page shows %s", body, want)
	}
}
