package intake

import (
	"strings"

	"github.com/octavo-docs/octavo/schema/insights"
)

var botUnknown = code(insights.Bots, "unknown")

// bots recognizes automated agents by a text in their user agent, in lower case. The first matching row applies. So a
// row whose text contains the text of another row must come before this other row. A test checks that every name in
// insights.Bots has a row.
var bots = []struct{ part, name string }{
	// Programs that fetch pages for the users of an AI assistant, or for its index.
	{"gptbot", "gptbot"},
	{"chatgpt", "chatgpt"}, // ChatGPT-User, ChatGPT Agent
	{"oai-searchbot", "openai"},
	{"oai-adsbot", "openai"},
	{"openai", "openai"},
	{"claude-code", "claude-code"},
	{"claude-cli", "claude-code"},
	{"claudebot", "claudebot"},
	{"claude-", "claude"}, // Claude-User, Claude-SearchBot, Claude-Web
	{"anthropic", "anthropic"},
	{"perplexity", "perplexity"}, // PerplexityBot, Perplexity-User
	{"google-extended", "gemini"},
	{"gemini", "gemini"}, // Gemini-Deep-Research, gemini-cli
	{"google-notebooklm", "gemini"},
	{"google-agent", "gemini"},
	{"cohere", "cohere"},
	{"mistral", "mistral"},
	{"deepseek", "deepseek"},
	{"duckassistbot", "duckassist"},
	{"youbot", "youbot"},
	{"grok", "grok"},
	{"xai-", "grok"},
	{"bytespider", "bytespider"},
	{"tiktokspider", "bytespider"},
	{"ccbot", "ccbot"},
	{"amzn-searchbot", "amzn-searchbot"},
	{"amzn-user", "amzn-user"},
	{"amazonbot", "amazonbot"},
	{"meta-externalads", "meta-ads"},
	{"meta-externalfetcher", "meta-fetcher"},
	{"meta-webindexer", "meta-webindexer"},
	{"meta-external", "meta"}, // meta-externalagent
	{"facebookbot", "facebookbot"},
	{"facebookexternalhit", "facebookbot"},
	{"facebookcatalog", "facebookbot"},

	// Programs that write code.
	{"github-copilot", "github-copilot"},
	{"githubcopilot", "github-copilot"},
	{"copilot-cli", "github-copilot"},
	{"opencode", "opencode"},
	{"codex", "codex"},
	{"cursor/", "cursor"},
	{"cursor-", "cursor"},
	{"cursor ", "cursor"},
	{"vscode", "vscode"},
	{"visual studio code", "vscode"},
	{" code/", "vscode"}, // the VS Code editor's own user agent, from Electron

	// Search engines.
	{"adsbot-google", "googlebot"},
	{"googlebot", "googlebot"},
	{"google-inspectiontool", "googlebot"},
	{"googleother", "googlebot"},
	{"storebot-google", "googlebot"},
	{"mediapartners-google", "googlebot"},
	{"apis-google", "googlebot"},
	{"bingbot", "bingbot"},
	{"bingpreview", "bingbot"},
	{"adidxbot", "bingbot"},
	{"duckduckbot", "duckduckbot"},
	{"applebot", "applebot"},

	// Other automated agents.
	{"cubot", ""}, // phones of the maker CUBOT are not bots, although their name contains "bot"
	{"bot", "unknown"},
	{"crawl", "unknown"},
	{"spider", "unknown"},
	{"slurp", "unknown"},
	{"headless", "unknown"},
	{"phantomjs", "unknown"},
	{"puppeteer", "unknown"},
	{"playwright", "unknown"},
	{"selenium", "unknown"},
	{"lighthouse", "unknown"},
	{"pingdom", "unknown"},
	{"uptime", "unknown"},
	{"monitor", "unknown"},
	{"preview", "unknown"},
	{"scrapy", "unknown"},
	{"curl/", "unknown"},
	{"wget/", "unknown"},
	{"python", "unknown"}, // python-requests, Python-urllib, aiohttp
	{"aiohttp", "unknown"},
	{"httpx", "unknown"},
	{"go-http-client", "unknown"},
	{"java/", "unknown"},
	{"okhttp", "unknown"},
	{"apache-httpclient", "unknown"},
	{"axios/", "unknown"},
	{"node-fetch", "unknown"},
	{"node/", "unknown"},
	{"undici", "unknown"},
	{"libwww", "unknown"},
	{"postmanruntime", "unknown"},
	{"insomnia/", "unknown"},
	{"feed", "unknown"}, // feed readers: Feedly, Feedbin, FeedFetcher
	{"archiver", "unknown"},
}

var botCodes = func() []insights.Code {
	list := make([]insights.Code, len(bots))
	for i, row := range bots {
		if row.name != "" {
			list[i] = code(insights.Bots, row.name)
		}
	}
	return list
}()

// botOf returns the bot of a user agent. It returns 0 if the user agent does not belong to a bot.
func botOf(agent string) insights.Code {
	agent = strings.ToLower(agent)
	for i := range bots {
		if strings.Contains(agent, bots[i].part) {
			return botCodes[i]
		}
	}
	return 0
}
