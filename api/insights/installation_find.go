package insights

import (
	"context"
	"net/url"
	"regexp"
	"strings"

	"github.com/octavo-docs/octavo/api/remote/outbound"
	"github.com/octavo-docs/octavo/api/remote/pagecheck"
)

// foundTracker describes the tracker that was found in a page.
type foundTracker struct {
	key string
	// door is the address to which the tracker sends events.
	door *url.URL
	// address is the address of the tracker's script. It is nil if the page has a pixel, or if a script of the page's
	// own contains the tracker.
	address *url.URL
	// script is the index, in the page's scripts, of the script that is the tracker or loads it.
	script           int
	nonce, integrity string
	added, pixel     bool
}

// requests returns the requests that the tracker makes. The page's content security policies must allow them, otherwise
// no events are sent.
func (f foundTracker) requests() []pagecheck.Request {
	if f.pixel {
		return []pagecheck.Request{{Kind: pagecheck.Image, Target: f.door}}
	}
	list := []pagecheck.Request{{Kind: pagecheck.Connect, Target: f.door}}
	if f.address != nil {
		script := pagecheck.Request{
			Kind: pagecheck.Script, Target: f.address, Nonce: f.nonce, Integrity: f.integrity, Added: f.added,
		}
		list = append([]pagecheck.Request{script}, list...)
	}
	return list
}

var (
	keyPattern     = regexp.MustCompile(`opk_[A-Za-z0-9]{8,128}`)
	trackerPattern = regexp.MustCompile(`https?://[A-Za-z0-9.:\[\]_~%/-]+/o(?:\.docs)?(?:\.[0-9a-f]{16})?\.js`)
	pixelPattern   = regexp.MustCompile(`/e/(opk_[A-Za-z0-9]{8,128})\.gif$`)
)

// find searches a page for the tracker: first for a script element with a key, then in the texts of scripts, and then
// for the pixel.
func (h *installations) find(ctx context.Context, page *pagecheck.Page) (foundTracker, bool) {
	for i, script := range page.Scripts {
		attributes := script.Attributes
		if key := attributes["data-key"]; script.Address != nil && keyPattern.MatchString(key) {
			door, err := script.Address.Parse("e/" + key)
			if stated := attributes["data-url"]; stated != "" {
				door, err = page.URL.Parse(stated)
			}
			if err != nil {
				continue
			}
			return foundTracker{
				key: key, door: door, address: script.Address, script: i, nonce: attributes["nonce"],
				integrity: attributes["integrity"],
			}, true
		}
	}
	if found, ok := h.findInTexts(ctx, page); ok {
		return found, true
	}
	for _, image := range page.Images {
		if image.Address != nil {
			if match := pixelPattern.FindStringSubmatch(image.Address.Path); match != nil {
				return foundTracker{key: match[1], door: image.Address, script: len(page.Scripts), pixel: true}, true
			}
		}
	}
	return foundTracker{}, false
}

// findInTexts searches for the tracker in the texts of scripts: in all inline scripts, and in the first few scripts
// that the page loads from its own origin.
func (h *installations) findInTexts(ctx context.Context, page *pagecheck.Page) (foundTracker, bool) {
	read := 0
	for i, script := range page.Scripts {
		text := script.Text
		if script.Address != nil {
			if !outbound.SameOrigin(script.Address, page.URL) || read == pagecheck.OwnScripts {
				continue
			}
			read++
			var err error
			if text, err = h.pages.Script(ctx, script.Address); err != nil {
				continue
			}
		}
		if found, ok := h.readLoader(text); ok {
			found.script = i
			return found, true
		}
	}
	return foundTracker{}, false
}

// readLoader finds a key in a script's text, and the address of the tracker that the script loads. If the text has no
// such address, the script itself contains the tracker: the site uses the package @octavo/tracker.
func (h *installations) readLoader(text string) (found foundTracker, ok bool) {
	text = strings.NewReplacer(`\/`, "/", `\u002F`, "/", `\u002f`, "/").Replace(text)
	found = foundTracker{key: keyPattern.FindString(text), added: true}
	if found.key == "" {
		return found, false
	}
	at := h.base()
	if address, err := url.Parse(trackerPattern.FindString(text)); err == nil && address.Host != "" {
		found.address, at = address, address
	}
	door, err := at.Parse("e/" + found.key)
	found.door = door
	return found, err == nil
}
