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
		"gitRef":          {match: isBranchRef, problem: "must be refs/heads/ and the name of a branch", regexp: `^refs/heads/.+$`},
		"emoji":           {match: isEmoji, problem: "must be an emoji, as characters or as their code points in hexadecimal"},
		"domain":          matching(`^(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?\.)+[a-zA-Z0-9-]{2,63}$`, "must be the name of a domain"),
		"condition":       {match: isCondition, problem: "is no condition"},
		"plainURL":        {match: isPlainURL, problem: "must be an absolute http or https URL without user and password", format: "uri"},
		"repositoryURL": {
			match:   func(text string) bool { return isAbsoluteURL(text) && schema.PublicAddress(text) },
			problem: "must be an absolute http or https URL of a host that is not on a private network", format: "uri",
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

// isBranchRef follows the rules of git-check-ref-format, https://git-scm.com/docs/git-check-ref-format.
func isBranchRef(text string) bool {
	branch, ok := strings.CutPrefix(text, "refs/heads/")
	if !ok || branch == "@" || strings.ContainsAny(branch, " ~^:?*[\\\x7f") || strings.Contains(branch, "..") ||
		strings.Contains(branch, "@{") || strings.HasSuffix(branch, ".") {
		return false
	}
	for part := range strings.SplitSeq(branch, "/") {
		if part == "" || strings.HasPrefix(part, ".") || strings.HasSuffix(part, ".lock") {
			return false
		}
	}
	return !strings.ContainsFunc(branch, func(r rune) bool { return r < ' ' })
}

// isPlainURL is for addresses that are shown to others.
func isPlainURL(text string) bool {
	return isAbsoluteURL(text) && schema.WithoutCredentials(text) == text
}
