package eventgen

import "strconv"

// kind is a type of event: an index of kinds.
type kind uint8

const (
	pageView kind = iota
	searchOpen
	searchType
	searchResult
	pageFeedback
	pageFeedbackComment
	askQuestion
	askView
	askRate
	linkClick
	apiClientOpen
	apiClientRequest
	adClick
	adDisplay
	trademarkClick
	pageMarkdown
	agentFeedback
	llmsRequest
	mcpRequest
	rssRequest
	pageLeave
	codeCopy
	fileDownload
)

// kinds has the name of each event type, and the function that appends the members of this type.
var kinds = [...]struct {
	name    string
	payload func(g *Generator, dst []byte, s *step) []byte
}{
	pageView:            {"page_view", nil},
	searchOpen:          {"search_open", nil},
	searchType:          {"search_type_query", appendSearch},
	searchResult:        {"search_open_result", appendResult},
	pageFeedback:        {"page_post_feedback", appendFeedback},
	pageFeedbackComment: {"page_post_feedback_comment", appendComment},
	askQuestion:         {"ask_question", appendQuestion},
	askView:             {"ask_view", nil},
	askRate:             {"ask_rate_response", appendRating},
	linkClick:           {"link_click", appendLink},
	apiClientOpen:       {"api_client_open", appendOperation},
	apiClientRequest:    {"api_client_request", appendOperation},
	adClick:             {"ad_click", appendAd},
	adDisplay:           {"ad_display", appendAd},
	trademarkClick:      {"trademark_click", appendTrademark},
	pageMarkdown:        {"page_markdown_request", appendMarkdown},
	agentFeedback:       {"agent_feedback", nil},
	llmsRequest:         {"llms_request", appendLLMS},
	mcpRequest:          {"mcp_request", nil},
	rssRequest:          {"rss_request", nil},
	pageLeave:           {"page_leave", appendLeave},
	codeCopy:            {"code_copy", nil},
	fileDownload:        {"file_download", appendDownload},
}

func of(list []string, pick uint32) string { return list[pick%uint32(len(list))] }

func appendQuery(_ *Generator, dst []byte, s *step) []byte {
	dst = append(dst, `,"query":`...)
	return append(dst, searches[s.pick%uint32(len(searches))][s.stage]...)
}

// results returns the number of results of a search. An eighth of the completely typed searches have no results.
func (s *step) results() int {
	if s.stage == queryStages-1 && s.pick>>20%8 == 0 {
		return 0
	}
	return 1 + int(s.pick>>8%40)*(queryStages-int(s.stage))
}

func appendSearch(g *Generator, dst []byte, s *step) []byte {
	n := s.results()
	g.totals.search(n)
	dst = append(appendQuery(g, dst, s), `,"resultsCount":`...)
	return strconv.AppendInt(dst, int64(n), 10)
}

// appendLeave appends the seconds since the page was opened, and how far the reader has scrolled, in percent. On
// average, every tenth page_leave event has no scroll depth, as if the browser could not measure it.
func appendLeave(g *Generator, dst []byte, s *step) []byte {
	seconds, depth := int(s.after)/1000, int(s.pick%101)
	if s.pick>>8%10 == 0 {
		depth = -1
	}
	g.totals.leave(seconds, depth)
	dst = append(dst, `,"seconds":`...)
	dst = strconv.AppendInt(dst, int64(seconds), 10)
	if depth >= 0 {
		dst = append(dst, `,"depth":`...)
		dst = strconv.AppendInt(dst, int64(depth), 10)
	}
	return dst
}

func appendDownload(g *Generator, dst []byte, s *step) []byte {
	dst = append(dst, `,"link":{"target":{"kind":"url","url":"https://`...)
	dst = append(dst, g.options.Host...)
	dst = append(dst, `/files/`...)
	dst = append(dst, of([]string{"openapi.yaml", "sdk-go.zip", "sdk-python.whl", "invoice-example.pdf"}, s.pick)...)
	return append(dst, `"},"position":"content"}`...)
}

