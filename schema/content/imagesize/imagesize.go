// Package imagesize reads the size of an image from its first bytes. It imports no other package of this module.
package imagesize

import (
	"bytes"
	"encoding/xml"
	"image"
	_ "image/gif"  // lets DecodeConfig read GIF
	_ "image/jpeg" // lets DecodeConfig read JPEG
	_ "image/png"  // lets DecodeConfig read PNG
	"math"
	"strconv"
	"strings"

	_ "golang.org/x/image/webp" // lets DecodeConfig read WebP
)

// maxSide is the largest width or height, in pixels, that Of accepts from a file.
const maxSide = 1 << 20

// SVGStart is the number of bytes at the start of a file in which Of looks for an SVG image's first element.
const SVGStart = 16 << 10

// Of returns the width and the height of a GIF, JPEG, PNG, WebP or SVG image, in pixels. Both results are 0 if the file
// has another format or does not state a size. For an SVG image whose width or height is not in pixels, Of returns the
// size of the viewBox.
func Of(file []byte) (width, height int) {
	config, _, err := image.DecodeConfig(bytes.NewReader(file))
	if err != nil {
		config.Width, config.Height = svg(file[:min(len(file), SVGStart)])
	}
	if config.Width < 1 || config.Height < 1 || config.Width > maxSide || config.Height > maxSide {
		return 0, 0
	}
	return config.Width, config.Height
}

// svg reads the attributes of an SVG image's first element.
func svg(start []byte) (width, height int) {
	if !bytes.Contains(start, []byte("<svg")) {
		return 0, 0
	}
	d := xml.NewDecoder(bytes.NewReader(start))
	d.Strict = false
	for {
		token, err := d.RawToken()
		if err != nil {
			return 0, 0
		}
		root, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		if root.Name.Local != "svg" {
			return 0, 0
		}
		var box []string
		for _, attribute := range root.Attr {
			switch attribute.Name.Local {
			case "width":
				width = pixels(attribute.Value)
			case "height":
				height = pixels(attribute.Value)
			case "viewBox":
				box = strings.Fields(strings.ReplaceAll(attribute.Value, ",", " "))
			}
		}
		if (width == 0 || height == 0) && len(box) == 4 {
			width, height = pixels(box[2]), pixels(box[3])
		}
		return width, height
	}
}

// pixels returns a length in pixels, rounded up. It returns 0 if the length has another unit.
func pixels(length string) int {
	n, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(length), "px"), 64)
	if err != nil || !(n > 0) || n > maxSide {
		return 0
	}
	return int(math.Ceil(n))
}
