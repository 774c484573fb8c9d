package imagesize

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"testing"
)

// TestOf checks the size of an image in each format. For other files, the size must be 0.
func TestOf(t *testing.T) {
	t.Parallel()
	drawn := image.NewPaletted(image.Rect(0, 0, 31, 17), color.Palette{color.Black})
	encode := func(how func(*bytes.Buffer) error) string {
		var b bytes.Buffer
		if err := how(&b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	asPNG := encode(func(b *bytes.Buffer) error { return png.Encode(b, drawn) })
	webp, err := base64.StdEncoding.DecodeString("UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		file          string
		width, height int
	}{
		"png":                      {asPNG, 31, 17},
		"gif":                      {encode(func(b *bytes.Buffer) error { return gif.Encode(b, drawn, nil) }), 31, 17},
		"jpeg":                     {encode(func(b *bytes.Buffer) error { return jpeg.Encode(b, drawn, nil) }), 31, 17},
		"webp":                     {string(webp), 1, 1},
		"half a header":            {asPNG[:20], 0, 0},
		"svg":                      {`<svg xmlns="http://www.w3.org/2000/svg" width="120" height="80px"/>`, 120, 80},
		"svg after a comment":      {"<?xml version=\"1.0\"?>\n<!-- by hand -->\n<svg width='3.2' height='4'></svg>", 4, 4},
		"svg with a document type": {`<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "x"><svg width="5" height="6">`, 5, 6},
		"svg with a view box":      {`<svg viewBox="0 0 640,360">`, 640, 360},
		"svg in percent":           {`<svg width="100%" height="100%" viewBox="0 0 24 24">`, 24, 24},
		"svg without a size":       {`<svg>`, 0, 0},
		"svg of no width":          {`<svg width="0" height="4">`, 0, 0},
		"svg of a negative width":  {`<svg width="-4" height="4">`, 0, 0},
		"svg without numbers":      {`<svg width="NaN" height="Inf" viewBox="a b c d">`, 0, 0},
		"svg wider than allowed":   {`<svg width="1e300" height="4">`, 0, 0},
		"svg within a page":        {`<html><svg width="5" height="6"></html>`, 0, 0},
		"an element without end":   {`<svg width="5`, 0, 0},
		"text":                     {"# A page", 0, 0},
		"no bytes":                 {"", 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if width, height := Of([]byte(c.file)); width != c.width || height != c.height {
				t.Errorf("the size is %d by %d, want %d by %d", width, height, c.width, c.height)
			}
		})
	}
}