// resultPage returns the page that a search opens. The same words open the same page.
func (g *Generator) resultPage(pick uint32) int32 {
	words := uint64(pick % uint32(len(searches)))
	return int32(mix(g.options.Seed^words) % uint64(len(g.site.pages)))
}

func appendResult(g *Generator, dst []byte, s *step) []byte {
	dst = appendQuery(g, dst, s)
	// On average, every twentieth search opens a record of a connected source.
	if s.pick>>16%20 == 0 {
		g.totals.Records++
		dst = append(dst, `,"result":{"recordId":"rec_`...)
		dst = appendID(dst, mix(uint64(s.pick%40)), 8)
		return append(dst, `"}`...)
	}
	p := &g.site.pages[g.resultPage(s.pick)]
	g.totals.Opened[[2]string{g.site.spaces[p.space].id, p.id}]++
	dst = append(dst, `,"result":{"spaceId":"`...)
	dst = append(dst, g.site.spaces[p.space].id...)
	dst = append(dst, `","pageId":"`...)
	dst = append(dst, p.id...)
	return append(dst, `"}`...)
}

func appendRatingWord(dst []byte, s *step) []byte {
	dst = append(dst, `,"feedback":{"rating":"`...)
	dst = append(dst, of([]string{"good", "good", "good", "good", "ok", "bad", "bad"}, s.pick)...)
	return append(dst, '"')
}

func appendFeedback(_ *Generator, dst []byte, s *step) []byte {
	return append(appendRatingWord(dst, s), '}')
}

func appendComment(_ *Generator, dst []byte, s *step) []byte {
	dst = append(appendRatingWord(dst, s), `,"comment":`...)
	dst = append(dst, of(comments, s.pick>>8)...)
	return append(dst, '}')
}

func appendQuestion(_ *Generator, dst []byte, s *step) []byte {
	dst = append(dst, `,"query":`...)
	return append(dst, of(questions, s.pick)...)
}

func appendRating(g *Generator, dst []byte, s *step) []byte {
	dst = appendQuestion(g, dst, s)
	dst = append(dst, `,"rating":`...)
	rating := int64(1)
	if s.pick>>16%4 == 0 {
		rating = -1
	}
	dst = strconv.AppendInt(dst, rating, 10)
	dst = append(dst, `,"responseId":"`...)
	dst = appendID(dst, mix(uint64(s.pick)), 16)
	return append(dst, '"')
}

func appendLink(g *Generator, dst []byte, s *step) []byte {
	return append(dst, of(g.site.links, s.pick)...)
}

func appendOperation(g *Generator, dst []byte, s *step) []byte {
	dst = append(dst, `,"operation":`...)
	return append(dst, g.site.pages[s.page].operation...)
}

func appendAd(_ *Generator, dst []byte, s *step) []byte {
	dst = append(dst, `,"ad":{"domain":"`...)
	dst = append(dst, of([]string{"cloud.example.net", "logs.example.org", "jobs.example.com"}, s.pick)...)
	dst = append(dst, `","zoneId":"`...)
	dst = append(dst, of([]string{"CVADT23N", "CVADT27L"}, s.pick>>8)...)
	return append(dst, `","placement":"aside"}`...)
}

func appendTrademark(_ *Generator, dst []byte, s *step) []byte {
	dst = append(dst, `,"placement":"`...)
	dst = append(dst, of([]string{"sidebar", "sidebar", "ad", "footer", "pdf", "embed"}, s.pick)...)
	return append(dst, '"')
}

// appendMarkdown appends the source of a person's request. Agents fetch the page's Markdown address directly, so their
// requests have no source.
func appendMarkdown(g *Generator, dst []byte, _ *step) []byte {
	if g.context == "server" {
		return dst
	}
	return append(dst, `,"markdownSource":"page-action"`...)
}

func appendLLMS(_ *Generator, dst []byte, s *step) []byte {
	dst = append(dst, `,"llmsVariant":"`...)
	dst = append(dst, of([]string{"standard", "standard", "full"}, s.pick)...)
	return append(dst, '"')
}
