package ingesttest

import "github.com/octavo-docs/octavo/schema/insights"

// Minimal has the smallest valid event of each type, with the columns that the type's own members set.
var Minimal = map[string]struct {
	Extra string
	Want  Row
}{
	"page_view":                  {"", nil},
	"search_open":                {"", nil},
	"search_type_query":          {`"query":"how"`, Row{"search_query": "how"}},
	"search_open_result":         {`"query":"how","result":{"spaceId":"sp","pageId":"pg"}`, Row{"search_query": "how", "search_space": "sp", "search_page": "pg"}},
	"page_post_feedback":         {`"feedback":{"rating":"good"}`, Row{"feedback_rating": insights.Code(3)}},
	"page_post_feedback_comment": {`"feedback":{"rating":"bad","comment":"no ☃"}`, Row{"feedback_rating": insights.Code(1), "feedback_comment": "no ☃"}},
	"ask_question":               {`"query":"why"`, Row{"search_query": "why"}},
	"ask_view":                   {"", nil},
	"ask_rate_response":          {`"query":"why","rating":-1,"responseId":"r1"`, Row{"search_query": "why", "ask_rating": int8(-1), "ask_response": "r1"}},
	"link_click": {`"link":{"target":{"kind":"url","url":"https://Www.Example.com:8443/a?b=1&c"},"position":"footer"}`,
		Row{"link_target": `{"kind":"url","url":"https://Www.Example.com:8443/a?b=1&c"}`, "link_kind": insights.Code(1), "link_domain": "www.example.com", "link_position": insights.Code(3)}},
	"api_client_open":       {`"operation":{"path":"/pets","method":"get"}`, Row{"api_path": "/pets", "api_method": "get"}},
	"api_client_request":    {`"operation":{"path":"/pets","method":"post"}`, Row{"api_path": "/pets", "api_method": "post"}},
	"ad_click":              {`"ad":{"domain":"ads.example","zoneId":"z","placement":"aside"}`, Row{"ad_domain": "ads.example", "ad_zone": "z", "ad_placement": insights.Code(1)}},
	"ad_display":            {`"ad":{"domain":"ads.example","zoneId":"z","placement":"aside"}`, Row{"ad_domain": "ads.example", "ad_zone": "z", "ad_placement": insights.Code(1)}},
	"trademark_click":       {`"placement":"embed"`, Row{"trademark_placement": insights.Code(5)}},
	"page_markdown_request": {`"markdownSource":"page-action"`, formed(2, "markdown_source", 1)},
	"agent_feedback":        {"", nil},
	"llms_request":          {`"llmsVariant":"full"`, formed(3, "llms_variant", 2)},
	"mcp_request":           {"", Row{"content_form": insights.Code(4)}},
	"rss_request":           {"", Row{"content_form": insights.Code(5)}},
	"page_leave":            {`"seconds":40,"depth":75`, Row{"engaged_seconds": int32(40), "scroll_depth": int32(75)}},
	"code_copy":             {"", nil},
	"file_download": {`"link":{"target":{"kind":"url","url":"https://d.example/sdk.zip"},"position":"content"}`,
		Row{"link_target": `{"kind":"url","url":"https://d.example/sdk.zip"}`, "link_kind": insights.Code(1), "link_domain": "d.example", "link_position": insights.Code(5)}},
}

// formed returns a row with two values: the content form, and the value of another column.
func formed(form insights.Code, column string, value insights.Code) Row {
	return Row{"content_form": form, column: value}
}
