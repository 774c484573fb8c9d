package apitest

import (
	"fmt"

	"github.com/go-json-experiment/json"

	"github.com/octavo-docs/octavo/api/apitest/shape"
	"github.com/octavo-docs/octavo/schema"
)

var (
	impact = shape.One("low", "medium", "high")

	ConversationShape = shape.Of{
		"object": shape.One("conversation"), "id": shape.ID, "externalId": shape.Text(1, 255), "subject?": shape.Text(1, 512), "createdAt": shape.AnyTime, "processedAt?": shape.Timestamp,
		"source": shape.Text(5, 255), "impact?": impact, "urls": shape.Object(shape.Of{"location": shape.URI, "source?": shape.Text(1, 2048)}),
	}
	issueShape = shape.Of{
		"object": shape.One("conversation-issue"), "id": shape.ID, "title": shape.Text(1, 120), "details": shape.GoodDocument, "summary": shape.Text(1, 100_000),
		"impact": impact, "createdAt": shape.AnyTime, "ingestedAt": shape.Timestamp, "conversation": shape.ID, "cluster?": shape.ID,
		"urls": shape.Object(shape.Of{"location": shape.URI}),
	}
	IssueItemShape = shape.Of{"issue": shape.Object(issueShape), "conversation": shape.Object(ConversationShape)}
	partShape      = shape.Of{"type": shape.One("message"), "role": shape.One("user", "assistant", "team-member"), "body": shape.Text(0, 200_000)}
	FullShape      = shape.Of{
		"conversation": shape.Object(ConversationShape), "parts": shape.List(shape.Object(partShape)),
		"metadata": shape.Object(shape.Of{"url?": shape.Text(0, 2048), "attributes?": func(any) error { return nil }, "createdAt?": shape.AnyTime}),
	}
	ClusterShape = shape.Of{
		"object": shape.One("issues-cluster"), "id": shape.ID, "label": shape.Text(1, 100), "createdAt": shape.AnyTime, "updatedAt": shape.AnyTime,
		"icon": shape.Text(1, 50), "summary": shape.GoodDocument, "muted": shape.Boolean, "impact": impact,
		"weeklyPulse": func(v any) error {
			if weeks, ok := v.([]any); !ok || len(weeks) != 13 {
				return fmt.Errorf("%v has not 13 weeks", v)
			}
			return shape.List(shape.Count)(v)
		},
		"sources": shape.Object(shape.Of{"email?": shape.Count}),
		"stats": shape.Object(shape.Of{
			"issues": shape.Count, "conversations": shape.Count, "tasksTotal": shape.One(0.0), "tasksBacklog": shape.One(0.0), "tasksStarted": shape.One(0.0),
			"tasksCompleted": shape.One(0.0), "tasksCancelled": shape.One(0.0),
		}),
		"urls":   shape.Object(shape.Of{"location": shape.URI, "app": shape.URI}),
		"theme?": shape.Object(shape.Of{"id": shape.ID, "title": shape.Text(1, 50)}), "language?": shape.Text(2, 2),
		"changeRequests": shape.List(shape.Object(shape.Of{
			"id": shape.ID, "space": shape.ID, "number": shape.Count, "status": shape.One("draft", "open", "archived", "merged"),
		})),
	}
	ClusterEventShape = shape.Of{
		"object": shape.One("issues-cluster-event"), "id": shape.ID, "kind": shape.One("joined", "left", "merged", "renamed"),
		"createdAt": shape.Timestamp, "title": shape.Text(1, 120), "reason": shape.Text(1, 300), "issue?": shape.ID, "conversation?": shape.ID,
	}
)

// Support calls the conversation operations of our organization as its admin.
type Support struct {
	H     *Harness
	Org   string
	Token string
}

func NewSupport(h *Harness) Support {
	return Support{H: h, Org: "/v1/orgs/" + h.Ours.Organization.ID, Token: h.Ours.Tokens[schema.RoleAdmin]}
}

func (s Support) Ingest(body any) {
	s.H.T.Helper()
	s.Send(body)
	s.H.RunJobs()
}

// Send ingests conversations. It does not wait until they are clustered.
func (s Support) Send(body any) {
	s.H.T.Helper()
	if a := s.H.Do("POST", s.Org+"/conversations", s.Token, body); a.Status != 204 || len(a.Body) != 0 {
		s.H.T.Errorf("ingest: %d %s", a.Status, a.Body)
	}
}

func Get[T any](s Support, s2 shape.Of, path string) T {
	s.H.T.Helper()
	a := s.H.Do("GET", s.Org+path, s.Token, nil)
	if a.Status != 200 {
		s.H.T.Fatalf("%s: %d %s", path, a.Status, a.Body)
	}
	shape.Want(s.H.T, s2, a.Body)
	var value T
	if err := json.Unmarshal(a.Body, &value); err != nil {
		s.H.T.Fatal(err)
	}
	return value
}

func (s Support) Clusters(query string) schema.List[schema.IssuesCluster] {
	s.H.T.Helper()
	return Get[schema.List[schema.IssuesCluster]](s, shape.ListOf(ClusterShape), "/conversations-clusters"+query)
}

// PNG is a picture of one pixel, in base64.
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGNQaHgAAAJEAYFxwsaxAAAAAElFTkSuQmCC"

func PublishBody(organization string) map[string]any {
	return map[string]any{"title": "Linear", "description": "Issues.", "script": "export {}", "organization": organization}
}

const SpecText = "openapi: 3.0.0\ninfo: {title: A, version: '1'}\npaths: {}\n"

func SpecBody(text string) map[string]any {
	return map[string]any{"source": map[string]any{"text": text}}
}
