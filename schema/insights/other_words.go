package insights

import (
	"slices"
	"strings"
)

// otherWords has the words that other products and SQL use for names that requests may have. The words are in lower
// case, without _, - and spaces. `more` is text that follows the known name in the suggestion.
var otherWords = []struct {
	words []string
	known string
	more  string
}{
	{[]string{"pageviews", "pageview", "views", "hits"}, "eventsCount", ` where eventType is in ["page_view"]`},
	{[]string{"searches"}, "eventsCount", ` where eventType is in ["search_type_query"]`},
	{[]string{"users", "uniques", "uniquevisitors", "uniqueusers", "activeusers"}, "visitorsCount", ""},
	{[]string{"visits"}, "sessionsCount", ""},
	{[]string{"visitduration", "averagevisitduration", "avgsessionduration"}, "sessionDuration", ""},
	{[]string{"viewspervisit", "pagespervisit"}, "pagesPerSession", ""},
	{[]string{"path", "pathname", "pagepath"}, "urlPath", ""},
	{[]string{"source", "trafficsource", "sources"}, "sourceName", ""},
	{[]string{"channels", "channelgroup", "defaultchannelgroup", "acquisitionchannel"}, "channel", ""},
	{[]string{"date", "day", "time", "timestamp"}, "datetime", ""},
	{[]string{"landingpage", "entry"}, "entryPage", ""},
	{[]string{"exit"}, "exitPage", ""},
	{[]string{"timeonpage", "engagement", "engagementtime", "averagetimeonpage", "avgtimeonpage"}, "engagedTime", ""},
	{[]string{"scroll", "scrolldepth", "maxscroll"}, "scrollDepth", ""},
	{[]string{"avgscrolldepth", "averagescrolldepth"}, "meanScrollDepth", ""},
	{[]string{"results", "resultscount", "resultcount", "zeroresults", "noresults"}, "searchResults", ""},
	{[]string{"bot", "isbot", "crawler", "robot", "bots", "agent", "aiagent", "agenttype"}, "agentClass", ""},
	{[]string{"botname", "useragent"}, "visitorBot", ""},
	{[]string{"operator", "botoperator", "aioperator"}, "agentOperator", ""},
	{[]string{"status", "statuscode", "responsecode", "responsestatus"}, "httpStatus", ""},
	{[]string{"title", "pagename"}, "pageTitle", ""},
	{[]string{"minutes", "min"}, "minute", ""},
	{[]string{"second", "seconds"}, "minute", ", the shortest"},
	{[]string{"quarter", "quarterly", "year", "yearly"}, "month", ", the longest"},
	{[]string{"=", "==", "eq", "equal", "equals", "is", "any"}, "in", ""},
	{[]string{"!=", "<>", "ne", "neq", "isnot", "notequal", "notequals", "none"}, "notIn", ""},
	{[]string{">", "gt", "after"}, "greaterThan", ""},
	{[]string{">=", "gte", "ge"}, "greaterThanOrEqual", ""},
	{[]string{"<", "lt", "before"}, "lessThan", ""},
	{[]string{"<=", "lte", "le"}, "lessThanOrEqual", ""},
	{[]string{"like", "ilike", "includes"}, "contains", ""},
	{[]string{"^=", "beginswith", "prefix"}, "startsWith", ""},
	{[]string{"~", "=~", "regex", "regexp", "rlike"}, "matches", ""},
	{[]string{"pageview", "pageviews", "view"}, "page_view", ""},
	{[]string{"search"}, "search_type_query", ""},
	{[]string{"click", "outboundlink"}, "link_click", ""},
	{[]string{"download", "filedownloads"}, "file_download", ""},
	{[]string{"engagement", "pageleave", "unload", "heartbeat"}, "page_leave", ""},
	{[]string{"copy", "copycode"}, "code_copy", ""},
	{[]string{"feedback"}, "page_post_feedback", ""},
}

// Meant returns the name that requests use for a word of another product or of SQL. `more` is text that follows the
// name in a suggestion. It returns "" if the word is not in the list.
func Meant(word string, known []string) (name, more string) {
	word = strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(word))
	for _, other := range otherWords {
		if slices.Contains(other.words, word) && slices.Contains(known, other.known) {
			return other.known, other.more
		}
	}
	return "", ""
}
