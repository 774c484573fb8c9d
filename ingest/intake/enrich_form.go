package intake

import (
	"strings"

	"github.com/octavo-docs/octavo/schema/insights"
)

var (
	formHTML     = code(insights.ContentForms, "html")
	formMarkdown = code(insights.ContentForms, "markdown")
	formLLMs     = code(insights.ContentForms, "llms")
	formMCP      = code(insights.ContentForms, "mcp")
	formRSS      = code(insights.ContentForms, "rss")
	formAPI      = code(insights.ContentForms, "api")

	displayMCP = code(insights.DisplayContexts, "mcp")
)

// formOfType has the content form of each event type whose events always have the same form. Its index is the code of
// the type.
var formOfType = func() []insights.Code {
	list := make([]insights.Code, len(insights.EventTypes.Words())+1)
	list[code(insights.EventTypes, "page_markdown_request")] = formMarkdown
	list[code(insights.EventTypes, "llms_request")] = formLLMs
	list[code(insights.EventTypes, "mcp_request")] = formMCP
	list[code(insights.EventTypes, "rss_request")] = formRSS
	return list
}()

// formsOfName maps the end of a URL's path to the content form. The first matching row applies.
var formsOfName = []struct {
	end  string
	form insights.Code
}{
	{"llms.txt", formLLMs}, {"llms-full.txt", formLLMs},
	{".md", formMarkdown}, {".mdx", formMarkdown}, {".markdown", formMarkdown},
	{".rss", formRSS}, {".atom", formRSS}, {"rss.xml", formRSS}, {"feed.xml", formRSS}, {"atom.xml", formRSS},
	{"openapi.json", formAPI}, {"openapi.yaml", formAPI}, {"openapi.yml", formAPI},
	{"swagger.json", formAPI}, {"swagger.yaml", formAPI}, {"swagger.yml", formAPI},
	{"/mcp", formMCP},
}

// formOf returns the form in which the content was requested: for example HTML, Markdown or a feed. It derives the form
// from the event's type, display context and URL.
func formOf(e *insights.Event) insights.Code {
	if form := formOfType[e.Type]; form != 0 {
		return form
	}
	if e.DisplayContext == displayMCP {
		return formMCP
	}
	path := e.URL
	if at := strings.IndexAny(path, "?#"); at >= 0 {
		path = path[:at]
	}
	if at := strings.Index(path, "://"); at >= 0 {
		path = path[at+len("://"):]
		path = path[max(strings.IndexByte(path, '/'), 0):]
		if path == "" || path[0] != '/' {
			return formHTML // the URL has only a host
		}
	}
	for i := range formsOfName {
		if end := formsOfName[i].end; len(path) >= len(end) && strings.EqualFold(path[len(path)-len(end):], end) {
			return formsOfName[i].form
		}
	}
	return formHTML
}
