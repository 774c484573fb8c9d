package apps

import (
	"encoding/base64"
	"net/http"
	"slices"
	"strings"
)

// imageTypes lists types that browsers display and that cannot run scripts. SVG can, so it is missing.
var imageTypes = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// readImage decodes a base64 image and detects its type from its first bytes.
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
