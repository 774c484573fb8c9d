package pdf

import (
	"bytes"
	"fmt"
	"image"
	_ "image/gif" // lets image.Decode read GIF
	"image/jpeg"
	"image/png"
	"math"

	"golang.org/x/image/draw"
	_ "golang.org/x/image/webp" // lets image.Decode read WebP

	"github.com/octavo-docs/octavo/schema/content/imagesize"
)

// MaxImage bounds the bytes of an image.
const MaxImage = 16 << 20

// These constants are the limits of images. The renderer has all decoded images in memory at the same time. If an image
// exceeds a limit, its alternative text is shown instead.
const (
	// maxPixels limits the number of pixels of an image that this process decodes.
	maxPixels = 15 << 20
	// largePixels is the renderer's limit for one image. allPixels is its limit for all images together. Images with
	// more pixels are scaled down. If an image with largePixels pixels is as wide as a sheet, it has about 200 dots per
	// inch.
	largePixels = 3 << 19
	allPixels   = 32 << 20
	maxImages   = 96 << 20 // bytes of all images together
	maxSVG      = 2 << 20
)

// image returns the name that a file has in the renderer's input. It returns "" if the reference has no file of the
// space. The name is generated and has no extension, because the file may not be an image.
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

// sendImages yields the images that the pages have named. If there are many images, each image may have fewer pixels.
func (w *writer) sendImages() {
	most := min(largePixels, allPixels/max(1, len(w.wanted)))
	size := 0
	for _, id := range w.wanted {
		if w.ended {
			return
		}
		body, err := w.Image(id)
		if err == nil {
			body = drawable(body, most)
			if body == nil || size+len(body) > maxImages {
				continue
			}
		}
		size += len(body)
		w.send(w.images[id], body, err)
	}
}

// drawable returns an image that the renderer may decode. If the image has more pixels than `most`, it returns a
// smaller copy. It returns nil if the file is not an image.
func drawable(body []byte, most int) []byte {
	if len(body) == 0 || len(body) > MaxImage {
		return nil
	}
	config, _, err := image.DecodeConfig(bytes.NewReader(body))
	switch {
	case err != nil:
		if len(body) > maxSVG || !bytes.Contains(body[:min(len(body), imagesize.SVGStart)], []byte("<svg")) {
			return nil
		}
		return body
	case config.Width <= 0 || config.Height <= 0 || config.Width > maxPixels/config.Height:
		return nil
	case config.Width*config.Height <= most:
		return body
	}
	return smaller(body, math.Sqrt(float64(most)/float64(config.Width*config.Height)))
}

// smaller returns a copy of an image, scaled by a factor below 1.
func smaller(body []byte, scale float64) []byte {
	from, _, err := image.Decode(bytes.NewReader(body))
	if err != nil {
		return nil
	}
	size := from.Bounds().Size()
	to := image.NewRGBA(image.Rect(0, 0, max(1, int(float64(size.X)*scale)), max(1, int(float64(size.Y)*scale))))
	draw.ApproxBiLinear.Scale(to, to.Bounds(), from, from.Bounds(), draw.Src, nil)
	var out bytes.Buffer
	if to.Opaque() {
		err = jpeg.Encode(&out, to, &jpeg.Options{Quality: 85})
	} else {
		err = png.Encode(&out, to)
	}
	if err != nil {
		return nil
	}
	return out.Bytes()
}
