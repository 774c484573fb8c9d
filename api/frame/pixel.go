package frame

import (
	"net/http"
	"reflect"

	"github.com/valyala/fasthttp"

	"github.com/octavo-docs/octavo/schema"
)

// Pixel is the response type of operations that a page calls by loading an image. Errors are answered with the image as
// well, because the page loads the answer as an image.
type Pixel struct{}

// mediaPixel is the media type of the image.
var mediaPixel = []string{"image/gif"}

// pixelImage is a transparent GIF of one pixel.
var pixelImage = []byte("GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff" +
	"\x21\xf9\x04\x01\x00\x00\x00\x00\x2c\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02\x44\x01\x00\x3b")

// pixel reports whether the operation answers with the image.
func (op *Operation) pixel() bool { return op.Handler.Response == reflect.TypeFor[Pixel]() }

// writePixel sends the image. Caches do not store the image, and pages of every origin may show it.
func writePixel(ctx *fasthttp.RequestCtx, status int) {
	ctx.Response.ResetBody()
	ctx.SetStatusCode(status)
	ctx.SetContentType(mediaPixel[0])
	header := &ctx.Response.Header
	header.SetCanonical(headerCacheControl, noStore)
	header.SetCanonical(headerContentTypeOptions, noSniff)
	header.SetCanonical(headerAllowOrigin, anyOrigin)
	header.Set("Cross-Origin-Resource-Policy", "cross-origin")
	header.Del("WWW-Authenticate")
	ctx.Response.SetBodyRaw(pixelImage)
}

// pixelStatus returns the status of the image for an error. If the publishable key is not valid, the status is 404. If
// a rate limit refuses the request or this server fails, it is the status of the error. For all other errors, such as a
// refused event, it is 200, and only metrics show the error.
func pixelStatus(code schema.Code) int {
	switch {
	case code == schema.CodeUnauthorized:
		return http.StatusNotFound
	case code == schema.CodeTooManyRequests, code >= schema.CodeInternal:
		return int(code)
	}
	return http.StatusOK
}
