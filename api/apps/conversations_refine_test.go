package apps_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/octavo-docs/octavo/api/apitest"
	"github.com/octavo-docs/octavo/api/apitest/shape"
	"github.com/octavo-docs/octavo/api/jobs/jobstest"
	"github.com/octavo-docs/octavo/api/remote/chat/chattest"
	"github.com/octavo-docs/octavo/api/remote/refining"
	"github.com/octavo-docs/octavo/schema"
)

// alike returns similar conversations, which get into one cluster. Their ids have the numbers from `from` to `to`-1.
func alike(from, to int) []map[string]any {
	var list []map[string]any
	for i := from; i < to; i++ {
		list = append(list, said(fmt.Sprintf("login-%d", i), "I cannot log in after resetting my password."))
	}
	return list
}

const refinedTitle, refinedOverview = "Login after a password reset", "Users reset their password and cannot log in."

func refined(title, overview string) chattest.Answer {
	text, _ := json.Marshal(map[string]string{"title": title, "summary": overview}) // Encoding cannot fail.
	return chattest.Answer{Text: string(text)}
}

// modelled runs the jobs with a language model that returns these answers in order. It returns the failed jobs and the
// requests that the model received.
func modelled(s apitest.Support, answers ...chattest.Answer) ([]schema.Job, []chattest.Request) {
	s.H.T.Helper()
	var mu sync.Mutex
	server := chattest.New(s.H.T, func(chattest.Request) chattest.Answer {
		mu.Lock()
		defer mu.Unlock()
		if len(answers) == 0 {
			return chattest.Answer{Status: http.StatusTeapot}
		}
		next := answers[0]
		answers = answers[1:]
		return next
	})
	failed := jobstest.RunRefined(s.H.T, s.H.Store, &refining.Model{Chat: server.Client(s.H.T)})
	return failed, server.Requests()
}

// TestRefinedCluster checks that a language model names a cluster once. It summarizes the cluster again after the
// cluster has grown or lost summarized conversations.
func TestRefinedCluster(t *testing.T) {
	t.Parallel()
	s := apitest.NewSupport(apitest.New(t))
	read := func() (schema.IssuesCluster, string) {
		t.Helper()
		cluster := s.Clusters("").Items[0]
		full := apitest.Get[schema.IssuesCluster](s, apitest.ClusterShape, "/conversations-clusters/"+cluster.ID)
		text, err := json.Marshal(full.Summary)
		if err != nil {
			t.Fatal(err)
		}
		return full, string(text)
	}
	s.Send(alike(0, 3))
	if failed, asked := modelled(s); len(failed)+len(asked) != 0 {
		t.Fatalf("of three issues: %+v %+v", failed, asked)
	}
	before, _ := read()
	s.Send(alike(3, 5))
	failed, asked := modelled(s, refined(refinedTitle, refinedOverview))
	if len(failed) != 0 || len(asked) != 1 || !strings.Contains(asked[0].Messages[1].Content, `"en","issues":["I cannot log in after resetting my password"`) {
		t.Fatalf("%+v %+v", failed, asked)
	}
	cluster, summary := read()
	if cluster.ID != before.ID || cluster.Label != refinedTitle || !strings.Contains(summary, refinedOverview) || !strings.Contains(summary, "5 issues of high impact") {
		t.Errorf("%+v %s", cluster, summary)
	}
	history := apitest.Get[schema.List[schema.ClusterEvent]](s, shape.ListOf(apitest.ClusterEventShape), "/conversations-clusters/"+cluster.ID+"/history")
	if last := history.Items[len(history.Items)-1]; last.Kind != schema.ClusterRenamed || last.Title != before.Label || !strings.Contains(last.Reason, "language model") {
		t.Errorf("%+v", last)
	}

	s.Send(alike(5, 19))
	if failed, asked := modelled(s); len(failed)+len(asked) != 0 {
		t.Errorf("of 19 issues: %+v %+v", failed, asked)
	}
	if cluster, summary := read(); cluster.Label != refinedTitle || !strings.Contains(summary, refinedOverview) || !strings.Contains(summary, "19 issues") {
		t.Errorf("%+v %s", cluster, summary)
	}
	s.Send(alike(19, 20))
	if failed, asked := modelled(s, refined("Another title", "Users still cannot log in.")); len(failed) != 0 || len(asked) != 1 {
		t.Errorf("of 20 issues: %+v %+v", failed, asked)
	}
	if cluster, summary := read(); cluster.Label != refinedTitle || !strings.Contains(summary, "Users still cannot log in.") {
		t.Errorf("%+v %s", cluster, summary)
	}

	// A conversation is replaced. The summary must no longer have anything from its earlier content.
	s.Send(said("login-7", "Kubernetes ingress annotations are ignored."))
	s.H.RunJobs()
	if cluster, summary := read(); cluster.Label != refinedTitle || strings.Contains(summary, "Users still") || !strings.Contains(summary, "19 issues") {
		t.Errorf("%+v %s", cluster, summary)
	}
}

func TestRefinedClusterFailures(t *testing.T) {
	t.Parallel()
	good := refined(refinedTitle, refinedOverview)
	for name, test := range map[string]struct {
		answers []chattest.Answer
		titled  bool
		failed  string
	}{
		"limit, then an answer":   {[]chattest.Answer{{Status: http.StatusTooManyRequests}, good}, true, ""},
		"half, then an answer":    {[]chattest.Answer{{Text: good.Text, Half: true}, good}, true, ""},
		"prose, then an answer":   {[]chattest.Answer{{Text: "Login"}, good}, true, ""},
		"prose":                   {[]chattest.Answer{{Text: "Login"}, {Text: "Login"}}, false, ""},
		"refusal":                 {[]chattest.Answer{{Text: "No.", FinishReason: "content_filter"}}, false, ""},
		"nothing to say":          {[]chattest.Answer{refined("", "")}, false, ""},
		"no such model":           {[]chattest.Answer{{Status: http.StatusNotFound}}, false, "rejects the request"},
		"its key is not accepted": {[]chattest.Answer{{Status: http.StatusUnauthorized}}, false, "does not accept its key"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := apitest.NewSupport(apitest.New(t))
			s.Send(alike(0, 4))
			failed, asked := modelled(s, test.answers...)
			if len(asked) != len(test.answers) {
				t.Errorf("asked %d times", len(asked))
			}
			if test.failed == "" && len(failed) != 0 || test.failed != "" && (len(failed) != 1 || !strings.Contains(failed[0].Reason, test.failed)) {
				t.Errorf("failed %+v", failed)
			}
			cluster := s.Clusters("").Items[0]
			if (cluster.Label == refinedTitle) != test.titled {
				t.Errorf("%+v", cluster)
			}
			if test.failed != "" {
				return
			}
			s.Send(alike(4, 6))
			if failed, asked := modelled(s); len(failed)+len(asked) != 0 {
				t.Errorf("again: %+v %+v", failed, asked)
			}
		})
	}
}
