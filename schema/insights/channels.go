package insights

import (
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/octavo-docs/octavo/schema/sqltree"
)

// The channels by which visitors come.
const (
	channelPaid     = "paid"
	channelEmail    = "email"
	channelSocial   = "social"
	channelAI       = "ai"
	channelSearch   = "search"
	channelInternal = "internal"
	channelReferral = "referral"
	channelDirect   = "direct"
)

var channels = []string{
	channelDirect, channelSearch, channelAI, channelSocial, channelEmail, channelPaid, channelReferral, channelInternal,
}

// TrafficSource is a source of visitors that has several hosts or spellings.
type TrafficSource struct {
	Name, Channel string
	// Hosts are hosts with their subdomains. Brands are labels before any public suffix of one or two parts: google is
	// google.com and google.co.uk. Words are other values of utm_source. All are in lower case.
	Hosts, Brands, Words []string
}

// TrafficSources returns the table of known sources. Callers must not change it.
func TrafficSources() []TrafficSource { return trafficSources }

// trafficSources is the table of known sources.
var trafficSources = []TrafficSource{
	{Name: "Google", Channel: channelSearch, Brands: []string{"google"}, Words: []string{"google", "googlesearch"}},
	{Name: "Bing", Channel: channelSearch, Hosts: []string{"bing.com"}, Words: []string{"bing"}},
	{Name: "DuckDuckGo", Channel: channelSearch, Hosts: []string{"duckduckgo.com"}, Words: []string{"duckduckgo", "ddg"}},
	{Name: "Yahoo", Channel: channelSearch, Hosts: []string{"search.yahoo.com", "search.yahoo.co.jp", "yahoo.com", "yahoo.co.jp"}, Words: []string{"yahoo"}},
	{Name: "Yandex", Channel: channelSearch, Hosts: []string{"ya.ru"}, Brands: []string{"yandex"}, Words: []string{"yandex"}},
	{Name: "Baidu", Channel: channelSearch, Hosts: []string{"baidu.com"}, Words: []string{"baidu"}},
	{Name: "Ecosia", Channel: channelSearch, Hosts: []string{"ecosia.org"}, Words: []string{"ecosia"}},
	{Name: "Brave Search", Channel: channelSearch, Hosts: []string{"search.brave.com"}, Words: []string{"brave"}},
	{Name: "Startpage", Channel: channelSearch, Hosts: []string{"startpage.com"}, Words: []string{"startpage"}},
	{Name: "Qwant", Channel: channelSearch, Hosts: []string{"qwant.com"}, Words: []string{"qwant"}},
	{Name: "Kagi", Channel: channelSearch, Hosts: []string{"kagi.com"}, Words: []string{"kagi"}},
	{Name: "Naver", Channel: channelSearch, Hosts: []string{"naver.com"}, Words: []string{"naver"}},
	{Name: "Seznam", Channel: channelSearch, Hosts: []string{"seznam.cz"}, Words: []string{"seznam"}},
	{Name: "Sogou", Channel: channelSearch, Hosts: []string{"sogou.com"}, Words: []string{"sogou"}},

	{Name: "ChatGPT", Channel: channelAI, Hosts: []string{"chatgpt.com", "chat.openai.com"}, Words: []string{"chatgpt", "openai"}},
	{Name: "Claude", Channel: channelAI, Hosts: []string{"claude.ai"}, Words: []string{"claude"}},
	{Name: "Perplexity", Channel: channelAI, Hosts: []string{"perplexity.ai"}, Words: []string{"perplexity"}},
	{Name: "Gemini", Channel: channelAI, Hosts: []string{"gemini.google.com", "bard.google.com"}, Words: []string{"gemini"}},
	{Name: "Copilot", Channel: channelAI, Hosts: []string{"copilot.microsoft.com", "copilot.cloud.microsoft"}, Words: []string{"copilot"}},
	{Name: "DeepSeek", Channel: channelAI, Hosts: []string{"chat.deepseek.com"}, Words: []string{"deepseek"}},
	{Name: "Mistral", Channel: channelAI, Hosts: []string{"chat.mistral.ai"}, Words: []string{"mistral"}},
	{Name: "Grok", Channel: channelAI, Hosts: []string{"grok.com"}, Words: []string{"grok"}},
	{Name: "Meta AI", Channel: channelAI, Hosts: []string{"meta.ai"}},
	{Name: "You.com", Channel: channelAI, Hosts: []string{"you.com"}},
	{Name: "Phind", Channel: channelAI, Hosts: []string{"phind.com"}, Words: []string{"phind"}},
	{Name: "Poe", Channel: channelAI, Hosts: []string{"poe.com"}},

	{Name: "LinkedIn", Channel: channelSocial, Hosts: []string{"linkedin.com", "lnkd.in"}, Words: []string{"linkedin"}},
	{Name: "X", Channel: channelSocial, Hosts: []string{"x.com", "twitter.com", "t.co"}, Words: []string{"x", "twitter"}},
	{Name: "Facebook", Channel: channelSocial, Hosts: []string{"facebook.com", "fb.com", "fb.me"}, Words: []string{"facebook", "fb"}},
	{Name: "Instagram", Channel: channelSocial, Hosts: []string{"instagram.com"}, Words: []string{"instagram", "ig"}},
	{Name: "Threads", Channel: channelSocial, Hosts: []string{"threads.net", "threads.com"}, Words: []string{"threads"}},
	{Name: "Reddit", Channel: channelSocial, Hosts: []string{"reddit.com", "redd.it"}, Words: []string{"reddit"}},
	{Name: "Hacker News", Channel: channelSocial, Hosts: []string{"news.ycombinator.com"}, Words: []string{"hackernews", "hacker news", "hn"}},
	{Name: "Lobsters", Channel: channelSocial, Hosts: []string{"lobste.rs"}, Words: []string{"lobsters"}},
	{Name: "YouTube", Channel: channelSocial, Hosts: []string{"youtube.com", "youtu.be"}, Words: []string{"youtube"}},
	{Name: "Mastodon", Channel: channelSocial, Hosts: []string{"mastodon.social", "fosstodon.org", "hachyderm.io"}, Words: []string{"mastodon"}},
	{Name: "Bluesky", Channel: channelSocial, Hosts: []string{"bsky.app", "go.bsky.app"}, Words: []string{"bluesky"}},
	{Name: "Discord", Channel: channelSocial, Hosts: []string{"discord.com", "discord.gg"}, Words: []string{"discord"}},
	{Name: "Telegram", Channel: channelSocial, Hosts: []string{"t.me", "telegram.org"}, Words: []string{"telegram"}},
	{Name: "TikTok", Channel: channelSocial, Hosts: []string{"tiktok.com"}, Words: []string{"tiktok"}},
	{Name: "Pinterest", Channel: channelSocial, Brands: []string{"pinterest"}, Words: []string{"pinterest"}},
	{Name: "VK", Channel: channelSocial, Hosts: []string{"vk.com"}, Words: []string{"vk"}},
	{Name: "WhatsApp", Channel: channelSocial, Hosts: []string{"whatsapp.com", "wa.me"}, Words: []string{"whatsapp"}},
	{Name: "Product Hunt", Channel: channelSocial, Hosts: []string{"producthunt.com"}, Words: []string{"producthunt"}},

	{Name: "Gmail", Channel: channelEmail, Hosts: []string{"mail.google.com"}, Words: []string{"gmail"}},
	{Name: "Outlook", Channel: channelEmail, Hosts: []string{"outlook.live.com", "outlook.office.com", "outlook.office365.com"}, Words: []string{"outlook"}},
	{Name: "Yahoo Mail", Channel: channelEmail, Hosts: []string{"mail.yahoo.com"}},
	{Name: "Proton Mail", Channel: channelEmail, Hosts: []string{"mail.proton.me"}},
	{Name: "Newsletter", Channel: channelEmail, Words: []string{"newsletter", "email", "e-mail", "mail"}},

	{Name: "GitHub", Channel: channelReferral, Hosts: []string{"github.com", "github.io"}, Words: []string{"github"}},
	{Name: "Stack Overflow", Channel: channelReferral, Hosts: []string{"stackoverflow.com"}, Words: []string{"stackoverflow"}},
	{Name: "Wikipedia", Channel: channelReferral, Hosts: []string{"wikipedia.org"}, Words: []string{"wikipedia"}},
	{Name: "Medium", Channel: channelReferral, Hosts: []string{"medium.com"}, Words: []string{"medium"}},
	{Name: "DEV", Channel: channelReferral, Hosts: []string{"dev.to"}},
}

