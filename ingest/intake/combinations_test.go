package intake

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/octavo-docs/octavo/ingest/ingesttest"
	"github.com/octavo-docs/octavo/schema/insights"
)

// drawnEvent is a random event that the intake must accept. The field `want` has the columns that the event must fill.
type drawnEvent struct {
	t       *rapid.T
	members []string
	want    row
}

// text draws the value of an optional text member: absent, null, empty or some text. It adds the member to the list,
// and its column to `want`.
func (e *drawnEvent) text(list *[]string, name, column string) {
	switch rapid.IntRange(0, 3).Draw(e.t, name) {
	case 0:
	case 1:
		*list = append(*list, strconv.Quote(name)+":null")
	case 2:
		*list = append(*list, strconv.Quote(name)+`:""`)
	case 3:
		value := rapid.StringMatching(`[a-z]{1,8}`).Draw(e.t, name+" text")
		*list = append(*list, fmt.Sprintf("%q:%q", name, value))
		e.want[column] = value
	}
}

// measured draws an optional number: absent, null, or a number from `least` to `most` in one of its notations.
func (e *drawnEvent) measured(list *[]string, name, column string, least, most int) {
	switch rapid.IntRange(0, 2).Draw(e.t, name) {
	case 0:
	case 1:
		*list = append(*list, strconv.Quote(name)+":null")
	case 2:
		n := rapid.IntRange(least, most).Draw(e.t, name+" number")
		notation := rapid.SampledFrom([]string{"%d", "%d.0", "%d.00e0", "%d00e-2"}).Draw(e.t, name+" notation")
		e.want[column] = int32(n)
		if n == 0 && notation == "%d00e-2" {
			notation = "%d"
		}
		*list = append(*list, strconv.Quote(name)+":"+fmt.Sprintf(notation, n))
	}
}

// word draws one of a set's words.
func (e *drawnEvent) word(set *insights.Enum, name, column string) string {
	word := rapid.SampledFrom(set.Words()).Draw(e.t, name)
	e.want[column], _ = set.Code(word)
	return fmt.Sprintf("%q:%q", name, word)
}

// object returns a member whose value is an object. The object's members are in a random order, and one of them is not
// in the contract.
func (e *drawnEvent) object(name string, members []string) string {
	members = append(members, `"unknown":[{"a":null}]`)
	return strconv.Quote(name) + ":{" + strings.Join(rapid.Permutation(members).Draw(e.t, name+" order"), ",") + "}"
}

// link draws a link of a random kind, with all members that this kind requires and some of its optional members.
func (e *drawnEvent) link() string {
	kind := rapid.SampledFrom(insights.LinkKinds.Words()).Draw(e.t, "kind")
	code, _ := insights.LinkKinds.Code(kind)
	e.want["link_kind"] = code
	target := []string{fmt.Sprintf(`"kind":%q`, kind)}
	required, names := insights.ContentRefMembers(code)
	for i, name := range names {
		if i < required || rapid.Bool().Draw(e.t, name) {
			target = append(target, fmt.Sprintf("%q:%q", name, "https://d.example/"+name))
		}
	}
	return e.object("link", []string{e.object("target", target), e.word(insights.LinkPositions, "position", "link_position")})
}

