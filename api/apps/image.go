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

// imageTypes are the media types of images that the server sends. Browsers display these types and run no scripts in
// them. SVG is not in the list, because it can contain scripts. GIF and WebP are in the list because earlier versions
// stored such images unchanged.
var imageTypes = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// maxPixels is the largest number of pixels of an image. It is checked before decoding, because a few bytes can
// describe an image that takes gigabytes of memory. A screenshot of a 4K screen has about as many pixels.
const maxPixels = 8 << 20

// decoding ensures that only one image is decoded at a time, because an image with maxPixels takes up to 64 MiB.
var decoding sync.Mutex

// readImage decodes the base64 text of an image, and checks its size by its header.
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

// encodeAgain decodes an image and encodes its first frame again. So the server never sends other contents of the file,
// such as metadata or a second file within it. A JPEG image is encoded as JPEG, and any other image as PNG.
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