// mediumChannels are the channels of values of utm_medium, in lower case.
var mediumChannels = []struct {
	channel string
	words   []string
}{
	{channelPaid, []string{
		"cpc", "ppc", "cpm", "cpv", "cpa", "paid", "paidsearch", "paid-search", "paid_search", "paidsocial", "paid-social",
		"paid_social", "display", "banner", "retargeting", "remarketing", "ads", "ad", "adwords", "sponsored",
	}},
	{channelEmail, []string{"email", "e-mail", "e_mail", "mail", "newsletter"}},
	{channelSocial, []string{"social", "social-media", "social_media", "socialmedia", "sm", "organic-social", "organic_social"}},
	{channelSearch, []string{"organic", "search", "organic-search", "organic_search"}},
	{channelAI, []string{"ai", "llm", "chatbot"}},
}

// sourceKeys finds the key of a text in the table: a known host that is the text or its end, a brand, or a word.
var sourceKeys = newSourceKeys()

type keys struct {
	host, brand      string // patterns whose first group is the key
	known            []string
	names, channelOf []string
}

func newSourceKeys() (k keys) {
	var hosts, brands []string
	for _, s := range trafficSources {
		for _, key := range slices.Concat(s.Hosts, s.Brands, s.Words) {
			if !slices.Contains(k.known, key) {
				k.known, k.names, k.channelOf = append(k.known, key), append(k.names, s.Name), append(k.channelOf, s.Channel)
			}
		}
		for _, host := range s.Hosts {
			hosts = append(hosts, regexp.QuoteMeta(host))
		}
		for _, brand := range s.Brands {
			brands = append(brands, regexp.QuoteMeta(brand))
		}
	}
	// The longest host comes first: mail.google.com is no google.com.
	slices.SortStableFunc(hosts, func(a, b string) int { return len(b) - len(a) })
	k.host = `^(?:[^.]+\.)*?(` + strings.Join(hosts, "|") + `)$`
	k.brand = `^(?:[^.]+\.)*?(` + strings.Join(brands, "|") + `)\.(?:com?\.)?[a-z]{2,3}$`
	return k
}

