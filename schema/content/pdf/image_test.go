package pdf

import (
	"strings"
	"testing"

	"github.com/octavo-docs/octavo/schema/content/imagesize"
)

// TestDrawableSVG checks that an SVG image whose size is known is drawn, even if a long comment is before it.
func TestDrawableSVG(t *testing.T) {
	t.Parallel()
	for _, comment := range []int{0, 3 << 10, 5 << 10, 15 << 10, 17 << 10} {
		const image = `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="7"/>`
		file := []byte("<!--" + strings.Repeat("x", comment) + "-->" + image)
		width, _ := imagesize.Of(file)
		drawn := drawable(file, largePixels) != nil
		if drawn != (width == 9) || drawn != (comment < imagesize.SVGStart) {
			t.Errorf("after a comment of %d bytes: drawn is %v, the width is %d", comment, drawn, width)
		}
	}
}
