package apps

import (
	"encoding/base64"
	"net/http"
	"slices"
	"strings"
)

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
