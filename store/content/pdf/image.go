package pdf

import (
	"bytes"
	"fmt"
	"image"
	_ "image/gif"  // known to image.DecodeConfig
	_ "image/jpeg" // known to image.DecodeConfig
	_ "image/png"  // known to image.DecodeConfig

	_ "golang.org/x/image/webp" // known to image.DecodeConfig
)

// MaxImage bounds the bytes of an image.
const MaxImage = 16 << 20

// Bounds of images, which the renderer holds decoded. What is beyond them is shown as its alternative text.
const (
	maxPixels = 24 << 20
	maxImages = 128 << 20
	maxSVG    = 2 << 20
	// svgStart is where an SVG's first element begins at the latest.
	svgStart = 4 << 10
)

// image names the file of a reference in the renderer's input. The name is ours: the file may turn out to be no image.
func (b *builder) image(ref any) string {
	r, _ := ref.(map[string]any)
	id, _ := r["file"].(string)
	if _, elsewhere := r["space"]; id == "" || elsewhere {
		return ""
	}
	name, known := b.images[id]
	if !known {
		name = fmt.Sprintf("images/%d", len(b.images))
		b.images[id] = name
		b.wanted = append(b.wanted, id)
	}
	return name
}

// drawable reports whether the renderer may decode a file. The sizes that the file announces are what decoding costs.
func drawable(body []byte) bool {
	if len(body) == 0 || len(body) > MaxImage {
		return false
	}
	if config, _, err := image.DecodeConfig(bytes.NewReader(body)); err == nil {
		return config.Width > 0 && config.Height > 0 && config.Width <= maxPixels/config.Height
	}
	return len(body) <= maxSVG && bytes.Contains(body[:min(len(body), svgStart)], []byte("<svg"))
}