// read reads one of the table's lists by a text's key; "" is none.
func (k keys) read(text sqltree.Expr, list []string) sqltree.Expr {
	of := func(pattern string) sqltree.Expr {
		return orNull(sqltree.Call("extract", text, sqltree.Param(typeString, pattern)))
	}
	return mapped(sqltree.Call("coalesce", of(k.host), of(k.brand), text), k.known, list)
}

// mapped reads the member of a list that stands where the text stands in the known texts; "" is none.
func mapped(text sqltree.Expr, known, list []string) sqltree.Expr {
	return sqltree.Call("transform", text, sqltree.Param(sqltree.ArrayOf(typeString), known),
		sqltree.Param(sqltree.ArrayOf(typeString), list), sqltree.Str(""))
}

// orNull is a text, or null for "".
func orNull(text sqltree.Expr) sqltree.Expr { return sqltree.Call("nullIf", text, sqltree.Str("")) }

func lowered(column string) sqltree.Expr {
	return sqltree.Call("lower", sqltree.Call("toString", sqltree.Col(column)))
}

// ownReferrer is the condition that the event's referrer is one of the site's own hosts.
func ownReferrer(env Env) sqltree.Expr {
	return sqltree.Bin(sqltree.In, lowered("referrer_domain"), sqltree.Param(sqltree.ArrayOf(typeString), ownHosts(env.Hosts)))
}

