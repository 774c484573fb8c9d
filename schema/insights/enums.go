package insights

// Code is the stored form of one value of an [Enum]. 0 means that the value is absent.
type Code = int8

// Enum is a list of allowed words. The code of a word is its place in the list, counted from 1. Codes are stored in the
// table and the log, so new words are only added at the end of the list.
type Enum struct {
	name  string
	words []string
	codes map[string]Code
}

func newEnum(name string, words ...string) *Enum {
	e := &Enum{name: name, words: words, codes: make(map[string]Code, len(words))}
	for i, w := range words {
		e.codes[w] = Code(i + 1)
	}
	return e
}

// Name returns the enumeration's name in the documentation.
func (e *Enum) Name() string { return e.name }

// Words returns the allowed words in the order of their codes. The caller must not change the list.
func (e *Enum) Words() []string { return e.words }

// Code returns the code of a word. `ok` is false if the word is not allowed.
func (e *Enum) Code(word string) (code Code, ok bool) {
	code, ok = e.codes[word]
	return code, ok
}

// Word returns the word of a code. It returns "" for 0, and for codes of a newer version.
func (e *Enum) Word(code Code) string {
	if code < 1 || int(code) > len(e.words) {
		return ""
	}
	return e.words[code-1]
}

// codeOf is like Code, for words in the source code of this program.
func (e *Enum) codeOf(word string) Code {
	code, ok := e.codes[word]
	if !ok {
		panic("BUG: " + e.name + " has no word " + word)
	}
	return code
}

// These are the enumerations of facts §3.6 and §10, and of Octavo's own columns. The event types at the end of the list
// are Octavo's own.
var (
	EventTypes = newEnum("event type",
		"page_view", "search_open", "search_type_query", "search_open_result",
		"page_post_feedback", "page_post_feedback_comment",
		"ask_question", "ask_view", "ask_rate_response",
		"link_click", "api_client_open", "api_client_request",
		"ad_click", "ad_display", "trademark_click",
		"page_markdown_request", "agent_feedback", "llms_request", "mcp_request", "rss_request",
		"page_leave", "code_copy", "file_download")
	DisplayContexts  = newEnum("display context", "site", "embed", "server", "mcp")
	Devices          = newEnum("device", "desktop", "tablet", "mobile", "unknown")
	Browsers         = newEnum("browser", "chrome", "firefox", "safari", "edge", "ie", "opera", "unknown")
	OperatingSystems = newEnum("operating system", "windows", "macos", "linux", "android", "ios", "unknown")
	Bots             = newEnum("bot",
		"unknown", "googlebot", "bingbot", "duckduckbot", "facebookbot", "applebot", "chatgpt", "anthropic",
		"openai", "claude", "gemini", "perplexity", "cohere", "mistral", "deepseek", "meta", "bytespider",
		"ccbot", "amazonbot", "youbot", "cursor", "vscode", "claude-code", "codex", "opencode", "gptbot",
		"claudebot", "meta-fetcher", "grok", "github-copilot", "meta-webindexer", "meta-ads", "duckassist",
		"amzn-searchbot", "amzn-user")
	AgentClasses = newEnum("agent class",
		"person", "search", "training", "user-asked", "coding", "preview", "monitor", "tool", "unknown")
	AgentVerifications = newEnum("agent verification", "claimed", "verified", "impostor")
	ContentForms       = newEnum("content form", "html", "markdown", "llms", "mcp", "rss", "api")
	LinkKinds          = newEnum("link target kind",
		"url", "page", "file", "anchor", "space", "collection", "user", "reusable-content", "openapi", "tag")
	// publishedLinkKinds are the kinds of the column eventLinkTargetKind in the published contract. Events may also
	// have links of other kinds.
	publishedLinkKinds  = newEnum(LinkKinds.name, LinkKinds.words[:LinkKinds.codeOf("reusable-content")]...)
	LinkPositions       = newEnum("link position", "announcement", "header", "footer", "sidebar", "content")
	FeedbackRatings     = newEnum("feedback rating", "bad", "ok", "good")
	AdPlacements        = newEnum("ad placement", "aside")
	TrademarkPlacements = newEnum("trademark placement", "sidebar", "ad", "footer", "pdf", "embed")
	LLMSVariants        = newEnum("llms variant", "standard", "full")
	MarkdownSources     = newEnum("markdown source", "page-action")
	EventDoors          = newEnum("door", "api", "key", "pixel")
	notFoundTypes       = newEnum("page not found type", "conditional")
)

// ContentRefMembers returns the names of the string members for a kind of content reference. `kind` is a code of
// LinkKinds. The first `required` names are names of required members. The caller must not change the list.
func ContentRefMembers(kind Code) (required int, names []string) {
	m := contentRefMembers[LinkKinds.Word(kind)]
	return m.required, m.names
}
