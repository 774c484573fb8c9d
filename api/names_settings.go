package api

import (
	"encoding/base64"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/octavo-docs/octavo/schema"
)

func init() {
	maps.Copy(enums, schema.CustomizationEnums())
	maps.Copy(enums, schema.IntegrationEnums())
	maps.Copy(enums, schema.GitEnums())
	maps.Copy(enums, schema.OpenAPIEnums())
	maps.Copy(patterns, map[string]form{
		"integrationName": matching(`^[a-zA-Z0-9-_.]+$`, "must have only letters, digits, hyphens, underscores and dots"),
		"cspDirective":    matching(`^[a-z-]{1,50}$`, "must be the name of a directive"),
		"headerText":      matching(`^[^\x00-\x1f\x7f]*$`, "must be on one line"),
		"image":           {match: isImage, problem: "must be a PNG, JPEG, GIF or WebP image in base64", format: "byte"},
		"gitRef":          matchingBut(`^refs/heads/`, badBranchRef, "must be refs/heads/ and the name of a branch"),
		"emoji":           {match: isEmoji, problem: "must be an emoji, as characters or as their code points in hexadecimal"},
		"domain":          matching(`^(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?\.)+[a-zA-Z0-9-]{2,63}$`, "must be the name of a domain"),
		"condition":       {match: isCondition, problem: "is no condition"},
		"plainURL":        {match: isPlainURL, problem: "must be an absolute http or https URL without user and password", regexp: httpURL, format: "uri"},
		"repositoryURL": {
			match:   func(text string) bool { return isAbsoluteURL(text) && schema.PublicAddress(text) },
			problem: "must be an absolute http or https URL of a host that is not on a private network", regexp: httpURL, format: "uri",
		},
	})
}

// imageTypes are what browsers show and what cannot run a script, which SVG can.
var imageTypes = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// readImage decodes an image from base64 and finds its type in its first bytes.
func readImage(text string) (image []byte, mediaType string, ok bool) {
	image, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(text, "="))
	if err != nil {
		return nil, "", false
	}
	mediaType = http.DetectContentType(image)
	return image, mediaType, slices.Contains(imageTypes, mediaType)
}

func isImage(text string) bool {
	_, _, ok := readImage(text)
	return ok
}

// badBranchRef follows the rules of git-check-ref-format, https://git-scm.com/docs/git-check-ref-format.
const badBranchRef = `[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|/\.|/$|\.$|\.lock(?:/|$)|^refs/heads/@$`

// isPlainURL is for addresses that are shown to others.
func isPlainURL(text string) bool {
	return isAbsoluteURL(text) && schema.WithoutCredentials(text) == text
}