// ownHosts returns hosts as referrerDomain has them. The list is never nil.
func ownHosts(hosts []string) []string {
	list := []string{}
	for _, host := range hosts {
		list = append(list, strings.TrimPrefix(strings.ToLower(host), "www."))
	}
	return list
}

// channelOf reads the event's channel.
func channelOf(_ Arguments, env Env) sqltree.Expr {
	var words, of []string
	for _, m := range mediumChannels {
		for _, word := range m.words {
			words, of = append(words, word), append(of, m.channel)
		}
	}
	source, referrer := lowered("utm_source"), lowered("referrer_domain")
	has := func(e, channel, otherwise sqltree.Expr) sqltree.Expr {
		return sqltree.Call("if", sqltree.Bin(sqltree.Ne, e, sqltree.Str("")), channel, otherwise)
	}
	none, referral := sqltree.Str(""), sqltree.Str(channelReferral)
	return sqltree.Call("coalesce",
		orNull(mapped(lowered("utm_medium"), words, of)),
		orNull(sourceKeys.read(source, sourceKeys.channelOf)),
		orNull(has(source, referral, none)),
		orNull(sqltree.Call("if", ownReferrer(env), sqltree.Str(channelInternal), none)),
		orNull(sourceKeys.read(referrer, sourceKeys.channelOf)),
		has(referrer, referral, sqltree.Str(channelDirect)))
}

// sourceNameOf reads the name of the event's source.
func sourceNameOf(_ Arguments, env Env) sqltree.Expr {
	source, referrer := lowered("utm_source"), lowered("referrer_domain")
	named := sqltree.Call("coalesce", orNull(sourceKeys.read(referrer, sourceKeys.names)), referrer)
	return sqltree.Call("coalesce", orNull(sourceKeys.read(source, sourceKeys.names)), orNull(source),
		sqltree.Call("if", ownReferrer(env), sqltree.Str(""), named))
}

// channelValue is one of the channels.
type channelValue struct{ textValue }

func (channelValue) Shape() string { return "one of " + strings.Join(channels, ", ") }

func (channelValue) Parse(raw jsontext.Value) (any, error) {
	word, err := parseString(raw)
	if err == nil && !slices.Contains(channels, word) {
		err = &WordError{What: "a channel", Word: word, Known: channels}
	}
	return word, err
}

var sourceColumns = []string{"referrer_domain", "utm_source", "utm_medium"}

// channelColumns are the columns that are read from the referrer, the tags of the address and the site's hosts.
func channelColumns() []Column {
	return []Column{
		{
			Name: "channel", Roles: Filter | Group, Value: channelValue{}, Operators: equality, Privacy: Coarse, Visit: sourceColumns,
			Doc: "How the visitor came, by utm_medium, utm_source, and the referrer's host in a table of known hosts: " +
				strings.Join(channels, ", ") + ". internal is a referrer of the site's own hosts.",
			Expr: channelOf,
		},
		{
			Name: "sourceName", Roles: Filter | Group, Value: textValue{}, Operators: textual, Null: AsEmpty, Privacy: Coarse, Visit: sourceColumns[:2],
			Doc: "Where the visitor came from: utm_source or the referrer's host, by its name in a table of known sources, so that " +
				`google.com and google.de are Google. Other sources are in lower case. "" for none and for the site's own hosts.`,
			Expr: sourceNameOf,
		},
	}
}
