package intake

import (
	"hash/maphash"
	"strings"
	"sync/atomic"

	"github.com/mileusna/useragent"

	"github.com/octavo-docs/octavo/ingest/intake/agentlist"
	"github.com/octavo-docs/octavo/schema/insights"
)

// agent has the values that are derived from a user agent. An event without a user agent has no class, because its
// program is unknown.
type agent struct {
	device, browser, os, bot insights.Code
	program                  agentlist.Agent
}

// agents parses user agents, and caches recent results.
//
// The cache has atomic pointers, so readers never wait. A user agent has two slots. If the cache does not have the user
// agent, the new entry replaces the entry in one of these slots. A user agent whose entry was replaced is parsed again
// at its next request.
type agents struct {
	seed  maphash.Seed
	slots []atomic.Pointer[agentEntry] // the number of slots is a power of two
}

type agentEntry struct {
	text  string // a copy, which does not share the request's memory
	agent agent
}

// cachedAgents is the largest number of user agents in the cache.
const cachedAgents = 4096

// Only the first maxAgent bytes of a user agent are parsed.
const maxAgent = 512

func newAgents(size int) *agents {
	slots := 2
	for slots < size {
		slots *= 2
	}
	return &agents{seed: maphash.MakeSeed(), slots: make([]atomic.Pointer[agentEntry], slots)}
}

// find returns the values derived from a user agent. It does not retain `text`.
func (a *agents) find(text string) agent {
	if text == "" {
		return agent{device: deviceUnknown, browser: browserUnknown, os: osUnknown}
	}
	if len(text) > maxAgent {
		text = text[:maxAgent]
	}
	hash := maphash.String(a.seed, text)
	at := hash & uint64(len(a.slots)-1)
	first, second := &a.slots[at], &a.slots[at^1]
	if e := first.Load(); e != nil && e.text == text {
		return e.agent
	}
	if e := second.Load(); e != nil && e.text == text {
		return e.agent
	}
	e := &agentEntry{text: strings.Clone(text)}
	e.agent = parseAgent(e.text)
	// The highest bit of the hash selects the slot that gets the new entry, as if at random.
	if first.Load() != nil && hash>>63 != 0 {
		first = second
	}
	first.Store(e)
	return e.agent
}

func code(set *insights.Enum, word string) insights.Code {
	c, ok := set.Code(word)
	if !ok {
		panic("BUG: " + set.Name() + " has no word " + word)
	}
	return c
}

var (
	deviceDesktop = code(insights.Devices, "desktop")
	deviceTablet  = code(insights.Devices, "tablet")
	deviceMobile  = code(insights.Devices, "mobile")
	deviceUnknown = code(insights.Devices, "unknown")

	browserChrome  = code(insights.Browsers, "chrome")
	browserFirefox = code(insights.Browsers, "firefox")
	browserSafari  = code(insights.Browsers, "safari")
	browserEdge    = code(insights.Browsers, "edge")
	browserIE      = code(insights.Browsers, "ie")
	browserOpera   = code(insights.Browsers, "opera")
	browserUnknown = code(insights.Browsers, "unknown")

	osWindows = code(insights.OperatingSystems, "windows")
	osMacOS   = code(insights.OperatingSystems, "macos")
	osLinux   = code(insights.OperatingSystems, "linux")
	osAndroid = code(insights.OperatingSystems, "android")
	osIOS     = code(insights.OperatingSystems, "ios")
	osUnknown = code(insights.OperatingSystems, "unknown")
)

// parseAgent parses a user agent. `text` is untrusted. If the parser panics, the device, the browser and the system
// stay unknown, and the request continues.
func parseAgent(text string) (a agent) {
	a = agent{device: deviceUnknown, browser: browserUnknown, os: osUnknown}
	a.bot = botOf(text)
	defer func() {
		_ = recover()
		a.classify(text)
	}()
	a.parse(text)
	a.correct(text)
	return a
}

// parse reads the device, the browser and the operating system.
func (a *agent) parse(text string) {
	ua := useragent.Parse(text)
	switch ua.OS {
	case useragent.Windows, useragent.WindowsPhone:
		a.os = osWindows
	case useragent.MacOS:
		a.os = osMacOS
	case useragent.Linux, useragent.ChromeOS, useragent.FreeBSD:
		a.os = osLinux
	case useragent.Android, useragent.Harmony:
		a.os = osAndroid
	case useragent.IOS:
		a.os = osIOS
	}
	switch {
	case ua.Tablet, ua.OS == useragent.Android && !strings.Contains(text, "Mobile"):
		// An Android browser without "Mobile" in its agent runs on a tablet.
		a.device = deviceTablet
	case ua.Mobile:
		a.device = deviceMobile
	case ua.Desktop:
		a.device = deviceDesktop
	}
	switch ua.Name {
	case useragent.Chrome, useragent.HeadlessChrome, useragent.SamsungBrowser, useragent.Vivaldi:
		a.browser = browserChrome
	case useragent.Firefox:
		a.browser = browserFirefox
	case useragent.Safari, useragent.MobileSafari:
		a.browser = browserSafari
	case useragent.Edge:
		a.browser = browserEdge
	case useragent.InternetExplorer:
		a.browser = browserIE
	case useragent.Opera, useragent.OperaMini, useragent.OperaTouch:
		a.browser = browserOpera
	default:
		a.browser = engineOf(text)
	}
	if a.bot == 0 && ua.Bot {
		a.bot = botUnknown
	}
}