// payload draws the members of an event type, with every alternative.
func (e *drawnEvent) payload(kind string) {
	add := func(members ...string) { e.members = append(e.members, members...) }
	query := func() {
		add(`"query":"q"`)
		e.want["search_query"] = "q"
	}
	switch kind {
	case "ask_question":
		query()
	case "search_type_query":
		query()
		e.measured(&e.members, "resultsCount", "search_results", 0, insights.MaxResults)
	case "search_open_result":
		query()
		e.measured(&e.members, "resultsCount", "search_results", 0, insights.MaxResults)
		if rapid.Bool().Draw(e.t, "by record") {
			e.want["search_record"] = "r"
			add(e.object("result", []string{`"recordId":"r"`}))
		} else {
			e.want["search_space"], e.want["search_page"] = "s", "p"
			add(e.object("result", []string{`"spaceId":"s"`, `"pageId":"p"`, `"recordId":null`}))
		}
	case "page_post_feedback":
		add(e.object("feedback", []string{e.word(insights.FeedbackRatings, "rating", "feedback_rating")}))
	case "page_post_feedback_comment":
		e.want["feedback_comment"] = "c"
		add(e.object("feedback", []string{e.word(insights.FeedbackRatings, "rating", "feedback_rating"), `"comment":"c"`}))
	case "ask_rate_response":
		query()
		rating := rapid.SampledFrom([]string{"1", "-1", "1.0", "-1e0"}).Draw(e.t, "rating")
		e.want["ask_rating"], e.want["ask_response"] = int8(1), "a"
		if rating[0] == '-' {
			e.want["ask_rating"] = int8(-1)
		}
		add(`"rating":`+rating, `"responseId":"a"`)
	case "link_click", "file_download":
		add(e.link())
	case "page_leave":
		seconds := rapid.IntRange(0, insights.MaxEngagedSeconds).Draw(e.t, "seconds")
		e.want["engaged_seconds"] = int32(seconds)
		add(fmt.Sprintf(`"seconds":%d`, seconds))
		e.measured(&e.members, "depth", "scroll_depth", 0, insights.MaxScrollDepth)
	case "api_client_open", "api_client_request":
		e.want["api_path"], e.want["api_method"] = "/p", "get"
		add(e.object("operation", []string{`"path":"/p"`, `"method":"get"`}))
	case "ad_click", "ad_display":
		e.want["ad_domain"], e.want["ad_zone"] = "d", "z"
		add(e.object("ad", []string{`"domain":"d"`, `"zoneId":"z"`, e.word(insights.AdPlacements, "placement", "ad_placement")}))
	case "trademark_click":
		add(e.word(insights.TrademarkPlacements, "placement", "trademark_placement"))
	case "llms_request":
		add(e.word(insights.LLMSVariants, "llmsVariant", "llms_variant"))
	case "page_markdown_request":
		if rapid.Bool().Draw(e.t, "has a source") {
			add(e.word(insights.MarkdownSources, "markdownSource", "markdown_source"))
		}
	}
}

// TestEveryCombination checks that an event with any combination of members and values, in any order, is accepted and
// fills its columns.
func TestEveryCombination(t *testing.T) {
	t.Parallel()
	for _, kind := range insights.EventTypes.Words() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			log := &ingesttest.MemoryLog{}
			in := newTestIntake(t, log, nil)
			rapid.Check(t, func(t *rapid.T) {
				code, _ := insights.EventTypes.Code(kind)
				e := &drawnEvent{t: t, members: []string{`"type":` + strconv.Quote(kind), `"unknown":{"a":[1]}`}, want: row{"type": code}}
				e.payload(kind)
				session := []string{`"visitorId":"v"`, `"sessionId":"s"`}
				e.text(&session, "language", "language")
				if rapid.Bool().Draw(t, "has claims") {
					session = append(session, `"visitorAuthClaims":{"plan":"pro"}`)
				}
				for _, name := range []string{"userAgent", "ip", "visitorAuthToken"} {
					if rapid.Bool().Draw(t, name) {
						session = append(session, strconv.Quote(name)+`:"x"`)
					}
				}
				location := []string{`"url":"https://d.example/p"`}
				for _, m := range [][2]string{
					{"siteSection", "site_section"}, {"siteSpace", "site_space"}, {"siteShareKey", "site_share_key"},
					{"space", "space"}, {"revision", "revision"}, {"page", "page"}, {"title", "page_title"},
				} {
					e.text(&location, m[0], m[1])
				}
				e.measured(&location, "status", "http_status", insights.MinHTTPStatus, insights.MaxHTTPStatus)
				switch rapid.IntRange(0, 2).Draw(t, "context") {
				case 0:
					e.want["display_context"] = displaySite
				case 1:
					location = append(location, `"displayContext":null`)
					e.want["display_context"] = displaySite
				case 2:
					location = append(location, e.word(insights.DisplayContexts, "displayContext", "display_context"))
				}
				if rapid.Bool().Draw(t, "has a timestamp") {
					e.members = append(e.members, `"timestamp":"2026-01-02T03:04:05.678+01:00"`)
				}
				e.members = append(e.members, e.object("session", session), e.object("location", location))
				body := ingesttest.Events("{" + strings.Join(rapid.Permutation(e.members).Draw(t, "order"), ",") + "}")
				log.Messages = nil
				if err := in.Accept(t.Context(), testSite, []byte(body), testClient); err != nil {
					t.Fatalf("%s: %v", body, err)
				}
				got := ingesttest.RowsOf(t, log.Messages[0])[0]
				for _, name := range []string{"search_results", "engaged_seconds", "scroll_depth", "http_status"} {
					if _, sent := e.want[name]; !sent && got[name] != nil {
						t.Fatalf("%s: %s is %v, though it was not sent", body, name, got[name])
					}
				}
				for name, want := range e.want {
					if !reflect.DeepEqual(got[name], want) {
						t.Fatalf("%s: %s is %#v, want %#v", body, name, got[name], want)
					}
				}
			})
		})
	}
}
