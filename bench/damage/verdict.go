package main

import (
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
)

// outcome is the result of a case.
type outcome string

const (
	// right: every answer equals the undamaged node's answer.
	right outcome = "right"
	// said: each wrong answer reports that it is wrong, and how to repair the damage. Answers without such a report may
	// only lack the events that the node counts as lost.
	said outcome = "said"
	// refused: the node does not start. Its message names the file or folder, and how to start the node nevertheless.
	// After the file is restored, every answer is right.
	refused outcome = "refused"
	// silent: the outcome is not right, said or refused.
	silent outcome = "silent"
)

// verdict is the outcome of a case, with the node's message.
type verdict struct {
	outcome
	text string
}

// seen records what the node answered and logged after the damage.
type seen struct {
	answers []answer
	later   []answer // answers after the node has repaired the reported damage
	ready   readiness
	log     string // the node's log
	lost    int    // number of messages that the node counts as lost from the log
	taken   int64  // number of bytes that the damage changed or removed
	message int64  // size of a message of the log, in bytes
}

// wayOut matches words of a text that says how to repair the damage.
var wayOut = regexp.MustCompile(`(?i)\b(restores?|put back|moves?|repair|remove it|use an empty|detaches|set it)\b`)

// judge compares a node's answers with the answers of the undamaged node.
func judge(want []answer, s seen) verdict {
	best := verdict{right, ""}
	lostEvents := 0
	for i, w := range want {
		if i >= len(s.answers) || s.answers[i].name != w.name {
			return verdict{silent, w.name + ": no answer"}
		}
		a := s.answers[i]
		if a.right(w) {
			continue
		}
		if text := s.says(a, i < len(s.later) && s.later[i].right(w)); text != "" {
			best = verdict{said, text}
			continue
		}
		if s.lost == 0 || !strings.Contains(w.name, " of site ") {
			return verdict{silent, fmt.Sprintf("%s: %s, not %s", w.name, brief(a), brief(w))}
		}
		if strings.HasPrefix(w.name, "events by month") {
			lostEvents += sum(w.text) - sum(a.text)
		}
	}
	if lostEvents > 0 || s.lost > 0 {
		// Each message has perPost events.
		if lostEvents != s.lost*perPost {
			text := fmt.Sprintf("%d events are gone, and %d messages are counted as lost", lostEvents, s.lost)
			return verdict{silent, text}
		}
		if most := s.taken/s.message + 2; int64(s.lost) > most {
			return verdict{silent, fmt.Sprintf("%d messages are lost, and the damage is of %d at most", s.lost, most)}
		}
		line := s.errorLine("The log is damaged")
		if line == "" {
			return verdict{silent, fmt.Sprintf("%d messages are lost without an ERROR", s.lost)}
		}
		best = verdict{said, fmt.Sprintf("lostMessages %d; %s", s.lost, line)}
	}
	return best
}

// again reports whether the requests must be sent again, because the node has reported damage and has repaired it
// since.
func (s seen) again() bool {
	return slices.ContainsFunc(s.answers, func(a answer) bool { return a.events == "ok" })
}

// says returns the text that reports the damage of a wrong answer, and how to repair it. It returns "" if there is no
// such text. `mended` is true if the same request got the right answer soon afterwards.
func (s seen) says(a answer, mended bool) string {
	if a.status == http.StatusServiceUnavailable && strings.Contains(a.text, "stored data is damaged: ") &&
		wayOut.MatchString(a.text) {
		return "503 " + a.text[strings.Index(a.text, "stored data"):]
	}
	if a.missing != "" && (strings.HasPrefix(a.events, "incomplete") || mended) {
		if line := s.errorLine("Stored events are missing"); wayOut.MatchString(line) {
			return fmt.Sprintf("Octavo-Missing-Rows %s; %s", a.missing, line)
		}
	}
	if a.doubled != "" && (strings.HasPrefix(a.events, "doubled") || mended) {
		if line := s.errorLine("Stored events are doubled"); wayOut.MatchString(line) {
			return fmt.Sprintf("Octavo-Doubled-Rows %s; %s", a.doubled, line)
		}
	}
	if s.ready.Status == http.StatusServiceUnavailable && a.status == http.StatusServiceUnavailable {
		if line := s.errorLine(""); wayOut.MatchString(line) {
			return "not ready; " + line
		}
	}
	return ""
}

// errorLine returns the last log message of level ERROR that contains `words`.
func (s seen) errorLine(words string) (found string) {
	for line := range strings.Lines(s.log) {
		var entry struct{ Level, Msg, Error string }
		err := json.Unmarshal([]byte(line), &entry, json.MatchCaseInsensitiveNames(true))
		if err == nil && entry.Level == "ERROR" && strings.Contains(entry.Msg, words) {
			found = strings.TrimSpace("ERROR " + entry.Msg + " " + entry.Error)
		}
	}
	return found
}

// refusal judges a node that did not start, by its last error message.
func refusal(log, dir, path string) verdict {
	line := ""
	for l := range strings.Lines(log) {
		if _, text, ok := strings.Cut(l, "octavo: error: "); ok && !strings.HasPrefix(l, "{") {
			line = strings.TrimSpace(text)
		}
	}
	below, _ := filepath.Rel(dir, path)
	first, _, _ := strings.Cut(below, string(filepath.Separator))
	names := strings.Contains(line, filepath.Join(dir, first)) || first == below && strings.Contains(line, dir)
	switch {
	case line == "":
		return verdict{silent, "it ended without a sentence"}
	case !names:
		return verdict{silent, "the refusal names no file or folder: " + line}
	case !wayOut.MatchString(line):
		return verdict{silent, "the refusal names no way out: " + line}
	}
	return verdict{refused, strings.ReplaceAll(line, dir, "DATA")}
}

// sum adds the numbers of the last column of an aggregate.
func sum(columns string) (n int) {
	at := strings.LastIndex(columns, `"values":[`)
	if at < 0 {
		return 0
	}
	values, _, _ := strings.Cut(columns[at+len(`"values":[`):], "]")
	for value := range strings.SplitSeq(values, ",") {
		v, _ := strconv.Atoi(value) // the text of an empty list is "", which counts as 0
		n += v
	}
	return n
}

func brief(a answer) string {
	return fmt.Sprintf("%d %.160s%s", a.status, strings.ReplaceAll(a.text, "\n", " "),
		missingText("missing", a.missing)+missingText("doubled", a.doubled))
}

func missingText(how, rows string) string {
	if rows == "" {
		return ""
	}
	return " (" + how + " " + rows + ")"
}
