package intake

import (
	"strings"

	"github.com/octavo-docs/octavo/schema/insights"
)

// correct mends what the parser reads wrongly: devices whose agents name another system, or none.
func (a *agent) correct(text string) {
	has := func(part string) bool { return strings.Contains(text, part) }
	if has(" Silk/") && has("Chrome/") {
		a.browser = browserChrome // the parser takes Amazon's browser for Safari
	}
	switch {
	case hasAny(text, televisions):
		// The closed set of devices has no television.
		a.device = deviceUnknown
		if has("Tizen") || has("Web0S") {
			a.os = osUnknown
		}
	case has("Macintosh;") && (hasAny(text, appleBrowsers) || has(" Mobile/")):
		// An iPad asks for desktop pages in the name of a Mac. These browsers exist on its system only, and no Mac's
		// agent has "Mobile". Safari on an iPad cannot be told from Safari on a Mac.
		a.device, a.os = deviceTablet, osIOS
	case has("Opera Mini") || has("Opera Mobi"):
		a.device = deviceMobile
	case has("(iPhone;") || has("(iPod"):
		a.device, a.os = deviceMobile, osIOS
	case a.device == deviceUnknown && has("X11;") && hasAny(text, bsds):
		a.device, a.os = deviceDesktop, osLinux
	}
}

var (
	televisions = []string{
		"SMART-TV", "SmartTV", "Smart TV", "BRAVIA", "; AFT", "GoogleTV", "Google TV", "Android TV", "AppleTV", "HbbTV",
		"Web0S", "CrKey",
	}
	appleBrowsers = []string{"CriOS/", "FxiOS/", "EdgiOS/", "OPiOS/", "OPT/"}
	bsds          = []string{"FreeBSD", "OpenBSD", "NetBSD", "DragonFly"}
)

func hasAny(text string, parts []string) bool {
	for _, part := range parts {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}

// engineOf returns the known browser behind an agent with another name: the many Chromium browsers count as Chrome,
// Apple's web views as Safari.
func engineOf(text string) insights.Code {
	switch {
	case strings.Contains(text, "Trident/"):
		return browserIE
	case strings.Contains(text, "Chrome/"), strings.Contains(text, "CriOS/"):
		return browserChrome
	case strings.Contains(text, "Firefox/"):
		return browserFirefox
	case strings.Contains(text, "AppleWebKit/") && (strings.Contains(text, "Mac OS X")):
		return browserSafari
	}
	return browserUnknown
}
