// Package browsertest looks at our pages in a real browser, headless Chromium: what a policy blocks, which cookies go along with a
// form of another site and where redirects lead is decided there and nowhere else. It holds tests only; nothing may import it.
//
// The tests are skipped where Chromium is not installed (`apt-get install chromium`). With OCTAVO_TEST_SCREENSHOTS they leave a picture of
// each page in that folder:
//
//	OCTAVO_TEST_SCREENSHOTS=/tmp/pages go run ./cmd/engine/enginetest/with -engines postgres -- go test -v ./api/browsertest
package browsertest
