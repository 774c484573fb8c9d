package apps

import (
	"bytes"
	"encoding/base64"
	"image"
	_ "image/gif" // The package registers a decoder of a format that publishers send.
	"image/jpeg"
	"image/png"
	"strings"
	"sync"

	_ "golang.org/x/image/webp"
)

// imageTypes lists types that browsers display and that cannot run scripts. SVG can run scripts, so it is missing. GIF
// and WebP are for images that earlier versions stored unchanged.
var imageTypes = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// maxPixels limits an image before it is decoded, because a few bytes can announce a picture of gigabytes. It is the
// number of pixels of a 4K screen, the largest source of publishers' screenshots.
const maxPixels = 8 << 20

// decoding serializes the decoding of images, because an image of maxPixels takes up to 64 MiB.
var decoding sync.Mutex

// readImage decodes the base64 of an image, and its header.
func readImage(text string) (content []byte, format string, ok bool) {
	content, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(text, "="))
	if err != nil {
		return nil, "", false
	}
	header, format, err := image.DecodeConfig(bytes.NewReader(content))
	if err != nil || header.Width <= 0 || header.Height <= 0 || header.Height > maxPixels/header.Width {
		return nil, "", false
	}
	return content, format, true
}

func isImage(text string) bool {
	_, _, ok := readImage(text)
	return ok
}

// encodeAgain decodes an image and encodes its visible first frame. So the server does not serve other contents of the
// file, such as metadata, further frames or a second file. JPEG stays JPEG; all other formats become PNG.
func encodeAgain(text string) (content []byte, mediaType string, ok bool) {
	sent, format, ok := readImage(text)
	if !ok {
		return nil, "", false
	}
	decoding.Lock()
	defer decoding.Unlock()
	picture, _, err := image.Decode(bytes.NewReader(sent))
	if err != nil {
		return nil, "", false
	}
	var out bytes.Buffer
	if format == "jpeg" {
		err, mediaType = jpeg.Encode(&out, picture, &jpeg.Options{Quality: 90}), "image/jpeg"
	} else {
		err, mediaType = png.Encode(&out, picture), "image/png"
	}
	return out.Bytes(), mediaType, err == nil
}
